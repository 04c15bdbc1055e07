"""The bank of VJPs that grades ch02's gradient checkers: right ones to accept, wrong ones to reject.

The wrong ones are the mistakes that learners make in the rules of the next part, from that lesson's `mistakes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from autograder.diagnosis import Misconception
from autograder.judging import function_of, misconceptions_of
from autograder.lessons.ch02_chain_rule.scenarios import gradcheck as ops

OF_THE_RULES = "ch06_vjps"
FOUND_BY_NO_DIFFERENCES = {
    # The dtype alone is wrong: a float32 gradient where the input is float32. All is float64 here.
    *("add_dtype_of_g", "embedding_always_float64", "running_mean_dtype_of_g"),
    # Wrong at one point only, where the function has a kink or a tie and differences are meaningless.
    *("relu_one_at_zero", "relu_half_at_zero", "max_full_to_each", "max_first_only", "max_near_ties"),
    *("pool_ties_to_all", "pool_ties_shared", "pool_ties_to_last", "pool_ties_in_column_order"),
    # Wrong where exp overflows, some hundreds away from 0, but right for numbers of size 1.
    *("sigmoid_overflows_below", "sigmoid_overflows_above", "tanh_overflows", "softmax_overflows"),
    *("softmax_global_maximum", "logsumexp_overflows", "cross_entropy_overflows", "attention_overflows"),
    # Divide by a number that may be 0, and is not here.
    *("mul_divided_product", "rmsnorm_xhat_from_y"),
    # Raise an exception wherever they would be wrong.
    *("sum_ignores_keepdims", "pool_without_leftovers"),
    *("axes_put_back_one_by_one", "channels_reversed", "height_for_width", "pool_first_window_alone"),
    "rms_row_term_along_columns",
}
"""Mistakes that a gradient checker cannot see on generic float64 inputs, or for any function of the bank."""

MISTAKES_PER_RULE = 3
"""Number of mistakes drawn per rule: all of them would need thousands of calls to a learner's checker."""

VISIBLY_WRONG = 0.02
"""Minimum error of a wrong VJP in the bank, relative to the gradient's largest entry."""

Vjp = Callable[..., Any]


@dataclass
class Function:
    """A function of some arrays, one of the scenario's `FUNCTIONS`, at some inputs."""

    words: str
    compute: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]
    arguments: tuple[Any, ...] = ()
    """The rule's arguments after the inputs: targets, an axis, a stride."""

    def __post_init__(self) -> None:
        assert ops.FUNCTIONS[self.name] is self.compute

    @property
    def name(self) -> str:
        return self.compute.__name__

    def __call__(self, *inputs: Any) -> np.ndarray:
        inputs = tuple(np.asarray(x, dtype=np.float64) for x in inputs)
        return np.asarray(self.compute(*inputs, *self.arguments), dtype=np.float64)

    def vjp(self, g: Any, *inputs: Any) -> tuple[np.ndarray, ...]:
        """The right gradients."""
        inputs = tuple(np.asarray(x, dtype=np.float64) for x in inputs)
        here = all(map(np.array_equal, inputs, self.inputs))
        jacobians = self._jacobians if here else self._jacobians_at(inputs)
        g = np.broadcast_to(g, np.shape(self(*inputs)))
        return tuple(np.asarray(np.tensordot(g, jacobian, axes=g.ndim)) for jacobian in jacobians)

    @cached_property
    def _jacobians(self) -> list[np.ndarray]:
        return self._jacobians_at(self.inputs)

    def _jacobians_at(self, inputs: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        """The Jacobian for each input, of shape output + input, exact by complex steps, which have no cancellation."""
        step, jacobians = 1e-30, []
        for i, x in enumerate(inputs):
            columns = []
            for index in np.ndindex(x.shape):
                moved = x.astype(np.complex128)
                moved[index] += step * 1j
                outputs = self.compute(*inputs[:i], moved, *inputs[i + 1 :], *self.arguments)
                columns.append(np.imag(outputs) / step)
            jacobian = np.stack(columns, axis=-1)
            jacobians.append(jacobian.reshape(jacobian.shape[:-1] + x.shape))
        return jacobians


@dataclass
class Question:
    """A VJP to ask the learner's checker about."""

    f: Function
    vjp: Vjp
    right: bool
    words: str
    """What is wrong with it; empty if nothing is."""
    layout: str = ""
    """How the inputs lie in memory; row by row if empty."""


def right(f: Function) -> Question:
    return Question(f, f.vjp, True, "")


def wrong(f: Function, words: str, vjp: Vjp) -> Question:
    """A question about a wrong VJP, which may return a tuple, or an array for a single input."""
    return Question(f, partial(as_tuple, vjp), False, words)


def as_tuple(vjp: Vjp, g: Any, *inputs: Any) -> tuple[Any, ...]:
    got = vjp(np.asarray(g), *map(np.asarray, inputs))
    return got if isinstance(got, tuple) else (got,)


@cache
def register() -> list[Misconception]:
    """The wrong VJPs that learners write in the next part."""
    return misconceptions_of(OF_THE_RULES)


@cache
def function(mistake: Misconception) -> Vjp:
    return function_of(mistake, OF_THE_RULES)


def mistakes(rule: str) -> list[Misconception]:
    """The mistakes of one rule that finite differences can find."""
    return [m for m in register() if m.exercise == rule and m.name not in FOUND_BY_NO_DIFFERENCES]


def about_rule(rng, rule: str, functions: list[Function]) -> list[Question]:
    """Questions about some mistakes, each at the first function where it shows, after that function's right VJP."""
    upstream = [rng.normal(size=np.shape(f(*f.inputs))) for f in functions]
    known = mistakes(rule)
    asked: list[list[Question]] = [[] for _ in functions]
    for i in rng.permutation(len(known))[:MISTAKES_PER_RULE]:
        for f, g, questions in zip(functions, upstream, asked, strict=True):
            vjp = partial(with_arguments, function(known[i]), f.arguments)
            if is_visibly_wrong(f, vjp, g):
                words = f"the mistake “{known[i].name.replace('_', ' ')}”"
                questions += [*([] if questions else [right(f)]), wrong(f, words, vjp)]
                break
    return [question for questions in asked for question in questions]


def with_arguments(vjp: Vjp, arguments: tuple[Any, ...], g: Any, *inputs: Any) -> Any:
    return vjp(g, *inputs, *arguments)


def is_visibly_wrong(f: Function, vjp: Vjp, g: np.ndarray) -> bool:
    """Whether a VJP is wrong by at least `VISIBLY_WRONG` at the inputs of `f`; False if it raises."""
    try:
        got = as_tuple(vjp, g, *f.inputs)
    except Exception:
        return False
    pairs = list(zip(got, f.vjp(g, *f.inputs), strict=False))
    if len(got) != len(f.inputs) or any(np.shape(mine) != its.shape for mine, its in pairs):
        return True
    gaps = [np.abs(mine - its).max() / np.abs(its).max() for mine, its in pairs if its.any()]
    return not max(gaps, default=0.0) < VISIBLY_WRONG


def array(rng, *shape) -> np.ndarray:
    """Numbers of both signs between 0.4 and 1.6 in size: no gradient is 0 by accident, no kink is near."""
    return np.asarray(rng.uniform(0.4, 1.6, size=shape) * rng.choice([-1.0, 1.0], size=shape))


def apart(rng, *shape) -> np.ndarray:
    """Numbers at least 0.2 apart, so that every maximum is clear."""
    size = int(np.prod(shape))
    return ((rng.permutation(size) - size / 2 + rng.uniform(0.0, 0.5, size=size)) * 0.4).reshape(shape)


@cache  # the same questions for every submission of a class
def elementwise_rules(seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    shapes = {"a row added to each row": ((2, 3), (3,)), "a column and a row": ((2, 1), (1, 3)), "a number": ((3,), ())}
    pairs = {words: (array(rng, *a), array(rng, *b)) for words, (a, b) in shapes.items()}
    x = array(rng, 2, 3)
    many = array(rng, 4, 5)  # so that the signs of g and of x are not the same by accident
    return [
        *about_rule(rng, "add_vjp", [Function(f"a + b, {words}", ops.add, inputs) for words, inputs in pairs.items()]),
        *about_rule(
            rng, "mul_vjp", [Function(f"a * b, {words}", ops.multiply, inputs) for words, inputs in pairs.items()]
        ),
        *about_rule(rng, "relu_vjp", [Function("relu", ops.relu, (many,))]),
        *about_rule(rng, "sigmoid_vjp", [Function("the sigmoid", ops.sigmoid, (x,))]),
        *about_rule(rng, "tanh_vjp", [Function("tanh", ops.tanh, (x,))]),
    ]


@cache
def rules_along_an_axis(seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    square, grid, cube = array(rng, 2, 2), array(rng, 3, 3), array(rng, 2, 2, 2)
    sums = [
        Function(f"x.sum(axis={axis}) of shape {x.shape}", ops.total, (x,), (axis,))
        for x, axis in [(square, 0), (square, 1), (cube, (1, 0))]
    ]
    maxima = [
        Function(f"x.max(axis={axis}) of shape (3, 3)", ops.maximum, (apart(rng, 3, 3),), (axis,)) for axis in (1, 0)
    ]
    softmaxes = [
        Function(f"the softmax along axis {axis}", ops.softmax, (array(rng, 2, 3),), (axis,)) for axis in (-1, 0)
    ]
    logsumexps = [Function(f"logsumexp along axis {axis}", ops.logsumexp, (grid,), (axis,)) for axis in (-1, 0)]
    means = [Function(f"the running mean along axis {axis}", ops.running_mean, (grid,), (axis,)) for axis in (-1, 0)]
    losses = [Function("the cross-entropy", ops.cross_entropy, (array(rng, 3, 3),), (np.array([2, 0, 2]),))]
    return [
        *about_rule(rng, "sum_vjp", sums),
        *about_rule(rng, "max_vjp", maxima),
        *about_rule(rng, "softmax_vjp", softmaxes),
        *about_rule(rng, "logsumexp_vjp", logsumexps),
        *about_rule(rng, "cross_entropy_vjp", losses),
        *about_rule(rng, "running_mean_vjp", means),
    ]


@cache
def products_and_lookups(seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    stacks = [
        ("A @ B with square matrices", (2, 2), (2, 2)),
        ("A @ B, a stack times one matrix", (2, 2, 2), (2, 2)),
        ("A @ B, a stack of one times a stack", (1, 2, 2), (2, 2, 2)),
    ]
    products = [Function(words, ops.matmul, (array(rng, *a), array(rng, *b))) for words, a, b in stacks]
    ids = {"repeated ids": np.array([1, 0, 1]), "rows of repeated ids": np.array([[2, 2], [0, 2]])}
    lookups = [Function(f"table[ids], {words}", ops.rows, (array(rng, 3, 2),), (ids,)) for words, ids in ids.items()]
    return [*about_rule(rng, "matmul_vjp", products), *about_rule(rng, "embedding_vjp", lookups)]


@cache
def normalizations(seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    questions = []
    shapes = {" with eps = 0.2": (2, 4), " of a stack": (2, 2, 3)}  # an eps large enough to matter
    rules: list[tuple[str, Callable[..., Any], int]] = [("layernorm", ops.layernorm, 2), ("rmsnorm", ops.rmsnorm, 1)]
    for name, compute, parameters in rules:
        functions = [
            Function(name + words, compute, (array(rng, *shape), *array(rng, parameters, shape[-1])), (0.2,))
            for words, shape in shapes.items()
        ]
        questions += about_rule(rng, f"{name}_vjp", functions)
    inputs = (array(rng, 4, 2), array(rng, 2), array(rng, 2))
    return questions + about_rule(
        rng, "batchnorm_vjp", [Function("batchnorm with eps = 0.2", ops.batchnorm, inputs, (0.2,))]
    )


@cache
def large_rules(seed: int) -> list[Question]:
    rng = np.random.default_rng(seed)
    shapes = [
        ("a convolution", (2, 1, 3, 3), (2, 1, 2, 2), (1, 0)),
        ("a convolution with stride 2 and padding 1", (1, 1, 3, 3), (1, 1, 2, 2), (2, 1)),
    ]
    convolutions = [
        Function(words, ops.convolution, (array(rng, *x), array(rng, *w), array(rng, w[0])), arguments)
        for words, x, w, arguments in shapes
    ]
    poolings = [Function("a max-pooling with a column left over", ops.pooling, (apart(rng, 1, 1, 2, 5),), (2,))]
    sizes: list[tuple[str, list[tuple[int, ...]], bool]] = [
        ("attention", [(3, 2), (3, 2), (3, 3)], False),
        ("causal attention", [(3, 3), (3, 3), (3, 3)], True),
        ("attention with heads", [(2, 2, 2)] * 3, False),
    ]
    attentions = [
        Function(words, ops.attention, tuple(array(rng, *shape) for shape in shapes), (causal,))
        for words, shapes, causal in sizes
    ]
    return [
        *about_rule(rng, "conv2d_vjp", convolutions),
        *about_rule(rng, "maxpool2d_vjp", poolings),
        *about_rule(rng, "attention_vjp", attentions),
    ]
