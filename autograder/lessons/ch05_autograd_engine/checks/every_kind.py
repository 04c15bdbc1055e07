"""What the checks of every kind of argument share: a scenario on each row, within the row's tolerance."""

from __future__ import annotations

import numpy as np

from autograder.judging.checking.measured import shown_as
from autograder.lessons.ch05_autograd_engine.checks.code_cells import expect_answers


def check_every_kind(scenario, learner, reference, kinds, *options, by_hook=False):
    """Check a scenario on each row: its options, then the arrays, then the states.

    Args:
        options: names of the case's options that the scenario takes.
        by_hook: blame a hook for changed arrays.
    """
    for kind in kinds:
        given = [kind.options[name] for name in options]
        arguments = (*given, *kind.drawn.values(), kind.states)
        expected = getattr(reference.scenario, scenario)(*arguments)
        shown = {**dict(zip(options, given, strict=True)), **kind.drawn}
        got = shown_as(lambda asked=arguments: getattr(learner.scenario, scenario)(*asked), shown)
        arrays = [value for value in expected.values() if isinstance(value, np.ndarray)]
        tolerance = kind.tolerance(arrays, list(kind.drawn.values()))
        expect_answers(got, expected, case=kind.label, by_hook=by_hook, **tolerance)
