"""Exercises a reader writes code for: `check` and `mine`, by name.

Each chapter has its own in a module `exercises` of its folder.
"""

from attnsel_book.exercises.checking import check as check
from attnsel_book.exercises.checking import exercises as exercises
from attnsel_book.exercises.checking import mine as mine
from attnsel_book.exercises.running import how_many_are_yours as how_many_are_yours
