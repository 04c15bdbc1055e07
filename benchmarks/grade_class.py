"""What it costs to grade a class: `python benchmarks/grade_class.py`; README.md says what is counted.

Compares this project, nbgrader, Otter-Grader and a floor on one assignment and one class, in turn, in one call.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path

from assignment.generate import Assignment
from graders import floor, nbgrader, otter, ours
from graders.job import Job, Scores, Unavailable
from measuring import MeasuringError, Usage, measure, self_check

NUMPY, TORCH = Assignment("vjps", ("numpy",)), Assignment("functions", ("numpy", "torch"))
JOBS = os.cpu_count() or 1
LARGER = 10
"""How many times as large as the class of all graders is that of the fast ones, whose costs would drown in noise."""
GOALS = {"floor": "at most 2", "nbgrader": "at least 30", "otter": "at least 80"}
TORCH_GOALS = {"nbgrader": "at least 60"}
LIMIT_SECONDS = 10.0
"""Of one call, as the course has it."""

Prepare = Callable[[Path, int], Job]


@dataclass
class Grader:
    """One line of the comparison."""

    title: str
    prepare: Prepare
    sizes: list[int]
    """Of the classes that it grades: a tiny one for what starting costs, and others."""
    runs: dict[int, list[Usage]] = field(default_factory=dict)
    scores: Scores = field(default_factory=dict)

    def cpu(self, size: int) -> float:
        """Seconds for a class, the median of its runs."""
        return statistics.median(run.cpu for run in self.runs[size])

    def wall(self, size: int) -> float:
        return statistics.median(run.wall for run in self.runs[size])

    def peak(self) -> float:
        """MiB, over all runs."""
        return max(run.peak for runs in self.runs.values() for run in runs)

    def further(self, of: Callable[[int], float]) -> float:
        """Seconds that one more submission costs: the slope of `of(size)` from the smallest to the largest class."""
        first, last = min(self.runs), max(self.runs)
        return of(last) / last if first == last else (of(last) - of(first)) / (last - first)

    def start(self) -> float:
        """Seconds of processor time before the first submission: what is left of the smallest class."""
        return self.cpu(min(self.runs)) - min(self.runs) * self.further(self.cpu)


def main() -> int:
    options = _options()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # as where it is activated
    try:
        print(_machine())
        print(f"Accounting: {self_check()}.\n")
        with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
            folders = (Path(name) / str(i) for i in count())
            if options.growth:
                grow(folders, sorted(options.growth))
            elif options.loops:
                loops(folders, options.submissions or 100, options.loops)
            else:
                peers = ["nbgrader"] if options.torch and options.peers is None else options.peers or list(_PEERS)
                compare(folders, TORCH if options.torch else NUMPY, options.submissions or 40, peers, options.repeats)
    except (MeasuringError, Unavailable) as error:
        print(f"grade_class.py: {error}", file=sys.stderr)
        return 1
    return 0


def compare(folders: Iterator[Path], assignment: Assignment, submissions: int, peers: list[str], repeats: int) -> None:
    """Grade one class with all graders and print what each costs."""
    graders = _lineup(folders, assignment, submissions, peers)
    for key in list(graders):
        try:
            folder = next(folders)
            run_once(folder, graders[key].prepare, 1)  # files are read and bytecode is written once
            if key == "ours":
                print(f"Confinement: {ours.confinement(folder / 'results')}.\n")
        except Unavailable as error:
            print(f"{graders.pop(key).title} is left out: {error}.", file=sys.stderr)
    for _ in range(repeats):
        for grader in graders.values():
            for size in grader.sizes:
                print(f"{grader.title}: {size} …", file=sys.stderr)
                used, scores = run_once(next(folders), grader.prepare, size)
                grader.runs.setdefault(size, []).append(used)
                grader.scores |= scores
    same_points(list(graders.values()), submissions)
    _print_costs(graders, submissions)
    _print_ratios(graders, submissions, TORCH_GOALS if assignment is TORCH else GOALS)


def run_once(folder: Path, prepare: Prepare, size: int) -> tuple[Usage, Scores]:
    """Grade a class of some size in a fresh folder."""
    folder.mkdir()
    job = prepare(folder, size)
    used = measure(job.command, cwd=job.cwd, env=job.env, until=job.first)
    return used, job.scores()


def same_points(graders: list[Grader], submissions: int) -> None:
    """Void the comparison unless every submission has the same points from every grader that graded it."""
    first, *others = graders
    if len(first.scores) < submissions:
        raise MeasuringError(f"{first.title} graded {len(first.scores)} submissions of {submissions}")
    for other in others:
        if len(other.scores) < submissions:
            raise MeasuringError(f"{other.title} graded {len(other.scores)} submissions of {submissions}")
        for student in sorted(first.scores.keys() & other.scores.keys()):
            if first.scores[student] != other.scores[student]:
                raise MeasuringError(
                    f"void: {student} has {first.scores[student]} from {first.title}, "
                    f"{other.scores[student]} from {other.title}"
                )
    everyone = [sum(points.values()) for points in first.scores.values()]
    print(
        f"All of them give each of {submissions} submissions the same points for each exercise "
        f"(from {min(everyone):g} to {max(everyone):g}, mean {statistics.mean(everyone):.1f}).\n"
    )


def grow(folders: Iterator[Path], sizes: list[int]) -> None:
    """Grade classes of several sizes with this project, and fit lines to what they take."""
    prepare = partial(_prepare_ours, ours.copy_course(_made(folders), NUMPY), NUMPY)
    run_once(next(folders), prepare, 1)
    print("submissions   CPU s   CPU ms each   wall s   first result s   parent's peak MiB   all processes' peak MiB")
    runs = []
    for size in sizes:
        used, scores = run_once(next(folders), prepare, size)
        if len(scores) != size:
            raise MeasuringError(f"{len(scores)} submissions of {size} have a result")
        runs.append(used)
        print(
            f"{size:11,} {used.cpu:7.2f} {1000 * used.cpu / size:13.1f} {used.wall:8.2f} {used.first or math.nan:16.2f}"
            f" {used.own_peak:19.1f} {used.peak:25.0f}",
            flush=True,
        )
    if len(sizes) > 1:
        for what, unit, values in (
            ("CPU", "s", [run.cpu for run in runs]),
            ("the parent's peak", "MiB", [run.own_peak for run in runs]),
        ):
            slope, base = statistics.linear_regression(sizes, values)
            residual = max(abs(value - base - slope * size) for size, value in zip(sizes, values, strict=True))
            print(f"{what}: {base:.2f} {unit} + {1000 * slope:.3f} {unit} per 1,000, at most {residual:.2f} {unit} off")


def loops(folders: Iterator[Path], submissions: int, percent: float) -> None:
    """Grade a class with and without endless loops: what they may take is their limit, shared by the workers."""
    course = ours.copy_course(_made(folders), NUMPY)
    looping = frozenset(random.Random(0).sample(range(submissions), max(1, round(submissions * percent / 100))))
    run_once(next(folders), partial(_prepare_ours, course, NUMPY), 1)
    without, _ = run_once(next(folders), partial(_prepare_ours, course, NUMPY), submissions)
    folder = next(folders)
    with_loops, _ = run_once(folder, partial(_prepare_ours, course, NUMPY, loops=looping), submissions)
    ended = ours.timeouts(folder / "results")
    if ended != len(looping):
        raise MeasuringError(f"{ended} exercises ended by their limit, and {len(looping)} never end")
    expected = without.wall + LIMIT_SECONDS * len(looping) / JOBS
    print(f"{submissions} submissions, {JOBS} workers, {LIMIT_SECONDS:g} s for a call")
    print(f"no endless loop:     wall {without.wall:7.2f} s, CPU {without.cpu:7.2f} s")
    print(f"{len(looping):2} with an endless loop: wall {with_loops.wall:5.2f} s, CPU {with_loops.cpu:7.2f} s")
    print(f"rest + limit × loops ÷ workers = {expected:.2f} s; measured {with_loops.wall / expected:.2f} times that")


def _prepare_ours(course: Path, assignment: Assignment, folder: Path, size: int, **more: object) -> Job:
    return ours.prepare(folder, course, assignment, size, **more)  # type: ignore[arg-type]


def _lineup(folders: Iterator[Path], assignment: Assignment, submissions: int, peers: list[str]) -> dict[str, Grader]:
    """Ours and the floor, always, and the peers that were asked for."""
    course = ours.copy_course(_made(folders), assignment)
    tiny, many = min(JOBS, submissions), [submissions, LARGER * submissions]
    lineup = {
        "ours": Grader("backprop grade, confined", partial(_prepare_ours, course, assignment), [tiny, *many]),
        "floor": Grader("the floor", lambda folder, n: floor.prepare(folder, assignment, n), [1, *many]),
    }
    if assignment is NUMPY:
        named = ours.copy_course(_made(folders), assignment, misconceptions=True)
        prepare = partial(_prepare_ours, named, assignment)
        lineup["named"] = Grader("the same, naming mistakes", prepare, [tiny, *many])
    for peer in peers:
        if peer in _PEERS:
            title, prepare_peer, sizes = _PEERS[peer]
            lineup[peer] = Grader(title, partial(_swap, prepare_peer, assignment), [*sizes, submissions])
    return lineup


def _swap(prepare: Callable[..., Job], assignment: Assignment, folder: Path, size: int) -> Job:
    return prepare(folder, assignment, size)


_PEERS: dict[str, tuple[str, Callable[..., Job], list[int]]] = {
    "nbgrader": ("nbgrader autograde", nbgrader.prepare, [1]),
    "otter": ("otter run, a command each", otter.prepare, []),
    "otter-api": ("Otter's API, one process", partial(otter.prepare, api=True), [1]),
}


def _print_costs(graders: dict[str, Grader], submissions: int) -> None:
    of_all = f"of {submissions}, CPU s each"
    print(f"{'':27}  start CPU s  further CPU s  {of_all:>20}  wall s each  peak MiB")
    for grader in graders.values():
        print(
            f"{grader.title:27} {grader.start():12.2f} {grader.further(grader.cpu):14.4f} "
            f"{grader.cpu(submissions) / submissions:21.3f} {grader.wall(submissions) / submissions:12.3f} "
            f"{grader.peak():9.0f}"
        )
    print(
        f"\nstart: before the first submission. further: for each one more, of the fast ones by a class of "
        f"{LARGER * submissions}.\npeak: of all processes together. backprop grades {JOBS} at a time, all others one.\n"
    )


def _print_ratios(graders: dict[str, Grader], submissions: int, goals: dict[str, str]) -> None:
    for key, other in graders.items():
        if key == "ours":
            continue
        more, less = (graders["ours"], other) if key == "floor" else (other, graders["ours"])
        further, whole = more.further(more.cpu) / less.further(less.cpu), more.cpu(submissions) / less.cpu(submissions)
        goal = f" (goal: {goals[key]})" if key in goals else ""
        print(
            f"{more.title} ÷ {less.title}: CPU × {further:.3g} for each further submission{goal}, "
            f"× {whole:.3g} for {submissions} with the start"
        )


def _made(folders: Iterator[Path]) -> Path:
    folder = next(folders)
    folder.mkdir()
    return folder


def _machine() -> str:
    """What it runs on, and how busy that is."""
    versions = ", ".join(f"{name} {_version(name)}" for name in ("numpy", "nbgrader", "torch"))
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return f"{JOBS} processors, load {load}; Linux {platform.release()}, Python {platform.python_version()}; {versions}"


def _version(name: str) -> str:
    try:
        return version(name)
    except ModuleNotFoundError:
        return "not installed"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--submissions", type=int, metavar="N", help="size of the class (40; with --loops 100)")
    parser.add_argument("--peers", type=lambda text: text.split(","), help=f"floor, or some of {','.join(_PEERS)}")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="runs of each; the median counts")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--torch", action="store_true", help="a PyTorch assignment, beside nbgrader")
    modes.add_argument(
        "--growth",
        type=lambda text: [int(size) for size in text.split(",")],
        metavar="SIZES",
        help="this project alone: classes of these sizes, as 10,100,1000,5000",
    )
    modes.add_argument("--loops", type=float, metavar="PERCENT", help="this project alone: a class with endless loops")
    options = parser.parse_args()
    unknown = set(options.peers or ()) - {"floor", *_PEERS}
    if unknown:
        parser.error(f"there is no peer {', '.join(sorted(unknown))}; there are floor, {', '.join(_PEERS)}")
    if options.torch and any(peer.startswith("otter") for peer in options.peers or ()):
        parser.error("--torch compares with nbgrader: the environment of Otter-Grader has no PyTorch")
    if (options.submissions or 2) < 2 or options.repeats < 1:
        parser.error("--submissions must be at least 2, and --repeats at least 1")
    return options


if __name__ == "__main__":
    sys.exit(main())
