"""The search for the repair of an exercise that was checked in this process; a page fetches it when needed."""

from __future__ import annotations

import sys

from autograder.judging.asking.variants_here import VariantsHere
from autograder.judging.explaining.mended import NOT_MENDED, Mended
from autograder.judging.explaining.own_code import OwnCode
from autograder.judging.explaining.searching import WORTH_SEARCHING
from autograder.judging.here import MODULE, Checked
from autograder.judging.repair import looking_for_it, repair_of
from autograder.judging.session import Judge
from autograder.submission import Submission


def repair_here(judge: Judge, submission: Submission, checked: Checked) -> Mended:
    """What is said of the repair of a checked exercise; nothing if none was worth looking for."""
    code = OwnCode(submission)
    if checked.left is None or not code.statements:
        return NOT_MENDED
    judge.progress.say(looking_for_it(checked.exercise.name))
    slow = checked.exercise.seconds > WORTH_SEARCHING
    run = VariantsHere(MODULE, code.statements, judge.reference.scenarios, slow=slow)
    try:
        return repair_of(judge, checked.exercise, checked.visible, checked.left, code, run)
    finally:
        sys.modules[MODULE] = checked.run.module  # the last variant has taken its place
