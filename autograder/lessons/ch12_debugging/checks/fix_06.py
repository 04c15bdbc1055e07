"""Checks of fix_06."""

from __future__ import annotations

from autograder.judging import exercise, expect
from autograder.lessons.ch12_debugging.checks.models import layers, regression
from autograder.lessons.ch12_debugging.checks.programs import rate, same_run, same_values, values_of


def with_validation(rng, n, d, steps):
    *data, validation = regression(rng, n, d, steps + 1)
    return layers(rng, d, 6, 1), data, list(validation), rate(rng, 0.1)


@exercise("fix_06")
def test_fix_06(learner, reference, rng):
    """The numbers that were right before."""
    for n, d, steps in [(4, 2, 8), (12, 3, 20)]:
        case = f"{steps} batches of {n}"
        same_values("history", learner, reference, *with_validation(rng, n, d, steps), case=case)


@exercise("fix_06", promise="instrumented")
def test_no_graph_outlives_its_step(learner, reference, rng):
    """The graphs that are alive at one time, and none in what is returned."""
    for n, d, steps in [(4, 2, 8), (12, 3, 20)]:
        case = f"{steps} batches of {n}"
        arguments = with_validation(rng, n, d, steps)
        expected, got = (who.scenario.history(*arguments) for who in (reference, learner))
        graphs, returned = got["graphs"], got["returned graphs"]
        message = (
            f"At one time the graphs of {graphs} of {2 * steps} passes through the model are alive, with all their "
            "activations; the last two are enough."
        )
        expect(graphs <= 4, message, case=case)
        passes = got["passes with a graph"]
        message = f"{passes} of the passes through the model had a graph, and there are {steps} batches to learn from."
        expect(passes >= steps, message, case=case)
        expect(not returned, "The losses that are returned have a graph.", case=case)
        if graphs <= 4:  # few, of a program that does its work
            same_run(values_of(got), values_of(expected), case=case)
