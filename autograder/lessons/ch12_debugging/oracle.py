"""The reference of ch12_debugging against NumPy, the graph itself, and the same training in float64 by hand."""

from __future__ import annotations

import copy
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from autograder.judging import exercise

SEEDS = range(5)


def of(reference, name):
    return reference.implementations[name]


# gradient_report


def status_by_hand(norms):
    """The statuses, from norms as exact rational numbers; None, nan and inf as they are."""
    finite = sorted(norm for norm in norms if isinstance(norm, Fraction) and norm > 0)
    n = len(finite)
    median = (finite[(n - 1) // 2] + finite[n // 2]) / 2 if n else None
    for norm in norms:
        if norm is None:
            yield "none"
        elif not isinstance(norm, Fraction):
            yield "nonfinite"
        elif norm == 0:
            yield "zero"
        else:
            yield "exploding" if norm > 1000 * median else "ok"


@exercise("gradient_report")
def test_report_against_exact_numbers(reference, rng):
    """Gradients with one entry each, whose norm is that entry exactly."""
    for _ in range(50):
        model = torch.nn.Module()
        norms = []
        for i in range(int(rng.integers(1, 8))):
            kind = int(rng.integers(7))
            parameter = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
            value = [None, 0.0, math.nan, math.inf, *(2.0 ** float(rng.integers(-12, 13)) for _ in range(3))][kind]
            if value is not None:
                parameter.grad = torch.zeros(3, dtype=torch.float64)
                parameter.grad[int(rng.integers(3))] = value
            norms.append(Fraction(value) if value is not None and math.isfinite(value) else value)
            model.register_parameter(f"p{i}", parameter)
        report = of(reference, "gradient_report")(model)
        assert [entry["name"] for entry in report] == [f"p{i}" for i in range(len(norms))]
        assert [entry["status"] for entry in report] == list(status_by_hand(norms))
        for entry, norm in zip(report, norms, strict=True):
            same = entry["norm"] is None if norm is None else np.array_equal(entry["norm"], float(norm), equal_nan=True)
            assert same


@exercise("gradient_report")
def test_norms_against_numpy(reference, rng):
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
    model(torch.tensor(rng.normal(size=(4, 5)), dtype=torch.float32)).square().sum().backward()
    for entry, parameter in zip(of(reference, "gradient_report")(model), model.parameters(), strict=True):
        expected = math.sqrt(math.fsum(float(g) ** 2 for g in parameter.grad.flatten().tolist()))
        assert math.isclose(entry["norm"], expected, rel_tol=1e-12)


# first_nonfinite


@exercise("first_nonfinite")
def test_first_layer_against_a_loop(reference, rng):
    """Layers of a Sequential, run by hand, one after the other."""
    for _ in range(20):
        depth = int(rng.integers(1, 6))
        model = torch.nn.Sequential(*(torch.nn.Linear(3, 3, dtype=torch.float64) for _ in range(depth)))
        with torch.no_grad():
            for layer in model:
                if rng.random() < 0.3:
                    layer.bias[int(rng.integers(3))] = float(rng.choice([math.nan, math.inf]))
        x = rng.normal(size=(2, 3))
        expected, h = None, x
        for i, layer in enumerate(model):
            with np.errstate(all="ignore"):
                h = h @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
            if expected is None and not np.isfinite(h).all():
                expected = str(i)
        assert of(reference, "first_nonfinite")(model, torch.tensor(x)) == expected


# anomaly_op


def first_node_with_a_nan(loss):
    """The node whose backward is the first to return a nan, by hooks on all nodes; None if none does."""
    found, seen, waiting = [], set(), [loss.grad_fn]

    def watch(node):
        def look(inputs, outputs):
            if any(g is not None and g.isnan().any() for g in inputs):
                found.append(node.name())

        return look

    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        node.register_hook(watch(node))
        waiting += [following for following, _ in node.next_functions]
    loss.backward()
    return found[0] if found else None


@exercise("anomaly_op")
def test_names_against_hooks_on_nodes(reference):
    def fn(operation):
        x = torch.tensor([0.0, 0.5], requires_grad=True)
        y = operation(x * 1.0)
        return torch.where(x == 0, torch.zeros(()), y).sum()

    for operation in (torch.sqrt, torch.log, torch.reciprocal, torch.exp, torch.log2, lambda x: x**0.5, torch.sin):
        expected = first_node_with_a_nan(fn(operation))
        assert of(reference, "anomaly_op")(lambda operation=operation: fn(operation)) == expected
    assert first_node_with_a_nan(fn(torch.sqrt)) == "SqrtBackward0"


# repeated_batches


@exercise("repeated_batches")
def test_pairs_against_numpy(reference, rng):
    for _ in range(30):
        choices = [
            np.array([1.0, math.nan]),
            np.array([1.0, 2.0]),
            np.array([1, 2]),
            np.array([[1.0, 2.0]]),
            np.zeros(0),
        ]
        batches = [
            tuple(choices[int(i)] for i in rng.integers(len(choices), size=rng.integers(1, 3)))
            for _ in range(int(rng.integers(20)))
        ]
        expected = [
            (i, j)
            for i in range(len(batches))
            for j in range(i + 1, len(batches))
            if len(batches[i]) == len(batches[j])
            and all(
                a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                for a, b in zip(batches[i], batches[j], strict=True)
            )
        ]
        tensors = [tuple(map(torch.tensor, batch)) for batch in batches]
        assert of(reference, "repeated_batches")(tensors) == sorted(expected)


# The programs, against the same training by hand in float64


def mlp(seed, *widths, act=torch.nn.Tanh):
    torch.manual_seed(seed)
    modules = []
    for fan_in, fan_out in itertools.pairwise(widths):
        modules += [torch.nn.Linear(fan_in, fan_out), act()]
    return torch.nn.Sequential(*modules[:-1])


def regression(seed, n, d, steps):
    g = torch.Generator().manual_seed(seed)
    return [((X := torch.randn(n, d, generator=g)), X.sin().sum(dim=1, keepdim=True) / d) for _ in range(steps)]


def classification(seed, n, d, classes, steps):
    g = torch.Generator().manual_seed(seed)
    W = torch.randn(d, classes, generator=g)
    return [((X := torch.randn(n, d, generator=g)), (X @ W).argmax(dim=1)) for _ in range(steps)]


def double(batch):
    return tuple(part.double() if part.is_floating_point() else part for part in batch)


def by_hand(modules, loss_fn, batches, lr, *, accumulate=1, decay=0.0, max_norm=math.inf, after=None):
    """SGD in float64 on copies: p −= lr · (mean gradient + decay · p), clipped; losses, copies, what `after` gives."""
    copies = [copy.deepcopy(module).double() for module in modules]
    parameters = [parameter for module in copies for parameter in module.parameters()]
    losses, noted = [], []
    for start in range(0, len(batches), accumulate):
        sums = [torch.zeros_like(parameter) for parameter in parameters]
        for batch in batches[start : start + accumulate]:
            loss = loss_fn(*copies, *double(batch))
            losses.append(float(loss.detach()))
            for total, grad in zip(sums, torch.autograd.grad(loss, parameters), strict=True):
                total += grad / accumulate
        norm = math.sqrt(sum(float((grad**2).sum()) for grad in sums))
        with torch.no_grad():
            for parameter, grad in zip(parameters, sums, strict=True):
                parameter -= lr * (grad * min(1.0, max_norm / norm) + decay * parameter)
            if after is not None:
                noted.append(float(after(*copies)))
    return losses, copies, noted


def same(got, expected):
    np.testing.assert_allclose([float(value) for value in got], expected, rtol=2e-4, atol=1e-6)


def same_modules(modules, copies):
    for module, twin in zip(modules, copies, strict=True):
        for mine, its in zip(module.parameters(), twin.parameters(), strict=True):
            np.testing.assert_allclose(mine.detach().numpy(), its.detach().numpy(), rtol=1e-3, atol=1e-5)


def squares(model, X, y):
    return ((model(X) - y) ** 2).mean()


def nll(logits, y):
    return -(logits - torch.logsumexp(logits, dim=1, keepdim=True))[torch.arange(len(y)), y].mean()


@exercise("fix_01")
@pytest.mark.parametrize("seed", SEEDS)
def test_01_by_hand(reference, seed):
    model, batches = mlp(seed, 3, 8, 1), regression(seed, 8, 3, 20)
    losses, copies, _ = by_hand([model], squares, batches, 0.1)
    same(of(reference, "fix_01")(model, batches, 0.1), losses)
    same_modules([model], copies)


@exercise("fix_02")
@pytest.mark.parametrize("seed", SEEDS)
def test_02_by_hand(reference, seed):
    torch.manual_seed(seed)
    layers, head = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(3)), torch.nn.Linear(3, 4)
    batches = classification(seed, 8, 3, 4, 12)

    def loss(layers, head, X, y):
        h = X
        for layer in layers:
            h = h + (1 - 2 / (torch.exp(2 * layer(h)) + 1))
        return nll(head(h), y)

    losses, copies, _ = by_hand([layers, head], loss, batches, 0.4)
    same(of(reference, "fix_02")(layers, head, batches, 0.4), losses)
    same_modules([layers, head], copies)


@exercise("fix_03")
@pytest.mark.parametrize("seed", SEEDS)
def test_03_by_hand(reference, seed):
    encoder, head, batches = mlp(seed, 3, 6, 5), mlp(seed + 9, 5, 3), classification(seed, 8, 3, 3, 12)
    spreads = []

    def loss(encoder, head, X, y):
        features = encoder(X)
        spreads.append(float(np.std(features.detach().numpy(), ddof=1)))
        return nll(head(features), y)

    losses, copies, _ = by_hand([encoder, head], loss, batches, 0.4)
    got = of(reference, "fix_03")(encoder, head, batches, 0.4)
    same(got[0], losses)
    same(got[1], spreads)
    same_modules([encoder, head], copies)


@exercise("fix_04")
@pytest.mark.parametrize("seed", SEEDS)
def test_04_by_hand(reference, seed):
    model, (*batches, held_out) = mlp(seed, 3, 6, 3), classification(seed, 8, 3, 3, 13)

    def loss(model, X, y):
        return nll(model(X), y)

    losses, copies, noted = by_hand([model], loss, batches, 0.2, after=lambda model: loss(model, *double(held_out)))
    got = of(reference, "fix_04")(model, batches, held_out, 0.2)
    same(got[0], losses)
    same(got[1], noted)
    same_modules([model], copies)


@exercise("fix_06")
@pytest.mark.parametrize("seed", SEEDS)
def test_06_by_hand(reference, seed):
    model, (*batches, held_out) = mlp(seed, 3, 6, 1), regression(seed, 8, 3, 13)
    losses, copies, noted = by_hand(
        [model], squares, batches, 0.2, after=lambda model: squares(model, *double(held_out))
    )
    got = of(reference, "fix_06")(model, batches, held_out, 0.2)
    same(got[0], losses)
    same(got[1], noted)
    same_modules([model], copies)


@exercise("fix_05")
@pytest.mark.parametrize("seed", SEEDS)
def test_05_by_hand(reference, seed):
    batches = classification(seed, 8, 2, 3, 12)
    twin = mlp(seed, 2, 6, 6, 6, 3, act=torch.nn.ReLU)
    losses, copies, _ = by_hand([twin], lambda model, X, y: nll(model(X), y), batches, 0.3)
    torch.manual_seed(seed)
    model, got = of(reference, "fix_05")(2, 3, 6, 3, batches, 0.3)
    same(got, losses)
    same_modules([model], copies)


@exercise("fix_07")
@pytest.mark.parametrize("seed", SEEDS)
def test_07_by_hand(reference, seed):
    model, batches, X = mlp(seed, 3, 6, 4), classification(seed, 8, 3, 4, 12), torch.randn(5, 3)
    losses, copies, _ = by_hand([model], lambda model, X, y: nll(model(X), y), batches, 0.4)
    got, p = of(reference, "fix_07")(model, batches, X, 0.4)
    same(got, losses)
    z = np.exp(copies[0](X.double()).detach().numpy())
    np.testing.assert_allclose(p.numpy(), z / z.sum(axis=1, keepdims=True), rtol=1e-3, atol=1e-5)


@exercise("fix_08")
@pytest.mark.parametrize("seed", SEEDS)
def test_08_by_hand(reference, seed):
    """Forbidden actions are left out of every sum, row by row."""
    model, g = mlp(seed, 3, 6, 4), torch.Generator().manual_seed(seed)
    batches = []
    for X, y in classification(seed, 6, 3, 4, 10):
        allowed = torch.rand(6, 4, generator=g) < 0.6
        allowed[torch.arange(6), y] = True
        batches.append((X, allowed, y))

    def loss(model, X, allowed, y):
        total = torch.zeros((), dtype=torch.float64)
        for logits, mask, target in zip(model(X), allowed, y, strict=True):
            p = logits[mask].exp() / logits[mask].exp().sum()
            total = total - torch.log(logits[target].exp() / logits[mask].exp().sum()) + 0.3 * (p * p.log()).sum()
        return total / len(X)

    losses, copies, _ = by_hand([model], loss, batches, 0.3)
    same(of(reference, "fix_08")(model, batches, 0.3, 0.3), losses)
    same_modules([model], copies)


@exercise("fix_09")
@pytest.mark.parametrize("seed", SEEDS)
def test_09_by_hand(reference, seed):
    """Trained here in train mode with the same masks; the validation loss in NumPy, from parameters and statistics."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 3)
    )
    twin, (*batches, (X, y)) = copy.deepcopy(model), classification(seed, 8, 3, 3, 5)
    expected = []
    torch.manual_seed(seed)
    for _ in range(3):
        for inputs, targets in batches:
            grads = torch.autograd.grad(F.cross_entropy(twin(inputs), targets), list(twin.parameters()))
            with torch.no_grad():
                for parameter, grad in zip(twin.parameters(), grads, strict=True):
                    parameter -= 0.1 * grad
        W, b, gamma, beta, mean, variance, _, V, c = (value.double().numpy() for value in twin.state_dict().values())
        h = (X.double().numpy() @ W.T + b - mean) / np.sqrt(variance + 1e-5) * gamma + beta
        logits = np.maximum(h, 0) @ V.T + c
        expected.append(float(np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(y)), y.numpy()])))
    torch.manual_seed(seed)
    same(of(reference, "fix_09")(model, batches, (X, y), 3, 0.1), expected)


@exercise("fix_10")
@pytest.mark.parametrize("accumulate", [1, 2, 4])
def test_10_by_hand(reference, accumulate):
    model, batches = mlp(accumulate, 3, 6, 1), regression(accumulate, 4, 3, 16)
    losses, copies, _ = by_hand([model], squares, batches, 0.2, accumulate=accumulate, decay=0.05)
    same(of(reference, "fix_10")(model, batches, accumulate, 0.2), losses)
    same_modules([model], copies)


@exercise("fix_11")
@pytest.mark.parametrize("seed", SEEDS)
def test_11_against_float64(reference, seed):
    """Adam by its formulas (Kingma and Ba 2015), in float64 throughout."""
    model, batches, n_tokens, lr = mlp(seed, 4, 8, 3), classification(seed, 16, 4, 3, 12), 3e7, 0.02
    twin = copy.deepcopy(model).double()
    parameters = list(twin.parameters())
    m, v = ([torch.zeros_like(parameter) for parameter in parameters] for _ in range(2))
    losses = []
    for t, (X, y) in enumerate(batches, 1):
        mean = nll(twin(X.double()), y)
        losses.append(float(mean.detach()))
        grads = torch.autograd.grad(mean * len(y) / n_tokens, parameters)
        with torch.no_grad():
            for i, grad in enumerate(grads):
                m[i] = 0.9 * m[i] + 0.1 * grad
                v[i] = 0.999 * v[i] + 0.001 * grad**2
                parameters[i] -= lr * (m[i] / (1 - 0.9**t)) / ((v[i] / (1 - 0.999**t)).sqrt() + 1e-8)
    np.testing.assert_allclose(of(reference, "fix_11")(model, batches, n_tokens, lr), losses, rtol=5e-3)


@exercise("fix_12")
@pytest.mark.parametrize("seed", SEEDS)
def test_12_by_hand(reference, seed):
    model, batches = mlp(seed, 3, 6, 1), regression(seed, 8, 3, 15)
    batches[6][1][2] = 3e3
    losses, copies, _ = by_hand([model], squares, batches, 0.1, max_norm=0.5)
    same(of(reference, "fix_12")(model, batches, 0.5, 0.1), losses)
    same_modules([model], copies)
