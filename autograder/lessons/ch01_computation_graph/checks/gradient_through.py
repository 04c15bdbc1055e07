"""Checks of gradient_through."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise, expect_close
from autograder.lessons.ch01_computation_graph.checks.graphs import (
    SHARED,
    SMALL,
    TWICE,
    edges,
    expect_untouched,
    ladder,
    local_gradients,
    local_gradients_of,
    parents_of,
    random_graph,
)
from autograder.lessons.ch01_computation_graph.checks.tolerances import EXACT


def check_part(learner, reference, rng, graph, node, leaf, case, local=None):
    local = local_gradients(rng, graph) if local is None else local
    got, expected = (who.scenario.gradient_through(graph, local, node, leaf) for who in (learner, reference))
    expect_close(got, expected, names=(f"the part of {leaf}'s gradient through {node}",), case=case, **EXACT)


@exercise("gradient_through")
def test_a_node_on_the_only_way(learner, reference, rng):
    """A chain, and trees: where all paths lead through the node, the part is the whole gradient."""
    check_part(learner, reference, rng, "b from a; c from b", "b", "a", "a chain")
    check_part(learner, reference, rng, "b from a; c from b; d from c; e from d", "d", "b", "a long chain")
    worked = SMALL["L = (a·b + c)²"]
    for node, leaf in (("d", "a"), ("e", "a"), ("e", "c"), ("e", "d")):
        local = np.array([-3.0, 2.0, 1.0, 1.0, 8.0])
        check_part(learner, reference, rng, worked, node, leaf, "L = (a·b + c)²", local)


@exercise("gradient_through")
def test_ways_through_a_node(learner, reference, rng):
    """Only the paths through the node count, all of them, twins included."""
    for case, graph in (SHARED | TWICE).items():
        leaf, *inner = parents_of(graph)
        for node in inner[:-1]:
            check_part(learner, reference, rng, graph, node, leaf, case)
    graph = "p from x, w; q from p, x; L from p, q"
    for node in ("p", "q"):
        local = np.array([3.0, 2.0, 1.0, 1.0, 8.0, 6.0])
        check_part(learner, reference, rng, graph, node, "x", "p = x·w, q = p + x, L = p·q", local)


@exercise("gradient_through")
def test_the_ends_of_a_path(learner, reference, rng):
    """Every path leads through its own two ends."""
    graph = SHARED["a short and a long way, the long one first"]
    for case, node, leaf in [
        ("the node is the leaf", "a", "a"),
        ("the node is the output", "c", "a"),
        ("the leaf is the output, and so is the node", "c", "c"),
    ]:
        check_part(learner, reference, rng, graph, node, leaf, case)
    check_part(learner, reference, rng, "a", "a", "a", "a single node")


@exercise("gradient_through")
def test_no_way_through(learner, reference, rng):
    """Where no path leads through the node, the part is 0.0; through the node beside it, it is not."""
    for case, graph, node, leaf in [
        ("a node on the way, beside one that is not", "b from a; c from a; d from b, c, z", "b", "a"),
        ("a node that does not depend on the leaf", "b from a; c from a; d from b, c, z", "z", "a"),
        ("a node that the output does not use", "b from a; z from a; c from b", "z", "a"),
        ("a leaf that the output does not use", "b from a; c from b, z; d from a, b", "b", "z"),
        ("a leaf that lies after the node", "b from a; c from b; d from c, a", "b", "c"),
        ("a child of the output", "c from b; b from a", "c", "a"),
    ]:
        check_part(learner, reference, rng, graph, node, leaf, case)


@exercise("gradient_through")
def test_every_kind_of_graph(learner, reference, kinds, rng):
    """The three nodes are objects: names and values may repeat, and what their grads were means nothing."""
    for kind in kinds:
        graph, node, leaf = kind.options.values()
        local = local_gradients_of(kind, rng, graph)
        got, expected = (
            who.scenario.gradient_through_in_states(graph, local, node, leaf, kind.states)
            for who in (learner, reference)
        )
        expect_close(got, expected, names=("the part through the node",), case=kind.label, **EXACT)


@exercise("gradient_through")
def test_through_random_graphs(learner, reference, rng):
    """Graphs without any plan, with several pairs of nodes each."""
    for size in (3, 4, 5, 6, 8, 10):
        graph = random_graph(rng, size)
        local = local_gradients(rng, graph)
        names = sorted(str(name) for name in parents_of(graph))
        for _ in range(4):
            node, leaf = rng.choice(names, size=2).tolist()
            check_part(learner, reference, rng, graph, node, leaf, f"a random graph of {size} nodes", local)


@exercise("gradient_through")
def test_through_a_billion_paths(learner, reference, rng):
    """30 diamonds in a row: a node between two of them has all 2³⁰ paths, a side of a diamond half of them."""
    graph = ladder(30)
    local = rng.uniform(0.6, 0.8, edges(graph))  # the sums of products stay near 1
    for node in ("n12", "l20"):
        check_part(learner, reference, rng, graph, node, "n0", "30 diamonds, a billion paths", local)


@exercise("gradient_through", promise="instrumented")
def test_nodes_stay_as_they_are(learner, reference, rng):
    """No attribute of a node is set or changed, `grad`, `parents` and `local_gradients` included."""
    graph = SHARED["a leaf used at every step"]
    check_part(learner, reference, rng, graph, "p", "w", "a leaf used at every step")
    advice = "Leave the graph as it is, for a while too."
    expect_untouched(learner, "gradient_through", graph, "a leaf used at every step", "p", "w", advice=advice)
