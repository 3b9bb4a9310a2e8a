"""Exercises a reader writes code for: `check`, `hint`, `solution`, by name.

Each module here holds those of one chapter.
"""

from attnsel.book.exercises.checking import check as check
from attnsel.book.exercises.checking import hint as hint
from attnsel.book.exercises.checking import solution as solution
