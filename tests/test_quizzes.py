"""Quizzes and predictions: choosing by position or length must not beat chance by much."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from autograder.reading.plain import plain
from autograder.reading.quizzes import Option, Quiz, drawn_order, parse, quizzes

BOOK = Path(__file__).parents[1] / "book"
MARGIN = 0.10
"""Maximum gain over chance, for the whole book."""
Guess = Callable[[Sequence[Option]], int]


def length(option: Option) -> int:
    """Number of characters that a reader sees; formulas count as rendered."""
    return len(plain([option.text], {}).strip().replace("`", ""))


def longest(options: Sequence[Option]) -> int:
    return max(range(len(options)), key=lambda at: length(options[at]))


def shortest(options: Sequence[Option]) -> int:
    return min(range(len(options)), key=lambda at: length(options[at]))


def middling(options: Sequence[Option]) -> int:
    return sorted(range(len(options)), key=lambda at: length(options[at]))[len(options) // 2]


def at_place(place: int) -> Guess:
    return lambda options: min(place, len(options) - 1)


GUESSES: dict[str, Guess] = {
    "the longest": longest,
    "the shortest": shortest,
    "neither the longest nor the shortest": middling,
    "the last": lambda options: len(options) - 1,
    **{f"number {place + 1}": at_place(place) for place in range(3)},
}


def gain(asked: Sequence[Quiz], guess: Guess) -> float:
    """A guesser's share of right answers minus that of random guessing."""
    single = [one.options for one in asked if sum(option.right for option in one.options) == 1]
    hits = sum(options[guess(options)].right for options in single) / len(single)
    return hits - sum(1 / len(options) for options in single) / len(single)


@pytest.fixture(scope="module")
def asked() -> list[Quiz]:
    return [quiz for chapter in sorted(BOOK.glob("ch*.md")) for quiz in quizzes(chapter.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", GUESSES)
def test_guessing_does_not_pay(asked: list[Quiz], name: str) -> None:
    assert gain(asked, GUESSES[name]) <= MARGIN


def test_a_guesser_who_gains_is_seen() -> None:
    told = Quiz(
        "?", [], [Option("No.", False, ""), Option("Yes, because of this.", True, ""), Option("Or no.", False, "")]
    )
    assert {name for name, guess in GUESSES.items() if gain([told] * 9, guess) > MARGIN} == {"the longest", "number 2"}


def test_all_quizzes_of_the_book_are_counted(asked: list[Quiz]) -> None:
    sources = [chapter.read_text(encoding="utf-8") for chapter in BOOK.glob("ch*.md")]
    assert (
        len(asked) == sum(len(re.findall(r"^:+\{(?:quiz|predict)\}", source, re.MULTILINE)) for source in sources) > 100
    )
    assert all(option.text and option.answer for quiz in asked for option in quiz.options)
    assert all(any(option.right for option in quiz.options) for quiz in asked)


def test_the_order_is_drawn_from_the_question() -> None:
    body = ["Lead.", "", "- One,", "  or two.", "  - No.", "- Three.", "  + Yes,", "    three.", "- Four.", "  - No."]
    quiz = parse("How many?", body)
    order = drawn_order("How  many?", 3)
    assert sorted(order) == [0, 1, 2]
    written = [
        Option("One, or two.", False, "No."),
        Option("Three.", True, "Yes, three."),
        Option("Four.", False, "No."),
    ]
    assert quiz.options == [written[at] for at in order]
    assert quiz.lead == ["Lead.", ""]
    assert len({tuple(drawn_order(f"Question {number}", 3)) for number in range(60)}) == 6
