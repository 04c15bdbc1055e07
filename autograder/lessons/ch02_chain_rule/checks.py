"""Checks of ch02_chain_rule: differences, chains from both ends and what they cost, dual numbers, a gradient checker.

Functions whose calls count (`f`, `jvp`, `vjp`) stay in this process and are called back, so that they are counted where
nobody can change the count.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_close
from autograder.judging.errors import Raised
from autograder.lessons.ch02_chain_rule import scenarios as ops
from autograder.lessons.ch02_chain_rule.gradcheck_bank import (
    Function,
    Question,
    Vjp,
    array,
    elementwise_rules,
    large_rules,
    normalizations,
    products_and_lookups,
    right,
    rules_along_an_axis,
    wrong,
)
from autograder.lessons.ch02_chain_rule.scenarios import taken
from autograder.values import summarise
from autograder.wording import clean

EXACT = {"rtol": 1e-10, "atol": 1e-12}

# numerical_gradient


class Recorded:
    """A function of one array and the arguments it was called with."""

    def __init__(self, f: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
        self.f = f
        self.shape = shape
        self.arguments: list[np.ndarray] = []

    def __call__(self, argument: Any) -> float:
        x = np.array(argument, dtype=np.float64)
        if x.shape != self.shape:
            raise ValueError(f"f takes an array of shape {self.shape}, and was called with one of shape {x.shape}")
        self.arguments.append(x)
        return float(self.f(x))


def bent(rng, shape) -> Callable[[Any], Any]:
    """A function whose gradient is different everywhere, with second and third derivatives."""
    a, b = rng.uniform(0.5, 1.5, size=shape), rng.uniform(0.5, 1.5, size=shape)
    return lambda x: np.sum(a * x**3 + b * x**2) + np.sum(b * x) ** 2


def agree_on_gradient(learner, reference, rng, shape, case, rtol, atol, zeros=0, **options):
    """The gradient of a random function at a random point, whose first `zeros` entries are 0."""
    f, x = bent(rng, shape), np.asarray(rng.normal(size=shape))
    x.ravel()[:zeros] = 0
    got = learner.numerical_gradient(Recorded(f, shape), x, **options)
    expected = reference.numerical_gradient(Recorded(f, shape), x, **options)
    expect_close(got, expected, names=("the gradient",), case=case, rtol=rtol, atol=atol)


@exercise("numerical_gradient")
def test_gradient_of_a_vector(learner, reference, rng):
    """One entry, several, with the default step."""
    # Rounding leaves 1e-10 to 1e-9, depending on how the quotient is written.
    for size in (1, 2, 5):
        agree_on_gradient(learner, reference, rng, (size,), f"a vector of {size}", rtol=1e-6, atol=1e-6)


@exercise("numerical_gradient")
def test_central_differences(learner, reference, rng):
    """With a large step, central differences are a number of their own, which no other formula gives."""
    for shape, eps in [((1,), 0.5), ((3,), 0.25), ((2, 2), 0.1), ((2,), 1e-3)]:
        agree_on_gradient(learner, reference, rng, shape, f"eps = {eps:g}", rtol=1e-8, atol=1e-9, eps=eps)
    agree_on_gradient(learner, reference, rng, (3,), "an entry of 0", rtol=1e-8, atol=1e-9, zeros=1, eps=0.25)


@exercise("numerical_gradient")
def test_gradient_of_any_shape(learner, reference, rng):
    """The gradient has the shape of x: no axis, several, one of size 1, an empty one."""
    for case, shape in {
        "a 0-d array": (),
        "a matrix": (2, 3),
        "a row": (1, 3),
        "three axes": (2, 1, 2),
        "no entries": (0,),
        "an empty batch": (0, 3),
    }.items():
        agree_on_gradient(learner, reference, rng, shape, case, rtol=1e-8, atol=1e-9, eps=0.125)


@exercise("numerical_gradient")
def test_calls_of_f(learner, reference, rng):
    """2 · x.size calls: each entry once moved up by eps and once down, and nothing else moved."""
    for case, shape in {"a vector": (3,), "a 0-d array": (), "a matrix": (2, 2), "no entries": (0, 2)}.items():
        for options in ({}, {"eps": 0.03125}):
            eps = options.get("eps", 1e-6)
            x = np.asarray(rng.normal(size=shape))
            f = Recorded(bent(rng, shape), shape)
            got = learner.numerical_gradient(f, x, **options)
            calls = len(f.arguments)
            expected = reference.numerical_gradient(Recorded(f.f, shape), x, **options)
            expect_close(got, expected, names=("the gradient",), case=case, rtol=1e-6, atol=1e-6)
            expect(
                calls == 2 * x.size,
                f"f was called {calls} times for {x.size} entries: call it twice for each",
                case=case,
            )
            up, down = times_moved(f.arguments, x, eps)
            once = up.tolist() == down.tolist() == [1] * x.size
            what = f"each entry must be moved once up and once down by eps = {eps:g}, and no other entry with it"
            expect(once, f"f was not called where it should be: {what}", case=case)


def times_moved(arguments: list[np.ndarray], x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """How often each entry of x was moved by +eps alone, and by -eps alone."""
    counts = np.zeros((2, x.size), dtype=int)
    for argument in arguments:
        steps = ((argument - x) / eps).ravel()
        moved = np.flatnonzero(np.abs(steps) > 1e-6)  # rounding moves an entry by less
        for sign, count in zip((1, -1), counts, strict=True):
            if len(moved) == 1 and abs(steps[moved[0]] - sign) < 1e-6:
                count[moved] += 1
    return counts[0], counts[1]


# jvp_chain and vjp_chain

CHAINS = {  # widths n_0, …, n_k
    "one number": (1, 1),
    "one matrix": (3, 2),
    "two matrices": (2, 3, 4),
    "a scalar output": (3, 4, 2, 1),
    "a scalar input": (1, 3, 2),
    "a long chain": (2, 4, 3, 5, 2, 3),
}
SQUARE = {"one square matrix": (3, 3), "two square matrices": (2, 2, 2), "four square matrices": (3, 3, 3, 3, 3)}


def chain(rng, dims) -> list[np.ndarray]:
    return [rng.normal(size=(rows, columns)) for columns, rows in itertools.pairwise(dims)]


def one_vector_at_a_time(name, learner, reference, rng, end):
    """A chain's product with matrices that multiply vectors only: its value, and the number of products."""
    chains = {"two matrices": (2, 3, 4), **CHAINS, **SQUARE}  # a product of matrices shows in the first case
    for case, dims in chains.items():
        Ws, vector = chain(rng, dims), rng.normal(size=dims[end])
        got = getattr(learner.scenario, f"{name}_one_vector_at_a_time")(Ws, vector)
        expected = getattr(reference, name)(Ws, vector)
        expect_close(got["result"], expected, names=("the result",), case=case, **EXACT)
        products, enough = got["products"], len(Ws)
        message = f"{products} matrix–vector products for {enough} matrices: one for each is enough, and needed"
        expect(products == enough, message, case=case)


@exercise("jvp_chain")
def test_jvp_of_a_chain(learner, reference, rng):
    """W_k … W_1 v, shape (n_k,)."""
    for case, dims in CHAINS.items():
        Ws, v = chain(rng, dims), rng.normal(size=dims[0])
        expect_close(learner.jvp_chain(Ws, v), reference.jvp_chain(Ws, v), case=case, **EXACT)


@exercise("jvp_chain")
def test_jvp_of_square_matrices(learner, reference, rng):
    """Where neither a missing transpose nor a wrong order changes a shape."""
    for case, dims in SQUARE.items():
        Ws, v = chain(rng, dims), rng.normal(size=dims[0])
        expect_close(learner.jvp_chain(Ws, v), reference.jvp_chain(Ws, v), case=case, **EXACT)


@exercise("jvp_chain")
def test_jvp_of_degenerate_chains(learner, reference, rng):
    """No matrix at all; a width of 0, through which nothing passes."""
    for case, dims in {"two matrices": (2, 2, 3), "an empty chain": (3,), "a width of 0": (2, 0, 3)}.items():
        Ws, v = chain(rng, dims), rng.normal(size=dims[0])
        expect_close(learner.jvp_chain(Ws, v), reference.jvp_chain(Ws, v), case=case, **EXACT)


@exercise("jvp_chain", promise="instrumented")
def test_jvp_one_vector_at_a_time(learner, reference, rng):
    """One matrix–vector product for each matrix, and no matrix times a matrix."""
    one_vector_at_a_time("jvp_chain", learner, reference, rng, 0)


@exercise("vjp_chain")
def test_vjp_of_a_chain(learner, reference, rng):
    """uᵀ W_k … W_1, shape (n_0,)."""
    for case, dims in CHAINS.items():
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        expect_close(learner.vjp_chain(Ws, u), reference.vjp_chain(Ws, u), case=case, **EXACT)


@exercise("vjp_chain")
def test_vjp_of_square_matrices(learner, reference, rng):
    """Where neither a missing transpose nor a wrong order changes a shape."""
    for case, dims in SQUARE.items():
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        expect_close(learner.vjp_chain(Ws, u), reference.vjp_chain(Ws, u), case=case, **EXACT)


@exercise("vjp_chain")
def test_vjp_of_degenerate_chains(learner, reference, rng):
    """No matrix at all; a width of 0, through which nothing passes."""
    for case, dims in {"two matrices": (2, 2, 3), "an empty chain": (3,), "a width of 0": (2, 0, 3)}.items():
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        expect_close(learner.vjp_chain(Ws, u), reference.vjp_chain(Ws, u), case=case, **EXACT)


@exercise("vjp_chain", promise="instrumented")
def test_vjp_one_vector_at_a_time(learner, reference, rng):
    """One matrix–vector product for each matrix, and no matrix times a matrix."""
    one_vector_at_a_time("vjp_chain", learner, reference, rng, -1)


# jacobian_cost and cheaper_mode


def widths(rng, count: int) -> list[int]:
    """Distinct widths between 2 and 30."""
    return [int(width) for width in rng.permutation(np.arange(2, 31))[:count]]


def agree_on_cost(learner, reference, dims, mode, case):
    got = learner.jacobian_cost(dims, mode)
    expect_close(got, reference.jacobian_cost(dims, mode), case=f"{case}, {mode}", rtol=0, atol=0)


@exercise("jacobian_cost")
def test_cost_of_one_matrix(learner, reference, rng):
    """A chain of one matrix: n_0 or n_1 passes of n_0 · n_1."""
    for dims in ([1, 1], [1, 4], [4, 1], widths(rng, 2)):
        for mode in ("forward", "reverse"):
            agree_on_cost(learner, reference, dims, mode, "one matrix")


@exercise("jacobian_cost")
def test_cost_in_forward_mode(learner, reference, rng):
    """n_0 passes through the whole chain."""
    for length in (3, 4, 6):
        agree_on_cost(learner, reference, widths(rng, length), "forward", f"{length - 1} matrices")


@exercise("jacobian_cost")
def test_cost_in_reverse_mode(learner, reference, rng):
    """n_k passes through the whole chain."""
    for length in (3, 4, 6):
        agree_on_cost(learner, reference, widths(rng, length), "reverse", f"{length - 1} matrices")


@exercise("jacobian_cost")
def test_cost_of_large_models(learner, reference, rng):
    """Exact where a float rounds and where an int64 overflows."""
    n = 175_000_000_000 + int(rng.integers(1, 10**9))
    for dims in ([n, 1], [1001, n, 3, 1], [1, n, n]):
        for mode in ("forward", "reverse"):
            agree_on_cost(learner, reference, dims, mode, "175 billion parameters")


def agree_on_mode(learner, reference, rng, cases):
    """The mode of each case, then of 20 more in random order: of two answers, one after the other is easily guessed."""
    chains = [(case, dims()) for case, dims in cases.items()]
    chains += [(case, cases[case]()) for case in rng.choice(list(cases), size=20).tolist()]
    for case, dims in chains:
        expect_close(learner.cheaper_mode(dims), reference.cheaper_mode(dims), case=case, rtol=0, atol=0)


@exercise("cheaper_mode")
def test_cheaper_mode_of_one_matrix(learner, reference, rng):
    """The end that is narrower."""
    cases = {
        "a scalar output": lambda: [*widths(rng, 1), 1],
        "a scalar input": lambda: [1, *widths(rng, 1)],
        "more outputs than inputs": lambda: sorted(widths(rng, 2)),
        "more inputs than outputs": lambda: sorted(widths(rng, 2), reverse=True),
    }
    agree_on_mode(learner, reference, rng, cases)


@exercise("cheaper_mode")
def test_cheaper_mode_of_a_chain(learner, reference, rng):
    """Only the two ends count, whatever lies between."""
    orders = {  # four widths from the narrowest, 0, to the widest, 3
        "more outputs, wide next to the input": (1, 3, 0, 2),
        "more inputs, wide next to the output": (2, 0, 3, 1),
        "more outputs, widest in the middle": (0, 3, 1),
        "more inputs, narrowest in the middle": (3, 0, 2),
        "more outputs, narrowest in the middle": (1, 0, 3),
        "more inputs, widest in the middle": (2, 3, 1),
    }

    def ordered(order: tuple[int, ...]) -> list[int]:
        return np.sort(widths(rng, 4))[list(order)].tolist()

    agree_on_mode(learner, reference, rng, {case: partial(ordered, order) for case, order in orders.items()})


@exercise("cheaper_mode")
def test_cheaper_mode_in_a_tie(learner, reference, rng):
    """As many inputs as outputs: "reverse"; one input fewer: "forward"."""

    def ends(first: int, last: int, between: int) -> list[int]:
        n, *others = widths(rng, 1 + between)
        return [n + first, *others, n + last]

    cases = {
        "one number": lambda: [1, 1],
        "a square matrix": partial(ends, 0, 0, 0),
        "a tie": partial(ends, 0, 0, 1),
        "a tie in a longer chain": partial(ends, 0, 0, 2),
        "one input fewer": partial(ends, 0, 1, 2),
        "one output fewer": partial(ends, 1, 0, 2),
        "one input fewer, one matrix": partial(ends, 0, 1, 0),
        "one input fewer, two matrices": partial(ends, 0, 1, 1),
    }
    agree_on_mode(learner, reference, rng, cases)


# Dual and derivative


def parts(rng, low, high) -> tuple[float, float]:
    """Value and tangent of a Dual: no tangent is 0 or 1."""
    return float(rng.uniform(low, high)), float(rng.uniform(0.3, 0.8) * rng.choice([-1, 1]))


def agree_on_expressions(learner, reference, rng, expressions, low=0.5, high=1.5):
    """Value and tangent of each expression; y is drawn where it occurs in it."""
    for expression in expressions:
        duals = [parts(rng, low, high) for name in "xy" if name in expression.replace("exp", "")]
        got = learner.scenario.evaluate(expression, *duals)
        expected = reference.scenario.evaluate(expression, *duals)
        if isinstance(got, dict):  # no value: the scenario says why
            lifted = "not lifted" not in got
            expect(lifted, clean(str(got.get("not lifted")), 240), case=expression)
            if lifted:
                expect(False, clean(str(got.get("no Dual")), 240), case=expression)
        else:
            expect_close(got, expected, names=("value", "tangent"), case=expression, **EXACT)


@exercise("Dual")
def test_sums(learner, reference, rng):
    """Sums, differences and unary minus; a number is a constant."""
    expressions = ["x + y", "x + 3", "-x", "x - y", "x - 3", "x + Dual(2.5)", "x + y + x - y"]
    agree_on_expressions(learner, reference, rng, expressions, low=-1.5)


@exercise("Dual")
def test_products(learner, reference, rng):
    """The product rule."""
    expressions = ["x * 3", "x * y", "x * x", "x * Dual(2.5)", "x * y * x"]
    agree_on_expressions(learner, reference, rng, expressions, low=-1.5)


@exercise("Dual")
def test_quotients(learner, reference, rng):
    """The quotient rule."""
    agree_on_expressions(learner, reference, rng, ["x / 4", "x / y", "x / x", "x / y / x"])


@exercise("Dual")
def test_numbers_on_the_left(learner, reference, rng):
    """The order matters: 2 - x is not x - 2."""
    agree_on_expressions(learner, reference, rng, ["2 + x", "3 * x", "2 - x", "2 / x", "1 - 3 / (2 + x)"])


@exercise("Dual")
def test_powers(learner, reference, rng):
    """x ** n with a number n, the base positive."""
    agree_on_expressions(learner, reference, rng, ["x ** 2", "x ** 1", "x ** 3", "x ** -2", "x ** 0.5", "x ** 0"])


@exercise("Dual")
def test_powers_without_a_logarithm(learner, reference, rng):
    """x ** n with a whole n, where the base is negative or 0."""
    agree_on_expressions(learner, reference, rng, ["x ** 3", "x ** 2", "x ** -1", "x ** 0"], low=-1.5, high=-0.5)
    agree_on_expressions(learner, reference, rng, ["x ** 2", "x ** 1", "x ** 0"], low=0.0, high=0.0)


@exercise("Dual")
def test_dual_exponents(learner, reference, rng):
    """x ** y through both, and a ** x."""
    agree_on_expressions(learner, reference, rng, ["2 ** x", "x ** Dual(2.0)", "Dual(2.0) ** x", "x ** y", "x ** x"])


@exercise("Dual")
def test_functions(learner, reference, rng):
    """sin, exp and log: the derivative times the tangent."""
    agree_on_expressions(learner, reference, rng, ["x.sin()", "x.exp()", "x.log()"])
    agree_on_expressions(learner, reference, rng, ["x.sin()", "x.exp()"], low=-1.5, high=-0.5)


@exercise("Dual")
def test_compositions(learner, reference, rng):
    """The chain rule at work: every operation passes on the tangent of the one before."""
    expressions = ["(x * y).sin()", "(1 + x.exp()).log()", "(x - y.sin()) / (x * y + 2)", "(x ** y * 2 - x).exp() ** 2"]
    agree_on_expressions(learner, reference, rng, expressions)


def agree_on_derivative(learner, reference, rng, expressions):
    for expression in expressions:
        x = float(rng.uniform(0.5, 1.5))
        got = learner.scenario.derivative_of(expression, x)
        expected = reference.scenario.derivative_of(expression, x)
        expect_close(got, expected, names=("derivative",), case=expression, rtol=1e-12, atol=1e-13)


@exercise("derivative")
def test_derivatives_of_polynomials(learner, reference, rng):
    """Exact up to rounding, as no difference is."""
    agree_on_derivative(learner, reference, rng, ["3 * x", "x * x", "x ** 3 - 2 * x + 1", "1 / (1 + x * x)"])


@exercise("derivative")
def test_derivatives_of_compositions(learner, reference, rng):
    """Functions of functions, and one with a branch."""
    expressions = ["(x * x).sin()", "(x.sin() + 2).log() * x.exp()", "x ** x", "x * x if x.value > 0 else -x"]
    agree_on_derivative(learner, reference, rng, expressions)


@exercise("derivative")
def test_derivatives_of_constants(learner, reference, rng):
    """0.0 where f does not depend on x, whether it returns a number or a Dual; 1.0 where f returns x."""
    line = f"{rng.uniform(0.5, 1.5):.3f} + x * {rng.uniform(1.5, 4.5):.3f}"
    agree_on_derivative(learner, reference, rng, ["3.0", "x", "2", "x ** 0", "x - x", "x * 0 + x", line])


# jacobian_from_jvp and jacobian_from_vjp

JACOBIANS = {  # n_out and n_in, smallest first
    "one input, one output": (1, 1),
    "two inputs, two outputs": (2, 2),
    "more inputs than outputs": (2, 4),
    "more outputs than inputs": (4, 2),
    "a square Jacobian": (4, 4),
}


class Product:
    """The product with a fixed Jacobian, on its left or right, and how often it was taken."""

    def __init__(self, jacobian: np.ndarray, left: bool) -> None:
        self.matrix = jacobian.T if left else jacobian
        self.calls = 0

    def __call__(self, vector: Any) -> np.ndarray:
        self.calls += 1
        vector = np.asarray(vector, dtype=np.float64)
        if vector.shape != self.matrix.shape[1:]:
            wanted = self.matrix.shape[1:]
            raise ValueError(f"a vector of shape {wanted} is expected here, not an array of shape {vector.shape}")
        return self.matrix @ vector


def agree_on_jacobian(function, rng, shapes, *, left):
    for case, (n_out, n_in) in shapes.items():
        jacobian = rng.normal(size=(n_out, n_in))
        got = function(Product(jacobian, left), n_out if left else n_in)
        expect_close(got, jacobian, names=("the Jacobian",), case=case, **EXACT)


def expect_calls(function, rng, shapes, *, left):
    """As many calls as vectors are needed; the Jacobian is right, so that no call was saved at its expense."""
    for case, (n_out, n_in) in shapes.items():
        jacobian = rng.normal(size=(n_out, n_in))
        product, n = Product(jacobian, left), n_out if left else n_in
        got = function(product, n)
        expect_close(product.calls, n, names=("the number of calls",), case=case, rtol=0, atol=0)
        expect_close(got, jacobian, names=("the Jacobian",), case=case, **EXACT)


@exercise("jacobian_from_jvp")
def test_jacobian_column_by_column(learner, rng):
    """The JVP with a basis vector is a column."""
    agree_on_jacobian(learner.jacobian_from_jvp, rng, JACOBIANS, left=False)


@exercise("jacobian_from_jvp")
def test_calls_of_jvp(learner, rng):
    """n_in calls, not one more."""
    shapes = {"one input": (3, 1), "three inputs": (2, 3), "no outputs": (0, 2)}
    expect_calls(learner.jacobian_from_jvp, rng, shapes, left=False)


@exercise("jacobian_from_vjp")
def test_jacobian_row_by_row(learner, rng):
    """The VJP with a basis vector is a row."""
    agree_on_jacobian(learner.jacobian_from_vjp, rng, JACOBIANS, left=True)


@exercise("jacobian_from_vjp")
def test_calls_of_vjp(learner, rng):
    """n_out calls, not one more."""
    shapes = {"one output": (1, 3), "three outputs": (3, 2), "no inputs": (2, 0)}
    expect_calls(learner.jacobian_from_vjp, rng, shapes, left=True)


# gradcheck

FEW = 20
"""So often a check asks for a verdict at least: of few, a list by heart could have them all, or luck."""


class Asked:
    """A question as a learner's checker meets it: a `vjp` that answers in one way, right or wrong.

    It takes the inputs' own shapes in float64 and nothing else, and refuses the rest in the same words. What told the
    right VJP from the wrong ones by another road than its numbers would be worth points: so each call computes all the
    VJPs that are asked about for this `f`, and returns one of them. How long it takes tells of `f` alone.
    """

    def __init__(self, question: Question, beside: list[Question]) -> None:
        self._question = question
        self._about_f = [other for other in beside if other.f is question.f]
        self._shapes = [x.shape for x in question.f.inputs]
        self._output = np.shape(question.f(*question.f.inputs))

    def vjp(self, g: Any, *inputs: Any) -> tuple[np.ndarray, ...]:
        g, *at = taken((g, *inputs), [self._output, *self._shapes])
        for other in self._about_f:
            gradients = other.vjp(g.copy(), *map(np.copy, at))  # a wrong one may write into them
            if other is self._question:
                asked = gradients
        # In one order in memory and without -0.0, which would tell.
        return tuple(np.array(gradient, dtype=np.float64, order="C") + 0.0 for gradient in asked)

    def verdict(self, learner, seed: int) -> Any:
        """What the learner's gradcheck says of this VJP."""
        f = self._question.f
        return learner.scenario.gradcheck(f.name, f.arguments, self.vjp, f.inputs, seed)


def ask(learner, rng, questions: list[Question]) -> None:
    """Expect the learner's gradcheck to accept what is right and to reject what is wrong.

    It is asked in any order, and of few questions some come again, lest the order be the answer; what it got wrong is
    said in the order given.
    """
    kinds = [[i for i, question in enumerate(questions) if question.right is right] for right in (True, False)]
    again = [int(rng.choice(kinds[rng.integers(2)])) for _ in range(len(questions), FEW)]
    asked = rng.permutation([*range(len(questions)), *again]).tolist()
    verdicts: list[tuple[int, Any]] = []
    for i, seed in zip(asked, rng.integers(2**31, size=len(asked)).tolist(), strict=True):
        question = questions[i]
        try:
            verdicts.append((i, Asked(question, questions).verdict(learner, seed)))
        except Raised as error:
            if not question.right:
                of = f"of {question.f.words}, {question.words}"
                expect(False, f"A wrong VJP: {of}. The answer is False, not an exception. {error}")
            raise
    for i, got in sorted(verdicts, key=lambda verdict: verdict[0]):
        question, of = questions[i], f"of {questions[i].f.words}"
        if not isinstance(got, bool) and not (isinstance(got, np.ndarray) and got.shape == () and got.dtype == bool):
            expect(False, f"gradcheck returned {summarise(got)}: it must return True or False.")
        elif question.right:
            expect(bool(got), f"gradcheck rejected a right VJP: {of}.")
        else:
            expect(not got, f"gradcheck accepted a wrong VJP: {of}, {question.words}.")


# The rules of the next part come on hidden inputs only: the questions are many, and what they ask for is the same.


@exercise("gradcheck", visible=False)
def test_elementwise_rules(learner, rng):
    """Sums, products and activations, with the mistakes that learners make in them."""
    ask(learner, rng, elementwise_rules(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_rules_along_an_axis(learner, rng):
    """Sum, maximum, softmax, logsumexp and cross-entropy, with the mistakes that learners make in them."""
    ask(learner, rng, rules_along_an_axis(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_matrix_products_and_lookups(learner, rng):
    """Products of matrices and of stacks of them, and rows of a table, with the mistakes that learners make in them."""
    ask(learner, rng, products_and_lookups(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_normalizations(learner, rng):
    """Layer, RMS and batch normalization, with the mistakes that learners make in them."""
    ask(learner, rng, normalizations(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_convolution_pooling_and_attention(learner, rng):
    """The largest rules, with the mistakes that learners make in them."""
    ask(learner, rng, large_rules(int(rng.integers(2**31))))


def scaled(factor: float, f: Function) -> Vjp:
    """The right VJP times a factor."""
    return lambda g, *inputs: tuple(factor * gradient for gradient in f.vjp(g, *inputs))


@exercise("gradcheck")
def test_large_and_small_gradients(learner, rng):
    """A mistake of one percent in a large gradient, of one half in a small one: what counts is relative."""
    questions = []
    for words, scale, factors in [
        ("x²", 1.0, {"one percent too large": 1.01, "with the wrong sign": -1.0}),
        ("500,000 x²", 5e5, {"one percent too large": 1.01, "twice what it should be": 2.0}),
        (
            "3e-7 x², with gradients of less than 1e-6",
            3e-7,
            {"half of what it should be": 0.5, "twice what it should be": 2.0},
        ),
    ]:
        f = Function(words, ops.power, (array(rng, 3),), (2, scale))
        questions += [right(f), *(wrong(f, what, scaled(factor, f)) for what, factor in factors.items())]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_curved_functions(learner, rng):
    """Steep valleys, where one-sided differences are off, and fast waves, where a large step is."""
    bottom, questions = 1e-5 * array(rng, 3), []
    for f in (
        Function("50,000 x² close to its minimum", ops.power, (bottom,), (2, 5e4)),
        Function("sin(30 x)", ops.sine, (0.02 * array(rng, 2, 2),), (30,)),
        Function("exp(20 x)", ops.exponential, (0.02 * array(rng, 2),), (20,)),
    ):
        questions += [right(f), wrong(f, "one percent too small", scaled(0.99, f))]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_gradients_of_zero(learner, rng):
    """A function that does not depend on an input, and one that does not change although it seems to."""
    x, y = array(rng, 3), array(rng, 2)
    unused = Function("y², which does not depend on x", ops.square_of_the_second, (x, y))
    total = Function("the sum of a softmax, always 1", ops.sum_of_softmax, (x,))
    questions = [
        right(unused),
        wrong(unused, "with x for the gradient of x", lambda g, x, y: (x, 2 * g * y)),
        right(total),
        wrong(total, "as if it were the sum of exponentials", lambda g, x: g * np.exp(x)),
        wrong(unused, "zeros for both inputs", lambda g, x, y: (0 * x, 0 * y)),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_upstream_gradients_that_hide_nothing(learner, rng):
    """Wrong VJPs that are right for a g of all ones, for a constant, a symmetric or a one-hot g."""
    x = array(rng, 3)
    square = Function("x²", ops.power, (x,), (2, 1.0))
    probabilities = Function("the softmax", ops.softmax, (x,))
    gram = Function("A Aᵀ", ops.gram, (array(rng, 3, 2),))
    sums = Function("the cumulative sum", ops.cumulative_sum, (x,))
    questions = [
        right(square),
        wrong(square, "2x, without g", lambda g, x: 2 * x),
        wrong(square, "with the mean of g for g", lambda g, x: 2 * x * g.mean()),
        wrong(square, "from the first output only", lambda g, x: 2 * x * g * np.eye(len(x))[0]),
        right(probabilities),
        wrong(probabilities, "all zeros, as for a constant g", lambda g, x: np.zeros_like(x)),
        wrong(probabilities, "with the plain mean of g", lambda g, x: ops.softmax(x) * (g - g.mean())),
        right(gram),
        wrong(gram, "2 g A, right for a symmetric g", lambda g, A: 2 * g @ A),
        right(sums),
        wrong(sums, "g itself", lambda g, x: g),
        wrong(sums, "the cumulative sum of g", lambda g, x: np.cumsum(g)),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_every_input(learner, rng):
    """One wrong input among right ones."""
    f = Function("a * b + c", ops.multiply_and_add, (array(rng, 2, 3), array(rng, 3), array(rng)))

    def wrong_in(which: int) -> Vjp:
        return lambda g, *inputs: tuple(d * 1.5 if i == which else d for i, d in enumerate(f.vjp(g, *inputs)))

    names = ("first", "second", "last")
    ask(learner, rng, [right(f), *(wrong(f, f"for the {name} input", wrong_in(i)) for i, name in enumerate(names))])


@exercise("gradcheck")
def test_every_entry(learner, rng):
    """One wrong entry among right ones, and gradients whose sum, norm or direction is right."""
    f = Function("x³", ops.power, (np.sort(rng.uniform(0.4, 1.6, size=4)),), (3, 1.0))

    def off_by(*amounts: float) -> Vjp:
        return lambda g, x: 3 * g * x**2 + amounts

    questions = [
        right(f),
        wrong(f, "in its first entry only", off_by(0.3, 0, 0, 0)),
        wrong(f, "in its last entry only", off_by(0, 0, 0, -0.3)),
        wrong(f, "in its second entry only", off_by(0, 0.3, 0, 0)),
        wrong(f, "with its sum right and its entries wrong", off_by(0.3, -0.2, -0.2, 0.1)),
        wrong(f, "with the wrong sign", lambda g, x: -3 * g * x**2),
        wrong(f, "with its entries in reverse order", lambda g, x: (3 * g * x**2)[::-1]),
        wrong(f, "without the factor 3", lambda g, x: g * x**2),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_shapes(learner, rng):
    """0-d inputs and outputs, rows, and gradients that have another shape than their input."""
    number = Function("x³ of a 0-d array", ops.power, (array(rng),), (3, 1.0))
    spread = Function("x c, a 0-d array times three numbers", ops.multiply, (array(rng), array(rng, 3)))
    row = Function("x² of a row", ops.power, (array(rng, 1, 3),), (2, 1.0))
    bias = Function("X + b", ops.add, (array(rng, 2, 2), array(rng, 2)))
    questions = [
        *map(right, (number, spread, row, bias)),
        wrong(number, "3x², without g", lambda g, x: 3 * x**2),
        wrong(row, "a gradient of shape (3,) for an input of shape (1, 3)", lambda g, x: (2 * g * x).ravel()),
        wrong(number, "a gradient of shape (1,) for an input of shape ()", lambda g, x: np.reshape(3 * g * x**2, 1)),
        wrong(row, "a gradient of shape (3, 1) for an input of shape (1, 3)", lambda g, x: (2 * g * x).T),
        wrong(bias, "one gradient for two inputs, that of b is missing", lambda g, X, b: (g,)),
        wrong(bias, "the gradient of b not summed: shape (2, 2) for an input of shape (2,)", lambda g, X, b: (g, g)),
        wrong(
            spread, "the gradient of x not summed: shape (3,) for an input of shape ()", lambda g, x, c: (g * c, g * x)
        ),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_gradients_that_are_no_numbers(learner, rng):
    """A nan or an infinity is never right, wherever it is."""
    f = Function("x²", ops.power, (array(rng, 3),), (2, 1.0))
    questions = [
        right(f),
        wrong(f, "x, without g and the factor 2", lambda g, x: x),
        wrong(f, "nan in every entry", lambda g, x: np.full_like(x, np.nan)),
        wrong(f, "nan in its last entry", lambda g, x: np.where([True, True, False], 2 * g * x, np.nan)),
        wrong(f, "infinite in its first entry", lambda g, x: np.where([False, True, True], 2 * g * x, np.inf)),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_the_same_seed(learner, rng):
    """The same seed gives the same g. (That the inputs stay as they are, every check of gradcheck sees.)"""
    f = Function("a * b", ops.multiply, (array(rng, 2, 3), array(rng, 3)))
    questions = [right(f), wrong(f, "without the sum for b", lambda g, a, b: (g * b, (g * a)[0]))]
    ask(learner, rng, questions)
    asked, seed, seen = Asked(questions[0], questions), int(rng.integers(2**31)), []

    def vjp(g, *inputs):
        gradients = asked.vjp(g, *inputs)  # refuses what has another shape, which would take long
        seen[-1].append(np.array(g, dtype=np.float64).tolist())
        return gradients

    for _ in range(2):
        seen.append([])
        learner.scenario.gradcheck(f.name, f.arguments, vjp, f.inputs, seed)
    expect(bool(seen[0]), "gradcheck did not call vjp.")
    same = "gradcheck called twice with generators of the same seed used different g: draw all that is random from rng."
    expect(seen[0] == seen[1], same)
