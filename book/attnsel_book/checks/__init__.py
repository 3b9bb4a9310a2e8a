"""Exercises a reader writes code for: `check`, `hint`, `solution`, `mine`, by name.

Each chapter has its own in a module `exercises` of its folder.
"""

from attnsel_book.checks.checking import check as check
from attnsel_book.checks.checking import hint as hint
from attnsel_book.checks.checking import mine as mine
from attnsel_book.checks.checking import solution as solution
