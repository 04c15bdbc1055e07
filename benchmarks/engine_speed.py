"""How fast is the engine of ch05? `python benchmarks/engine_speed.py`.

One forward and one backward pass of the digits network (64-64-10, relu, mean cross-entropy, 64 images), by the
reference engine, by PyTorch in eager mode, and by an engine of numbers, one object for each of them, as micrograd is
designed. All on one thread, in turn, in one run. First the three have to agree on the loss and on every gradient.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from autograder.judging.checking.reference import load_module
from course.data import load_digits_train

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions"
BATCH = 64
ROUNDS, PASSES = 9, 60
"""The array engines take turns of so many passes, so often."""
SCALAR_PASSES = 3
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}

Step = Callable[[], tuple[float, list[np.ndarray]]]
"""One forward and backward pass: the loss, and the gradients of W1, b1, W2 and b2."""


def engine_of_the_lesson(X: np.ndarray, y: np.ndarray, arrays: list[np.ndarray]) -> Step:
    """The reference of ch05_autograd_engine."""
    tensor = load_module(SOLUTIONS / "ch05_autograd_engine.py").Tensor
    W1, b1, W2, b2 = parameters = [tensor(array.copy(), requires_grad=True) for array in arrays]
    rows = np.arange(len(y))

    def step() -> tuple[float, list[np.ndarray]]:
        for p in parameters:
            p.grad = None
        z = (X @ W1 + b1).relu() @ W2 + b2
        z = z - z.data.max(axis=1, keepdims=True)
        loss = (z.exp().sum(axis=1).log() - z[rows, y]).mean()
        loss.backward()
        return loss.data.item(), [p.grad for p in parameters]

    return step


def pytorch(X: np.ndarray, y: np.ndarray, arrays: list[np.ndarray]) -> Step:
    """PyTorch in eager mode, its cross-entropy one fused operation."""
    images, targets = torch.tensor(X), torch.tensor(y)
    W1, b1, W2, b2 = parameters = [torch.tensor(array, requires_grad=True) for array in arrays]

    def step() -> tuple[float, list[np.ndarray]]:
        for p in parameters:
            p.grad = None
        logits = torch.relu(images @ W1 + b1) @ W2 + b2
        loss = torch.nn.functional.cross_entropy(logits, targets)
        loss.backward()
        return loss.item(), [p.grad.numpy() for p in parameters if p.grad is not None]

    return step


class Scalar:
    """A number that remembers how it was computed: one node of the graph for every addition and multiplication."""

    __slots__ = ("data", "grad", "parents", "push")

    def __init__(self, data: float, parents: tuple[Scalar, ...] = ()) -> None:
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.push: Callable[[], None] | None = None
        """Adds this node's gradient, times the local derivatives, to its parents'."""

    def __add__(self, other: Scalar) -> Scalar:
        out = Scalar(self.data + other.data, (self, other))

        def push() -> None:
            self.grad += out.grad
            other.grad += out.grad

        out.push = push
        return out

    def __mul__(self, other: Scalar) -> Scalar:
        out = Scalar(self.data * other.data, (self, other))

        def push() -> None:
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.push = push
        return out

    def apply(self, value: float, derivative: float) -> Scalar:
        """A function of one number."""
        out = Scalar(value, (self,))

        def push() -> None:
            self.grad += derivative * out.grad

        out.push = push
        return out

    def relu(self) -> Scalar:
        return self.apply(max(self.data, 0.0), float(self.data > 0))

    def exp(self) -> Scalar:
        value = math.exp(self.data)
        return self.apply(value, value)

    def log(self) -> Scalar:
        return self.apply(math.log(self.data), 1 / self.data)

    def backward(self) -> int:
        """Fill in `grad` of everything below; returns how many nodes that were."""
        order: list[Scalar] = []
        seen: set[Scalar] = set()

        def visit(node: Scalar) -> None:
            if node not in seen:
                seen.add(node)
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            if node.push is not None:
                node.push()
        return len(order)


def numbers(X: np.ndarray, y: np.ndarray, arrays: list[np.ndarray], nodes: list[int]) -> Step:
    """The network of `Scalar`s, image by image, so that one image's graph is alive at a time; counts its nodes."""
    W1, b1, W2, b2 = [[[Scalar(v) for v in row] for row in np.atleast_2d(array).tolist()] for array in arrays]
    parameters = [W1, b1, W2, b2]

    def layer(x: list[Scalar], W: list[list[Scalar]], b: list[list[Scalar]]) -> list[Scalar]:
        outputs = []
        for j, bias in enumerate(b[0]):
            total = bias
            for i, entry in enumerate(x):
                total = total + entry * W[i][j]
            outputs.append(total)
        return outputs

    def step() -> tuple[float, list[np.ndarray]]:
        for matrix in parameters:
            for row in matrix:
                for p in row:
                    p.grad = 0.0
        sum_of_losses, nodes[:] = 0.0, [0]
        for image, target in zip(X.tolist(), y.tolist(), strict=True):
            hidden = [h.relu() for h in layer([Scalar(pixel) for pixel in image], W1, b1)]
            logits = layer(hidden, W2, b2)
            largest = Scalar(-max(logit.data for logit in logits))
            shifted = [logit + largest for logit in logits]
            total = shifted[0].exp()
            for logit in shifted[1:]:
                total = total + logit.exp()
            loss = (total.log() + shifted[target] * Scalar(-1.0)) * Scalar(1 / len(y))
            nodes[0] += loss.backward()
            sum_of_losses += loss.data
        gradients = [np.array([[p.grad for p in row] for row in matrix]) for matrix in parameters]
        return sum_of_losses, [gradient.reshape(a.shape) for gradient, a in zip(gradients, arrays, strict=True)]

    return step


def expect_the_same(steps: dict[str, Step], rtol: float) -> None:
    """All engines have one loss and one set of gradients; `AssertionError` if not."""
    (loss, gradients), *others = [step() for step in steps.values()]
    for other_loss, other_gradients in others:
        np.testing.assert_allclose(other_loss, loss, rtol=rtol)
        for one, other in zip(gradients, other_gradients, strict=True):
            np.testing.assert_allclose(other, one, rtol=rtol, atol=rtol)


def microseconds(step: Step, passes: int) -> list[float]:
    """Wall time of each pass."""
    times = []
    for _ in range(passes):
        start = time.perf_counter()
        step()
        times.append(1e6 * (time.perf_counter() - start))
    return times


def report(title: str, times: list[float], fastest: dict[str, float]) -> None:
    """One line of the table; notes the fastest pass."""
    fastest[title] = min(times)
    print(f"{title:34} {statistics.median(times):10,.0f} {min(times):10,.0f}", flush=True)


def main() -> None:
    if not ONE_THREAD.items() <= os.environ.items():  # they are read when NumPy is imported
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    torch.set_num_threads(1)
    images, labels = load_digits_train()
    rng = np.random.default_rng(0)
    W1, W2 = rng.normal(size=(64, 64)) * np.sqrt(2 / 64), rng.normal(size=(64, 10)) * np.sqrt(2 / 64)
    arrays = [W1, np.zeros(64), W2, np.zeros(10)]
    X, y = images[:BATCH], labels[:BATCH]
    print(f"forward and backward of 64-64-10 at batch {BATCH}, one thread, microseconds a pass")
    print(f"{'':34} {'median':>10} {'fastest':>10}")
    fastest: dict[str, float] = {}
    for dtype, rtol in ((np.float64, 1e-9), (np.float32, 1e-4)):
        typed = X.astype(dtype), y, [array.astype(dtype) for array in arrays]
        steps = {"engine of ch05": engine_of_the_lesson(*typed), "PyTorch": pytorch(*typed)}
        expect_the_same(steps, rtol)
        times: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(ROUNDS):
            for name, step in steps.items():
                times[name] += microseconds(step, PASSES)
        for name, values in times.items():
            report(f"{name}, {dtype.__name__}", values, fastest)
    nodes: list[int] = []
    scalar = numbers(X, y, arrays, nodes)
    expect_the_same({"scalars": scalar, "PyTorch": pytorch(X, y, arrays)}, 1e-9)
    report(f"numbers, {nodes[0]:,} nodes", microseconds(scalar, SCALAR_PASSES), fastest)
    ours, theirs, ours32, theirs32, scalars = fastest.values()
    print("of the fastest passes, which other programs disturbed least:")
    print(f"the engine of ch05 takes {ours / theirs:.2f} times PyTorch's time, {ours32 / theirs32:.2f} in float32")
    print(f"the engine of numbers takes {scalars / ours:,.0f} times the time of the engine of ch05")


if __name__ == "__main__":
    main()
