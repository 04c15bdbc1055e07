"""Checks of gradient_report."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import exercise, expect, expect_close, fine, random
from autograder.lessons.ch12_debugging.checks.models import some_names
from autograder.lessons.ch12_debugging.checks.tolerances import IDENTICAL
from autograder.wording import clean


def gradient(rng, norm, shape=(3, 2), dtype="float64"):
    """(values, gradient of this norm, dtype, requires_grad) of a parameter."""
    direction = rng.normal(size=shape)
    return random(rng, shape), direction * (norm / np.sqrt((direction**2).sum())), dtype, True


def spoiled(rng, *values, dtype="float64"):
    """Like `gradient`, for a gradient that contains these values among others."""
    parameter = gradient(rng, 1.0, dtype=dtype)
    places = rng.choice(6, size=len(values), replace=False)
    parameter[1].reshape(-1)[places] = values
    return parameter


def without(rng):
    return random(rng, (2, 2)), None, "float32", True


def zeros(rng, shape=(2, 3), dtype="float32"):
    return random(rng, shape), np.zeros(shape), dtype, True


def check_report(learner, reference, rng, parameters, case, *, rtol=1e-9, names=None, floats=False, transposed=False):
    """Expect names, norms and statuses of a model with these parameters in random order."""
    order = rng.permutation(len(parameters)).tolist()
    names = names or [f"{name}.weight" for name in some_names(rng, len(parameters))]
    listed = [(name, *parameters[i]) for name, i in zip(names, order, strict=True)]
    expected, got = (who.scenario.report(listed, transposed) for who in (reference, learner))
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
    case = "parameters of several shapes, column by column in memory, in eval mode"
    check_report(learner, reference, rng, parameters, case, transposed=True)
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
    """One Linear under two names is there once, and so is a weight that two Linears share."""
    for case, tied in {"a Linear under two names": False, "two Linears with one weight": True}.items():
        for n in (2, 4):
            layer_ = {"W": random(rng, (n, n)), "b": random(rng, n)}
            arguments = layer_, random(rng, (n, n)) + 1, tied
            expected, got = (who.scenario.report_of_shared(*arguments) for who in (reference, learner))
            compare_reports(got, expected, case=case)


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


@exercise("gradient_report")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes and layouts of gradients; None, frozen and tied parameters, a buffer, eval mode."""
    for kind in kinds:
        arguments = *kind.drawn.values(), kind.states
        expected, got = (who.scenario.report_in_states(*arguments) for who in (reference, learner))
        compare_reports(got, expected, case=kind.label, rtol=kind.tolerance(())["rtol"])
