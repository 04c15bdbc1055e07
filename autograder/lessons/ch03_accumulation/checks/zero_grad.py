"""Checks of zero_grad."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close
from autograder.lessons.ch03_accumulation.checks.graphs import number, random_graph, text


def check_zeroed(learner, reference, rng, graph, output, before, times=1, case=""):
    """`.grad` of every node after zero_grad of `output`, None as 0, and of a leaf beside the graph, which keeps its."""
    graph, before = ({"beside": number(rng), **of} for of in (graph, before))
    arguments = (text(graph), output, text(before), times)
    got = learner.scenario.zeroed(*arguments)
    expect_close(got, reference.scenario.zeroed(*arguments), case=case, **EXACT)


@exercise("zero_grad")
def test_every_node(learner, reference, rng):
    """The output, the leaves and all that is between."""
    a, c = number(rng), number(rng)
    graphs = [
        ("one node", {"a": a}, "a"),
        ("one operation", {"a": a, "c": c, "b": "a * c"}, "b"),
        ("a chain", {"a": a, "b": "a ** 2", "d": "b ** 3", "e": "d ** 2"}, "e"),
        ("shared nodes", {"a": a, "c": c, "b": "a * c", "d": "a + b", "e": "d * b"}, "e"),
        ("a larger graph", *random_graph(rng, 3, 8)),
    ]
    for case, graph, output in graphs:
        check_zeroed(learner, reference, rng, graph, output, {name: number(rng) for name in graph}, case=case)


@exercise("zero_grad", promise="instrumented")
def test_none_among_them(learner, reference, rng):
    """A node whose .grad is None, or 0, may stand above one whose .grad is not."""
    graph = {"a": number(rng), "c": number(rng), "b": "a ** 2", "d": "b * c", "e": "d ** 2"}
    for case, names in [
        ("only the leaves have a .grad", ["a", "c"]),
        ("the output has none", ["a", "b", "c", "d"]),
        ("one in the middle has none", ["a", "c", "d", "e"]),
    ]:
        check_zeroed(learner, reference, rng, graph, "e", {name: number(rng) for name in names}, case=case)
    zeros = {name: 0.0 if name in "bd" else number(rng) for name in graph}
    check_zeroed(learner, reference, rng, graph, "e", zeros, case="some are 0 already")


@exercise("zero_grad")
def test_bystanders_keep_theirs(learner, reference, rng):
    """What the output does not depend on is left alone: other leaves, and nodes above the output."""
    a, c = number(rng), number(rng)
    for case, graph in [
        ("another leaf", {"a": a, "c": c, "d": "a ** 2"}),
        ("nodes above the output", {"a": a, "c": c, "d": "a ** 2", "e": "d ** 2", "f": "e * c"}),
        ("another output of the same leaf", {"a": a, "d": "a ** 2", "e": "a ** 3"}),
    ]:
        check_zeroed(learner, reference, rng, graph, "d", {name: number(rng) for name in graph}, case=case)


@exercise("zero_grad", promise="instrumented")
def test_again(learner, reference, rng):
    """The same graph can be cleared again."""
    a, c = number(rng), number(rng)
    for case, graph, output in [
        ("one node, cleared twice", {"a": a}, "a"),
        ("a chain, cleared twice", {"a": a, "b": "a ** 2", "d": "b ** 3"}, "d"),
        ("shared nodes, cleared twice", {"a": a, "c": c, "b": "a * c", "d": "a * b"}, "d"),
    ]:
        check_zeroed(learner, reference, rng, graph, output, {name: number(rng) for name in graph}, times=2, case=case)


@exercise("zero_grad")
def test_clear_a_long_chain(learner, reference):
    """20,000 nodes in a row: no recursion, which Python ends after 1,000."""
    for length in (3, 20_000):
        factors = np.ones(length)
        got, case = learner.scenario.chain_zeroed(factors), f"a chain of {length:,} nodes"
        expect_close(got, reference.scenario.chain_zeroed(factors), names=(".grad",), case=case, **EXACT)


@exercise("zero_grad")
def test_clear_many_paths(learner, reference):
    """The number of paths doubles with each of 60 rungs, the work does not."""
    for rungs in (1, 60):
        weights = np.ones((rungs, 2, 2))
        got, case = learner.scenario.ladder_zeroed(weights), f"a ladder of {rungs} rungs"
        expect_close(got, reference.scenario.ladder_zeroed(weights), names=(".grad",), case=case, **EXACT)
