"""Checks of ch13_beyond_first_order: second derivatives as products, estimates, and gradients of what has none.

Tensors and the functions that are differentiated stay with the submission: scenarios build them and bring numbers back.
Where the contract leaves the random numbers open, Hoeffding's inequality says how rarely a right answer is refused: all
checks of estimates together, on visible and on hidden inputs, do so with a probability below 1e-7.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import EXACT, F32, F64, SINGLE, agree, exercise, expect, expect_close, random
from autograder.values import summarise
from autograder.wording import enumeration


def drawn(rng, shape, dtype=F64):
    """Constants, parameters, a point: the first two away from 0, so that all that depends on them shows."""
    return *(rng.uniform(0.5, 1.5, size=shape).astype(dtype) for _ in range(2)), random(rng, shape, dtype)


def agree_on_product(
    learner, reference, rng, name, function, shape, case, dtype=F64, kind="constant", **tolerance
) -> None:
    a, p, x = drawn(rng, shape, dtype)
    v = random(rng, shape, dtype)
    agree("product", learner, reference, name, function, a, p, x, v, kind, case=case, **{**EXACT, **tolerance})


# hvp, hvp_forward_over_reverse


FORMULAS = {
    "polynomial": "f(x) = Σ a·x³ + (Σ a·x)²",
    "product of neighbours": "f(x) = Π xᵢ·xᵢ₊₁ + Σ a·x²",
    "network": "f(x) = Σ tanh²(p·x + Σ a·x)",
    "linear": "f(x) = Σ a·x",
    "linear with parameters": "f(x) = Σ p·x",
    "linear and a term of parameters alone": "f(x) = Σ a·x + Σ p³",
    "piecewise linear": "f(x) = Σ relu(a·x)",
    "constant": "f(x) = Σ a",
}
"""What the scenarios compute: a reader who is shown a, p and x can compute it, too."""


@exercise("hvp", "hvp_forward_over_reverse")
def test_product_with_the_hessian(learner, reference, rng, name):
    """Vectors, from one entry on; Hessians that are not diagonal, with rows that do not add up to H·v."""
    for function, sizes in [("polynomial", (1, 2, 5)), ("network", (1, 3)), ("product of neighbours", (2, 4))]:
        for size in sizes:
            case = f"{FORMULAS[function]}, x has {size} entr{'y' if size == 1 else 'ies'}"
            agree_on_product(learner, reference, rng, name, function, size, case)


@exercise("hvp", "hvp_forward_over_reverse")
def test_shapes_of_x(learner, reference, rng, name):
    """H·v has the shape of x, whatever that is."""
    for shape in [(2, 3), (), (1, 1), (2, 1, 3)]:
        for function in ("polynomial", "network"):
            agree_on_product(
                learner, reference, rng, name, function, shape, f"{FORMULAS[function]}, x has shape {shape}"
            )


@exercise("hvp", "hvp_forward_over_reverse")
def test_linear_functions(learner, reference, rng, name):
    """Where f is linear, or linear piece by piece, H is 0: zeros, and no error."""
    for function in ("linear", "linear with parameters", "linear and a term of parameters alone", "piecewise linear"):
        for shape in [(3,), (2, 2)]:
            agree_on_product(
                learner, reference, rng, name, function, shape, f"{FORMULAS[function]}, x has shape {shape}"
            )
    agree_on_product(learner, reference, rng, name, "polynomial", 2, f"beside them: {FORMULAS['polynomial']}")


@exercise("hvp", "hvp_forward_over_reverse")
def test_functions_that_do_not_depend_on_x(learner, reference, rng, name):
    """Where f does not depend on x, H is 0 as well."""
    for function, told in [("constant", "f is constant"), ("parameters alone", "f depends on its parameters alone")]:
        for shape in [(3,), (2, 2)]:
            agree_on_product(learner, reference, rng, name, function, shape, f"{told}, x has shape {shape}")
    agree_on_product(learner, reference, rng, name, "polynomial", 2, f"beside them: {FORMULAS['polynomial']}")


@exercise("hvp", "hvp_forward_over_reverse")
def test_leaves_and_strides(learner, reference, rng, name):
    """x may require a gradient, be in the middle of a graph, and have other strides, as v may."""
    for kind, told in [
        ("leaf", "x is a leaf that requires a gradient"),
        ("middle", "x is in the middle of a graph"),
        ("strided", "x and v are not contiguous"),
    ]:
        for shape in [(3,), (2, 3)]:
            case = f"{told}, {FORMULAS['polynomial']}"
            agree_on_product(learner, reference, rng, name, "polynomial", shape, case, kind=kind)


@exercise("hvp", "hvp_forward_over_reverse")
def test_product_in_float32(learner, reference, rng, name):
    """float32 in, float32 out."""
    for function in ("polynomial", "linear", "constant"):
        for shape in [(1,), (2, 2)]:
            case = f"float32, {FORMULAS[function]}, x has shape {shape}"
            agree_on_product(learner, reference, rng, name, function, shape, case, F32, rtol=1e-4, atol=1e-4)


@exercise("hvp", "hvp_forward_over_reverse", promise="instrumented")
def test_no_hessian(learner, reference, rng, name):
    """x has 1,000 entries: no tensor of nearly n² entries, one call of f, at most 6 times its FLOPs."""
    for n in (1000, 1200):
        W, x, v = random(rng, (4, n)) / math.sqrt(n), random(rng, n), random(rng, n)
        agree("cost", learner, reference, name, W, x, v, case=f"x has {n:,} entries")


@exercise("hvp")
def test_no_forward_mode(learner, reference, rng):
    """f has an operation that knows the way back, and nothing of tangents."""
    for size in (1, 3):
        arguments = random(rng, size), random(rng, size), rng.uniform(0.5, 1.5, size=size)
        case = f"f has a Function with a backward and no jvp, x has {size} entr{'y' if size == 1 else 'ies'}"
        agree("without_forward_mode", learner, reference, *arguments, case=case)


@exercise("hvp_forward_over_reverse")
def test_tangent_goes_forward(learner, reference, rng):
    """One derivative for gradients that go back and another one for tangents: both must be in the result, once each."""
    for size in (1, 3):
        x, v, a = random(rng, size), random(rng, size), rng.uniform(0.5, 1.5, size=size)
        back, ahead = rng.uniform(1.5, 2, size=size), rng.uniform(0.5, 0.8, size=size)
        case = f"f has one rule for gradients and one for tangents, x has {size} entr{'y' if size == 1 else 'ies'}"
        agree("which_way", learner, reference, "hvp_forward_over_reverse", x, v, a, back, ahead, case=case)


@exercise("hvp", "hvp_forward_over_reverse", promise="instrumented")
def test_arguments_and_parameters_afterwards(learner, reference, rng, name):
    """Values, requires_grad and .grad of x, of v and of a parameter that f uses; no graph behind the result."""
    for kind, told in [("constant", "x requires no gradient"), ("leaf", "x is a leaf with a .grad")]:
        for of_v in ("constant", "leaf"):
            a, p, x = drawn(rng, 3)
            case = f"{told}, {'v too' if of_v == 'leaf' else 'v requires none'}, afterwards"
            agree("beside_product", learner, reference, name, a, p, x, random(rng, 3), (kind, of_v), case=case)
    a, p, x = drawn(rng, 3)
    kinds = ("middle", "constant")
    case = "x is in the middle of a graph, afterwards"
    agree("beside_product", learner, reference, name, a, p, x, random(rng, 3), kinds, case=case)


# hessian_trace


def seed(rng) -> int:
    return int(rng.integers(2**31))


def agree_on_trace(learner, reference, rng, function, shape, samples, case, dtype=F64, kind="constant", **tolerance):
    """A trace that does not depend on the signs of the probes, because the Hessian is diagonal."""
    a, p, x = drawn(rng, shape, dtype)
    arguments = function, a, p, x, samples, seed(rng), kind
    agree("trace", learner, reference, *arguments, case=case, **{**EXACT, **tolerance})


def symmetric(rng, n):
    """A Hessian whose entries beside the diagonal are about 1, 3 and 9 for three rows: each choice of signs shows."""
    H = np.diag(rng.uniform(-2, 2, size=n))
    for size, (i, j) in zip(3.0 ** np.arange(n * n), itertools.combinations(range(n), 2), strict=False):
        H[i, j] = H[j, i] = size * rng.uniform(0.9, 1.1)
    return H


@exercise("hessian_trace")
def test_diagonal_hessians(learner, reference, rng):
    """Where H is diagonal every probe of ±1 gives the trace itself: any other probes, or another mean, do not."""
    for shape in [(1,), (4,), (2, 3), ()]:
        for samples in (1, 3):
            case = f"H is diagonal, x has shape {shape}, {samples} sample{'s' * (samples > 1)}"
            agree_on_trace(learner, reference, rng, "diagonal", shape, samples, case)


@exercise("hessian_trace")
def test_trace_of_zeros(learner, reference, rng):
    """A linear f and a constant one: 0.0."""
    for function in ("linear", "constant", "parameters alone", "diagonal"):
        agree_on_trace(learner, reference, rng, function, (3,), 2, f"f is {function}")


@exercise("hessian_trace")
def test_probes(learner, reference, rng):
    """Each of 200 estimates from one probe is one of the four that signs can give, and each of the four is frequent.

    Each choice of signs has probability ¼: 50 of 200 on average. By Hoeffding's inequality a count is off by more than
    45 with a probability of at most 2 exp(−2 · 45² / 200) = 3.2e-9. Four counts: a right answer is refused with a
    probability below 1.3e-8. Of another shape of x a few tell whether its probes are signs, too.
    """
    for shape, calls in [((3,), 200), ((1, 3), 20)]:
        H, x = symmetric(rng, 3), random(rng, shape)
        case = f"{calls} estimates from one sample each, x has shape {shape}"
        got = learner.scenario.traces(H, x, 1, calls, seed(rng))
        signs = [np.array([1, *rest]) for rest in itertools.product([1, -1], repeat=2)]
        possible = np.array([z @ H @ z for z in signs])
        if not numbers(got, case):
            continue
        nearest = np.abs(np.asarray(got)[:, None] - possible).argmin(axis=1)
        expect_close(
            np.asarray(got, dtype=F64), possible[nearest], names=("the array of estimates",), case=case, **EXACT
        )
        counts = np.bincount(nearest, minlength=4)
        expect(
            calls < 200 or bool((np.abs(counts - calls / 4) <= 45).all()),
            "Of 200 probes some choices of signs come up too often and others too seldom: every entry of a probe is 1 "
            f"or −1 with probability ½, whatever the other entries are. (By choice: {enumeration(counts)}.)",
            case=case,
        )


def numbers(got: list[Any], case: str) -> bool:
    """Whether estimates are Python floats, and no tensors."""
    wrong = [value for value in got if not isinstance(value, float)]
    kind = "a tensor" if wrong and isinstance(wrong[0], np.ndarray) else summarise(wrong[0]) if wrong else ""
    expect(not wrong, f"hessian_trace returned {kind}; a Python float expected", case=case)
    return not wrong


@exercise("hessian_trace")
def test_mean_over_the_samples(learner, reference, rng):
    """Each sample has a probe of its own: the mean of 200 is near the trace, and one of the 201 that signs can give.

    For two entries each sample is tr H ± 2b. A right answer is off by more than 0.48 of 2b with a probability below
    2 exp(−0.48² · 200 / 2) = 2e-10 (Hoeffding).
    """
    for shape, samples in [((2,), 200), ((2, 1), 20), ((2,), 5)]:
        H, x = symmetric(rng, 2), random(rng, shape)
        case = f"{samples} samples, x has shape {shape}"
        (got,) = learner.scenario.traces(H, x, samples, 1, seed(rng))
        if not numbers([got], case):
            continue
        trace, spread = H.trace(), 2 * H[0, 1]
        k = np.clip(round(((got - trace) / spread + 1) / 2 * samples), 0, samples) if math.isfinite(got) else 0
        expect_close(got, float(trace + spread * (2 * k / samples - 1)), case=case, rtol=1e-9, atol=1e-9)
        expect(
            samples < 200 or bool(abs(got - trace) <= 0.48 * abs(spread)),
            "The mean of many samples is far from the trace: does each sample have a new probe, with signs that do not "
            "depend on one another?",
            case=case,
        )


@exercise("hessian_trace")
def test_bias(learner, reference, rng):
    """Where all entries of H are a, an estimate is a times the square of the probe's sum: n a on average, the trace.

    n = 40 · 39 signs add up to an even number. By Hoeffding's inequality its square is above 42 n with a probability of
    at most 2 exp(−42 / 2) = 1.5e-9, and it is 0 with one of √(2 / πn) = 0.02. Six estimates: a right answer is refused
    with a probability below 6 · 1.5e-9 + 0.02⁶ < 1e-8. Signs that are 1 with a probability of 2/3 make the estimate
    174 n a on average. More entries would see less, and keep those waiting who take one product for each.
    """
    shape, calls, entry = (40, 39), 6, float(rng.uniform(0.5, 2.0))
    n = math.prod(shape)
    case = f"{calls} estimates from one sample each, all entries of H are the same, x has shape {shape}"
    got = learner.scenario.traces_of_one_entry(shape, entry, calls, seed(rng))
    if not numbers(got, case):
        return
    sums = 2 * np.round(np.sqrt(np.maximum(np.nan_to_num(np.asarray(got) / entry), 0)) / 2)
    expect_close(np.asarray(got, dtype=F64), entry * sums**2, names=("the array of estimates",), case=case, **EXACT)
    expect(
        bool(sums.max() > 0 and (sums**2 <= 42 * n).all()),
        "The estimates are far from the trace. Is each sign 1 or −1 with probability ½, and is each drawn by itself, "
        "in every row and every column?",
        case=case,
    )


@exercise("hessian_trace", promise="instrumented")
def test_generator_alone(learner, reference, rng):
    """The same state gives the same estimate, a second call another one; the global random state stays.

    Two right estimates from different numbers are equal with a probability of 2⁻³⁹.
    """
    for samples in (1, 3):
        H = random(rng, (40, 40))
        arguments = H + H.T, random(rng, 40), samples, seed(rng)
        agree("randomness", learner, reference, *arguments, case=f"{samples} sample{'s' * (samples > 1)}, repeated")
    agree_on_trace(learner, reference, rng, "diagonal", (2,), 1, "beside that: H is diagonal")


@exercise("hessian_trace")
def test_trace_in_float32(learner, reference, rng):
    """A Python float for float32, too."""
    for shape in [(1,), (2, 2)]:
        case = f"float32, H is diagonal, x has shape {shape}"
        agree_on_trace(learner, reference, rng, "diagonal", shape, 3, case, F32, rtol=1e-5, atol=1e-5)


@exercise("hessian_trace", promise="instrumented")
def test_x_and_parameters_afterwards(learner, reference, rng):
    """Values, requires_grad and .grad of x and of a parameter that f uses."""
    for kind in ("constant", "leaf", "middle", "strided"):
        arguments = *drawn(rng, (2, 2)), 2, seed(rng), kind
        agree("beside_trace", learner, reference, *arguments, case=f"x is {KINDS[kind]}, afterwards")


KINDS = {
    "constant": "a tensor that requires no gradient",
    "leaf": "a leaf with a .grad",
    "middle": "in the middle of a graph",
    "strided": "not contiguous",
}


# maml_gradient


def regression(rng, d, dtype=F64):
    return {"w": random(rng, d, dtype), "b": random(rng, (), dtype)}


def network(rng, d, h, o, dtype=F64):
    shapes = {"W1": (d, h), "b1": (h,), "W2": (h, o)}
    return {name: random(rng, shape, dtype) for name, shape in shapes.items()}


def task(rng, n, d, y_shape=(), dtype=F64):
    return {"X": random(rng, (n, d), dtype), "y": random(rng, (n, *y_shape), dtype)}


def step_size(rng) -> float:
    return float(rng.uniform(0.05, 0.3))


@exercise("maml_gradient")
def test_through_the_inner_step(learner, reference, rng):
    """Regressions and a network: the part of the gradient that comes through the inner gradient is in it."""
    for d, n, m in [(1, 1, 1), (2, 3, 3), (3, 5, 2)]:
        arguments = regression(rng, d), task(rng, n, d), task(rng, m, d), step_size(rng), "constant"
        case = f"a regression on {d} number{'s' * (d > 1)}, {n} and {m} examples"
        agree("maml", learner, reference, "regression", *arguments, case=case)
    for d, h, o, n, m in [(1, 1, 1, 1, 1), (2, 3, 2, 4, 3)]:
        data = task(rng, n, d, (o,)), task(rng, m, d, (o,))
        case = f"a network with {h} hidden unit{'s' * (h > 1)}"
        agree(
            "maml", learner, reference, "network", network(rng, d, h, o), *data, step_size(rng), "constant", case=case
        )


@exercise("maml_gradient")
def test_parameters_that_are_not_used(learner, reference, rng):
    """Parameters of the support alone, of the query alone, of neither: zeros where nothing depends on them."""
    for case, used in {
        "one is in the query alone": (["a", "b"], ["a", "b", "query_only"]),
        "one is in the support alone": (["a", "support_only"], ["a"]),
        "no parameter is in both": (["support_only"], ["query_only"]),
        "one is in neither": (["a"], ["a"]),
    }.items():
        names = ["spare", *sorted({*used[0], *used[1]}, reverse=True)]
        params = {name: random(rng, size) for name, size in zip(names, (2, 3, 1, 2), strict=False)}
        data = ({name: random(rng, params[name].shape) for name in side} for side in used)
        agree("maml", learner, reference, "some", params, *data, step_size(rng), "constant", case=case)


@exercise("maml_gradient")
def test_straight_losses(learner, reference, rng):
    """A support loss with a constant gradient, which has no graph; a query loss with one."""
    for shape in [(1,), (2, 2)]:
        params, slope, cubes = ({key: random(rng, shape)} for key in ("w", "slope", "cubes"))
        for case, data in {"the support loss is linear": (slope, cubes), "the query loss is": (cubes, slope)}.items():
            agree("maml", learner, reference, "straight", params, *data, step_size(rng), "constant", case=case)


@exercise("maml_gradient")
def test_step_sizes(learner, reference, rng):
    """A learning rate of 0 gives the query's gradient, a large one mostly second derivatives."""
    for inner_lr in (0.0, float(rng.uniform(1, 2))):
        arguments = regression(rng, 2), task(rng, 3, 2), task(rng, 3, 2), inner_lr, "constant"
        agree("maml", learner, reference, "regression", *arguments, case=f"inner_lr is {inner_lr:.1f}")


@exercise("maml_gradient")
def test_kinds_of_parameters(learner, reference, rng):
    """Leaves that require gradients, tensors in the middle of a graph, tensors that are not contiguous."""
    for kind in ("leaf", "middle", "strided"):
        data = task(rng, 3, 2, (2,)), task(rng, 2, 2, (2,))
        arguments = network(rng, 2, 3, 2), *data, step_size(rng), kind
        agree("maml", learner, reference, "network", *arguments, case=f"each parameter is {KINDS[kind]}")


@exercise("maml_gradient")
def test_maml_in_float32(learner, reference, rng):
    """float32 parameters, float32 gradients."""
    data = task(rng, 3, 2, dtype=F32), task(rng, 2, 2, dtype=F32)
    arguments = regression(rng, 2, F32), *data, step_size(rng), "constant"
    agree("maml", learner, reference, "regression", *arguments, case="float32", rtol=1e-4, atol=1e-4)


@exercise("maml_gradient", promise="instrumented")
def test_params_afterwards(learner, reference, rng):
    """Values, requires_grad and .grad of the parameters, the dict itself; loss_fn is called once with each data set."""
    for kind in ("constant", "leaf", "middle"):
        data = task(rng, 3, 2, (2,)), task(rng, 2, 2, (2,))
        arguments = network(rng, 2, 3, 2), *data, step_size(rng), kind
        agree("beside_maml", learner, reference, *arguments, case=f"each parameter is {KINDS[kind]}, afterwards")


# score_function_gradient, reparameterized_gradient


class Once:
    """A function of an array that stays in this process, where its calls are counted."""

    def __init__(self, name: str, f: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self.name, self.f, self.shape, self.calls = name, f, shape, 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        x = np.asarray(x)
        if x.shape != self.shape:
            raise ValueError(
                f"{self.name} takes all x at once, of shape {self.shape}, and was called with shape {x.shape}"
            )
        return np.asarray(self.f(x), dtype=x.dtype)


def smooth(rng) -> Callable[[Any], Any]:
    a, b, c = (float(number) for number in rng.uniform(0.5, 1.5, size=3))
    return lambda x: a + b * x**2 + c * np.sin(x)


def stairs(rng) -> Callable[[Any], Any]:
    a, b = (float(number) for number in rng.uniform(0.5, 1.5, size=2))
    return lambda x: a * np.floor(x) + b * (x > 0)


def agree_on_estimates(
    learner, reference, rng, name, shape, case, f=smooth, mu=None, sigma=None, dtype=F64, **tolerance
):
    """One estimate per sample, compared one by one: nothing about them is random once eps is given."""
    mu = float(rng.uniform(-2, 2)) if mu is None else mu
    sigma = float(rng.uniform(1.2, 2.5)) if sigma is None else sigma
    function, eps = f(rng), random(rng, shape, dtype)
    what = "df" if name == "reparameterized_gradient" else "f"
    asked = Once(what, function, eps.shape)
    got = getattr(learner, name)(asked, mu, sigma, eps)
    expected = getattr(reference, name)(Once(what, function, eps.shape), mu, sigma, eps)
    expect_close(got, expected, names=("the array of estimates",), case=case, **{**EXACT, **tolerance})
    expect(asked.calls == 1, f"{what} was called {asked.calls} times; once, with all x, is expected.", case=case)


@exercise("score_function_gradient", "reparameterized_gradient")
def test_estimates(learner, reference, rng, name):
    """One estimate for each sample, from one sample on."""
    for n in (1, 2, 6):
        case = f"{n} sample{'s' * (n > 1)}"
        agree_on_estimates(learner, reference, rng, name, n, case)


@exercise("score_function_gradient", "reparameterized_gradient")
def test_spreads(learner, reference, rng, name):
    """Other means and standard deviations, small ones and large ones."""
    for case, mu, sigma in [
        ("sigma = 1", None, 1.0),
        ("sigma is small", None, float(rng.uniform(0.02, 0.1))),
        ("sigma is large", None, float(rng.uniform(20, 50))),
        ("mu = 0", 0.0, None),
        ("mu is large", float(rng.uniform(20, 50)), None),
    ]:
        agree_on_estimates(learner, reference, rng, name, 4, case, mu=mu, sigma=sigma)


@exercise("score_function_gradient", "reparameterized_gradient")
def test_shapes_of_eps(learner, reference, rng, name):
    """Matrices of samples, one sample in three axes, none."""
    for shape in [(2, 3), (1, 1, 1), (0,), (3, 0)]:
        agree_on_estimates(learner, reference, rng, name, shape, f"eps has shape {shape}")
    agree_on_estimates(learner, reference, rng, name, (3, 2), "eps has shape (3, 2)")


@exercise("score_function_gradient", "reparameterized_gradient")
def test_estimates_in_float32(learner, reference, rng, name):
    """float32 samples, float32 estimates."""
    for shape in [(1,), (2, 3)]:
        case = f"float32, eps has shape {shape}"
        agree_on_estimates(learner, reference, rng, name, shape, case, dtype=F32, **SINGLE)


@exercise("score_function_gradient")
def test_functions_without_a_derivative(learner, reference, rng):
    """f is a staircase: its derivative is 0 wherever it has one, and the estimates are not."""
    for shape in [(1,), (5,), (2, 3)]:
        case = f"f is a staircase, eps has shape {shape}"
        agree_on_estimates(learner, reference, rng, "score_function_gradient", shape, case, f=stairs)


# gumbel_softmax_st


def noise(rng, shape, dtype=F64):
    return rng.gumbel(size=shape).astype(dtype)


def agree_on_choice(learner, reference, rng, shape, tau, case, dtype=F64, logits=None, gumbels=None):
    gumbels = noise(rng, shape, dtype) if gumbels is None else gumbels
    logits = random(rng, shape, dtype) if logits is None else logits
    g = random(rng, shape, dtype)
    tolerance = of_the_softmax(logits + gumbels, tau, g)
    agree("chosen", learner, reference, logits, tau, gumbels, g, case=case, **tolerance)


def of_the_softmax(scores, tau, g):
    """How far right gradients p (g − Σ g p) / tau may be apart.

    Each p has the relative error of its exponent, a rounding of the largest score / tau. Where one p is nearly 1, g
    and Σ g p cancel, and the error that is left is one of g / tau: to an entry of 1e-14 beside it that is a large one.
    Where the scores are so far apart for tau that all p are 1 or 0, all ways give 0.
    """
    eps = float(np.finfo(g.dtype).eps)
    size, largest = np.abs(scores).max(initial=0.0) / tau, np.abs(g).max(initial=0.0) / tau
    return {
        "rtol": 1e-9 if g.dtype == F64 else 1e-4,
        "atol": 16 * eps * max(1.0, size) * largest if size < 1e9 else 0.0,
    }


def temperature(rng) -> float:
    return float(rng.uniform(0.3, 0.8))


@exercise("gumbel_softmax_st")
def test_choices(learner, reference, rng):
    """One-hot forward, the gradient of the softmax backward; choices among two categories and more."""
    for k in (2, 3, 5):
        agree_on_choice(learner, reference, rng, (k,), temperature(rng), f"{k} categories")
        agree_on_choice(learner, reference, rng, (k,), 1.0, f"{k} categories, tau = 1")


@exercise("gumbel_softmax_st")
def test_batches(learner, reference, rng):
    """Leading axes, a batch of one, a single category."""
    for shape in [(3, 2), (2, 3), (1, 3), (2, 1, 4), (3, 3), (0, 3)]:
        agree_on_choice(learner, reference, rng, shape, temperature(rng), f"logits have shape {shape}")
    for shape in [(1,), (2, 1)]:
        agree_on_choice(learner, reference, rng, shape, temperature(rng), f"a single category, shape {shape}")


@exercise("gumbel_softmax_st")
def test_exactly_one_hot(learner, reference, rng):
    """1 and 0 to the last bit, in float64 and in float32."""
    # hard + soft − soft misses 31 or more of 800 entries in each of 300 seeds, at tau = 0.5; other orders miss none
    for dtype in (F64, F32):
        arguments = random(rng, (200, 4), dtype), temperature(rng), noise(rng, (200, 4), dtype)
        case = f"{np.dtype(dtype)}, values exact to the last bit"
        agree("only_chosen", learner, reference, *arguments, case=case, rtol=0, atol=0)


@exercise("gumbel_softmax_st")
def test_ties(learner, reference, rng):
    """Of several equal scores the first is chosen; and one category only."""
    whole = rng.integers(-2, 3, size=(2, 1)).astype(F64)
    for case, logits, gumbels in [
        ("two equal scores", whole[:1, 0] * np.ones(2), np.zeros(2)),
        ("three equal scores", np.zeros(3), whole[:1, 0] * np.ones(3)),
        ("equal sums of different terms", np.array([[-1.0, 1.0, 2.0]]) + whole, np.array([[0.0, 3.0, 2.0]]) - whole),
    ]:
        arguments = logits, temperature(rng), gumbels, random(rng, logits.shape)
        agree("chosen", learner, reference, *arguments, case=case)


@exercise("gumbel_softmax_st")
def test_temperatures(learner, reference, rng):
    """A tiny tau and a huge one: the same choice, and the gradient that belongs to the temperature."""
    for case, tau, dtype in [
        ("tau = 10", 10.0, F64),
        ("tau = 1e-30", 1e-30, F64),
        ("tau = 1e9", 1e9, F64),
        ("tau = 1e9, float32", 1e9, F32),
        ("tau = 1e20", 1e20, F64),
    ]:
        for shape in [(3,), (4, 3)]:
            agree_on_choice(learner, reference, rng, shape, tau, f"{case}, shape {shape}", dtype)
    for shape in [(3,), (4, 3)]:  # else all probabilities are 0 or 1, and there is no gradient to speak of
        tau, gumbels = 1e-3, noise(rng, shape)
        logits = 1e-3 * random(rng, shape) + 1.0 - gumbels
        case = f"tau = 1e-3, sums that are a few tau apart, shape {shape}"
        agree_on_choice(learner, reference, rng, shape, tau, case, logits=logits, gumbels=gumbels)


@exercise("gumbel_softmax_st")
def test_in_the_middle_of_a_graph(learner, reference, rng):
    """logits = a · b, and a loss that is not linear in the choice."""
    for shape in [(3,), (2, 4)]:
        a, b = (rng.uniform(0.5, 2, size=shape) for _ in range(2))
        arguments = a, b, temperature(rng), noise(rng, shape), random(rng, (shape[-1], 3)), ["constant"]
        agree("chosen_on_the_way", learner, reference, *arguments, case=f"logits = a · b, shape {shape}")


@exercise("gumbel_softmax_st")
def test_choices_in_float32(learner, reference, rng):
    """float32 logits, float32 choices and gradients."""
    for shape in [(2,), (3, 4)]:
        agree_on_choice(learner, reference, rng, shape, temperature(rng), f"float32, shape {shape}", F32)


@exercise("gumbel_softmax_st", promise="instrumented")
def test_logits_afterwards(learner, reference, rng):
    """Logits and noise as they were, no random numbers; and no gradient required of logits that require none."""
    for kind in ("constant", "leaf", "middle", "strided"):
        arguments = random(rng, (2, 3)), temperature(rng), noise(rng, (2, 3)), kind, random(rng, (2, 3))
        agree("beside_choice", learner, reference, *arguments, case=f"logits are {KINDS[kind]}, afterwards")
