"""Names what is wrong with an answer: a known mistake, a relation to the right answer, the smallest failing case."""

from autograder.diagnosis.edits import Edit, EditError, edited
from autograder.diagnosis.misconceptions import Misconception, misconception, misconceptions_in, mistake

__all__ = ["Edit", "EditError", "Misconception", "edited", "misconception", "misconceptions_in", "mistake"]
