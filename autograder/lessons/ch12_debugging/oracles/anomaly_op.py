"""The reference of anomaly_op against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import of


def first_node_with_a_nan(loss):
    """The node whose backward is the first to return a nan, found by hooks on all nodes; None if none does."""
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
