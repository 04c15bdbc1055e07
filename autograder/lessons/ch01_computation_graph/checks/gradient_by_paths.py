"""Checks of gradient_by_paths."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise, expect_close
from autograder.lessons.ch01_computation_graph.checks.graphs import (
    BY_ENTRY,
    SHARED,
    SMALL,
    TWICE,
    edges,
    ladder,
    local_gradients,
    local_gradients_of,
    parents_of,
    random_graph,
)
from autograder.lessons.ch01_computation_graph.checks.tolerances import EXACT


def check_gradient(learner, reference, rng, graph, leaf, case, local=None):
    local = local_gradients(rng, graph) if local is None else local
    got = learner.scenario.gradient_by_paths(graph, local, leaf)
    expected = reference.scenario.gradient_by_paths(graph, local, leaf)
    expect_close(got, expected, names=("the gradient",), case=case, **EXACT)


@exercise("gradient_by_paths")
def test_one_path(learner, reference, rng):
    """The product of the local gradients along the way; 1.0 where output and leaf are one node."""
    for case, graph, leaf in [
        ("one step", "b from a", "a"),
        ("two steps", "b from a; c from b", "a"),
        ("the output itself", "b from a", "b"),
        ("the output itself, a single node", "a", "a"),
        ("the first of two parents", "c from a, b", "a"),
        ("the second of two parents", "c from a, b", "b"),
        ("a long chain", "b from a; c from b; d from c; e from d; f from e", "a"),
    ]:
        check_gradient(learner, reference, rng, graph, leaf, case)
    for leaf in ("a", "b", "c"):
        graph = SMALL["L = (a·b + c)²"]
        check_gradient(learner, reference, rng, graph, leaf, "L = (a·b + c)²", np.array([-3.0, 2.0, 1.0, 1.0, 8.0]))


@exercise("gradient_by_paths")
def test_paths_add_up(learner, reference, rng):
    """Every path counts, also where two share a part."""
    for case, graph in SHARED.items():
        check_gradient(learner, reference, rng, graph, str(next(iter(parents_of(graph)))), case)
    check_gradient(learner, reference, rng, ladder(3), "n0", "three diamonds, one after the other")


@exercise("gradient_by_paths")
def test_parallel_edges(learner, reference, rng):
    """A parent that is there twice makes two paths, each with its own local gradient."""
    for case, graph in TWICE.items():
        check_gradient(learner, reference, rng, graph, "a", f"{case}, local gradients 1", np.ones(edges(graph)))
        check_gradient(learner, reference, rng, graph, "a", case)
    for leaf in ("a", "b"):
        check_gradient(learner, reference, rng, "c from a, b, a; d from c, a", leaf, "a parent twice, not in a row")


@exercise("gradient_by_paths")
def test_no_path(learner, reference, rng):
    """Where no path leads, the gradient is 0.0."""
    for case, graph, leaf in [
        ("a node that another output uses", "b from a; c from b; d from b; e from d", "c"),
        ("a node of another graph", "z; b from a", "z"),
        ("a leaf that is used, beside one that is not", "z; b from a", "a"),
        ("a child of the output", "c from b; b from a", "c"),
        ("a way that crosses a local gradient of 0", "b from a; c from a; d from b, c", "a"),
    ]:
        local = local_gradients(rng, graph)
        if "crosses" in case:
            local[1] = 0
        check_gradient(learner, reference, rng, graph, leaf, case, local)


@exercise("gradient_by_paths")
def test_nodes_in_the_middle(learner, reference, rng):
    """`leaf` may have parents itself: the paths end there."""
    for case, graph, node in [
        ("the middle of a chain", "b from a; c from b", "b"),
        ("e of L = (a·b + c)²", SMALL["L = (a·b + c)²"], "e"),
        ("d of L = (a·b + c)²", SMALL["L = (a·b + c)²"], "d"),
        ("one side of a diamond", SHARED["a diamond"], "b"),
        ("the waist of two diamonds", SHARED["two diamonds, one after the other"], "d"),
        ("a node used at two steps", SHARED["a leaf used at every step"], "h"),
    ]:
        check_gradient(learner, reference, rng, graph, node, case)


@exercise("gradient_by_paths")
def test_every_kind_of_graph(learner, reference, kinds, rng):
    """The paths end at the one object that was given, not at another of its name, its value or both."""
    for kind in kinds:
        graph, leaf = kind.options.values()
        local = local_gradients_of(kind, rng, graph)
        got, expected = (
            who.scenario.gradient_by_paths_in_states(graph, local, leaf, kind.states) for who in (learner, reference)
        )
        expect_close(got, expected, names=("the gradient",), case=kind.label, **BY_ENTRY)


@exercise("gradient_by_paths")
def test_paths_of_random_graphs(learner, reference, rng):
    """Graphs without any plan, with respect to several nodes each."""
    for size in (3, 4, 5, 6, 8, 10):
        graph = random_graph(rng, size)
        local = local_gradients(rng, graph)
        names = sorted(str(name) for name in parents_of(graph))
        for leaf in rng.permutation(names)[:4].tolist():
            check_gradient(learner, reference, rng, graph, leaf, f"a random graph of {size} nodes", local)
