"""Wrong answers written afresh whose cause a message once did not tell, or told beside the point."""

from __future__ import annotations

import pytest

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

AXIS_0 = "def add_vjp(g, a, b):\n    return g, g.sum(axis=0)"
MEANS = """
def down(g, x):
    while g.ndim > x.ndim:
        g = g.mean(axis=0)
    for axis, size in enumerate(x.shape):
        if size == 1 and g.shape[axis] != 1:
            g = g.mean(axis=axis, keepdims=True)
    return g.astype(x.dtype)

def mul_vjp(g, a, b):
    return down(g * b, a), down(g * a, b)
"""
ADD_AS_MUL = MEANS.replace("mean", "sum").replace("mul_vjp", "add_vjp")
OVER_THE_BATCH = """
def unbroadcast(g, shape):
    if g.ndim > len(shape):
        return np.sum(g, axis=0)
    return g
"""
FROM_THE_FIRST = """
def jvp_chain(Ws, v):
    out = Ws[0] @ v
    for W in Ws[1:]:
        out = W @ out
    return out
"""
LOSS_TOO_LATE = """
def cross_entropy_loss(logits, targets):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = p = e / e.sum(axis=1, keepdims=True)
    d[np.arange(len(d)), targets] -= 1
    loss = -np.log(np.abs(p[np.arange(len(d)), targets])).mean()
    return loss, d / len(d)
"""
ALL_ENTRIES = """
def mse_loss(y, t):
    d = y - t
    return np.mean(d**2) / 2, d / len(d)
"""
OWN_CACHE = """
def forward(params, X, activation="relu"):
    Z = X @ params["W1"] + params["b1"]
    H = {"relu": lambda z: np.maximum(z, 0), "tanh": np.tanh, "sigmoid": lambda z: 1 / (1 + np.exp(-z))}[activation](Z)
    return H @ params["W2"] + params["b2"], (X, Z, H)

def backward(params, cache, dout):
    raise ValueError(len(cache))
"""
OUTPUT_FIRST = """
def topological_order(output):
    seen, order = set(), []
    def visit(node):
        if node not in seen:
            seen.add(node)
            order.append(node)
            for parent in node.parents:
                visit(parent)
    visit(output)
    return order[::-1]
"""
NO_CYCLES = """
def topological_order(output):
    seen, order = set(), []
    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)
    visit(output)
    return order
"""


@pytest.mark.parametrize(
    ("slug", "name", "code", "says"),
    [
        ("ch06_vjps", "add_vjp", AXIS_0, "You sum over axis 0 whatever the shapes are."),
        ("ch06_vjps", "add_vjp", ADD_AS_MUL, "this is the VJP of a product"),
        ("ch06_vjps", "mul_vjp", MEANS, "You average over the broadcast axes."),
        ("ch05_autograd_engine", "unbroadcast", OVER_THE_BATCH, "g is summed over axis 0, the batch"),
        ("ch02_chain_rule", "jvp_chain", FROM_THE_FIRST, "an empty chain:\n  Ws = []"),
        ("ch02_chain_rule", "jvp_chain", FROM_THE_FIRST, "\nExpected there: np.array(["),
        ("ch07_mlp_backprop", "cross_entropy_loss", LOSS_TOO_LATE, "is read from p after 1 was subtracted"),
        ("ch07_mlp_backprop", "mse_loss", ALL_ENTRIES, "`np.mean(d**2) / 2`: multiplied by a number of entries,"),
        ("ch07_mlp_backprop", "backward", OWN_CACHE, "backward raised ValueError: 3"),
    ],
)
def test_the_cause_is_told(slug: str, name: str, code: str, says: str) -> None:
    message = message_of(slug, name, code)
    assert says in message


def test_the_simplest_case_comes_before_a_known_mistake_of_another() -> None:
    """Four nodes come out in a wrong order, and the recursion ends at 20,000: the order comes first."""
    first, *_, last = message_of("ch01_computation_graph", "topological_order", OUTPUT_FIRST).splitlines()
    assert first.startswith("Node c stands before its parent a.")
    assert last.startswith("Another mistake: The function calls itself once per step")


def test_what_fails_before_a_known_mistake_does_is_told() -> None:
    """A check of long chains goes through a plain one, where the recursion ends, before it comes to a cycle."""
    message = message_of("ch01_computation_graph", "topological_order", NO_CYCLES)
    assert message.startswith("A cycle goes unnoticed")
    assert "\nApart from that: The calls inside calls became too many" in message


@pytest.mark.parametrize("code", [AXIS_0, AXIS_0.replace("g.sum(axis=0)", "g[0]"), "def add_vjp(g, a, b): return g, 1"])
def test_wrong_shapes_of_large_arrays_are_not_called_a_matter_of_how(code: str) -> None:
    message = message_of("ch06_vjps", "add_vjp", code)
    assert "is about how it is done" not in message
    assert "how add_vjp is done is measured on right values only" in message or "No points" not in message


def message_of(slug: str, name: str, code: str) -> str:
    workers = Workers(find_lesson(slug), "process")
    submission = Submission.of_cells("a test", ["import numpy as np", code])
    try:
        result = with_judge(workers.lesson, lambda judge: judge.grade(submission, workers, only=[name]))
    finally:
        workers.stop()
    return next(one.message for one in result.exercises if one.name == name)
