"""Checks of first_nonfinite."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import F32, compare, exercise, expect_close, random
from autograder.lessons.ch12_debugging.checks.models import some_names
from autograder.lessons.ch12_debugging.checks.tolerances import IDENTICAL

BAD = (math.nan, math.inf, -math.inf)


def check_name(learner, reference, scenario, *arguments, case):
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    expect_close(got, expected, names=("the name",), case=case, **IDENTICAL)


def points(rng):
    return rng.uniform(-1, 1, size=(2, 3))


@exercise("first_nonfinite")
def test_one_bad_layer(learner, reference, rng):
    """One layer whose output has a nan or an inf; what comes after it shows it, too."""
    for count in (1, 2, 5):
        for value in BAD:
            names = some_names(rng, count)
            setting = names, names, {names[int(rng.integers(count))]: value}
            case = f"{count} layer{'s' * (count > 1)}, one output has {'a' if math.isnan(value) else 'an'} {value}"
            check_name(learner, reference, "nonfinite", ("order", setting), points(rng), case=case)


@exercise("first_nonfinite")
def test_order_of_execution(learner, reference, rng):
    """The first to run is not the first to be registered."""
    for count in (2, 3, 6):
        names = some_names(rng, count)
        order = [*names[1:], names[0]]
        bad = {name: float(rng.choice(BAD)) for name in [names[0], order[int(rng.integers(count - 1))]]}
        case = f"{count} layers, the first to be registered runs last"
        check_name(learner, reference, "nonfinite", ("order", (names, order, bad)), points(rng), case=case)


@exercise("first_nonfinite")
def test_all_is_finite(learner, reference, rng):
    """None where nothing is wrong, also where a layer that does not run would be."""
    for count in (2, 4):
        names = some_names(rng, count)
        bad = {names[-1]: math.nan}
        check_name(
            learner,
            reference,
            "nonfinite",
            ("order", (names, names, bad)),
            points(rng),
            case="the last layer gives a nan",
        )
        check_name(
            learner,
            reference,
            "nonfinite",
            ("order", (names, names[:-1], bad)),
            points(rng),
            case="a layer does not run",
        )
        check_name(
            learner, reference, "nonfinite", ("order", (names, names, {})), points(rng), case="all outputs are finite"
        )


@exercise("first_nonfinite")
def test_leaves_inside_of_modules(learner, reference, rng):
    """The full name of a leaf, not that of a block around it; a model that is a leaf has the name ''."""
    for _ in range(3):
        setting = int(rng.integers(3)), int(rng.integers(3)), float(rng.choice(BAD))
        check_name(learner, reference, "nonfinite", ("nested", setting), points(rng), case="layers inside of blocks")
    check_name(learner, reference, "nonfinite", ("leaf", math.inf), points(rng), case="the model is a leaf")
    check_name(learner, reference, "nonfinite", ("leaf", None), points(rng), case="the model is a leaf, and fine")
    for which in ("Identity", "Dropout", "Flatten"):
        x = points(rng)
        x[0, int(rng.integers(3))] = math.nan
        case = f"x has a nan, and the first layer is {which}"
        check_name(learner, reference, "nonfinite", ("passes on", (some_names(rng, 2), which)), x, False, case=case)
    for after in (True, False):
        case = f"the model's own forward makes a nan, {'before' if after else 'behind'} its last layer"
        check_name(learner, reference, "nonfinite", ("between", (some_names(rng, 2), after)), points(rng), case=case)


@exercise("first_nonfinite")
def test_modules_that_are_shared_or_run_twice(learner, reference, rng):
    """The first of two names; and a layer that is fine the first time and not the second."""
    for _ in range(2):
        setting = some_names(rng, 3), float(rng.choice(BAD))
        case = "a layer that is registered under two names"
        check_name(learner, reference, "nonfinite", ("shared", setting), points(rng), case=case)
        setting = some_names(rng, 3), int(rng.integers(3))
        case = "layers that run twice, one gives an inf the second time"
        check_name(learner, reference, "nonfinite", ("twice", setting), points(rng), case=case)


@exercise("first_nonfinite")
def test_outputs_of_all_kinds(learner, reference, rng):
    """Tuples, lists and dicts of tensors, numbers, None and text; an LSTM; float32; integers."""
    places = {"tuple": "tuple", "list": "list", "dict": "dict", "deep": "list in the tuple in the dict", None: ""}
    for place, words in places.items():
        what = f"a nan in the {words}" if words else "all finite"
        for derived in (False, True) if place in ("tuple", "dict") else (False,):
            inside = "a named tuple, a list and an OrderedDict" if derived else "a list and a dict"
            setting, case = (some_names(rng, 3), place, derived), f"the output is a tuple with {inside} in it, {what}"
            check_name(learner, reference, "nonfinite", ("packed", setting), points(rng), case=case)
    for weight in (math.nan, float(rng.uniform())):
        x = random(rng, (4, 2, 3))
        case = "an LSTM" + (" with a nan in its weights" if math.isnan(weight) else "")
        check_name(learner, reference, "nonfinite_of_lstm", weight, x, case=case)
    names = some_names(rng, 3)
    setting = names, names, {names[int(rng.integers(3))]: math.inf}
    check_name(learner, reference, "nonfinite", ("order", setting), points(rng).astype(F32), case="float32")


@exercise("first_nonfinite")
def test_outputs_that_are_written_into(learner, reference, rng):
    """The model mends the output of its layer in place: who looks afterwards sees nothing."""
    names = some_names(rng, 3)
    setting = names, names, {names[int(rng.integers(3))]: math.nan}
    check_name(learner, reference, "nonfinite", ("order", setting), points(rng), case="three layers, one gives a nan")
    for value in BAD:
        case = "the model writes over what is not finite in the output of its first layer"
        check_name(learner, reference, "nonfinite", ("overwritten", value), points(rng), case=case)


LARGEST = {"float64": 1.5e308, "float32": 3e38, "float16": 6e4, "bfloat16": 3e38}


@exercise("first_nonfinite")
def test_finite_outputs_of_all_sizes(learner, reference, rng):
    """Entries so large that their sum or their squares are no longer finite; none at all; complex ones, bools."""
    for dtype, largest in LARGEST.items():
        names, signs = some_names(rng, 3), rng.choice([-1, 1], size=2)
        large = (largest * np.array([[1, 1, 1], signs[[0, 0, 0]]])).tolist()
        for last in (math.nan, 1.0):
            setting = [(names[0], [[0.5]], dtype), (names[1], large, dtype), (names[2], [[last]], dtype)]
            case = f"a layer gives {dtype} numbers of {largest}, which are finite, and the next one {last}"
            check_name(learner, reference, "nonfinite", ("given", setting), points(rng), case=case)
    for told, values, dtype in [
        ("a tensor without entries", [], "float32"),
        ("bools", [True, False], "bool"),
        ("complex numbers", [[1.0, 2.0]], "complex64"),
        ("complex numbers, one with a nan", [[1.0, 0.0], [0.0, math.nan]], "complex64"),
    ]:
        names = some_names(rng, 2)
        setting = [(names[0], values, dtype), (names[1], [math.inf], "float32")]
        check_name(learner, reference, "nonfinite", ("given", setting), points(rng), case=f"a layer gives {told}")


@exercise("first_nonfinite")
def test_in_the_mode_of_the_model(learner, reference, rng):
    """Two layers: one is bad in train mode alone, one in eval mode alone."""
    for training in (True, False):
        case = f"the model is in {'train' if training else 'eval'} mode"
        setting = some_names(rng, 4), *rng.permutation(4)[:2].tolist()
        check_name(learner, reference, "nonfinite", ("modes", setting), points(rng), training, case=case)


@exercise("first_nonfinite")
def test_a_whole_model_of_layers(learner, reference, rng):
    """What it is for: blocks in another order than they run, large outputs, containers, a layer of the other mode."""
    for training in (True, False):
        for place in rng.permutation(["tuple", "list", "dict", "deep", ""]).tolist():
            setting = some_names(rng, 5), place, training
            case = f"a model of blocks in {'train' if training else 'eval'} mode"
            check_name(learner, reference, "nonfinite", ("whole", setting), points(rng), training, case=case)


@exercise("first_nonfinite", promise="instrumented")
def test_no_hook_is_left(learner, reference, rng):
    """Hooks, parameters, .grad and mode are those from before, also where the model raises."""
    for case, kind, setting, training in [
        ("after the call", "nested", (*rng.integers(3, size=2).tolist(), math.nan), True),
        ("after the call, a model in eval mode", "nested", (*rng.integers(3, size=2).tolist(), math.inf), False),
        ("after the call, nothing found", "nested", (1, 1, None), True),
        ("the model raises an exception", "raises", (None, "KeyError"), True),
        ("the model raises an exception after a nan", "raises", (math.nan, "KeyError"), True),
        ("the model raises a RuntimeError, as PyTorch does", "raises", (None, "RuntimeError"), True),
    ]:
        arguments = kind, setting, points(rng), training
        expected, got = (who.scenario.after_nonfinite(*arguments) for who in (reference, learner))
        compare(got, expected, case=case)


@exercise("first_nonfinite")
def test_every_kind_of_input(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes and layouts of x, where it comes from; frozen, old grads, a buffer, faults."""
    for kind in kinds:
        arguments = *kind.drawn.values(), some_names(rng, 4), kind.states
        expected, got = (who.scenario.nonfinite_in_states(*arguments) for who in (reference, learner))
        compare(got, expected, case=kind.label)
