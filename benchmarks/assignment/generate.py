"""A class from one seed: notebooks with right answers, classic wrong ones, stubs, and cells that raise."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SLUG = "bench"
BLOCK = ("correct",) * 8 + ("some wrong",) * 7 + ("unfinished",) * 2 + ("untouched", "raises", "broken cell")
"""What twenty students hand in; every twenty the same, in another order, so that classes of any size are alike."""

Cells = dict[str, str]
"""An exercise's name and the source of its cell."""


@dataclass(frozen=True)
class Assignment:
    """One of the folders beside this file: `answers.py`, `cases.py`, `checks.py` and perhaps `scenarios.py`."""

    name: str
    packages: tuple[str, ...]
    seed: int = 0

    def text(self, file: str) -> str:
        """The source of one of its files; empty where it has none."""
        path = HERE / self.name / file
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @cached_property
    def setup(self) -> str:
        """The imports, which are the notebook's first cell."""
        lines = self.text("answers.py").split("\n# %% ")[0].splitlines()
        return "\n".join(line for line in lines if line.startswith(("import ", "from ")))

    @cached_property
    def answers(self) -> dict[str, dict[str, str]]:
        """By exercise, and by what the answer is: the source of a cell."""
        found: dict[str, dict[str, str]] = {}
        for part in self.text("answers.py").split("\n# %% ")[1:]:
            title, _, source = part.partition("\n")
            exercise, _, kind = title.partition(": ")
            found.setdefault(exercise, {})[kind] = source.strip() + "\n"
        return found

    @cached_property
    def checks(self) -> dict[str, list[str]]:
        """The names of each exercise's checks, the first visible and two hidden, so that each is worth one point."""
        names: dict[str, Any] = {}
        exec(self.text("cases.py"), names)
        return {exercise: list(checks) for exercise, checks in names["CHECKS"].items()}

    @cached_property
    def solution(self) -> str:
        """A module with the right answer to every exercise."""
        return "\n\n".join([self.setup, *(kinds["correct"] for kinds in self.answers.values())])

    @cached_property
    def plain(self) -> str:
        """A module for graders that run checks beside the submission: `check(submission, exercise, name)` asserts."""
        parts = [(HERE / "plain.py").read_text(encoding="utf-8"), self.text("scenarios.py"), self.text("cases.py")]
        solution = f"import types\n\n_solution = types.SimpleNamespace()\nexec({self.solution!r}, vars(_solution))\n"
        check = (
            "\n\ndef check(submission, exercise, name):\n"
            "    for arguments in cases(exercise, name):\n"
            "        expected = answer(_solution, exercise, arguments)\n"
            "        agree(answer(submission, exercise, arguments), expected, **TOLERANCE)\n"
        )
        return "\n\n".join([*parts, solution + check])

    def submission(self, number: int, loop: bool = False) -> Cells:
        """What student `number` hands in; with `loop` one exercise never ends."""
        order = random.Random(f"{self.seed}/{number // len(BLOCK)}").sample(BLOCK, len(BLOCK))
        kind, rng = order[number % len(BLOCK)], random.Random(f"{self.seed}/student {number}")
        exercises = list(self.answers)
        cells = {exercise: self._answer(rng, exercise, "correct") for exercise in exercises}
        if kind == "some wrong":
            for exercise in rng.sample(exercises, rng.randint(1, 3)):
                cells[exercise] = self._answer(rng, exercise, "wrong")
        elif kind in ("unfinished", "untouched"):
            done = rng.randint(1, len(exercises) - 1) if kind == "unfinished" else 0
            cells.update({exercise: self._answer(rng, exercise, "stub") for exercise in exercises[done:]})
        elif kind != "correct":
            exercise = rng.choice(exercises)
            cells[exercise] = (
                self._answer(rng, exercise, "raises") if kind == "raises" else "@batch_size\n" + cells[exercise]
            )
        if loop:
            exercise = rng.choice(exercises)
            cells[exercise] = self.answers[exercise]["stub"].replace("raise NotImplementedError", "while True: pass")
        return {exercise: f"# Student {number}\n{source}" for exercise, source in cells.items()}

    def _answer(self, rng: random.Random, exercise: str, kind: str) -> str:
        """The source of some answer of a kind: `correct, in another style` is a correct one."""
        answers = self.answers[exercise]
        return answers[rng.choice([name for name in answers if name.partition(",")[0] == kind])]


def student(number: int) -> str:
    return f"student{number:05}"


def code_cell(source: str, identifier: str, **metadata: Any) -> dict[str, Any]:
    """A code cell of a notebook of format 4."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": identifier,
        "metadata": metadata,
        "outputs": [],
        "source": source.rstrip("\n"),
    }


def notebook(cells: list[dict[str, Any]]) -> str:
    """The text of a notebook for the Python kernel."""
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def learner_notebook(assignment: Assignment, cells: Cells) -> str:
    """The notebook with the learner's cells alone."""
    first = code_cell(assignment.setup, "setup")
    rest = [
        code_cell(source, f"cell-{i}", exercise=exercise) for i, (exercise, source) in enumerate(cells.items(), start=1)
    ]
    return notebook([first, *rest])


def write_class(folder: Path, assignment: Assignment, submissions: int, loops: frozenset[int] = frozenset()) -> Path:
    """Write `folder/<student>/bench.ipynb` for each student; those in `loops` hand in an endless loop."""
    for number in range(submissions):
        file = folder / student(number) / f"{SLUG}.ipynb"
        file.parent.mkdir(parents=True)
        cells = assignment.submission(number, loop=number in loops)
        file.write_text(learner_notebook(assignment, cells), encoding="utf-8")
    return folder
