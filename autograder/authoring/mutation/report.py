"""What mutation found in a lesson, for people: a line as each part is done, a table, the survivors."""

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
    """The figures of one part, or of a whole lesson."""

    mutants: int
    killed: int
    """By whatever: the next two are among them."""
    by_others: int
    """By the checks of an exercise that uses the part, where its own accept it."""
    ended: int
    """By the limits of time and memory, or by a crash of the process."""
    equivalent: int
    survive: int

    @property
    def rate(self) -> str:
        """Killed, of those that could be."""
        could_be = self.mutants - self.equivalent
        return f"{100 * self.killed / could_be:.1f} %" if could_be else "none"


def count(outcomes: list[Outcome], listed: Iterable[Equivalent]) -> Counts:
    """The figures of these outcomes."""
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
    """The mutants that no check noticed and that nobody proved equivalent."""
    return [o.mutant for o in outcomes if o.verdict == SURVIVED and not is_listed(o.mutant, listed)]


def progress_line(result: PartResult, listed: Iterable[Equivalent]) -> str:
    """One part that was tried, in a line."""
    counts = count(result.outcomes, listed)
    survive = f", {counts.survive} survive" if counts.survive else ""
    equivalent = f", {counts.equivalent} equivalent" if counts.equivalent else ""
    return f"  {result.part}: {counts.killed} of {counts.mutants} killed{equivalent}{survive}, {result.seconds:.0f} s"


def table(
    lesson: str, parts: dict[str, list[Mutant]], results: list[PartResult], listed: list[Equivalent], *, terminal: bool
) -> Table:
    """The figures of each part and of the whole; parts that were not tried say so."""
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
    """Each survivor as file:line, before and after."""
    for mutant in mutants:
        screen.print(f"{file}:{mutant.line}: no check notices  ({mutant.id})", soft_wrap=True)
        screen.print(f"    {mutant.change.before}\n    ->\n    {mutant.change.after}", soft_wrap=True)
