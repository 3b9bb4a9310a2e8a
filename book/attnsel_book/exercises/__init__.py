"""Exercises in which readers write functions.

`check` and `mine` find an exercise by its name. The exercises of a chapter are in
the module `exercises` of the chapter's folder.
"""

from attnsel_book.exercises.checking import check as check
from attnsel_book.exercises.checking import exercises as exercises
from attnsel_book.exercises.checking import mine as mine
from attnsel_book.exercises.running import how_many_are_yours as how_many_are_yours
