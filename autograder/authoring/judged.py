"""`python -P -m autograder.authoring.judged DIR` measures what the grader says of answers that it was not written for.

`DIR/wrong/LESSON/*.py` have one mistake each, `DIR/two/…` two, `DIR/right/…` none. The first line of a file names its
exercise (`# exercise: relu_vjp`), the second what is wrong (`# mistake: …`). All are graded as one class, by `backprop
grade` with a new salt. The messages go into a table, where a person writes into the column `verdict` how true each one
is: `told` (the cause, or both causes), `one` (one of two causes), `numbers` (no cause) or `false`. Run it again for the
rates; verdicts stay with messages that have not changed.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from statistics import mean

from autograder.authoring.arguments import Arguments
from autograder.classroom.results_folder import read_result, result_file
from autograder.judging.checking.salt import new_salt
from autograder.reports.safety import TableWriter, disarmed
from autograder.wording import counted

KINDS = ("wrong", "two", "right")
VERDICTS = ("told", "one", "numbers", "false")
NAMED = re.compile(r"^# exercises?: *(?P<exercise>[\w.]+).*\n(?:# mistake: *(?P<mistake>.*))?")
GRADE = [sys.executable, "-P", "-m", "autograder", "grade"]


class AnswersError(Exception):
    """The folder of answers, or the table of verdicts, is wrong; the message says where and what to do."""


@dataclass(frozen=True)
class Answer:
    """An answer to one exercise, and what somebody says is wrong with it."""

    kind: str
    lesson: str
    name: str
    exercise: str
    mistake: str
    file: Path

    @property
    def student(self) -> str:
        return f"{self.kind} {self.lesson[:4]} {self.name}"


@dataclass(frozen=True)
class Row:
    """What the grader made of an answer: a row of the table."""

    kind: str
    lesson: str
    answer: str
    exercise: str
    mistake: str
    share: str
    """The share of the exercise's points that it got; empty if it was not graded."""
    named: str
    """The known mistakes that the message names."""
    message: str
    verdict: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The answer and the message that the verdict is about, as the table has them."""
        return (self.kind, self.lesson, self.answer, self.exercise, disarmed(self.message))


def answers_in(folder: Path) -> list[Answer]:
    """The answers below a folder. Raises `AnswersError` for a file that names no exercise, or if there are none."""
    found = []
    for kind in KINDS:
        for file in sorted((folder / kind).glob("*/*.py")):
            head = NAMED.match(file.read_text(encoding="utf-8"))
            if not head:
                raise AnswersError(f"{file}: its first line must name its exercise: # exercise: relu_vjp")
            found.append(Answer(kind, file.parent.name, file.stem, head["exercise"], head["mistake"] or "", file))
    if not found:
        raise AnswersError(f"{folder}: there is no {'/, '.join(KINDS)}/ with a folder of answers for each lesson")
    return found


def graded(answers: list[Answer], salt: str) -> list[Row]:
    """The grader's word on each answer, by the command that a class is graded with."""
    with tempfile.TemporaryDirectory(prefix="judged-") as name:
        folder, out = Path(name) / "class", Path(name) / "results"
        for answer in answers:
            (folder / answer.student).mkdir(parents=True)
            shutil.copyfile(answer.file, folder / answer.student / f"{answer.lesson}.py")
        subprocess.run([*GRADE, str(folder), "--out", str(out), "--salt", salt], stdout=subprocess.DEVNULL, check=True)
        return [_row(answer, out) for answer in answers]


def _row(answer: Answer, out: Path) -> Row:
    result = read_result(result_file(out, answer.student, answer.lesson))
    of_it = next((one for one in result.exercises if one.name == answer.exercise), None) if result else None
    known = (answer.kind, answer.lesson, answer.name, answer.exercise, answer.mistake)
    if of_it is None:
        return Row(*known, "", "", result.message if result else "not graded")
    return Row(*known, f"{of_it.points / of_it.max_points:.2f}", ", ".join(of_it.misconceptions), of_it.message)


def with_verdicts(rows: list[Row], table: Path) -> list[Row]:
    """The rows with the verdicts that a person wrote into the table. Raises `AnswersError` for an unknown word."""
    if not table.is_file():
        return rows
    with table.open(encoding="utf-8", newline="") as file:
        written = [Row(**one) for one in csv.DictReader(file)]
    for row in written:
        if row.verdict.strip() not in ("", *VERDICTS):
            raise AnswersError(f"{table}, {row.answer}: the verdict {row.verdict!r} is none of {', '.join(VERDICTS)}")
    verdicts = {row.key: row.verdict.strip() for row in written}
    return [replace(row, verdict=verdicts.get(row.key, "")) for row in rows]


def rates(rows: list[Row]) -> Iterator[str]:
    """Lines that say how many answers were rejected, how many are whole, and how many causes were told."""
    for kind in KINDS:
        mine = [row for row in rows if row.kind == kind and row.share]
        whole = [row for row in mine if float(row.share) >= 1]
        if not mine:
            continue
        if kind == "right":
            yield f"right: {_of(len(whole), len(mine))} have all points"
            continue
        rejected = [row for row in mine if row not in whole]
        yield f"{kind}: {_of(len(rejected), len(mine))} are rejected"
        kept = [float(row.share) for row in rejected]
        if kept:
            much = sum(share > 2 / 3 for share in kept)
            most = counted(much, "keeps", "keep")
            yield f"  they keep {mean(kept):.0%} of the points in the mean; {most} more than two thirds"
        read = Counter(row.verdict for row in rejected if row.verdict)
        told = ", ".join(f"{word} {_of(read[word], read.total())}" for word in VERDICTS if read[word])
        yield f"  verdicts on {counted(len(rejected), 'message')}: {told or 'none yet'}"
    for row in rows:
        if not row.share or (float(row.share) >= 1) is not (row.kind == "right"):
            what = "not graded" if not row.share else "lost points" if row.kind == "right" else "accepted"
            yield f"{what}: {row.kind}/{row.lesson}/{row.answer}: {' '.join(row.message.split())[:200] or row.mistake}"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})"


def written(rows: Iterable[Row], table: Path) -> None:
    with table.open("w", encoding="utf-8", newline="") as file:
        out = TableWriter(file)
        out.writerow([field.name for field in fields(Row)])
        for row in rows:
            out.writerow(astuple(row))


def main(arguments: list[str]) -> int:
    parser = Arguments("judged", __doc__)
    parser.add_argument("answers", type=Path, metavar="DIR", help="the folder of answers")
    parser.add_argument("--table", type=Path, default=Path("judged.csv"), help="messages and verdicts")
    parser.add_argument("--salt", default=new_salt(), help="by default a new one")
    options = parser.read(arguments)
    try:
        answers = answers_in(options.answers)
        with_verdicts([], options.table)  # a wrong table is told before a class is graded
        rows = with_verdicts(graded(answers, options.salt), options.table)
    except AnswersError as error:
        parser.error(str(error))
    written(rows, options.table)
    print("\n".join(rates(rows)))
    print(f"{options.table}: {counted(len(rows), 'row')}, with a column for verdicts")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
