"""Checks of checkpoint_sequential."""

from __future__ import annotations

from typing import Any

from autograder.judging import (
    EXACT,
    F32,
    F64,
    SINGLE,
    agree,
    exercise,
    expect,
    expect_close,
    fine,
    random,
)
from autograder.lessons.ch11_checkpointing.checks.layers import runs, stack
from autograder.lessons.ch11_checkpointing.checks.second_runs import ROUNDING, SLACK, followed, three_factors, told


def in_segments(learner, reference, rng, n_layers: int, segments: int, *, case: str, **options: Any):
    """Check value and gradients."""
    settings = {"wants_x": True, "dropout": 0.0, "dtype": F64, **options}
    widths = rng.integers(2, 5, size=n_layers + 1).tolist()
    dtype = settings["dtype"]
    x, g = random(rng, (3, widths[0]), dtype), random(rng, (3, widths[-1]), dtype)
    arguments = x, stack(rng, widths, dtype), segments, g, settings["wants_x"], settings["dropout"]
    tolerance = SINGLE if dtype is F32 else EXACT
    seed = int(rng.integers(1, 10_000))
    agree("in_segments", learner, reference, *arguments, seed, case=case, **tolerance)


CUTS = [(2, 2), (1, 1), (4, 2), (5, 2), (3, 1), (3, 3), (7, 3), (8, 3)]


def cut(n_layers: int, segments: int) -> str:
    return f"{n_layers} layer{'s' * (n_layers > 1)} in {segments} segment{'s' * (segments > 1)}"


@exercise("checkpoint_sequential")
def test_values_and_gradients(learner, reference, rng):
    """Those of the plain loop, however the layers are cut."""
    for n_layers, segments in CUTS:
        in_segments(learner, reference, rng, n_layers, segments, case=cut(n_layers, segments))


@exercise("checkpoint_sequential")
def test_input_without_gradient(learner, reference, rng):
    """The first segment's parameters get their gradients also where x requires none."""
    for n_layers, segments in [(2, 2), (3, 1), (5, 2)]:
        case = f"{cut(n_layers, segments)}, x requires no gradient"
        in_segments(learner, reference, rng, n_layers, segments, wants_x=False, case=case)


@exercise("checkpoint_sequential")
def test_random_layers(learner, reference, rng):
    """Dropout draws the same masks in both passes."""
    for n_layers, segments in [(2, 1), (4, 2), (7, 3)]:
        case = f"{cut(n_layers, segments)}, with dropout"
        in_segments(learner, reference, rng, n_layers, segments, dropout=0.4, case=case)


@exercise("checkpoint_sequential", promise="instrumented")
def test_segments_computed_again(learner, reference, rng):
    """The technique: the first half's gradients are those of second runs, and right; the last half is not asked."""
    for n_layers, segments in [(4, 2), (8, 4)]:
        arguments = random(rng, (2, 3)), stack(rng, [3] * (n_layers + 1)), segments, random(rng, (2, 3))
        case = f"layers change between the passes, {cut(n_layers, segments)}"
        followed("segments_computed_again", learner, reference, *arguments, three_factors(rng, (2, 3)), case=case)


@exercise("checkpoint_sequential", promise="instrumented")
def test_every_segment(learner, reference, rng):
    """Each layer runs twice; the order of the second runs shows the segments."""
    for n_layers, segments in [(4, 2), (3, 3), (2, 1), (5, 2), (7, 3), (8, 3), (11, 4), (10, 6), (14, 14), (21, 2)]:
        case = cut(n_layers, segments)
        arguments = random(rng, (2, 3)), stack(rng, [3] * (n_layers + 1)), segments, random(rng, (2, 3))
        arguments = *arguments, three_factors(rng, (2, 3))
        expected, got = (who.scenario.order_of_calls(*arguments) for who in (reference, learner))
        if not fine(got, expected, case=case):
            continue
        expect_close(got["y"], expected["y"], names=("y",), case=case, **EXACT)
        once = got["forward"] == list(range(n_layers))
        expect(once, "The forward pass must run each layer once, in order.", case=case)
        again = sorted(got["backward"])
        missing = sorted(set(range(n_layers)) - set(again))
        if missing:
            which = ", ".join(str(i + 1) for i in missing)
            message = f"Layer{'s' * (len(missing) > 1)} {which} of {n_layers} did not run again in the backward pass: "
            message += "what they compute was kept. Every segment is to be checkpointed."
            expect(False, message, case=case)
            continue
        twice = again == list(range(n_layers))
        expect(twice, "The backward pass must run each layer once more, and no layer more often.", case=case)
        if twice:
            lengths = runs(got["backward"])
            sizes = ", ".join(map(str, lengths))
            right = len(lengths) == segments
            expect(right, f"There are {len(lengths)} segments, of {sizes} layers; {segments} were asked.", case=case)
            if right:
                even = max(lengths) - min(lengths) <= 1
                expect(even, f"The segments have {sizes} layers. Sizes may differ by one at most.", case=case)
            gradients = {key: value for key, value in expected.items() if key.startswith("dW")}
            mine = {key: got[key] for key in gradients}
            changing = f"layers change between the passes, {case}"
            expect_close(mine, gradients, case=changing, **ROUNDING)  # the recorded layers did run


@exercise("checkpoint_sequential", promise="instrumented")
def test_kept_inputs_of_segments(learner, reference, rng):
    """Between the passes: the inputs of the segments, the result."""
    for n_layers, segments in [(4, 2), (6, 3), (3, 1)]:
        case = f"{cut(n_layers, segments)}, each 96 x 96"
        arguments = random(rng, (96, 96)), stack(rng, [96] * (n_layers + 1)), segments
        expected, got = (who.scenario.kept_by_segments(*arguments) for who in (reference, learner))
        if fine(got, expected, case=case):
            expect_close(got["y"], expected["y"], names=("y",), case=case, **EXACT)
            allowed = (segments - 1) * got["x"]
            message = (
                f"{told(got['made'], got['x'])} are kept between the passes beside x and the result; the inputs of the "
                f"{segments - 1} other segments have {allowed:,}."
            )
            expect(got["made"] <= allowed + SLACK * segments, message, case=case)


@exercise("checkpoint_sequential")
def test_segments_in_float32(learner, reference, rng):
    """Results and gradients have the dtype of x."""
    for n_layers, segments in [(2, 2), (5, 2)]:
        case = f"float32, {cut(n_layers, segments)}"
        in_segments(learner, reference, rng, n_layers, segments, dtype=F32, case=case)


@exercise("checkpoint_sequential")
def test_every_kind_of_stack(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; frozen layers, one twice, old grads, eval mode; an x without a gradient."""
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.options["segments"], kind.options["tokens"], kind.states
        tolerance = kind.tolerance((), list(kind.drawn.values()))
        agree("segments_in_states", learner, reference, *arguments, case=kind.label, **tolerance)
