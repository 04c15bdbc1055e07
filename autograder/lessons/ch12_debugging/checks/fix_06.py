"""Checks of fix_06."""

from __future__ import annotations

from autograder.judging import exercise, expect
from autograder.lessons.ch12_debugging.checks.models import layers, regression
from autograder.lessons.ch12_debugging.checks.programs import rate, same_run, same_values, values_of

MOST = 1.6
"""Maximum memory relative to the reference, which has two graphs at a time. Right programs need no more, though some
keep the losses as mse_loss makes them, each as large as a column of the batch. A program that keeps all graphs of the
validation set needs 10.5 times as much, every sixth graph 2.8 times, every sixteenth 1.75 times. Fewer graphs are found
by activations that outlive the next step."""


def with_validation(rng, n, d, steps, width=6, lr=0.1):
    *data, validation = regression(rng, n, d, steps + 1)
    return layers(rng, d, width, 1), data, list(validation), rate(rng, lr)


@exercise("fix_06")
def test_fix_06(learner, reference, rng):
    """The numbers that were right before."""
    for n, d, steps in [(4, 2, 8), (12, 3, 20)]:
        case = f"{steps} batches of {n}"
        same_values("history", learner, reference, *with_validation(rng, n, d, steps), case=case)


@exercise("fix_06", promise="instrumented")
def test_no_graph_outlives_its_step(learner, reference, rng):
    """The memory that is alive at one time, and no graph in what is returned."""
    arguments = with_validation(rng, 24, 3, 40, width=96, lr=0.05)
    case = "40 batches of 24"
    expected = reference.scenario.memory_of_history(*arguments, 0)
    enough = int(MOST * expected["bytes"])
    got = learner.scenario.memory_of_history(*arguments, enough)
    message = (
        f"During the run up to {got['bytes']:,} bytes of tensors are alive at one time, beside the model and the data, "
        f"and {expected['bytes']:,} are enough. Memory grows from step to step: graphs are kept, with all their "
        "activations."
    )
    expect(got["bytes"] <= enough, message, case=case)
    message = (
        "Activations of one step are still alive when the next but one begins: some of the graphs are kept. None is "
        "needed after its step."
    )
    expect(not got["outlived"], message, case=case)
    expect(not got["returned graphs"], "The losses that are returned have a graph.", case=case)
    if got["bytes"] <= enough:  # little memory, and right results
        same_run(values_of(got), values_of(expected), case=case)
