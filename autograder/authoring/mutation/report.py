"""Prints the results of a mutation test: a progress line for each part, a table, the survivors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.authoring.mutation.equivalents import Equivalent, is_listed
from autograder.authoring.mutation.mutants import Mutant
from autograder.authoring.mutation.trials import CRASHED, SURVIVED, TIMED_OUT, Outcome, PartResult

COLUMNS = ("", "mutants", "killed", "by\nothers", "by time\nor crash", "equi-\nvalent", "survive", "rate")


@dataclass(frozen=True)
class Counts:
    """How many mutants of a lesson, or of one of its functions or classes, the checks kill."""

    mutants: int
    killed: int
    """Mutants that did not survive, including `by_others` and `ended`."""
    by_others: int
    """Killed by the checks of another exercise, after the mutant's own accepted it."""
    ended: int
    """Killed by a limit of time or memory, or by a crash of the process."""
    equivalent: int
    survive: int

    @property
    def rate(self) -> str:
        """The percentage killed of the mutants that are not equivalent."""
        could_be = self.mutants - self.equivalent
        return f"{100 * self.killed / could_be:.1f} %" if could_be else "none"


def count(outcomes: list[Outcome], listed: Iterable[Equivalent]) -> Counts:
    """The counts of these outcomes."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    equivalent = sum(outcome.verdict == SURVIVED and is_listed(outcome.mutant, listed) for outcome in outcomes)
    killed = [outcome for outcome in outcomes if outcome.verdict != SURVIVED]
    return Counts(
        mutants=len(outcomes),
        killed=len(killed),
        by_others=sum(outcome.by != outcome.mutant.exercises[0] for outcome in killed),
        ended=verdicts[TIMED_OUT] + verdicts[CRASHED],
        equivalent=equivalent,
        survive=verdicts[SURVIVED] - equivalent,
    )


def survivors(outcomes: list[Outcome], listed: Iterable[Equivalent]) -> list[Mutant]:
    """The mutants that no check killed and that are not listed as equivalent."""
    return [o.mutant for o in outcomes if o.verdict == SURVIVED and not is_listed(o.mutant, listed)]


def progress_line(result: PartResult, listed: Iterable[Equivalent]) -> str:
    """The line about one part that was tried."""
    counts = count(result.outcomes, listed)
    survive = f", {counts.survive} survive" if counts.survive else ""
    equivalent = f", {counts.equivalent} equivalent" if counts.equivalent else ""
    return f"  {result.part}: {counts.killed} of {counts.mutants} killed{equivalent}{survive}, {result.seconds:.0f} s"


def table(
    lesson: str, parts: dict[str, list[Mutant]], results: list[PartResult], listed: list[Equivalent], *, terminal: bool
) -> Table:
    """The table of the counts of each part and of their sum; parts that were not tried are marked."""
    drawn = Table(title=lesson, title_justify="left", box=box.SIMPLE_HEAD if terminal else None, padding=(0, 1, 0, 0))
    for title in COLUMNS:
        drawn.add_column(title, justify="right" if title else "left", no_wrap=True)
    by_part = {result.part: result for result in results}
    for part, mutants in parts.items():
        if part in by_part:
            drawn.add_row(*_cells(part, count(by_part[part].outcomes, listed)))
        else:
            drawn.add_row(part, str(len(mutants)), "not run", *[""] * 5, style="dim")
    outcomes = [outcome for result in results for outcome in result.outcomes]
    drawn.add_section()
    drawn.add_row(*_cells("all" if len(results) == len(parts) else "all that were run", count(outcomes, listed)))
    return drawn


def _cells(name: str, counts: Counts) -> list[Text]:
    figures = (counts.mutants, counts.killed, counts.by_others, counts.ended, counts.equivalent, counts.survive)
    cells = [Text(name), *(Text(str(figure) if figure else "·") for figure in figures), Text(counts.rate)]
    cells[-2].style = "bold red" if counts.survive else ""
    return cells


def print_survivors(screen: Console, file: str, mutants: list[Mutant]) -> None:
    """Print each survivor as file:line with the changed lines before and after."""
    for mutant in mutants:
        screen.print(f"{file}:{mutant.line}: no check notices  ({mutant.id})", soft_wrap=True)
        screen.print(f"    {mutant.change.before}\n    ->\n    {mutant.change.after}", soft_wrap=True)
