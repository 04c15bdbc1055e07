"""Naming what is wrong with an answer: a known mistake, a relation to the right answer, the smallest case."""

from autograder.diagnosis.misconceptions import Misconception, misconception, misconceptions_in

__all__ = ["Misconception", "misconception", "misconceptions_in"]
