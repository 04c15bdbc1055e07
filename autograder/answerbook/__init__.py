"""A lesson's answer book: what visible checks compare with, and what they see of known mistakes, as plain data.

With it, a learner's copy of the course runs visible checks and names mistakes without the solutions.
`autograder.authoring.answer_books` writes it; it contains numbers, names and sentences, but no code of a reference.
"""

from autograder.answerbook.book import AnswerBook, StaleBook, read_book
from autograder.answerbook.reference import BookReference, NotInBook

__all__ = ["AnswerBook", "BookReference", "NotInBook", "StaleBook", "read_book"]
