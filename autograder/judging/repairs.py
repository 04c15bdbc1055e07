"""What is said of the repairs of a submission's own code, for exercises in which no known mistake is found.

The variants run in a process of their own; in a page, `repair_here` has one exercise's run in the judge's.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache

from autograder.judging.asking.account import Account
from autograder.judging.asking.run import SubmissionRuns
from autograder.judging.asking.variant_run import VariantRun
from autograder.judging.explaining.mended import Mended, may_be_repaired
from autograder.judging.explaining.own_code import OwnCode
from autograder.judging.explaining.searching import WORTH_SEARCHING
from autograder.judging.observed import Observed
from autograder.judging.records.errors import Raised, TimedOut
from autograder.judging.records.record import Record
from autograder.judging.repair import Repairing, looking_for_it, repair_of
from autograder.submission import Submission
from course.syllabus import Exercise

PROCESSOR_SECONDS = 20.0
"""Processor time of all processes that run the variants of one exercise, far beyond what their calls take."""

REPAIRS = "BACKPROP_REPAIRS"
"""The variable that is 0 where no repair is looked for, because only the points of a class are wanted."""

MOST_GIVEN_UP = 2
"""After so many methods of one class that nothing repairs, its others are left as they are."""


def repairs_of(
    judge: Repairing, submission: Submission, visible: Mapping[str, Observed], runs: SubmissionRuns
) -> dict[str, Mended]:
    """For each exercise that is wrong on visible inputs, what is said of its repair; nothing if `REPAIRS` is 0.

    An exercise that calls another wrong one is not repaired, nor is one if judging the submission has taken too long.
    Where nothing repairs a class, or `MOST_GIVEN_UP` of its methods, its others are not repaired either: they run the
    same methods, and what is wrong in these fails the checks of all. The same holds for exercises that end in an
    exception of one line, such as that of a function that they all call.

    Args:
        visible: what was seen on visible inputs, by exercise.
    """
    if os.environ.get(REPAIRS) == "0":
        return {}
    code = cache(lambda: OwnCode(submission))
    wrong = [name for name, seen in visible.items() if any(not record.passed for record in seen.records)]
    found: dict[str, Mended] = {}
    given_up: Counter[str] = Counter()
    """How often a class, or what ends in an exception at one line, was not repaired."""
    with ExitStack() as stack:
        room = cache(lambda environment: stack.enter_context(runs.making_room(environment)))
        for name in wrong:
            exercise, records = judge.lesson.exercise(name), visible[name].records
            owner = name.partition(".")[0]
            places = _places_of_exceptions(records)
            in_vain = any(given_up[one] >= MOST_GIVEN_UP for one in (owner, *places))
            if in_vain or not may_be_repaired(exercise, records):
                continue
            if runs.source_of(exercise.environment).calls(name, [other for other in wrong if other != name]):
                continue
            judge.progress.say(looking_for_it(name))
            with suppress(TimedOut), runs.account.time_budget.spending():
                if code().statements and not (known := judge.mistakes.explained(exercise, records)).whole:
                    room(exercise.environment)
                    found[name] = _repair_of(judge, exercise, records, known.left, submission.module, code(), runs)
                    if not found[name].message:
                        given_up[owner] += MOST_GIVEN_UP if name == owner else 1
                        given_up.update(dict.fromkeys(places, MOST_GIVEN_UP))
    return found


def _places_of_exceptions(records: Sequence[Record]) -> set[str]:
    """Where a function raised, if all failing checks ended so, such as `cell 3, line 7: TypeError`."""
    ended = [record.ended_by for record in records if not record.passed]
    raised = [one.failure for one in ended if isinstance(one, Raised) and one.failure.place]
    return {f"{one.place}: {one.kind}" for one in raised} if len(raised) == len(ended) else set()


def _repair_of(
    judge: Repairing,
    exercise: Exercise,
    records: list[Record],
    left: Sequence[int],
    module: str,
    code: OwnCode,
    runs: SubmissionRuns,
) -> Mended:
    account = Account()
    account.processor_seconds = PROCESSOR_SECONDS
    slow = exercise.seconds > WORTH_SEARCHING
    run = VariantRun(module, code.statements, runs.without_cells(exercise.environment, account), slow=slow)
    return repair_of(judge, exercise, records, left, code, run)
