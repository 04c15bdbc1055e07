"""The search for the repair of an exercise that was checked in this process; a page fetches it when needed."""

from __future__ import annotations

import time
from collections.abc import Callable

from autograder.judging.asking.here_run import in_modules
from autograder.judging.asking.variants_here import VariantsHere
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.explaining.own_code import OwnCode
from autograder.judging.explaining.searching import WORTH_SEARCHING
from autograder.judging.here import Checked
from autograder.judging.repair import looking_for_it, repair_of
from autograder.judging.session import Judge
from autograder.submission import Submission

EACH_SECONDS = 2.0


def repair_here(judge: Judge, submission: Submission, checked: Checked) -> Mended:
    """What is said of the repair of a checked exercise; nothing if none was worth looking for."""
    code = OwnCode(submission)
    if checked.left is None or not code.statements:
        return NOT_MENDED
    judge.progress.say(looking_for_it(checked.exercise.name))
    run = VariantsHere(
        checked.run,
        code.statements,
        slow=checked.exercise.seconds > WORTH_SEARCHING,
        before=_telling(judge, checked.exercise.name),
    )
    with in_modules(checked.run.name, None):
        return repair_of(judge, checked.exercise, checked.visible, checked.left, code, run)


def _telling(judge: Judge, exercise: str) -> Callable[[], None]:
    """A function that counts its calls, and says every `EACH_SECONDS` how many changes have been tried."""
    tried, said = 0, time.monotonic()

    def tell() -> None:
        nonlocal tried, said
        tried += 1
        if time.monotonic() - said > EACH_SECONDS:
            said = time.monotonic()
            judge.progress.say(f"{looking_for_it(exercise)}; {tried} have been tried")

    return tell
