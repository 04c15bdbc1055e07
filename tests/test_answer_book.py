"""The answer book: what is kept of values and questions, and that it judges and names as the solutions do."""

from __future__ import annotations

import bz2
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from books import write_books
from conftest import FEW_SECONDS

from autograder.answerbook import BookReference, NotInBook, StaleBook, read_book
from autograder.answerbook.book import BY_EXERCISE, Answer, AnswerBook
from autograder.answerbook.plain import NotData, Pool
from autograder.answerbook.questions import NEAR, question
from autograder.authoring import answer_books
from autograder.authoring.kept_books import read_kept
from autograder.authoring.rules.in_book import answer_books_judge_alike
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.diagnosis import Misconception
from autograder.diagnosis.sketches import sketch_of
from autograder.judging.checking.plugin import identify
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.known_mistakes import KnownMistakes, SeenOfMistakes
from autograder.judging.records.errors import CheckError
from autograder.judging.records.record import Record
from autograder.judging.session import Judge
from autograder.judging.version import grader_version
from autograder.places import Places
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

LESSON = find_lesson("ch01_computation_graph")
TIGHT = [(1e-7, 1e-9)]
Released = Callable[[AnswerBook], Path]


@pytest.fixture(scope="module")
def written() -> AnswerBook:
    write_books(LESSON.slug)
    return read_kept(LESSON, slip_seconds=FEW_SECONDS)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.float32(1.5),
        (np.ones(2), [1, 2.5, "three", None], {"a": True, 3: -0.0}),
        2 - 3j,
        math.nan,
        np.array([], dtype=np.int32),
    ],
)
def test_data_come_back_as_they_were(value: Any) -> None:
    pool = Pool()
    body = pool.packed(value)
    assert repr(Pool(pool.arrays).value(body)) == repr(value)


def test_an_array_is_kept_once() -> None:
    pool = Pool()
    pool.packed([np.ones(3), np.ones(3), np.ones(3, dtype=np.float32)])
    assert len(pool.arrays) == 2


def test_a_function_is_no_data() -> None:
    with pytest.raises(NotData):
        Pool().packed((1, len))


def test_tensors_survive_the_file() -> None:
    values = [torch.tensor([1.0, 2.0], dtype=torch.bfloat16), torch.tensor([True]), torch.arange(3)]
    book = AnswerBook("ch", "1", answers={"f": [Answer(question(["f", 1.0]), values)]})
    (again,) = AnswerBook.from_bytes(book.to_bytes()).answers["f"]
    assert all(a.dtype == b.dtype and torch.equal(a, b) for a, b in zip(again.value, values, strict=True))


def test_a_sketch_fits_what_is_within_its_tolerance_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    value = rng.normal(size=(4, 5))
    sketch = sketch_of([value], TIGHT)
    noise = rng.uniform(-1, 1, size=value.shape) * (1e-9 + 1e-7 * np.abs(value))
    assert sketch.fits([value + noise], TIGHT)
    assert sketch.fits([(value + noise).tolist()], TIGHT) is False  # rows are no array
    for i in np.ndindex(value.shape):
        wrong = value.copy()
        wrong[i] += 1e-3
        assert not sketch.fits([wrong], TIGHT)
    assert not sketch.fits([value.T], TIGHT)
    assert not sketch.fits([value.reshape(5, 4)], TIGHT)
    assert not sketch.fits([value[:, ::-1]], TIGHT)


def test_a_sketch_tells_what_is_no_number() -> None:
    assert sketch_of([np.array([math.nan, 1.0])], TIGHT).fits([np.array([math.nan, 1.0])], TIGHT)
    assert not sketch_of([np.array([math.nan, 1.0])], TIGHT).fits([np.array([math.inf, 1.0])], TIGHT)
    assert not sketch_of([["add", "mul"]], TIGHT).fits([["mul", "add"]], TIGHT)
    assert sketch_of([{"a": 1, "b": 2}], TIGHT).fits([{"b": 2.0, "a": 1.0}], TIGHT)


def test_a_loose_tolerance_lets_no_other_vector_pass() -> None:
    """ch12: losses of two programs, 8 % apart in a few of 15 entries, were the same within 1 % by two products."""
    losses = np.linspace(1.1, 0.8, 15)
    others = losses * np.where(np.arange(15) < 10, 1.0, 0.92)
    loose = [(0.01, 0.005)]
    assert not sketch_of([others], loose).fits([losses], loose)
    assert sketch_of([others], loose).fits([others * 1.009], loose)


def test_a_sketch_of_the_largest_numbers_is_one() -> None:
    """Their sum is no number, and what is no number fits nothing: a mistake that gives them was not named."""
    large = np.full(3, np.finfo(np.float64).max)
    assert sketch_of([large], TIGHT).fits([large], TIGHT)
    assert not sketch_of([large], TIGHT).fits([-large], TIGHT)
    assert question(["f", [large]]).distance(question(["f", [large]])) == 0.0


def test_a_question_is_the_same_where_only_rounding_differs() -> None:
    x = np.random.default_rng(1).normal(size=50)
    asked = question(["f", [x]])
    assert asked.distance(question(["f", [np.nextafter(x, 9)]])) < 1e-12
    assert asked.structure != question(["g", [x]]).structure
    assert asked.structure != question(["f", [x.astype(np.float32)]]).structure
    step = x.copy()
    step[7] += 1e-3
    assert asked.distance(question(["f", [step]])) > NEAR


def test_the_nearest_question_is_answered_and_no_other() -> None:
    x = np.random.default_rng(2).normal(size=8)
    near = x + 1e-8  # as a difference quotient asks: both are in the book
    book = AnswerBook(LESSON.slug, "1", {"forward": []})
    asked = {1.0: x, 2.0: near}
    book.answers = {"forward": [Answer(question(["forward", [v], {}]), answer) for answer, v in asked.items()]}
    reference = BookReference(LESSON, book, Places())
    assert reference.forward(np.nextafter(near, 9)) == 2.0
    assert reference.forward(x) == 1.0
    with pytest.raises(NotInBook):
        reference.forward(x + 1)


@pytest.mark.parametrize("content", [b"", b"not packed", bz2.compress(b"no frame"), bz2.compress(bytes(100))])
def test_what_is_no_book_is_said_to_be_none(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "answers.book"
    file.write_bytes(content)
    with pytest.raises(StaleBook, match=r"^answers\.book cannot be read \(.*; install the course again$"):
        read_book(file)


def test_a_book_survives_its_file(written: AnswerBook) -> None:
    again = AnswerBook.from_bytes(written.to_bytes())
    assert again.to_bytes() == written.to_bytes()
    again.mistakes[0]["says"] += "!"
    assert again.to_bytes() != written.to_bytes()


def test_a_book_in_parts_is_the_whole_book_when_they_are_put_back(written: AnswerBook) -> None:
    common, parts = written.in_parts()
    assert sorted(parts) == sorted(exercise.name for exercise in LESSON.exercises)
    assert not any(getattr(common, name) for name in BY_EXERCISE)
    again = AnswerBook.from_bytes(common.to_bytes())
    for part in parts.values():
        again.add(AnswerBook.from_bytes(part.to_bytes()))
    assert again.to_bytes() == written.to_bytes()
    with pytest.raises(StaleBook, match="of another version than its checks: load the page again"):
        again.add(replace(parts["forward"], version="another"))
    with pytest.raises(StaleBook, match="of another version than its checks: load the page again"):
        again.add(replace(parts["forward"], checks="others"))


@pytest.mark.parametrize("folder", ["checks", "scenarios"])
def test_a_book_of_other_checks_than_lie_beside_it_is_refused(
    folder: str, written: AnswerBook, released: Released
) -> None:
    """The checks of one release with the answers of another told learners that right answers were wrong."""
    root = released(written)
    changed = sorted((Places(root).folder(LESSON.slug) / folder).glob("*.py"))[-1]
    changed.write_text(changed.read_text(encoding="utf-8") + "\n# another\n", encoding="utf-8")
    with pytest.raises(CheckError, match=r"its checks are not those that its answers were made of; install the course"):
        with_judge(LESSON, lambda judge: judge, root=root)


def test_what_only_the_solution_can_answer_is_said_to_be_that(written: AnswerBook, released: Released) -> None:
    """It was: the check could not use what reverse_sweep returned (NotInBook), of an answer that may be right."""
    empty = AnswerBook.from_bytes(written.to_bytes())
    empty.answers = {}

    def use(judge: Judge) -> str:
        exercise = LESSON.exercise("neuron_gradients")
        return judge.judged(exercise, judge.observe(judge.items_of(exercise.name), Reference(LESSON).local())).message

    assert "can be compared with the solution alone" in with_judge(LESSON, use, root=released(empty))


def _told(judge: Judge) -> dict[str, tuple[str, ...]]:
    """What is said of the solution and of each known mistake, on visible cases."""
    solutions = Reference(LESSON)
    found: dict[str, tuple[str, ...]] = {}
    known = solutions.misconceptions()[::3]
    for exercise in LESSON.exercises:
        items = [item for item in judge.items_of(exercise.name) if (check := identify(item)) and check.visible]
        judge._items_of[exercise.name] = items
        runs = {one.name: solutions.mistaken(one) for one in known if one.exercise == exercise.name}
        for name, run in ({"": solutions.local()} | runs).items():
            result = judge.judged(exercise, judge.observe(items, run))
            found[f"{exercise.name} {name}"] = (result.status, str(result.points), result.message)
    return found


def test_it_judges_and_names_as_the_solutions_do(written: AnswerBook, tmp_path: Path, released: Released) -> None:
    with_solutions, from_book = with_judge(LESSON, _told), with_judge(LESSON, _told, root=released(written))
    assert from_book == with_solutions
    assert sum(status == "passed" for status, *_ in from_book.values()) == len(LESSON.exercises)
    assert len(from_book) > 30


@pytest.fixture
def released(tmp_path: Path) -> Released:
    """A folder with a lesson's checks, the rows that they draw from and its book, and nothing else."""

    def make(book: AnswerBook) -> Path:
        here, there = Places(), Places(tmp_path)
        for folder in (here.checks(LESSON.slug), here.scenarios(LESSON.slug)):
            shutil.copytree(folder, there.folder(LESSON.slug) / folder.name)
        shutil.copy(here.covering(LESSON.slug), there.covering(LESSON.slug))
        there.answer_book(LESSON.slug).write_bytes(book.to_bytes())
        return tmp_path

    return make


def test_an_answer_of_arrays_is_read_only(written: AnswerBook) -> None:
    for one in chain.from_iterable(AnswerBook.from_bytes(written.to_bytes()).answers.values()):
        if isinstance(one.value, np.ndarray):
            assert not one.value.flags.writeable


def test_beside_the_solutions_a_book_counts_for_nothing(tmp_path: Path, released: Released) -> None:
    """Whoever grades has them: a book that somebody has written changes no point there."""
    forged = AnswerBook(LESSON.slug, "forged")
    root = released(forged)
    places = Places(root)
    places.solutions.mkdir()
    places.source(LESSON.slug).write_bytes(Places().source(LESSON.slug).read_bytes())
    assert with_judge(LESSON, lambda judge: type(judge), root=root) is Judge
    assert with_judge(LESSON, lambda judge: judge.version(), root=root) != "forged"


def _one_exercise(name: str) -> Course:
    return Course.at().part(LESSON.slug, name)


@pytest.fixture(scope="module")
def seen() -> SeenOfMistakes:
    """What these rules have seen of known mistakes, which they share as those of `backprop build --check` do."""
    return {}


def test_the_health_rule_is_content_with_the_book_that_is_written(seen: SeenOfMistakes) -> None:
    assert answer_books_judge_alike(_one_exercise("reverse_sweep"), seen) == []


@pytest.mark.parametrize(
    ("emptied", "says"),
    [("answers", "the solution fails by the answer book: reverse_sweep: "), ("mistakes", "the answer book says (")],
)
def test_the_health_rule_names_a_book_that_says_otherwise(
    emptied: str, says: str, seen: SeenOfMistakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = answer_books.written_for

    def written_for(*args: Any, **kwargs: Any) -> answer_books.Written:
        written = real(*args, **kwargs)
        if emptied == "answers":
            written.book.answers = {}
        else:
            written.book.seen = {name: {one: {} for one in known} for name, known in written.book.seen.items()}
        return written

    monkeypatch.setattr("autograder.authoring.rules.in_book.written_for", written_for)
    monkeypatch.setattr("autograder.authoring.rules.in_book.read_book", _none)
    problems = answer_books_judge_alike(_one_exercise("reverse_sweep"), seen)
    assert any(problem.what.startswith(says) for problem in problems), problems


def test_the_health_rule_judges_by_the_book_that_lies_there(
    seen: SeenOfMistakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = AnswerBook(LESSON.slug, grader_version(LESSON.slug))
    monkeypatch.setattr("autograder.authoring.rules.in_book.read_book", lambda file: book)
    assert answer_books_judge_alike(_one_exercise("reverse_sweep"), seen)


def test_grading_looks_known_mistakes_up(written: AnswerBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What visible checks see of them is not found out where it is written, and the names are the same."""
    monkeypatch.setattr(Places, "answer_book", lambda self, slug: tmp_path / "answers.book")
    ran = []
    find_out = KnownMistakes._observe_mistake

    def noted(self: KnownMistakes, known: Misconception, *more: Any) -> Record:
        ran.append(known.name)
        return find_out(self, known, *more)

    monkeypatch.setattr(KnownMistakes, "_observe_mistake", noted)

    def told(judge: Judge) -> list[tuple[str, ...]]:
        found = []
        for known in judge.mistakes.of("reverse_sweep"):
            records = judge.observe(judge.items_of("reverse_sweep", True), judge.reference.mistaken(known))
            found.append(judge.mistakes.explain(LESSON.exercise("reverse_sweep"), records).misconceptions)
        return found

    without = with_judge(LESSON, told)
    assert ran
    ran.clear()
    (tmp_path / "answers.book").write_bytes(written.to_bytes())
    assert with_judge(LESSON, told) == without
    assert not ran
    (tmp_path / "answers.book").write_bytes(replace(written, version="another").to_bytes())
    assert with_judge(LESSON, told, only="reverse_sweep") == without
    assert ran


def _none(file: Path) -> AnswerBook:
    raise FileNotFoundError


def test_checks_of_two_exercises_with_one_name_are_two_checks() -> None:
    """What a check sees of a mistake in its own exercise says nothing of another exercise's check of that name."""

    def harmless(judge: Judge) -> list[bool]:
        found = []
        for known in judge.mistakes.of("softmax_vjp"):
            list(judge.mistakes.evidence(known))
            found.append(judge.mistakes.does_no_harm("softmax_vjp", [known.name], judge.lesson.exercise("relu_vjp")))
        return found

    found = with_judge(find_lesson("ch06_vjps"), harmless, only=["softmax_vjp", "relu_vjp"])
    assert found
    assert all(found), "relu_vjp does not call softmax_vjp"
