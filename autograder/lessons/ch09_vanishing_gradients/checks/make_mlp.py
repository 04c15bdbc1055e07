"""Checks of make_mlp."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from autograder.judging import F32, F64, exercise, expect, expect_close, expect_raises, random
from autograder.lessons.ch09_vanishing_gradients.checks.layers import batch, layers
from autograder.lessons.ch09_vanishing_gradients.checks.networks import (
    ends_and_width,
    same,
    same_shapes,
    shapes_of,
    torch_seed,
)

PLAIN: dict[str, Any] = {"activation": "tanh", "init": "default", "residual": False, "norm": False}


def named(options: dict[str, Any]) -> str:
    """The options that differ from PLAIN, as code."""
    given = [f"{name}={value!r}" for name, value in options.items() if value != PLAIN.get(name)]
    return ", ".join(given) or "no options"


def check_architecture(learner, reference, seed, sizes, options, case) -> bool:
    """Check the network's layers and activations; return False, without further checks, if the layers are wrong."""
    got, expected = (who.scenario.architecture(seed, sizes, options) for who in (learner, reference))
    expect(got["a module"], "make_mlp returned no torch.nn.Module.", case=case)
    n_in, n_out, depth, width = (*sizes, 30, 64)[:4]
    sizes = n_in, n_out, options.get("depth", depth), options.get("width", width)
    if not got["a module"] or not same_shapes(got["linears"], sizes, case):
        return False
    found = len(got["linears"])
    message = f"{got['biases']} of {found} Linears have a bias. All of them are to have one."
    right = same(got["biases"], found, message, case=case)
    for name, number in expected["activations"].items():
        has = got["activations"].get(name)
        message = f"modules() finds {has} modules of the activation {name}; {number} expected, one in each block."
        if number == 0:
            message = f"modules() finds {has} modules of the activation {name}, which was not asked for."
        right &= same(has, number, message, case=case)
    norms, number = len(got["norms"]), len(expected["norms"])
    others = f" LayerNorms found: {got['layernorms']}." if got["layernorms"] else ""
    message = f"modules() finds {norms} BatchNorm1d; {number} expected.{others}"
    if same(norms, number, message, case=case, instead=others):
        message = f"The BatchNorm1d have {got['norms']} features; `width` expected."
        right &= same(got["norms"], expected["norms"], message, case=case)
    else:
        right = False
    expect(got["plain norms"], "A BatchNorm1d has other settings than PyTorch gives it.", case=case)
    if right:
        message = f"The network has {got['parameters']} parameters; {expected['parameters']} expected."
        right = same(got["parameters"], expected["parameters"], message, case=case)
    expect(got["trainable"], "A parameter requires no gradient.", case=case)
    expect(got["float32"], "A parameter is not float32, PyTorch's default.", case=case)
    expect(got["train mode"], "The network is not in train mode.", case=case)
    return right


# A wrong answer is compared with each known mistake, check by check, so checks are cheap: small networks come first, a
# check ends if the layers are wrong, and checks of values raise then, which is never compared.
@exercise("make_mlp", promise="instrumented")
def test_layers(learner, reference, rng):
    """depth + 2 Linears in order, an activation and, if asked for, a BatchNorm in each block."""
    for case, depth, options in [
        ("depth=1", 1, PLAIN),
        ("depth=3", 3, PLAIN),
        ("depth=3, norm=True", 3, {**PLAIN, "norm": True}),
        ("depth=2, residual=True, norm=True", 2, {**PLAIN, "residual": True, "norm": True}),
        ("depth=2, activation='relu'", 2, {**PLAIN, "activation": "relu"}),
        ("width given, nothing else", None, {"width": 7}),
        ("n_in and n_out, nothing else", None, {}),
    ]:
        n_in, n_out, width = ends_and_width(rng)
        sizes = (n_in, n_out) if depth is None else (n_in, n_out, depth, width)
        if not check_architecture(learner, reference, torch_seed(rng), sizes, options, case):
            return


def some_parameters(rng, n_in, n_out, depth, width, norm):
    """Parameters of a network, with biases, scales and shifts that differ from the initial ones."""
    return {
        "linears": layers(rng, n_in, *[width] * (depth + 1), n_out, scale=2.0),
        "norms": [
            {
                "gamma": rng.uniform(0.5, 2, size=width) * rng.choice([-1, 1], size=width),
                "beta": random(rng, width),
                "mean": random(rng, width),
                "variance": rng.uniform(0.5, 2, size=width),
            }
            for _ in range(depth * norm)
        ],
    }


def check_output(learner, reference, rng, sizes, options, n=5, training=True, *, case):
    n_in, n_out, depth, width = (*sizes, 30, 64)[:4]
    parameters = some_parameters(rng, n_in, n_out, depth, width, options.get("norm", False))
    X, g = random(rng, (n, n_in)), random(rng, (n, n_out))
    arguments = torch_seed(rng), sizes, options, parameters, X, g, training
    got, expected = (who.scenario.output(*arguments) for who in (learner, reference))
    expect_close(got, expected, case=case, rtol=1e-7, atol=1e-9)


@exercise("make_mlp")
def test_outputs(learner, reference, rng):
    """The logits of a network with weights that we chose: each activation, nothing after the first and last Linear."""
    for activation in ("sigmoid", "tanh", "relu"):
        options = {**PLAIN, "activation": activation}
        check_output(learner, reference, rng, (3, 2, 1, 4), options, case=f"depth=1, activation='{activation}'")
    options = {**PLAIN, "activation": "relu"}
    check_output(learner, reference, rng, (2, 3, 3, 5), options, case="depth=3, activation='relu'")
    check_output(learner, reference, rng, (1, 1, 2, 1), PLAIN, n=1, case="width=1, one example")
    check_output(learner, reference, rng, (3, 2, 2, 4), {}, case="make_mlp(3, 2, 2, 4), nothing else")


@exercise("make_mlp")
def test_residual_outputs(learner, reference, rng):
    """x + f(x) for each block."""
    for depth, activation in [(1, "tanh"), (1, "relu"), (2, "sigmoid"), (3, "tanh")]:
        options = {**PLAIN, "activation": activation, "residual": True}
        case = f"depth={depth}, activation='{activation}', residual=True"
        check_output(learner, reference, rng, (3, 2, depth, 4), options, case=case)


@exercise("make_mlp")
def test_outputs_with_batchnorm(learner, reference, rng):
    """BatchNorm between the Linear and the activation, with the statistics of the batch or, in eval mode, its own."""
    for depth, activation, training in [(1, "tanh", True), (1, "relu", True), (3, "sigmoid", True), (2, "tanh", False)]:
        options = {**PLAIN, "activation": activation, "norm": True}
        case = f"depth={depth}, activation='{activation}', norm=True, in {'train' if training else 'eval'} mode"
        check_output(learner, reference, rng, (3, 2, depth, 4), options, 6, training, case=case)


@exercise("make_mlp")
def test_outputs_with_everything(learner, reference, rng):
    """Residual connections around Linear, BatchNorm and activation; initialisation changes none of it."""
    for depth, activation, init in [(1, "relu", "default"), (2, "tanh", "xavier"), (3, "relu", "he")]:
        options = {"activation": activation, "init": init, "residual": True, "norm": True}
        case = f"depth={depth}, activation='{activation}', init='{init}', residual=True, norm=True"
        check_output(learner, reference, rng, (3, 2, depth, 4), options, 6, case=case)


def fresh(learner, seed, sizes, options):
    """The Linears of a fresh network in order, and some of another network's."""
    depth, width = sizes[2:]
    return learner.scenario.fresh_parameters(
        seed, sizes[:2], {"depth": depth, "width": width, **options}, shapes_of(sizes)
    )


# Of n normal numbers the standard deviation is off by a relative 1/sqrt(2n), 1.04 % for the smallest layer here, so 7 %
# is 6.7 sigma: no false reject in 10^10. In 1,000 seeds it was off by 3.7 % at most, with uniform weights by 2.3 %.
SMALLEST = np.array([160, 48, 6, 96])
WITHIN = 0.07
# The fourth moment over the square of the variance is 3 for a normal distribution and 1.8 for a uniform one. The
# estimate from n numbers has a standard deviation of √(24/n), 0.07 for the smallest layer here: 3.6 is 8 away.
KURTOSES = 1.6, 3.6


def check_spread(learner, rng, options, std_of, biases_zero, case):
    """Check the empirical standard deviations of the input, hidden and output layers' weights."""
    sizes = tuple((SMALLEST + rng.integers([160, 48, 1, 32])).tolist())
    got = fresh(learner, torch_seed(rng), sizes, options)
    shapes = [linear["W"].shape for linear in got["linears"]]
    expect(shapes == shapes_of(sizes), "The network that was made has Linears of other shapes.", case=case)
    first, *hidden, last = got["linears"]
    parts = {
        "the input layer": [first["W"]],
        "the hidden layers": [linear["W"] for linear in hidden],
        "the output layer": [last["W"]],
    }
    for part, weights in parts.items():
        fan_out, fan_in = weights[0].shape
        entries = np.concatenate([weight.ravel() for weight in weights]).astype(F64)
        std, wanted = float(entries.std()), std_of(fan_in, fan_out)
        as_wanted = abs(std / wanted - 1) < WITHIN
        expect(
            as_wanted,
            f"{options_in_words(options)}: the weights of {part} have the standard deviation {std:.3g}; {wanted:.3g} "
            f"expected for fan_in {fan_in} and fan_out {fan_out}.",
            case=case,
        )
        if not as_wanted:  # distinguishes the known mistakes
            expect_close(std, wanted, names=("the standard deviation",), case=case, rtol=WITHIN, atol=0.0)
        shape = float(np.mean((entries - entries.mean()) ** 4)) / max(std, 1e-300) ** 4
        expect(
            not as_wanted or (KURTOSES[0] < shape < KURTOSES[1] and len(np.unique(entries)) > entries.size // 2),
            f"The weights of {part} are neither normal nor uniform: {len(np.unique(entries)):,} different numbers of "
            f"{entries.size:,}, fourth moment {shape:.2g} std⁴ (normal 3, uniform 1.8).",
            case=case,
        )
        mean = abs(float(entries.mean()))
        expect(mean < 7 * wanted / math.sqrt(entries.size), f"The mean of the weights of {part} is not 0.", case=case)
    biases = np.concatenate([linear["b"] for linear in got["linears"]])
    if biases_zero:
        expect(not biases.any(), f"{options_in_words(options)}: not every bias of a Linear is 0.", case=case)
    else:
        expect(bool(biases.any()), "The biases are not those that torch.nn.Linear makes.", case=case)
    different = not any(np.array_equal(one["W"], other["W"]) for one, other in itertools.pairwise(hidden))
    expect(different, "Two hidden layers have the same weights.", case=case)
    fresh_each_time = not any(
        np.array_equal(one["W"], other["W"]) for one, other in zip(got["linears"][:2], got["another"], strict=True)
    )
    expect(fresh_each_time, "Two networks have the same weights: leave the random generator unseeded.", case=case)
    for norm in got["norms"]:
        expect(
            bool((norm["gamma"] == 1).all() and (norm["beta"] == 0).all()),
            "A BatchNorm1d does not start with weight 1 and bias 0.",
            case=case,
        )


def options_in_words(options):
    return f"init='{options['init']}'" if "init" in options else "no init given"


@exercise("make_mlp")
def test_default_weights(learner, rng):
    """What torch.nn.Linear makes: uniform up to 1/sqrt(fan_in), so the standard deviation is 1/sqrt(3 fan_in)."""
    for options in ({}, {"init": "default", "activation": "relu", "norm": True}):

        def std_of(fan_in, fan_out):
            return 1 / math.sqrt(3 * fan_in)

        check_spread(learner, rng, options, std_of, biases_zero=False, case=f"fresh weights, {named(options)}")


@exercise("make_mlp")
def test_xavier_weights(learner, reference, rng):
    """Every Linear's weights with xavier_std of its own fans, biases 0."""
    for options in (
        {"init": "xavier", "activation": "tanh"},
        {"init": "xavier", "activation": "relu", "residual": True, "norm": True},
    ):
        case = f"fresh weights, {named(options)}"
        check_spread(learner, rng, options, reference.xavier_std, biases_zero=True, case=case)


@exercise("make_mlp")
def test_he_weights(learner, reference, rng):
    """Every Linear's weights with he_std of its own fan_in, biases 0."""
    for options in (
        {"init": "he", "activation": "relu"},
        {"init": "he", "activation": "tanh", "residual": True, "norm": True},
    ):

        def std_of(fan_in, fan_out):
            return reference.he_std(fan_in)

        check_spread(learner, rng, options, std_of, biases_zero=True, case=f"fresh weights, {named(options)}")


# The factor per layer by which make_mlp's weights change the gradient, in 30 layers of width 64. 200 seeds with normal
# and 200 with uniform weights gave 0.137–0.146, 0.982–1.035, 0.943–1.063 (lowest–highest). The bounds are at least 6
# standard deviations of log(decay) from the mean: no false rejection in 10^8.
DECAYS: dict[str, tuple[dict[str, Any], str, float, float]] = {
    "make_mlp(20, 10): sigmoid, default weights": ({}, "sigmoid", 0.125, 0.157),
    "tanh, init='xavier'": ({"activation": "tanh", "init": "xavier"}, "tanh", 0.92, 1.09),
    "relu, init='he'": ({"activation": "relu", "init": "he"}, "relu", 0.83, 1.15),
}


def decay(linears: list[dict[str, Any]], activation: str, X, y) -> float:
    """The factor per layer by which a network with these weights changes the gradient; 0 if the gradient is 0.

    It depends on the weights that a submission drew, so it is computed here: an answer book cannot contain it.
    """
    import torch

    weights = [torch.tensor(linear["W"], requires_grad=True) for linear in linears]
    h = torch.tensor(X)
    for i, (weight, linear) in enumerate(zip(weights, linears, strict=True)):
        h = torch.nn.functional.linear(getattr(torch, activation)(h) if i else h, weight, torch.tensor(linear["b"]))
    loss = torch.nn.functional.cross_entropy(h, torch.tensor(y))
    norms = [gradient.double().norm().item() for gradient in torch.autograd.grad(loss, weights[1:-1])]
    usable = all(0 < norm < math.inf for norm in norms)
    return (norms[0] / norms[-1]) ** (1 / (len(norms) - 1)) if usable else 0.0


@exercise("make_mlp")
def test_what_becomes_of_the_gradient(learner):
    """The experiment: the gradient norms of 30 layers with the weights that make_mlp gave them."""
    rng = np.random.default_rng(9)  # a property, on visible inputs only: any good weights have it
    sizes = (20, 10, 30, 64)
    for case, (options, activation, low, high) in DECAYS.items():
        got = fresh(learner, torch_seed(rng), sizes, options)
        factor = decay(got["linears"], activation, *batch(rng, 64, 20, 10, F32))
        expect(
            low < factor < high,
            f"The gradient changes by the factor {factor:.3g} per layer; {low} to {high} expected.",
            case=case,
        )


@exercise("make_mlp", promise="instrumented")
def test_unknown_options(learner, reference, rng):
    """Another activation or init is a ValueError."""
    for init in ("default", "xavier", "he"):  # valid options: expect a network, not an exception
        learner.scenario.architecture(torch_seed(rng), (3, 2, 1, 4), {**PLAIN, "init": init})
    n_in, n_out, width = ends_and_width(rng)
    check_architecture(learner, reference, torch_seed(rng), (n_in, n_out, 1, width), PLAIN, "depth=1")
    for options in (
        {"activation": "gelu"},
        {"init": "zeros"},
        {"activation": "linear", "init": "he"},
        {"activation": "relu", "init": "kaiming"},
        {"activation": ""},
    ):
        case = ", ".join(f"{name}={value!r}" for name, value in options.items())
        expect_raises(ValueError, learner.make_mlp, 3, 2, 1, 4, **options, case=case)
