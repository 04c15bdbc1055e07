"""Checks of reverse_sweep."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise, expect, expect_close, on_case
from autograder.judging.records.errors import Raised
from autograder.lessons.ch01_computation_graph.checks.graphs import (
    BY_ENTRY,
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
from autograder.wording import clean, enumeration


def check_sweep(learner, reference, rng, graph, case, local=None):
    local = local_gradients(rng, graph) if local is None else local
    expected = reference.scenario.reverse_sweep(graph, local)
    try:
        got = learner.scenario.reverse_sweep(graph, local)
    except Raised as error:
        if error.failure.kind == "KeyError":
            what = (
                "A node has no entry in a dict when it is looked up. In which order are the nodes visited? From the "
                "output on, a node comes after all that use it, and its entry has been made by then."
            )
            expect(False, f"{what} {error}", case=f"{case}: {graph}")
        raise
    if isinstance(got, dict):
        strangers = [clean(str(key)) for key in got if key not in parents_of(graph)]
        missing = [key for key in expected if key not in got]
        where = f"{case}: {graph}"
        what = f"The dict has a key that is {strangers[0]}" if strangers else ""
        expect(not strangers, f"{what}, none of the graph's nodes. The nodes themselves are the keys.", case=where)
        what = f"The dict has no entry for {enumeration(missing[:5])}" if missing else ""
        expect(
            not missing, f"{what}. Every node that the output depends on has one, and so has the output.", case=where
        )
    expect_close(got, expected, case=case, **EXACT)


@exercise("reverse_sweep")
def test_sweep_of_trees(learner, reference, rng):
    """The output has 1.0, every parent its child's gradient times the local one."""
    check_sweep(learner, reference, rng, SMALL["L = (a·b + c)²"], "a=2, b=-3, c=10", np.array([-3.0, 2, 1, 1, 8]))
    for case, graph in SMALL.items():
        check_sweep(learner, reference, rng, graph, case)


@exercise("reverse_sweep")
def test_sweep_of_parallel_edges(learner, reference, rng):
    """A parent that is there twice gets two contributions, each with its own local gradient."""
    for case, graph in TWICE.items():
        check_sweep(learner, reference, rng, graph, f"{case}, local gradients 1", np.ones(edges(graph)))
        check_sweep(learner, reference, rng, graph, case)
    check_sweep(learner, reference, rng, "c from a, b, a; d from c, a", "a parent twice, not in a row")


@exercise("reverse_sweep")
def test_sweep_of_shared_nodes(learner, reference, rng):
    """Contributions add up, and a node passes its gradient on when all of them are in."""
    for case, graph in SHARED.items():
        check_sweep(learner, reference, rng, graph, case)


@exercise("reverse_sweep")
def test_sweep_with_zeros(learner, reference, rng):
    """A gradient of 0 is an entry, too."""
    for case, graph in [("a chain", "b from a; c from b"), ("a diamond", SHARED["a diamond"])]:
        local = local_gradients(rng, graph)
        check_sweep(learner, reference, rng, graph, f"{case}, all local gradients 0", 0 * local)
        local[0] = 0
        check_sweep(learner, reference, rng, graph, f"{case}, the first local gradient 0", local)
    local = local_gradients(rng, SHARED["a diamond"])
    local[3] = -local[0] * local[2] / local[1]
    check_sweep(learner, reference, rng, SHARED["a diamond"], "a diamond whose two sides cancel", local)


@exercise("reverse_sweep")
def test_sweep_of_random_graphs(learner, reference, rng):
    """Graphs without any plan, small ones first."""
    for size in (2, 3, 4, 5, 6, 8, 10, 15, 25):
        for _ in range(2):
            graph = random_graph(rng, size)
            check_sweep(learner, reference, rng, graph, f"a random graph of {size} nodes")


@exercise("reverse_sweep")
def test_every_kind_of_graph(learner, reference, kinds, rng):
    """Nodes of one name, of one value and of both have entries of their own; what their grads were means nothing."""
    for kind in kinds:
        graph = kind.options["graph"]
        local = local_gradients_of(kind, rng, graph)
        got, expected = (
            who.scenario.reverse_sweep_in_states(graph, local, kind.states) for who in (learner, reference)
        )
        expect_close(got, expected, case=kind.label, **BY_ENTRY)


@exercise("reverse_sweep", promise="instrumented")
def test_each_local_gradient_is_used_once(learner, reference, rng):
    """One multiplication for each use of a parent, however many paths lead through it."""
    graphs = {
        "one step": "b from a",
        "L = (a·b + c)²": SMALL["L = (a·b + c)²"],
        "b = a + a; c = b + b": TWICE["b = a + a; c = b + b"],
        "a diamond": SHARED["a diamond"],
        "two diamonds, one after the other": SHARED["two diamonds, one after the other"],
        "ways of three lengths": SHARED["ways of three lengths, the shortest first"],
        "a leaf used at every step": SHARED["a leaf used at every step"],
        "six diamonds, 64 paths": ladder(6),
    }
    for case, graph in graphs.items():
        local = local_gradients(rng, graph)
        used = learner.scenario.uses_of_local_gradients(graph, local)
        most, least, total = int(used.max()), int(used.min()), int(used.sum())
        message = f"A local gradient was used {most} times. Pass a node's gradient on once: when it is complete."
        expect(most <= 1, message, case=case)
        expect(least >= 1, "A local gradient was not used: each has its part in the result.", case=case)
        if total != edges(graph):  # to tell one mistake from another
            expect_close(total, edges(graph), names=("the number of uses",), case=case, rtol=0, atol=0)
        check_sweep(learner, reference, rng, graph, case, local)  # ones alone could be known by heart


@exercise("reverse_sweep")
def test_a_billion_paths(learner, reference, rng):
    """30 diamonds, one after the other: 2³⁰ paths and 120 local gradients."""
    graph = ladder(30)
    local = rng.uniform(0.6, 0.8, edges(graph))  # the sums of products stay near 1
    check_sweep(learner, reference, rng, graph, "30 diamonds, a billion paths", local)


MANY = 6_000
"""Number of nodes for which elimination in a dense matrix takes 140 billion operations, more than a second allows."""


@exercise("reverse_sweep")
def test_many_nodes(learner, reference, rng):
    """The technique: 6,000 nodes, each used by the next two and by the output.

    The gradients follow G[i] = 2 cos(angle) G[i+1] - G[i+2], up to a scale for each node, and so stay near 1. Adding up
    the paths by their length overflows: some 3^k is added and taken away again for length k.
    """
    angle, scale = rng.uniform(0.3, 0.6), rng.uniform(0.5, 2.0, MANY)
    numbers = np.arange(MANY - 1)
    parents = np.stack([numbers, np.maximum(numbers - 1, 0)], axis=1)
    local = np.array([2.0 * np.cos(angle), -1.0]) * scale[parents] / scale[1:, None]
    local[0, 1] = 0.0  # node 1 has node 0 twice
    graph = parents, local, rng.permutation(MANY), 0.1 * rng.normal(size=MANY), rng.permutation(MANY)[:60]
    expected = reference.scenario.reverse_sweep_of_many(*graph)
    case = f"{MANY:,} nodes, each used by the next two and by the output"
    with on_case(case):
        got = learner.scenario.reverse_sweep_of_many(*graph)
    names = ("the number of entries", "the gradients of 60 nodes")
    expect_close(got, expected, names=names, case=case, rtol=1e-7, atol=1e-8)


@exercise("reverse_sweep", promise="instrumented")
def test_sweep_leaves_the_nodes_as_they_are(learner, reference, rng):
    """No attribute of a node is set or changed, `grad` included."""
    for case in ("a diamond", "a leaf used at every step"):
        check_sweep(learner, reference, rng, SHARED[case], case)
        expect_untouched(learner, "reverse_sweep", SHARED[case], case)
