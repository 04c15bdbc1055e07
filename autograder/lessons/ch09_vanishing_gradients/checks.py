"""Checks of ch09_vanishing_gradients: gradients measured, predicted, and kept alive.

Models stay with the submission: scenarios build them, or have them built, and bring numbers back. Where a network is
random, the checks see it through properties with margins that were measured over many seeds; each says how wide.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from autograder.judging import F32, F64, compare, exercise, expect, expect_close, expect_raises, random
from autograder.wording import clean

EXACT = {"rtol": 1e-9, "atol": 0.0}  # a gradient that has vanished is compared as closely as a large one
SINGLE = {"rtol": 1e-3, "atol": 0.0}  # gradients of 30 float32 layers, added up in any order, differ by less than 1e-5


def layer(rng, fan_in, fan_out, dtype=F64, scale=1.0):
    """A Linear's weights and bias, as large as PyTorch makes them."""
    bound = scale / math.sqrt(fan_in)
    return {
        "W": rng.uniform(-bound, bound, size=(fan_out, fan_in)).astype(dtype),
        "b": rng.uniform(-bound, bound, size=fan_out).astype(dtype),
    }


def layers(rng, *widths, dtype=F64, scale=1.0):
    """Linears from each width to the next."""
    return [layer(rng, fan_in, fan_out, dtype, scale) for fan_in, fan_out in itertools.pairwise(widths)]


def batch(rng, n, d, classes, dtype=F64):
    return random(rng, (n, d), dtype), rng.integers(classes, size=n)


def torch_seed(rng) -> int:
    return int(rng.integers(2**31))


def same(got: Any, expected: Any, message: str, *, case: str, instead: str = "") -> bool:
    """Expect `got` to be `expected`; where it is not, its value, and `instead`, tell the known mistakes apart."""
    expect(got == expected, message, case=case, instead=instead)
    if got != expected:
        expect_close(np.asarray(got), np.asarray(expected), names=("modules()",), case=case, rtol=0, atol=0)
    return bool(got == expected)


def shapes_of(sizes: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    n_in, n_out, depth, width = sizes
    return [(width, n_in), *[(width, width)] * depth, (n_out, width)]


def same_shapes(got: list[Any], sizes: tuple[int, int, int, int], case: str) -> bool:
    """The number and the shapes of the Linears."""
    wanted, got = shapes_of(sizes), [tuple(shape) for shape in got]
    message = f"modules() finds {len(got)} Linears; depth + 2 = {len(wanted)} expected."
    if len(got) == 2:
        # a known mistake of make_mlp; what such a network learns is luck, so healthy_mlp has no name for it
        message += " It does not look into a plain Python list: if the blocks are in one, use nn.ModuleList."
    return same(len(got), len(wanted), message, case=case, instead=in_words(got)) and same(
        got,
        wanted,
        f"modules() finds Linears with weights of the shapes {in_words(got)}, in this order; {in_words(wanted)} "
        "expected: (width, n_in), depth times (width, width), (n_out, width).",
        case=case,
    )


def in_words(shapes: list[tuple[int, int]]) -> str:
    found = [str(shape) for shape in shapes]
    return ", ".join([*found[:3], "…", *found[-2:]] if len(found) > 6 else found)


# layer_gradient_norms


def check_norms(learner, reference, kind, stack, X, y, training=True, *, case, rtol=1e-9):
    arguments = kind, stack, X, y, training
    got, expected = (who.scenario.gradient_norms(*arguments) for who in (learner, reference))
    expect_close(got, expected, names=("layer_gradient_norms",), case=case, rtol=rtol, atol=0.0)


@exercise("layer_gradient_norms")
def test_one_norm_for_each_linear(learner, reference, rng):
    """The Linears of a chain, first to last; a single Linear is a model, too."""
    for case, kind, widths, n in [
        ("two Linears", "tanh", (2, 3, 2), 3),
        ("the model is a single Linear", "one linear", (2, 3), 4),
        ("one example, three Linears", "sigmoid", (3, 2, 4, 3), 1),
        ("five Linears", "tanh", (4, 5, 3, 5, 2, 3), 6),
    ]:
        X, y = batch(rng, n, widths[0], widths[-1])
        check_norms(learner, reference, kind, layers(rng, *widths), X, y, case=case)


@exercise("layer_gradient_norms")
def test_thirty_sigmoid_layers(learner, reference, rng):
    """Gradients of 1e-27 in float32: their squares are 0.0, and they are not."""
    for case, depth in [("30 hidden sigmoid layers, float32", 30), ("20 hidden sigmoid layers, float32", 20)]:
        stack = layers(rng, 6, *[8] * (depth + 1), 4, dtype=F32)
        X, y = batch(rng, 16, 6, 4, F32)
        check_norms(learner, reference, "sigmoid", stack, X, y, case=case, rtol=SINGLE["rtol"])


@exercise("layer_gradient_norms")
def test_large_gradients(learner, reference, rng):
    """Gradients of 1e25 in float32: their squares are inf, and they are not."""
    stack = layers(rng, 3, 4, dtype=F32)
    X, y = batch(rng, 8, 3, 4, F32)
    y = (np.arange(8) % 4).astype(y.dtype)
    for case, scale in [("moderate inputs, float32", 1), ("inputs of 1e25, float32", 1e25)]:
        arguments = stack, X * F32(scale), y
        check_norms(learner, reference, "one linear", *arguments, case=case, rtol=SINGLE["rtol"])


@exercise("layer_gradient_norms")
def test_order_of_modules(learner, reference, rng):
    """The order of modules(), not that of the forward pass; modules inside of modules are found."""
    X, y = batch(rng, 5, 2, 3)
    check_norms(learner, reference, "head first", layers(rng, 2, 4, 3, 3), X, y, case="nested modules, head first")


@exercise("layer_gradient_norms")
def test_a_linear_that_runs_twice(learner, reference, rng):
    """One module, one weight, one norm: of the sum of both gradients."""
    X, y = batch(rng, 5, 2, 3)
    check_norms(learner, reference, "recurrent", layers(rng, 2, 4, 4, 3), X, y, case="a Linear that runs twice")


@exercise("layer_gradient_norms")
def test_other_weights_do_not_count(learner, reference, rng):
    """LayerNorm and convolutions have weights, too."""
    X, y = batch(rng, 5, 2, 3)
    check_norms(learner, reference, "embedded", layers(rng, 2, 4, 3), X, y, case="a model with LayerNorm and Conv1d")


@exercise("layer_gradient_norms")
def test_the_mode_of_the_model(learner, reference, rng):
    """BatchNorm normalises with the batch in train mode and with running statistics in eval mode."""
    for mode in ("train", "eval"):
        stack = layers(rng, 2, 5, 3)
        X, y = batch(rng, 6, 2, 3)
        case = f"BatchNorm, the model is in {mode} mode"
        check_norms(learner, reference, "batchnorm", stack, X, y, mode == "train", case=case)


@exercise("layer_gradient_norms")
def test_calling_twice(learner, reference, rng):
    """The second call gives the same: nothing adds up in .grad."""
    for widths in ((2, 3, 2), (3, 4, 4, 3)):
        X, y = batch(rng, 4, widths[0], widths[-1])
        arguments = layers(rng, *widths), X, y
        got, expected = (who.scenario.gradient_norms_twice(*arguments) for who in (learner, reference))
        for call, norms in expected.items():
            expect_close(got[call], norms, names=(call,), case=f"two calls, {len(widths) - 1} Linears", **EXACT)


@exercise("layer_gradient_norms", promise="instrumented")
def test_the_model_afterwards(learner, reference, rng):
    """Parameters, .grad and mode are those from before, in a model that has gradients already."""
    for case, kind, widths, dtype, training in [
        ("a model with gradients in some .grad", "tanh", (2, 3, 2), F64, True),
        ("a model in eval mode", "batchnorm", (2, 4, 3), F64, False),
        ("float32, a model in train mode", "tanh", (2, 3, 2), F32, True),
    ]:
        X, y = batch(rng, 5, widths[0], widths[-1], dtype)
        arguments = kind, layers(rng, *widths, dtype=dtype), X, y, training
        got, expected = (who.scenario.after_gradient_norms(*arguments) for who in (learner, reference))
        compare(got, expected, case=case, rtol=1e-3 if dtype is F32 else 1e-9, atol=0)


# decay_per_layer


def check_decay(learner, reference, norms, case):
    got, expected = (who.decay_per_layer(norms) for who in (learner, reference))
    expect_close(got, expected, names=("decay_per_layer",), case=case, **EXACT)


def some_norms(rng, n, factor=1.0, last=1.0):
    """n norms that change by about `factor` from each layer to the one before."""
    exponents = math.log10(last) + math.log10(factor) * np.arange(n)[::-1] + rng.uniform(-0.3, 0.3, size=n)
    return [10.0 ** float(exponent) for exponent in exponents]


@exercise("decay_per_layer")
def test_ratios(learner, reference, rng):
    """The geometric mean of norms[i] / norms[i + 1]."""
    for case, n, factor in [
        ("two layers, vanishing", 2, 0.1),
        ("three layers, vanishing", 3, 0.2),
        ("three layers, exploding", 3, 5.0),
        ("five layers", 5, 1.0),
        ("30 layers, 0.14 per layer", 30, 0.14),
        ("30 layers, 1.2 per layer", 30, 1.2),
    ]:
        check_decay(learner, reference, some_norms(rng, n, factor), case)


@exercise("decay_per_layer")
def test_equal_norms(learner, reference, rng):
    """Where nothing changes the factor is 1; a list that goes down and up is no other than its ends."""
    norm = float(rng.uniform(0.5, 5))
    check_decay(learner, reference, [norm, norm * float(rng.uniform(1.2, 3))], "two norms")
    check_decay(learner, reference, [norm] * 4, "four equal norms")
    check_decay(learner, reference, [norm, 1e-6, 1e6, norm], "equal ends, large and small norms between them")


@exercise("decay_per_layer")
def test_quotients_that_are_no_floats(learner, reference, rng):
    """The first norm over the last underflows to 0 or overflows; the factor per layer is an ordinary number."""
    for case, n, factor, last in [
        ("norms down to 1e-27", 31, 0.13, 0.05),
        ("from 1e-200 to 1e200, eleven layers", 11, 1e-40, 1e200),
        ("from 1e200 to 1e-200, eleven layers", 11, 1e40, 1e-200),
    ]:
        check_decay(learner, reference, some_norms(rng, n, factor, last), case)


@exercise("decay_per_layer", promise="instrumented")
def test_norms_without_a_ratio(learner, reference, rng):
    """Fewer than two norms, a zero, a nan, an inf, a negative number."""
    a, b, c = some_norms(rng, 3)
    check_decay(learner, reference, [a, b, c], "three positive norms")
    for case, norms in [
        ("the first norm is 0", [0.0, a, b]),
        ("the last norm is 0", [a, b, 0.0]),
        ("a norm between is 0", [a, 0.0, b]),
        ("all norms are 0", [0.0, 0.0]),
        ("a single norm", [a]),
        ("no norms", []),
        ("a norm is nan", [a, math.nan, b]),
        ("the first norm is nan", [math.nan, a]),
        ("the last norm is inf", [a, b, math.inf]),
        ("the first norm is inf", [math.inf, a, b]),
        ("a norm is negative", [a, -b, c]),
        ("two norms are negative", [-a, b, -c]),
    ]:
        expect_raises(ValueError, learner.decay_per_layer, norms, case=case)


# xavier_std


def check_std(function, known, *fans, case):
    got, expected = (who(*fans) for who in (function, known))
    expect_close(got, expected, names=(case.split(" of ")[0],), case=case, **EXACT)


def fan(rng, low=3, high=500):
    return int(rng.integers(low, high))


@exercise("xavier_std")
def test_xavier_of_rectangular_layers(learner, reference, rng):
    """sqrt(2 / (fan_in + fan_out)); both fans count."""
    for case, fan_in, fan_out in [
        ("xavier_std of a wide layer", fan(rng, 3, 9), fan(rng, 20, 90)),
        ("xavier_std of a narrow layer", fan(rng, 20, 90), fan(rng, 3, 9)),
        ("xavier_std of an odd number of fans", 2 * fan(rng, 2, 5), 2 * fan(rng, 2, 5) + 1),
        ("xavier_std of large fans", fan(rng, 10**5, 10**6), fan(rng, 10**6, 10**7)),
    ]:
        check_std(learner.xavier_std, reference.xavier_std, fan_in, fan_out, case=case)


@exercise("xavier_std")
def test_xavier_of_small_and_square_layers(learner, reference, rng):
    """One input and one output give 1."""
    fan_in = fan(rng, 5, 90)
    for case, fans in [
        ("xavier_std of a square layer", (fan_in, fan_in)),
        ("xavier_std of one input", (1, fan(rng, 5, 90))),
        ("xavier_std of one output", (fan(rng, 5, 90), 1)),
        ("xavier_std of one input and one output", (1, 1)),
    ]:
        check_std(learner.xavier_std, reference.xavier_std, *fans, case=case)


# he_std


@exercise("he_std")
def test_he(learner, reference, rng):
    """sqrt(2 / fan_in)."""
    for case, fan_in in [
        ("he_std of some inputs", fan(rng, 3, 9)),
        ("he_std of many inputs", fan(rng, 20, 500)),
        ("he_std of very many inputs", fan(rng, 10**6, 10**7)),
    ]:
        check_std(learner.he_std, reference.he_std, fan_in, case=case)


@exercise("he_std")
def test_he_of_few_inputs(learner, reference, rng):
    """One input gives sqrt(2), two give 1; and how it goes on."""
    for case, fan_in in [
        ("he_std of one input", 1),
        ("he_std of two inputs", 2),
        ("he_std of three inputs", 3),
        ("he_std of more inputs", fan(rng, 4, 10**6)),
    ]:
        check_std(learner.he_std, reference.he_std, fan_in, case=case)


# make_mlp

PLAIN: dict[str, Any] = {"activation": "tanh", "init": "default", "residual": False, "norm": False}


def named(options: dict[str, Any]) -> str:
    """What is not as in PLAIN, as a program would write it."""
    given = [f"{name}={value!r}" for name, value in options.items() if value != PLAIN.get(name)]
    return ", ".join(given) or "no options"


def check_architecture(learner, reference, seed, sizes, options, case) -> bool:
    """What is in the network; False, and nothing more is looked at, where the layers are others."""
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


def ends_and_width(rng) -> tuple[int, int, int]:
    """n_in, n_out and a width, all different and small."""
    n_in, n_out, width = rng.permutation(np.arange(2, 12))[:3].tolist()
    return n_in, n_out, width


# A wrong answer is compared with each known mistake, check by check, so checks are light: the small networks come
# first, a check ends where the layers are others, and those of values raise then, which is compared with nothing.
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
    """Parameters of a network: biases, scales and shifts that are not those of a fresh one."""
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
    """The Linears of a fresh network, first to last, and some of another one."""
    depth, width = sizes[2:]
    return learner.scenario.fresh_parameters(
        seed, sizes[:2], {"depth": depth, "width": width, **options}, shapes_of(sizes)
    )


# Of n normal numbers the standard deviation is off by a relative 1/sqrt(2n), 1.04 % for the smallest layer here, so 7 %
# is 6.7 sigma: no false reject in 10^10. In 1,000 seeds it was off by 3.7 % at most, with uniform weights by 2.3 %.
SMALLEST = np.array([160, 48, 6, 96])
WITHIN = 0.07


def check_spread(learner, rng, options, std_of, biases_zero, case):
    """The empirical standard deviations of the input layer's weights, of all hidden ones, of the output layer's."""
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
        if not as_wanted:  # tells the known mistakes apart
            expect_close(std, wanted, names=("the standard deviation",), case=case, rtol=WITHIN, atol=0.0)
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


# What make_mlp's own weights do to the gradient, per layer, in 30 layers of width 64. 200 seeds with normal and 200
# with uniform weights gave (lowest, highest): 0.137–0.146, 0.982–1.035, 0.943–1.063. The
# bounds are 6 standard deviations of log(decay) or more from the mean: no false reject in 10^8.
DECAYS: dict[str, tuple[dict[str, Any], float, float]] = {
    "make_mlp(20, 10): sigmoid, default weights": ({}, 0.125, 0.157),
    "tanh, init='xavier'": ({"activation": "tanh", "init": "xavier"}, 0.92, 1.09),
    "relu, init='he'": ({"activation": "relu", "init": "he"}, 0.83, 1.15),
}


@exercise("make_mlp")
def test_what_becomes_of_the_gradient(learner, reference):
    """The experiment: the gradient norms of 30 layers with the weights that make_mlp gave them."""
    rng = np.random.default_rng(9)  # a property, on visible inputs alone: any good weights have it
    sizes = (20, 10, 30, 64)
    for case, (options, low, high) in DECAYS.items():
        got = fresh(learner, torch_seed(rng), sizes, options)
        parameters = {"linears": got["linears"], "norms": []}
        X, y = batch(rng, 64, 20, 10, F32)
        norms = reference.scenario.hidden_gradient_norms(sizes, options, parameters, X, y)
        usable = norms is not None and all(0 < norm < math.inf for norm in norms)
        decay = (norms[0] / norms[-1]) ** (1 / 29) if usable else 0.0
        expect(
            low < decay < high,
            f"The gradient changes by the factor {decay:.3g} per layer; {low} to {high} expected.",
            case=case,
        )


@exercise("make_mlp", promise="instrumented")
def test_unknown_options(learner, reference, rng):
    """Another activation or init is a ValueError."""
    for init in ("default", "xavier", "he"):  # these are known: a network, and no exception
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


# healthy_mlp


@exercise("healthy_mlp", promise="instrumented")
def test_structure(learner, rng):
    """depth + 2 Linears, BatchNorm and ReLU in each block, logits, and a way past every block."""
    for depth, width in [(1, 4), (5, 8), (30, 16)]:
        n_in, n_out, _ = ends_and_width(rng)
        width += int(rng.integers(8))
        case = f"a network of depth={depth}"
        X = random(rng, (16, n_in), F32)
        got = learner.scenario.healthy_structure(torch_seed(rng), (n_in, n_out, depth, width), X)
        expect(got["a module"], "healthy_mlp returned no torch.nn.Module.", case=case)
        if not got["a module"] or not same_shapes(got["linears"], (n_in, n_out, depth, width), case):
            return
        message = f"{got['norms']} modules BatchNorm1d run; depth = {depth} expected, one in each block."
        if got["norms"] < got["norms made"]:
            message = f"{got['norms made']} modules BatchNorm1d are made, and {got['norms']} of them run."
        elif got["layernorms"]:
            message += f" LayerNorms found: {got['layernorms']}."
        expect(got["norms"] >= depth, message, case=case)
        if got["norms"] < depth:  # tells the known mistakes apart
            made = [got["norms"], got["norms made"], got["layernorms"]]
            expect_close(np.array(made), np.array([depth, depth, 0]), names=("norms",), case=case, rtol=0, atol=0)
        message = f"{got['relus']} modules ReLU run; depth = {depth} expected, one in each block."
        if got["relus"] < depth and not got["other activations"]:  # no known mistake, which has another activation
            message += " A function such as torch.relu is no module: use torch.nn.ReLU()."
            expect(False, message, case=case)
        else:
            found = ", ".join(clean(str(name), 20) for name in got["other activations"][:3])
            expect(got["relus"] >= depth, f"{message} Found: {found}.", case=case)
        expect(got["shape"] == (16, n_out), "The output has not the shape (n, n_out).", case=case)
        message = (
            "With the hidden Linears set to 0 nothing of x arrives at the output: there is no residual connection. "
            "A block gives x + f(x)."
        )
        expect(got["skips"], message, case=case)
        message = (
            "With the hidden Linears set to 0, all but the first, nothing of the first block arrives at the output. "
            "A block gives x + f(x), where x is its own input, not that of another block."
        )
        expect(got["carries on"], message, case=case)
        message = (
            "With the hidden Linears set to 0 a block does not give x but something else: a block is x + f(x), with "
            "no factor, and no ReLU or BatchNorm after the addition."
        )
        expect(got["adds only"] or not got["skips"], message, case=case)
        message = "The outputs are probabilities or their logarithms. Return logits: the loss has the softmax in it."
        expect(not got["softmax"], message, case=case)
        expect(got["train mode"], "The network is not in train mode.", case=case)


# The ratio of the first to the last hidden gradient norm of fresh networks. 2,160 honest ones (five orders in the
# block, three initialisations, a BatchNorm more; depths and widths as below) had 0.98 to 15.2. Without residual
# connections 450 had 138 to 447 at depth 30, width 64. The worst honest kind's logarithm is 3.8 standard deviations
# below log(30), and of three networks the median counts: a false reject in 10^7.
@exercise("healthy_mlp", promise="instrumented")
def test_gradients_in_bounds(learner):
    """The first hidden layer's gradient norm between 1/30 and 30 times the last one's."""
    rng = np.random.default_rng(30)  # a property, on visible inputs alone: any healthy network has it
    for depth, width in [(30, 64), (30, 32), (10, 32)]:
        case = f"fresh networks, depth={depth}, width={width}"
        ratios = []
        for _ in range(3):
            arguments = torch_seed(rng), (12, 4, depth, width), *batch(rng, 128, 12, 4, F32)
            got = learner.scenario.healthy_gradient_norms(*arguments) or {"norms": [], "silent": False}
            norms = got["norms"]
            expect(len(norms) == depth, "modules() does not find depth + 2 Linears.", case=case)
            expect(not got["silent"], "The output layer's weights are 0, and so are all gradients below.", case=case)
            message = (
                "A hidden Linear has a gradient of exactly 0, and zeros have no ratio. A branch f that begins at 0, "
                "with a BatchNorm weight of zeros, say, is an honest choice elsewhere, but not one for this exercise."
            )
            expect(got["silent"] or 0 not in norms, message, case=case)
            expect(all(map(math.isfinite, norms)), "The gradient of a hidden Linear is inf or nan.", case=case)
            if len(norms) != depth or not all(0 < norm < math.inf for norm in norms):
                return
            ratios.append(norms[0] / norms[-1])
        ratio = sorted(ratios)[1]
        explodes = "explodes towards" if ratio > 1 else "vanishes towards"
        message = (
            f"The gradient {explodes} the first layer: its norm is {ratio:.2g} times that of the last hidden layer; "
            "1/30 to 30 expected."
        )
        expect(1 / 30 <= ratio <= 30, message, case=case)


def clouds(rng, n, d, classes):
    """Points around as many centres, each 3 from the origin at right angles to the others, and the classes."""
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    y = rng.integers(classes, size=n)
    return (3 * axes[y] + 0.5 * rng.normal(size=(n, d))).astype(F32), y


# 88 honest networks (11 kinds, 8 seeds) told 98 % to 100 % of the new points right, and 90 % at least where each block
# gives (x + f(x))/√2. Without skips (sigmoid, plain ReLU, ReLU with BatchNorm, the same with He's weights; 32 networks)
# they told 21 % to 42 %. 60 steps at half the rate tell as much, for half as much again.
@exercise("healthy_mlp")
def test_it_learns(learner, rng):
    """Trained by us for 40 steps, its logits for new points, whose classes the submission never sees."""
    case = "depth=30, width=32, 40 steps of Adam, four clouds of points"
    X, y = clouds(rng, 712, 12, 4)
    logits = learner.scenario.trained(torch_seed(rng), (12, 4, 30, 32), X[:512], y[:512], X[512:], 40)
    there = isinstance(logits, np.ndarray) and logits.shape == (200, 4) and bool(np.isfinite(logits).all())
    expect(there, "After the training the outputs are no finite logits of shape (n, n_out).", case=case)
    right = float((logits.argmax(axis=1) == y[512:]).mean()) if there else 0.0
    message = f"After the training {right:.0%} of new points are told right; 80 % expected, and 25 % is guessing."
    expect(right >= 0.8, message, case=case)


# clip_grad_norm


def check_clipped(learner, reference, arrays, max_norm, case, rtol=1e-9):
    """The norm to 1e-9 whatever the dtype of the gradients, which are compared to `rtol`."""
    import torch

    grads = [torch.tensor(array) for array in arrays]
    got, expected = (who.clip_grad_norm(grads, max_norm) for who in (learner, reference))
    if not isinstance(got, tuple | list) or len(got) != 2:
        expect_close(got, expected, names=("clip_grad_norm",), case=case, rtol=rtol, atol=0.0)
        return
    expect_close(got[1], expected[1], names=("total_norm",), case=case, **EXACT)
    expect_close(got[0], expected[0], names=("clipped",), case=case, rtol=rtol, atol=0.0)


def gradients(rng, *shapes, dtype=F64, scale=1.0):
    return [np.asarray(rng.normal(size=shape) * scale, dtype=dtype) for shape in shapes]


def norm_of(arrays):
    return math.sqrt(sum(float((array.astype(F64) ** 2).sum()) for array in arrays))


@exercise("clip_grad_norm")
def test_clipped_to_the_norm(learner, reference, rng):
    """Several tensors, one norm, one factor: afterwards the norm is max_norm."""
    for case, shapes, share in [
        ("one gradient, clipped to half", [(3,)], 0.5),
        ("two gradients, clipped to half", [(2,), (3,)], 0.5),
        ("weights and biases, clipped to a tenth", [(3, 2), (3,), (4, 3), (4,)], 0.1),
        ("a 0-d and an empty gradient among them", [(), (0, 3), (2, 1)], 0.3),
    ]:
        grads = gradients(rng, *shapes)
        check_clipped(learner, reference, grads, share * norm_of(grads), case)


@exercise("clip_grad_norm")
def test_no_need_to_clip(learner, reference, rng):
    """A norm below max_norm: nothing is scaled up."""
    grads = gradients(rng, (2,), (3, 2))
    check_clipped(learner, reference, grads, 0.9 * norm_of(grads), "max_norm 10 % below the norm")
    check_clipped(learner, reference, grads, 1.1 * norm_of(grads), "max_norm 10 % above the norm")
    check_clipped(learner, reference, grads, 1e3, "max_norm far above the norm")
    check_clipped(learner, reference, [np.array([3.0]), np.array([-4.0])], 5.0, "the norm is max_norm exactly")


@exercise("clip_grad_norm")
def test_nothing_there(learner, reference, rng):
    """Zeros and empty lists: 0 / 0 has to be kept from happening."""
    grads = gradients(rng, (2,))
    check_clipped(learner, reference, grads, 0.5 * norm_of(grads), "one gradient, clipped to half")
    check_clipped(learner, reference, [np.zeros(2), np.zeros((1, 3))], 1.0, "all gradients are zero")
    check_clipped(learner, reference, [np.zeros(2), *gradients(rng, (3,))], 0.1, "one gradient is zero")
    check_clipped(learner, reference, [], 1.0, "no gradients")


@exercise("clip_grad_norm")
def test_small_norms_without_epsilon(learner, reference, rng):
    """Gradients of 1e-8, float64: an epsilon of 1e-6 in the denominator would be larger than they are."""
    for scale in (1.0, 1e-4, 1e-8):
        grads = gradients(rng, (3,), (2, 2), scale=scale)
        case = f"gradients of about {scale:g}, clipped to a quarter"
        check_clipped(learner, reference, grads, 0.25 * norm_of(grads), case)


@exercise("clip_grad_norm")
def test_extreme_float32(learner, reference, rng):
    """Squares that float32 cannot hold: of 1e-27, of 1e30."""
    for scale in (1.0, 1e-27, 1e30):
        grads = gradients(rng, (3,), (2, 2), dtype=F32, scale=scale)
        case = f"float32 gradients of about {scale:g}, clipped to a quarter"
        check_clipped(learner, reference, grads, 0.25 * norm_of(grads), case, rtol=1e-5)


@exercise("clip_grad_norm")
def test_each_dtype_stays(learner, reference, rng):
    """float32, float16 and float64, each in its own dtype, also in one list."""
    for case, dtypes in [("float32", [F32, F32]), ("float16 and float32", [np.float16, F32]), ("mixed", [F64, F32])]:
        grads = [gradients(rng, (3,), dtype=dtype)[0] for dtype in dtypes]
        check_clipped(learner, reference, grads, 0.5 * norm_of(grads), f"{case}, clipped to half", rtol=2e-3)
        check_clipped(learner, reference, grads, 2 * norm_of(grads), f"{case}, not clipped", rtol=2e-3)


@exercise("clip_grad_norm", promise="instrumented")
def test_norms_that_are_not_finite(learner, reference, rng):
    """inf and nan anywhere are a ValueError."""
    import torch

    grads = gradients(rng, (2,), (2, 3))
    check_clipped(learner, reference, grads, 0.5 * norm_of(grads), "finite gradients, clipped to half")
    for name, value in {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.items():
        for i, where in enumerate(("the first gradient", "the second gradient")):
            tensors = [torch.tensor(grad) for grad in gradients(rng, (2,), (2, 3))]
            tensors[i].view(-1)[int(rng.integers(tensors[i].numel()))] = value
            expect_raises(ValueError, learner.clip_grad_norm, tensors, 1.0, case=f"an entry of {where} is {name}")


# dead_relu_fraction


def relu_layer(rng, fan_in, dead, alive, mixed, dtype=F64):
    """A Linear for `dead` units that are always negative, `alive` ones that never are, and some in between."""
    units = dead + alive + mixed
    found = {"W": 0.01 * random(rng, (units, fan_in)), "b": np.concatenate([-np.ones(dead), np.ones(alive + mixed)])}
    found["W"][dead + alive :] *= 100
    found["b"][dead + alive :] = 0.1 * random(rng, mixed)
    order = rng.permutation(units)
    return {name: values[order].astype(dtype) for name, values in found.items()}


def relu_layers(rng, d, *kinds, dtype=F64):
    """Linears with so many (dead, alive, mixed) units, and a last one with two outputs."""
    found, fan_in = [], d
    for kind in kinds:
        found.append(relu_layer(rng, fan_in, *kind, dtype=dtype))
        fan_in = sum(kind)
    return [*found, layer(rng, fan_in, 2, dtype)]


def some_kinds(rng, layers, mixed=3):
    """For each layer, how many units are dead, alive and, `mixed` at most, in between."""
    return [
        (dead, alive, int(rng.integers(mixed + 1))) for dead, alive in rng.integers(1, 30, size=(layers, 2)).tolist()
    ]


def check_share(learner, reference, kind, stack, X, training=True, *, case):
    got, expected = (who.scenario.dead_fraction(kind, stack, X, training) for who in (learner, reference))
    expect_close(got, expected, names=("dead_relu_fraction",), case=case, rtol=1e-6, atol=1e-9)


def points(rng, n, d, dtype=F64):
    """Numbers between −2 and 2, so that no dead unit wakes up."""
    return rng.uniform(-2, 2, size=(n, d)).astype(dtype)


@exercise("dead_relu_fraction")
def test_share_of_units(learner, reference, rng):
    """Units that are 0 on every row, of all units behind all ReLUs."""
    for case, layers, n in [("one ReLU", 1, 8), ("two ReLUs", 2, 8), ("three ReLUs of different widths", 3, 12)]:
        stack = relu_layers(rng, 3, *some_kinds(rng, layers))
        check_share(learner, reference, "relu", stack, points(rng, n, 3), case=case)


@exercise("dead_relu_fraction")
def test_none_and_all(learner, reference, rng):
    """No dead unit, only dead ones, and a model without any ReLU."""
    X = points(rng, 6, 3)
    check_share(learner, reference, "relu", relu_layers(rng, 3, *some_kinds(rng, 1, 0)), X, case="some units dead")
    check_share(learner, reference, "relu", relu_layers(rng, 3, (3, 0, 0)), X, case="all units dead")
    check_share(learner, reference, "relu", relu_layers(rng, 3, (0, 3, 0)), X, case="no unit dead")
    check_share(learner, reference, "sigmoid", relu_layers(rng, 3, (2, 1, 0)), X, case="a model without ReLU")
    check_share(
        learner, reference, "relu", relu_layers(rng, 3, *some_kinds(rng, 2, 0)), X, case="some units of two ReLUs"
    )


@exercise("dead_relu_fraction")
def test_one_row_is_enough(learner, reference, rng):
    """A unit that is 1e-12 on a single row is not dead; with one row alone, a 0 is."""

    def stack():
        """Some units that are dead or alive, and three that show one input each."""
        first, _ = relu_layers(rng, 3, *some_kinds(rng, 1, 0))
        first = {"W": np.vstack([first["W"], np.eye(3)]), "b": np.append(first["b"], np.zeros(3))}
        return [first, layer(rng, len(first["b"]), 2)]

    X = points(rng, 7, 3)
    X[:, 0] = 0.0
    X[int(rng.integers(7)), 0] = 1e-12
    X[:, 1] = -np.abs(X[:, 1])
    check_share(learner, reference, "relu", stack(), X, case="a unit of 1e-12 on one row, and 0 on six")
    X = points(rng, 1, 3) * np.array([1, 0, 0]) + np.array([0, -1, 1])
    check_share(learner, reference, "relu", stack(), X, case="a single row")


@exercise("dead_relu_fraction")
def test_relus_inside_of_modules(learner, reference, rng):
    """modules() finds what children() does not; a ReLU that runs twice is two layers, one that never runs is none."""
    stack = relu_layers(rng, 3, *some_kinds(rng, 2))
    check_share(learner, reference, "nested", stack, points(rng, 8, 3), case="a ReLU inside of a module")
    stack = relu_layers(rng, 3, *some_kinds(rng, 2))
    check_share(learner, reference, "twice", stack, points(rng, 8, 3), case="one ReLU module that runs twice")


@exercise("dead_relu_fraction")
def test_relus_alone_count(learner, reference, rng):
    """Sigmoid units are never 0, and no part of the units that are counted; nor are those of a Linear."""
    for _ in range(2):  # one share is easily met by chance
        stack = relu_layers(rng, 3, *some_kinds(rng, 2))
        check_share(learner, reference, "mixed", stack, points(rng, 8, 3), case="a ReLU and a Sigmoid in one model")


@exercise("dead_relu_fraction")
def test_outputs_that_are_written_into(learner, reference, rng):
    """h += 1 behind the ReLU: whoever looks after the run sees no zeros."""
    for _ in range(2):  # one share is easily met by chance
        stack = relu_layers(rng, 3, *some_kinds(rng, 2))
        case = "the model does h += 1 after its ReLUs"
        check_share(learner, reference, "in place", stack, points(rng, 8, 3), case=case)


def batchnorm_layers(rng, dtype=F64):
    """Units that the running statistics leave negative on every row; within a batch BatchNorm wakes all of them."""
    units = int(rng.integers(6, 50))
    stack = layers(rng, 3, units, 2, dtype=dtype)
    stack[0]["b"] = np.where(np.arange(units) < int(rng.integers(2, units - 1)), -9.0, 9.0).astype(dtype)
    return stack


@exercise("dead_relu_fraction")
def test_dead_in_the_mode_of_the_model(learner, reference, rng):
    """BatchNorm: in train mode and in eval mode other units are dead."""
    for mode in ("eval", "train"):
        case = f"BatchNorm, the model is in {mode} mode"
        arguments = batchnorm_layers(rng), points(rng, 6, 3), mode == "train"
        check_share(learner, reference, "batchnorm", *arguments, case=case)


@exercise("dead_relu_fraction", promise="instrumented")
def test_no_hook_is_left(learner, reference, rng):
    """Hooks, parameters, .grad and mode are those from before, also where the model raises."""
    for case, kind, dtype, training in [
        ("after the call, two ReLUs", "relu", F64, True),
        ("after the call, a model in eval mode", "batchnorm", F64, False),
        ("after the call, float32", "relu", F32, True),
        ("the model raises an exception", "raises", F64, True),
    ]:
        stack = batchnorm_layers(rng, dtype) if kind == "batchnorm" else relu_layers(rng, 3, (1, 2, 1), (2, 2, 1))
        stack = [{name: values.astype(dtype) for name, values in part.items()} for part in stack]
        arguments = kind, stack, points(rng, 6, 3, dtype), training
        got, expected = (who.scenario.after_dead_fraction(*arguments) for who in (learner, reference))
        compare(got, expected, case=case, rtol=1e-6, atol=0)
