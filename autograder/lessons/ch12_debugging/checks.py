"""Checks of ch12_debugging: four tools by what they say of models with known faults, twelve programs by what they do.

A program is compared with the right one, on models and data of the check's own: its losses, one by one, and the trained
parameters. A repair that hides the symptom ends elsewhere. Right repairs differ by rounding alone; each tolerance says
how far they were from each other.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from autograder.diagnosis.equality import wrong_entries
from autograder.judging import F32, F64, compare, exercise, expect, expect_close, fine, random
from autograder.wording import clean

RUN: dict[str, Any] = {"rtol": 1e-3, "atol": 1e-5}
"""For float32 programs of some tens of steps. The repairs of tests/test_repairs.py were within 1e-5 of each other."""
IDENTICAL: dict[str, Any] = {"rtol": 0.0, "atol": 0.0}


# gradient_report

STATUSES = ("none", "nonfinite", "zero", "exploding", "ok")
NAMES = ("encoder", "decoder", "head", "norm", "embed", "mix", "gate", "out", "first", "last", "proj", "skip")


def some_names(rng, count):
    return [str(name) for name in rng.choice(NAMES, size=count, replace=False)]


def gradient(rng, norm, shape=(3, 2), dtype="float64"):
    """(values, gradient of this norm, dtype, requires_grad) of a parameter."""
    direction = rng.normal(size=shape)
    return random(rng, shape), direction * (norm / np.sqrt((direction**2).sum())), dtype, True


def spoiled(rng, *values, dtype="float64"):
    """One whose gradient has these entries among others."""
    parameter = gradient(rng, 1.0, dtype=dtype)
    places = rng.choice(6, size=len(values), replace=False)
    parameter[1].reshape(-1)[places] = values
    return parameter


def without(rng):
    return random(rng, (2, 2)), None, "float32", True


def zeros(rng, shape=(2, 3), dtype="float32"):
    return random(rng, shape), np.zeros(shape), dtype, True


def check_report(learner, reference, rng, parameters, case, *, rtol=1e-9, names=None, floats=False):
    """Expect names, norms and statuses of a model with these parameters, in an order that is drawn."""
    order = rng.permutation(len(parameters)).tolist()
    names = names or [f"{name}.weight" for name in some_names(rng, len(parameters))]
    listed = [(name, *parameters[i]) for name, i in zip(names, order, strict=True)]
    expected, got = (who.scenario.report(listed) for who in (reference, learner))
    compare_reports(got, expected, case=case, rtol=rtol, floats=floats)


def compare_reports(got, expected, *, case, rtol=1e-9, floats=False):
    if not isinstance(got, dict) or got.get("a list of dicts") is not True:
        what = clean(str(got.get("what"))) if isinstance(got, dict) else "another thing"
        what = "nothing: a function that ends without `return` gives None" if what == "NoneType" else f"a {what}"
        expect(False, f"gradient_report returned {what}. A list of dicts is asked, one for each parameter.", case=case)
        return
    if got["keys"] is not True:
        expect(False, "An entry of the report has other keys than name, norm and status.", case=case)
        return
    if floats:
        expect(got["tensors"] is False, "A norm is a tensor. A Python float is asked: .item() gives it.", case=case)
    changes = {name: value for name, value in expected.items() if name.endswith("changed")}
    if not fine(got, changes, case=case):
        return
    expect_close(got["name"], expected["name"], names=("the names",), case=case, **IDENTICAL)
    if got["name"] != expected["name"]:
        return
    for name, norm, right in zip(got["name"], got["norm"], expected["norm"], strict=True):
        expect_close(norm, right, names=(f"the norm of {name}",), case=case, rtol=rtol, atol=0.0)
    for name, status, right in zip(got["name"], got["status"], expected["status"], strict=True):
        expect_close(status, right, names=(f"the status of {name}",), case=case, **IDENTICAL)


@exercise("gradient_report")
def test_norms(learner, reference, rng):
    """Names in order, and the norm of each gradient."""
    for count in (1, 2, 4):
        parameters = [gradient(rng, norm) for norm in rng.uniform(1, 9, size=count)]
        check_report(learner, reference, rng, parameters, f"{count} parameter{'s' * (count > 1)}")
    parameters = [gradient(rng, 3.0, shape) for shape in [(), (1,), (5,), (2, 3, 2)]]
    check_report(learner, reference, rng, parameters, "parameters of several shapes")
    names = ["head", "body.0.weight", "body.0.bias", "body.1.inner.scale"]
    check_report(learner, reference, rng, [gradient(rng, 2.0) for _ in names], "modules inside of modules", names=names)


@exercise("gradient_report")
def test_norms_are_floats(learner, reference, rng):
    """Python floats, which can be logged and written to a file, and no tensors."""
    for case, parameters in [
        ("a parameter", [gradient(rng, 2.0)]),
        ("a gradient and zeros", [gradient(rng, 3.0), zeros(rng)]),
    ]:
        check_report(learner, reference, rng, parameters, case, floats=True)


@exercise("gradient_report")
def test_none_and_zero(learner, reference, rng):
    """No gradient is another thing than one of 0, and some zeros are not all."""
    few = random(rng, (2, 3)), np.array([[0, 0, float(rng.uniform(1, 2))], [0, 0, 0]]), "float64", True
    for case, parameters in [
        ("a parameter without a gradient", [gradient(rng, 2.0), without(rng)]),
        ("a gradient of zeros", [gradient(rng, 2.0), zeros(rng)]),
        ("a gradient with zeros in it", [gradient(rng, 2.0), few]),
        ("none, zeros, and others", [without(rng), *(gradient(rng, 2.0) for _ in range(2)), zeros(rng)]),
        ("a gradient without entries", [gradient(rng, 2.0), zeros(rng, (0, 3))]),
        ("frozen, with a gradient and without", [(*gradient(rng, 2.0)[:3], False), (*without(rng)[:3], False)]),
    ]:
        check_report(learner, reference, rng, parameters, case)


@exercise("gradient_report")
def test_nothing_to_compare_with(learner, reference, rng):
    """No gradients, zeros alone, no finite norm: there is no median."""
    check_report(learner, reference, rng, [gradient(rng, 2.0), without(rng)], "one gradient and none")
    for case, parameters in [
        ("no parameter has a gradient", [without(rng) for _ in range(3)]),
        ("all gradients are 0", [zeros(rng) for _ in range(3)]),
        ("no norm is finite", [spoiled(rng, math.nan), spoiled(rng, math.inf)]),
        ("none, zeros and nan", [without(rng), zeros(rng), spoiled(rng, math.nan)]),
    ]:
        check_report(learner, reference, rng, parameters, case)
    check_report(learner, reference, rng, [], "a model without parameters")


@exercise("gradient_report")
def test_nan_and_inf(learner, reference, rng):
    """nan and inf, alone and together, beside others."""
    for case, values in [
        ("a nan", [math.nan]),
        ("an inf", [math.inf]),
        ("a −inf", [-math.inf]),
        ("inf and −inf", [math.inf, -math.inf]),
        ("inf and nan", [math.inf, math.nan]),
    ]:
        parameters = [spoiled(rng, *values), gradient(rng, 2.0), gradient(rng, 3.0)]
        check_report(learner, reference, rng, parameters, f"{case} in a gradient")


@exercise("gradient_report")
def test_exploding(learner, reference, rng):
    """Over 1,000 times the median of the finite norms that are not 0."""
    norm = float(rng.uniform(1, 9))
    for case, norms in [
        ("three norms, one 1,001 times the others", [1, 1, 1001]),
        ("three norms, one 999 times the others", [1, 1, 999]),
        ("an even number of norms, the largest over 1,000 times the mean of the middle two", [1, 1, 3, 2100]),
        ("an even number of norms, the largest under 1,000 times the mean of the middle two", [1, 1, 3, 1900]),
        ("the largest is 1,000 times the mean, and not 1,000 times the median", [1, 500, 600, 3000]),
        ("over 1,000 times the smallest, and not 1,000 times the median", [0.01, 1, 1, 100]),
        ("two norms far apart", [1, 1e9]),
        ("far below the median is no explosion", [1e-9, 1, 1]),
        ("two that explode, of five", [1, 2, 3, 5000, 9000]),
    ]:
        parameters = [gradient(rng, norm * factor) for factor in norms]
        check_report(learner, reference, rng, parameters, case)
    exact = [(random(rng, 2), np.array([0.0, value]), "float64", True) for value in (2.0, 2.0, 2000.0)]
    check_report(learner, reference, rng, exact, "three norms, one 1,000 times the others exactly")


@exercise("gradient_report")
def test_what_the_median_is_of(learner, reference, rng):
    """Not of zeros, not of what is not finite, not of what is not there."""
    large = [gradient(rng, norm) for norm in (1.0, 1.5, 2000.0)]
    for case, others in [
        ("zeros count for nothing in the median", [zeros(rng) for _ in range(4)]),
        ("parameters without a gradient count for nothing", [without(rng) for _ in range(4)]),
        ("inf and nan count for nothing", [spoiled(rng, value) for value in (math.inf, math.inf, math.nan, math.nan)]),
    ]:
        check_report(learner, reference, rng, [*large, *others], f"{case}, one explodes")
        calm = [gradient(rng, norm) for norm in (900.0, 1.0, 1.5)]
        check_report(learner, reference, rng, [*calm, *others], f"{case}, none explodes")


@exercise("gradient_report")
def test_low_precision(learner, reference, rng):
    """1e-27 and 1e30 in float32, 1e-6 in float16, bfloat16: the squares need float64."""
    for case, norm, dtype in [
        ("float32", 2.0, "float32"),
        ("float32 gradients of about 1e-27", 1e-27, "float32"),
        ("float32 gradients of about 1e30", 1e30, "float32"),
        ("float16 gradients of about 1e-6", 1e-6, "float16"),
        ("float16 gradients of about 1e4", 1e4, "float16"),
        ("bfloat16", 2.0, "bfloat16"),
        ("bfloat16 gradients of about 1e-30", 1e-30, "bfloat16"),
    ]:
        parameters = [gradient(rng, norm * factor, dtype=dtype) for factor in rng.uniform(1, 3, size=3)]
        check_report(learner, reference, rng, parameters, case)
    parameters = [gradient(rng, 2.0, dtype=dtype) for dtype in ("float16", "bfloat16", "float32", "float64")]
    check_report(learner, reference, rng, parameters, "four dtypes in one model")


@exercise("gradient_report")
def test_a_shared_parameter(learner, reference, rng):
    """One Linear under two names is there once."""
    for n in (2, 4):
        layer_ = {"W": random(rng, (n, n)), "b": random(rng, n)}
        arguments = layer_, random(rng, (n, n)) + 1
        expected, got = (who.scenario.report_of_shared(*arguments) for who in (reference, learner))
        compare_reports(got, expected, case="a Linear that the model has under two names")


@exercise("gradient_report")
def test_a_whole_model(learner, reference, rng):
    """What the report is for: one model with all kinds of gradients, and one that is just over the limit or under."""
    for told, factor in [("over", 2100), ("under", 1900)]:
        scale = float(rng.uniform(1, 9))
        parameters = [
            *(
                gradient(rng, scale * norm, dtype=dtype)
                for norm, dtype in [(1, "bfloat16"), (1, "float16"), (3, "float32")]
            ),
            (*gradient(rng, 3 * scale)[:3], False),
            gradient(rng, factor * scale),
            gradient(rng, 1e-27, dtype="float32"),
            *(zeros(rng), without(rng), spoiled(rng, math.nan), spoiled(rng, math.inf, dtype="float32")),
        ]
        case = f"a model of many kinds of gradients, one just {told} 1,000 times the median"
        check_report(learner, reference, rng, parameters, case)


# first_nonfinite

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
        setting = some_names(rng, 3), place
        what = f"a nan in the {words}" if words else "all finite"
        case = f"the output is a tuple with a list and a dict in it, {what}"
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


# anomaly_op

KINDS = ("sqrt", "log", "rsqrt", "divide", "power", "log10", "acos", "of one's own")


def with_a_zero(rng):
    x = rng.uniform(0.2, 0.9, size=4)
    x[int(rng.integers(4))] = 0.0
    return x


@exercise("anomaly_op")
def test_names_of_nodes(learner, reference, rng):
    """Each of eight operations makes a nan at 0."""
    for kind in (KINDS[i] for i in rng.permutation(len(KINDS))):
        expected, got = (who.scenario.anomaly(kind, with_a_zero(rng)) for who in (reference, learner))
        compare(got, expected, case="a loss of one operation and torch.where, one entry is 0")
    for shape in [(1,), (1, 1)]:
        arguments = str(rng.choice(KINDS)), with_a_zero(rng), False, shape
        expected, got = (who.scenario.anomaly(*arguments) for who in (reference, learner))
        compare(got, expected, case=f"a loss of shape {shape}, one entry is 0")


@exercise("anomaly_op")
def test_no_anomaly(learner, reference, rng):
    """None without a nan, also where a gradient is inf or where a nan is in the values alone."""
    for kind, x, case in [
        ("sqrt", with_a_zero(rng), "a loss of one operation and torch.where, one entry is 0"),
        (str(rng.choice(KINDS)), rng.uniform(0.2, 0.9, size=3), "a loss of one operation, all is well"),
        ("inf", with_a_zero(rng), "a gradient is inf"),
        ("nan in the values alone", with_a_zero(rng), "the loss is nan, all gradients are finite"),
        ("nan in a sum", with_a_zero(rng), "two nodes return inf and -inf for one tensor, whose gradient is their sum"),
        (str(rng.choice(KINDS)), with_a_zero(rng), "a loss of one operation and torch.where, one entry is 0"),
    ]:
        expected, got = (who.scenario.anomaly(kind, x) for who in (reference, learner))
        compare(got, expected, case=case)


@exercise("anomaly_op", promise="instrumented")
def test_the_mode_afterwards(learner, reference, rng):
    """Anomaly mode is what it was, on or off, with a nan and without."""
    for already in (False, True):
        for x in (with_a_zero(rng), rng.uniform(0.2, 0.9, size=3)):
            arguments = str(rng.choice(KINDS)), x, already
            expected, got = (who.scenario.anomaly(*arguments) for who in (reference, learner))
            compare(got, expected, case=f"anomaly mode was {'on' if already else 'off'}")


@exercise("anomaly_op", promise="instrumented")
def test_other_exceptions(learner, reference, rng):
    """Those of fn, and those of the backward pass that are no anomaly."""
    for who_raises, case in [
        ("fn", "fn raises a RuntimeError"),
        ("backward", "backward raises: a saved tensor was modified by an inplace operation"),
        ("no graph", "backward raises: the loss has no graph"),
    ]:
        message = f"Function 'Loader{rng.integers(1000)}' returned nothing"
        expected, got = (who.scenario.anomaly_raises(who_raises, message) for who in (reference, learner))
        compare(got, expected, case=case)


# repeated_batches


def tensors(*arrays):
    import torch

    return [torch.tensor(array) for array in arrays]


def check_pairs(learner, reference, batches, case):
    got, expected = learner.repeated_batches(batches), reference.repeated_batches(batches)
    expect_close(got, expected, names=("the pairs",), case=case, **IDENTICAL)


def copies(rng, make, counts):
    """Batches that `make` makes, so many copies of each, in an order that is drawn."""
    kinds = [kind for kind, count in enumerate(counts) for _ in range(count)]
    made = [make() for _ in counts]
    again = [made[kind] for kind in rng.permutation(kinds)]
    return [tuple(part.clone() for part in batch) if isinstance(batch, tuple) else batch.clone() for batch in again]


@exercise("repeated_batches")
def test_pairs_of_tensors(learner, reference, rng):
    """All pairs, in order; three equal batches are three pairs."""
    for counts in [(2,), (2, 1), (3, 1, 1), (2, 3, 1, 2), (1, 1, 1, 4)]:
        batches = copies(rng, lambda: tensors(random(rng, (2, 3)))[0], counts)
        check_pairs(learner, reference, batches, f"{len(batches)} tensors")


@exercise("repeated_batches")
def test_pairs_of_tuples(learner, reference, rng):
    """Tuples (X, y), all tensors of which must be equal."""
    for counts in [(2, 1), (1, 3, 2)]:
        make = lambda: tuple(tensors(random(rng, (2, 3)), rng.integers(1000, size=2)))  # noqa: E731
        batches = copies(rng, make, counts)
        check_pairs(learner, reference, batches, f"{len(batches)} tuples (X, y)")
    X, Z, y, w = tensors(
        random(rng, (2, 3)), random(rng, (2, 3)), rng.integers(9, size=2), rng.integers(10, 19, size=2)
    )
    batches = [(X, y), (X.clone(), w), (Z, y), (Z.clone(), y.clone())]
    order = rng.permutation(4)
    check_pairs(learner, reference, [batches[i] for i in order], "the same X with another y")


@exercise("repeated_batches")
def test_tuples_that_are_not_alike(learner, reference, rng):
    """Tuples of several lengths, and tensors beside tuples."""
    X, y, w = tensors(random(rng, (2, 3)), rng.integers(9, size=2), random(rng, 2))
    for case, batches in [
        ("tuples of one and of two tensors", [(X,), (X, y), (X,), (X, y)]),
        ("tuples of two and of three tensors", [(X, y), (X, y, w), (X, y, w)]),
        ("tensors and tuples of one tensor", [X, (X,), X.clone(), (X.clone(),)]),
        ("a tensor and a tuple of its rows", [X, tuple(X), X.clone()]),
    ]:
        order = rng.permutation(len(batches))
        check_pairs(learner, reference, [batches[i] for i in order], case)


@exercise("repeated_batches")
def test_shapes_and_dtypes(learner, reference, rng):
    """The same numbers in another shape or dtype are another batch; shapes that broadcast, too."""
    row = random(rng, (1, 3))
    whole = rng.integers(5, size=(2, 2))
    for case, arrays in [
        ("two shapes of the same numbers", [row, row.reshape(3), row.reshape(3, 1), row.copy()]),
        ("a row, and a matrix of that row", [row, np.repeat(row, 2, axis=0), np.repeat(row, 2, axis=0)]),
        ("one number, and a vector of it", [row[0, :1], np.repeat(row[0, :1], 3), row[0, 0], row[0, :1].copy()]),
        ("integers and floats", [whole, whole.astype(F64), whole.astype(F32), whole.copy()]),
        ("float32 and float64", [whole.astype(F32), whole.astype(F64), whole.astype(F32)]),
        ("integers of two kinds", [whole, whole.astype(np.int32), whole.astype(np.int32)]),
        ("bools", [whole > 2, whole > 2, whole.astype(np.uint8)]),
        ("0-d tensors", [row[0, 0], row[0, 1], row[0, 0].copy()]),
        ("empty tensors of two shapes", [np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 3))]),
    ]:
        order = rng.permutation(len(arrays))
        check_pairs(learner, reference, tensors(*(arrays[i] for i in order)), case)


@exercise("repeated_batches")
def test_nan_and_small_differences(learner, reference, rng):
    """A nan is equal to a nan in the same place; numbers that are close are not equal; order within a batch counts."""
    x = random(rng, 4)
    holes, other = x.copy(), x.copy()
    holes[int(rng.integers(1, 3))] = math.nan
    other[0] = math.nan
    infinite = x.copy()
    infinite[1] = math.inf
    for case, arrays in [
        ("a nan in the same place", [holes, holes, x]),
        ("a nan in another place", [holes, other, holes]),
        ("nan, and the number 0", [np.nan_to_num(holes), holes, holes]),
        ("inf, and nan", [infinite, np.where(np.isinf(infinite), math.nan, x), infinite]),
        ("inf, and −inf", [infinite, -infinite, np.where(np.isinf(infinite), -math.inf, x)]),
        ("one entry is 1e-9 larger", [x, x + np.array([0, 0, 1e-9, 0]), x]),
        ("the same rows in another order", [x, x[::-1].copy(), x]),
        ("0.0 and −0.0", [0 * np.abs(x), -0.0 * np.abs(x), x]),
    ]:
        order = rng.permutation(len(arrays))
        check_pairs(learner, reference, tensors(*(arrays[i] for i in order)), case)


@exercise("repeated_batches")
def test_a_loader(learner, reference, rng):
    """What it is for: one list of batches that are nearly alike, some of them equal."""
    x = random(rng, (2, 3))
    x[0, int(rng.integers(3))] = math.nan
    other = np.nan_to_num(x, nan=math.inf)
    moved, zeroed = np.roll(x, 1, axis=1), np.nan_to_num(x)
    X, Z, y, w = tensors(x, x[::-1].copy(), rng.integers(9, size=2), rng.integers(10, 19, size=2))
    kinds = [
        *((X, y), (X.clone(), y.clone()), (X, w), (Z, y), (X,), X, (X.clone(),), (X, y, y), (X, y.clone())),
        *tensors(
            x.astype(F32), x[None], other, moved, zeroed, x, np.zeros((0, 3)), np.zeros((0, 2)), x[1, 1], x[1, 1:2]
        ),
        *tensors(np.repeat(x[1:2, 1:2], 6).reshape(2, 3), x + np.array([0, 1e-9, 0])),
    ]
    for count in (6, len(kinds)):
        batches = [kinds[i] for i in rng.permutation(len(kinds))[:count]]
        check_pairs(learner, reference, batches, f"{count} batches of all kinds")


@exercise("repeated_batches")
def test_few_batches(learner, reference, rng):
    """None, one, and none that are equal."""
    check_pairs(learner, reference, copies(rng, lambda: tensors(random(rng, 2))[0], (2, 1)), "three batches")
    check_pairs(learner, reference, [], "no batches")
    check_pairs(learner, reference, tensors(random(rng, 3)), "one batch")
    check_pairs(learner, reference, tensors(*(random(rng, 3) for _ in range(4))), "four batches, none equal")


# The programs


def layer(rng, fan_in, fan_out):
    """A Linear's weights and bias, as large as PyTorch makes them."""
    bound = 1 / math.sqrt(fan_in)
    return {
        "W": rng.uniform(-bound, bound, size=(fan_out, fan_in)).astype(F32),
        "b": rng.uniform(-bound, bound, size=fan_out).astype(F32),
    }


def layers(rng, *widths):
    return [layer(rng, fan_in, fan_out) for fan_in, fan_out in itertools.pairwise(widths)]


def regression(rng, n, d, steps):
    """Batches of points and a smooth function of them."""
    W = rng.normal(size=(d, 1)) / math.sqrt(d)
    drawn = [rng.normal(size=(n, d)) for _ in range(steps)]
    return [(X.astype(F32), np.sin(2 * X @ W).astype(F32)) for X in drawn]


def classification(rng, n, d, classes, steps):
    """Batches of points and which of `classes` directions each has most of."""
    W = rng.normal(size=(d, classes))
    drawn = [rng.normal(size=(n, d)) for _ in range(steps)]
    return [(X.astype(F32), (X @ W).argmax(axis=1)) for X in drawn]


def rate(rng, lr):
    """A learning rate near `lr`: one that a program makes up by itself is another."""
    return float(lr * rng.uniform(0.8, 1.2))


KEPT = "(A repair changes nothing but the bug: not the learning rate, not the data, not the number of steps.)"
SERIES = ("losses", "spreads", "validation losses")


def same_run(got, expected, *, case, **tolerance):
    """Expect the losses of the right program, step by step, then all else that a scenario brings back."""
    tolerance = tolerance or RUN
    if not fine(got, expected, case=case):
        return
    for name in (name for name in SERIES if name in expected):
        problem = told_of_series(name, got[name], expected[name], **tolerance)
        expect(problem is None, problem or "", case=case)
    for name, value in expected.items():
        if not isinstance(value, bool):
            expect_close(got[name], value, names=(name,), case=case, **tolerance)


def told_of_series(name, got, expected, *, rtol, atol):
    """Where the numbers that a program returned leave those of the right one, in a sentence; None where they do not."""
    one = {"losses": "loss", "spreads": "spread", "validation losses": "validation loss"}[name]
    if not isinstance(got, np.ndarray):
        return f"The {name} are no list of numbers where one is expected."
    if got.shape != expected.shape:
        there = f"There is {got.size} {one}" if got.size == 1 else f"There are {got.size} {name}"
        return f"{there}; {expected.size} expected. Every step counts, and no other."
    wrong = wrong_entries(got, expected, rtol=rtol, atol=atol)
    if not wrong.any():
        return None
    first = int(wrong.argmax()) + 1
    value = (
        "nan" if np.isnan(got[first - 1]) else "inf" if np.isinf(got[first - 1]) else "not that of the right program"
    )
    if first == 1 and name == "losses":
        return (
            f"The first {one} is {value}, and no step comes before it. Does the program compute another loss, or "
            f"change the data or the model, or note the loss only after the step? {KEPT}"
        )
    if first == 1:
        return f"The first {one} is {value}."
    before = f"The first {one} is" if first == 2 else f"The first {first - 1} {name} are"
    return f"{before} right. Number {first} is {value}: look at the step in between. {KEPT}"


def run(scenario, learner, reference, *arguments, case, **tolerance):
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    same_run(got, expected, case=case, **tolerance)


# fix_01


@exercise("fix_01")
def test_fix_01(learner, reference, rng):
    """Each step follows the gradient of its own batch."""
    for n, d, width, steps in [(4, 1, 2, 6), (16, 3, 8, 30)]:
        arguments = layers(rng, d, width, 1), regression(rng, n, d, steps), (rate(rng, 0.1),)
        run("one_model", learner, reference, "fix_01", *arguments, case=f"{steps} batches of {n}")


# fix_02


@exercise("fix_02")
def test_fix_02(learner, reference, rng):
    """The residual network with all of its gradients."""
    for d, depth, steps in [(2, 1, 4), (3, 3, 15)]:
        stack, head = layers(rng, *[d] * (depth + 1)), layer(rng, d, 3)
        arguments = stack, head, classification(rng, 8, d, 3, steps), rate(rng, 0.5)
        case = f"{depth} residual layer{'s' * (depth > 1)}, {steps} batches"
        run("residual", learner, reference, *arguments, case=case)


# fix_03


@exercise("fix_03")
def test_fix_03(learner, reference, rng):
    """Encoder and head learn, both."""
    for widths, steps in [((2, 3), 5), ((4, 8, 6), 20)]:
        encoder, head = layers(rng, *widths), layer(rng, widths[-1], 3)
        arguments = encoder, head, classification(rng, 12, widths[0], 3, steps), rate(rng, 0.5)
        case = f"an encoder of {len(encoder)} layer{'s' * (len(encoder) > 1)}, {steps} batches"
        run("encoder_and_head", learner, reference, *arguments, case=case)


# fix_04


@exercise("fix_04")
def test_fix_04(learner, reference, rng):
    """The model learns, and the validation loss is noted after each step."""
    for widths, steps in [((2, 3), 4), ((3, 8, 3), 15)]:
        *data, validation = classification(rng, 10, widths[0], 3, steps + 1)
        arguments = layers(rng, *widths), data, list(validation), rate(rng, 0.5)
        case = f"{len(widths) - 1} layer{'s' * (len(widths) > 2)}, {steps} batches"
        run("validated", learner, reference, *arguments, case=case)


# fix_05


@exercise("fix_05")
def test_fix_05(learner, reference, rng):
    """All layers learn, and all are saved."""
    for n_in, width, depth, steps in [(2, 4, 1, 6), (3, 8, 3, 20)]:
        data = classification(rng, 12, n_in, 3, steps)
        X = random(rng, (5, n_in), F32)
        arguments = int(rng.integers(2**31)), (n_in, 3, width, depth), data, X, rate(rng, 0.4)
        case = f"{depth} hidden layer{'s' * (depth > 1)}, {steps} batches"
        run("built", learner, reference, *arguments, case=case)


# fix_06


MEASURED = "graphs", "returned graphs", "the dtype of the matrix products"
"""What scenarios watch beside the run."""


def values_of(answer):
    """All of a scenario's answer but what is measured beside it: that is for checks of the technique."""
    return {name: value for name, value in answer.items() if name not in MEASURED}


def same_values(scenario, learner, reference, *arguments, case, **tolerance):
    expected, got = (values_of(getattr(who.scenario, scenario)(*arguments)) for who in (reference, learner))
    same_run(got, expected, case=case, **tolerance)


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
        expect(not returned, "The losses that are returned have a graph.", case=case)
        if graphs <= 4:  # few, of a program that does its work
            same_run(values_of(got), values_of(expected), case=case)


# fix_07


@exercise("fix_07")
def test_fix_07(learner, reference, rng):
    """The cross-entropy of the logits; probabilities for new points."""
    for d, classes, steps in [(2, 2, 5), (3, 4, 20)]:
        data = classification(rng, 12, d, classes, steps)
        arguments = layers(rng, d, 8, classes), data, random(rng, (4, d), F32), rate(rng, 0.5)
        run("probabilities", learner, reference, *arguments, case=f"{classes} classes, {steps} batches")


# fix_08


def with_forbidden(rng, data, classes, share):
    """(X, allowed, y): the right action of each row is allowed, others with this probability not."""
    found = []
    for i, (X, y) in enumerate(data):
        allowed = rng.random((len(X), classes)) >= (share if i else 0.0)
        if i:
            allowed[0] = np.arange(classes) == y[0]  # one action is left: its probability is 1
        allowed[np.arange(len(X)), y] = True
        found.append((X, allowed, y))
    return found


@exercise("fix_08")
def test_fix_08(learner, reference, rng):
    """Batches with and without forbidden actions."""
    for d, classes, steps, scale in [(2, 3, 4, 1), (3, 5, 15, 1), (3, 6, 6, 5)]:
        data = with_forbidden(rng, classification(rng, 8, d, classes, steps), classes, 0.4)
        settings = float(rng.uniform(0.2, 0.6)), rate(rng, 0.3)
        first, last = layers(rng, d, 6, classes)
        last["W"] *= scale  # decided: probabilities of allowed actions are small, too
        case = f"{classes} actions, {steps} batches"
        run("one_model", learner, reference, "fix_08", [first, last], data, settings, case=case)


# fix_09


@exercise("fix_09")
def test_fix_09(learner, reference, rng):
    """The model as it is used: in eval mode. And the next epoch in train mode."""
    for n, n_val, count in [(4, 5, 2), (8, 12, 4), (6, 1, 3)]:
        data, ((X, y),) = classification(rng, n, 3, 3, 3), classification(rng, n_val, 3, 3, 1)
        settings = count, rate(rng, 0.2)
        arguments = int(rng.integers(2**31)), layers(rng, 3, 8, 3), 0.4, data, [X, y], *settings
        points = f"{n_val} point{'s' * (n_val > 1)} in the validation set"
        run("epochs", learner, reference, *arguments, case=f"{count} epochs, {points}")


# fix_10


@exercise("fix_10")
def test_fix_10(learner, reference, rng):
    """One step for `accumulate` micro-batches is the step of one large batch."""
    for accumulate, steps in [(2, 2), (4, 6), (3, 4)]:
        data = regression(rng, 4, 3, accumulate * steps)
        arguments = layers(rng, 3, 6, 1), data, (accumulate, rate(rng, 0.2))
        run("one_model", learner, reference, "fix_10", *arguments, case=f"accumulate={accumulate}, {steps} steps")


# fix_11

HALF: dict[str, Any] = {"rtol": 1e-2, "atol": 5e-3}
"""Those of tests/test_repairs.py, with factors from 2 ** 10 to 3e7, were within 2e-3 of each other on ten salts."""


def half_precision(rng, n_tokens, steps):
    return layers(rng, 4, 8, 3), classification(rng, 16, 4, 3, steps), n_tokens, rate(rng, 0.02)


@exercise("fix_11")
def test_fix_11(learner, reference, rng):
    """The losses and the parameters of the float32 program."""
    for n_tokens, steps in [(4e7, 6), (2e7, 15)]:
        case = f"n_tokens={n_tokens:.0e}, {steps} batches"
        drawn = half_precision(rng, n_tokens, steps)
        same_values("half_precision", learner, reference, *drawn, 1.0, case=case, **HALF)


@exercise("fix_11", promise="instrumented")
def test_products_in_float16(learner, reference, rng):
    """Matrix products in float16, and in nothing else: where these become three times as large, the losses follow."""
    name = "the dtype of the matrix products"
    drawn = half_precision(rng, 4e7, 2)
    expected, got = ([who.scenario.half_precision(*drawn, of) for of in (1.0, 3.0)] for who in (reference, learner))
    expect_close(got[0][name], expected[0][name], names=(name,), case="2 batches", **IDENTICAL)
    told = (
        "The losses are not those of the products in float16: these were made three times as large, and a loss stayed "
        "as it was. Compute the logits by the model, in float16, and the losses from them."
    )
    expect(not some_loss_stays(*(run["losses"] for run in got)), told, case="2 batches")


def some_loss_stays(losses, of_larger_products):
    """Whether a batch has the same loss in two runs of fix_11."""
    fits = all(isinstance(of, np.ndarray) for of in (losses, of_larger_products))
    return (
        fits
        and losses.shape == of_larger_products.shape
        and bool(np.isclose(losses, of_larger_products, rtol=1e-5, atol=0).any())
    )


# fix_12


def with_an_outlier(rng, data):
    """One value of one batch, not of the last ones, is a thousand times too large: in X or in y."""
    i, which = int(rng.integers(1, len(data) - 1)), int(rng.integers(2))
    arrays = [array.copy() for array in data[i]]
    arrays[which][int(rng.integers(len(arrays[which]))), 0] = 1e3 * rng.choice([-3, 3])
    return [*data[:i], tuple(arrays), *data[i + 1 :]]


@exercise("fix_12")
def test_fix_12(learner, reference, rng):
    """Steps with the common norm of all gradients bounded, and the others as they were."""
    for n, d, steps in [(4, 2, 5), (12, 3, 20)]:
        data = with_an_outlier(rng, regression(rng, n, d, steps))
        settings = float(rng.uniform(0.3, 0.6)), rate(rng, 0.1)
        arguments = layers(rng, d, 6, 1), data, settings
        run("one_model", learner, reference, "fix_12", *arguments, case=f"{steps} batches of {n}")
