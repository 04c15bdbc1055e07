"""The reference of ch03_accumulation against PyTorch's autograd in float64, brute force and finite differences."""

from __future__ import annotations

import copy

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from autograder.judging import exercise
from course.graph import Node, add, mul, power

EXACT = {"rtol": 1e-10, "atol": 1e-12}


def leaf(array):
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def reachable(output):
    """Every node below `output`, by brute force."""
    found = {output}
    while more := {parent for node in found for parent in node.parents} - found:
        found |= more
    return found


@st.composite
def graphs(draw):
    """Nodes and the same in PyTorch, every one with its `.grad` retained."""
    values = draw(st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=3))
    nodes, tensors = [Node(value) for value in values], [leaf(value) for value in values]
    for _ in range(draw(st.integers(0, 8))):
        i, j = (draw(st.integers(0, len(nodes) - 1)) for _ in range(2))
        operation = draw(st.sampled_from(["add", "mul", "square"]))
        if operation == "add":
            nodes.append(add(nodes[i], nodes[j]))
            tensors.append(tensors[i] + tensors[j])
        elif operation == "mul":
            nodes.append(mul(nodes[i], nodes[j]))
            tensors.append(tensors[i] * tensors[j])
        else:
            nodes.append(power(nodes[i], 2))
            tensors.append(tensors[i] ** 2)
        tensors[-1].retain_grad()
    outputs = draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, max_size=3))
    return nodes, tensors, outputs


@exercise("backward")
def test_backward_against_autograd(reference):
    """Random graphs, several calls on outputs of one graph: `.grad` of every node, None where PyTorch has None."""
    run = reference.implementations["backward"]

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(graphs())
    def check(drawn):
        nodes, tensors, outputs = drawn
        for i in outputs:
            run(nodes[i])
            tensors[i].backward(retain_graph=True)
        for node, tensor in zip(nodes, tensors, strict=True):
            assert (node.grad is None) == (tensor.grad is None)
            if node.grad is not None:
                np.testing.assert_allclose(node.grad, tensor.grad, rtol=1e-9, atol=1e-12)

    check()


@exercise("backward")
def test_worked_example(reference):
    """c = 2a² at a = 3: 12, then 24 (not 36), then 36."""
    a = Node(3.0)
    b = mul(a, a)
    c = add(b, b)
    for expected in [(12, 2, 1), (24, 4, 2), (36, 6, 3)]:
        reference.implementations["backward"](c)
        assert (a.grad, b.grad, c.grad) == expected


@exercise("zero_grad")
def test_zero_grad_by_brute_force(reference):
    """Random graphs: cleared is what can be reached, and nothing else."""
    run = reference.implementations["zero_grad"]

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(graphs())
    def check(drawn):
        nodes, _, outputs = drawn
        for node in nodes:
            node.grad = 1.0
        run(nodes[outputs[0]])
        below = reachable(nodes[outputs[0]])
        assert [not node.grad for node in nodes] == [node in below for node in nodes]

    check()


@exercise("bias_gradient")
def test_bias_against_autograd(reference, rng):
    for n, m in [(1, 1), (1, 3), (5, 2), (0, 3)]:
        b, g = leaf(rng.normal(size=m)), rng.normal(size=(n, m))
        y = torch.tensor(rng.normal(size=(n, m))) + b
        np.testing.assert_allclose(
            reference.bias_gradient(g), torch.autograd.grad(y, b, torch.tensor(g), materialize_grads=True)[0], **EXACT
        )


@exercise("tied_autoencoder_gradient")
def test_tied_against_autograd(reference, rng):
    for m, d in [(1, 1), (1, 3), (3, 1), (2, 4), (4, 2), (3, 3)]:
        W, x = rng.normal(size=(m, d)), rng.normal(size=d)
        V, t = leaf(W), torch.tensor(x)
        loss = 0.5 * (V.T @ torch.relu(V @ t) - t).square().sum()
        np.testing.assert_allclose(reference.tied_autoencoder_gradient(W, x), torch.autograd.grad(loss, V)[0], **EXACT)
    W, x = np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([1.5, 0.0])  # the second unit is at exactly 0
    V, t = leaf(W), torch.tensor(x)
    loss = 0.5 * (V.T @ torch.relu(V @ t) - t).square().sum()
    np.testing.assert_allclose(reference.tied_autoencoder_gradient(W, x), torch.autograd.grad(loss, V)[0], **EXACT)


@exercise("tied_autoencoder_gradient")
def test_tied_against_finite_differences(reference, rng):
    """Each weight moved by ±eps, in both of its uses."""
    W, x, eps = rng.normal(size=(3, 4)), rng.normal(size=4), 1e-6

    def loss(weights):
        return 0.5 * np.sum((weights.T @ np.maximum(weights @ x, 0) - x) ** 2)

    expected = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[index] = eps
        expected[index] = (loss(W + step) - loss(W - step)) / (2 * eps)
    np.testing.assert_allclose(reference.tied_autoencoder_gradient(W, x), expected, rtol=1e-6, atol=1e-8)


@exercise("microbatch_gradient")
def test_microbatches_against_autograd(reference, rng):
    """A network in PyTorch: the gradient of its mean loss over all rows, whatever the batch size."""
    params = {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2), "scale": np.array(rng.normal())}

    def grad_fn(params, X, y):
        leaves = {name: leaf(value) for name, value in params.items()}
        outputs = leaves["scale"] * torch.tanh(torch.tensor(X) @ leaves["w"] + leaves["b"])
        (outputs.sum(dim=1) - torch.tensor(y)).square().mean().backward()
        return {name: value.grad.numpy() for name, value in leaves.items()}

    for n in (1, 2, 7, 12):
        X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
        for batch_size in (1, 2, 3, 5, 12, 100):
            got = reference.microbatch_gradient(grad_fn, params, X, y, batch_size)
            for name, expected in grad_fn(params, X, y).items():
                np.testing.assert_allclose(got[name], expected, **EXACT)


@exercise("train")
def test_training_against_optim(reference, rng):
    """torch.optim.SGD on the mean of a group's losses, in one backward pass a group, from the same start."""
    train = reference.implementations["train"]
    for rows, accumulate in [([4], 1), ([3, 3, 3], 1), ([2, 5, 1, 4], 2), ([3, 3, 3, 2, 2], 3), ([2, 2], 7)]:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
        for p in model.parameters():
            p.data = torch.tensor(rng.normal(size=tuple(p.shape)))
        twin = copy.deepcopy(model)
        batches = [(torch.tensor(rng.normal(size=(n, 3))), torch.tensor(rng.normal(size=(n, 2)))) for n in rows]
        losses = train(model, iter(batches), 0.2, accumulate)

        optimizer, expected = torch.optim.SGD(twin.parameters(), lr=0.2), []
        for i in range(0, len(batches), accumulate):
            of_group = [((twin(X) - y) ** 2).mean() for X, y in batches[i : i + accumulate]]
            optimizer.zero_grad()
            torch.stack(of_group).mean().backward()
            optimizer.step()
            expected += [loss.item() for loss in of_group]
        np.testing.assert_allclose(losses, expected, **EXACT)
        for mine, theirs in zip(model.parameters(), twin.parameters(), strict=True):
            np.testing.assert_allclose(mine.detach(), theirs.detach(), **EXACT)
