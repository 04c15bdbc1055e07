"""The reference of read_torch_graph against something independent."""

from __future__ import annotations

from functools import partial

import torch

from autograder.judging import exercise


def autograd_nodes(tensor):
    """All of PyTorch's nodes behind a tensor, without repetition, starting with its own."""
    found = [] if tensor.grad_fn is None else [tensor.grad_fn]
    for node in found:  # grows
        found += [p for p, _ in dict.fromkeys(node.next_functions) if p is not None and p not in found]
    return list(dict.fromkeys(found))


def torch_programs():
    a, b = (torch.tensor(x, requires_grad=True) for x in (2.0, -3.0))
    W = torch.ones(2, 2, requires_grad=True)
    d, k = torch.exp(a), torch.tensor(5.0)
    loop = a
    for _ in range(30):
        loop = loop * loop
    p, q = W.unbind(0)
    return [
        a, k, k * k, a * b, a * a, (a * b + k) ** 2, d * torch.sin(d), d + torch.sin(torch.cos(d)) * d,
        (a * b).detach(), loop, (p.exp() * q).sum(), W @ W, torch.where(W > 0, W, a).mean(), d * k + d,
    ]  # fmt: skip


@exercise("read_torch_graph")
def test_names_against_a_numbered_graph(reference):
    """Some order of PyTorch's nodes, found by brute force, reads like the answer."""
    for tensor in torch_programs():
        names = reference.implementations["read_torch_graph"](tensor)
        nodes = autograd_nodes(tensor)
        waiting = {i: {nodes.index(p) for p, _ in n.next_functions if p is not None} for i, n in enumerate(nodes)}
        frontier = {frozenset()}
        for name in names:
            frontier = {
                done | {i}
                for done in frontier
                for i, node in enumerate(nodes)
                if i not in done and waiting[i] <= done and type(node).__name__ == name
            }
        assert frozenset(range(len(nodes))) in frontier


@exercise("read_torch_graph")
def test_gradients_flow_along_the_names(reference):
    """PyTorch's own engine calls every node once in a backward pass, children first: hooks see them."""
    for tensor in torch_programs():
        if tensor.grad_fn is not None:
            called = []

            def note(grads, name, called=called):
                called.append(name)

            nodes = autograd_nodes(tensor)
            handles = [node.register_prehook(partial(note, name=type(node).__name__)) for node in nodes]
            tensor.sum().backward(retain_graph=True)  # `d` is in several programs
            for handle in handles:
                handle.remove()
            assert sorted(called) == sorted(reference.implementations["read_torch_graph"](tensor))
