"""Checks of backward."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise, expect_close
from autograder.lessons.ch03_accumulation.checks.graphs import number, random_graph, text


def check_gradients(learner, reference, graph, outputs, before=None, case=""):
    """`.grad` of every node after backward of each of `outputs`."""
    arguments = (text(graph), outputs, text(before or {}))
    got = learner.scenario.gradients(*arguments)
    expect_close(got, reference.scenario.gradients(*arguments), case=case, **EXACT)


@exercise("backward")
def test_one_operation(learner, reference, rng):
    """The output's own gradient is 1; a sum passes it on as it is, a product times the other factor."""
    a, c = number(rng), number(rng)
    for case, graph, output in [
        ("the output is a leaf", {"a": a}, "a"),
        ("one power", {"a": a, "b": "a ** 3"}, "b"),
        ("one sum", {"a": a, "c": c, "b": "a + c"}, "b"),
        ("one product", {"a": a, "c": c, "b": "a * c"}, "b"),
        ("a chain", {"a": a, "b": "a ** 2", "c": "b ** 3"}, "c"),
    ]:
        check_gradients(learner, reference, graph, [output], case=case)


@exercise("backward")
def test_fan_out(learner, reference, rng):
    """A node that was used several times gets the sum over its uses, a parent listed twice included."""
    a, c = number(rng), number(rng)
    for case, graph, output in [
        ("a sum of a node with itself", {"a": a, "b": "a + a"}, "b"),
        ("a product of a node with itself", {"a": a, "b": "a * a"}, "b"),
        ("two uses", {"a": a, "c": c, "b": "a * c", "d": "b + a"}, "d"),
        ("three uses", {"a": a, "b": "a ** 2", "c": "a * b", "d": "c + a"}, "d"),
        ("two paths that meet again", {"a": a, "b": "a ** 2", "c": "a ** 3", "d": "b * c"}, "d"),
    ]:
        check_gradients(learner, reference, graph, [output], case=case)


@exercise("backward")
def test_sum_before_passing_on(learner, reference, rng):
    """A node passes its gradient on when all its uses have sent theirs: a short and a long path to the same node."""
    a, c = number(rng), number(rng)
    check_gradients(learner, reference, {"a": a, "b": "a + a", "c": "b + b"}, ["c"], case="two doublings")
    for case, graph in [
        ("a node used early and late", {"a": a, "b": "a ** 2", "c": "b ** 3", "d": "b * c"}),
        ("a node used late and early", {"a": a, "b": "a ** 2", "c": "b ** 3", "d": "c * b"}),
        ("a long way and a short one", {"a": a, "s": c, "b": "a * s", "c": "b + s", "e": "c ** 2", "d": "b * e"}),
        ("a short way and a long one", {"a": a, "s": c, "b": "a * s", "c": "b + s", "e": "c ** 2", "d": "e * b"}),
    ]:
        check_gradients(learner, reference, graph, ["d"], case=case)
    for leaves, size in [(2, 6), (3, 10)]:
        graph, output = random_graph(rng, leaves, size)
        check_gradients(learner, reference, graph, [output], case="a larger graph")


@exercise("backward")
def test_second_call(learner, reference, rng):
    """Another call adds the same again, on every node, and no more than that."""
    a, c = number(rng), number(rng)
    for case, graph, outputs in [
        ("a chain, two calls", {"a": 3.0, "b": "a * a", "c": "b + b"}, ["c"] * 2),  # the sums that the contract shows
        ("one operation, two calls", {"a": a, "c": c, "b": "a * c"}, ["b"] * 2),
        ("one node, two calls", {"a": a}, ["a"] * 2),
        ("a chain, three calls", {"a": a, "b": "a * a", "c": "b + b"}, ["c"] * 3),
        ("paths that meet, two calls", {"a": a, "b": "a ** 2", "c": "a * b", "d": "b * c"}, ["d"] * 2),
    ]:
        check_gradients(learner, reference, graph, outputs, case=case)


@exercise("backward")
def test_two_outputs(learner, reference, rng):
    """Calls for two outputs that share nodes leave the sum of both gradients."""
    a, c = number(rng), number(rng)
    shared = {"a": a, "c": c, "b": "a * c", "one": "b ** 2", "two": "b + a"}
    for case, graph, outputs in [
        ("outputs that share a leaf", {"a": a, "one": "a ** 2", "two": "a ** 3"}, ["one", "two"]),
        ("outputs that share a node", shared, ["one", "two"]),
        ("the same in the other order", shared, ["two", "one"]),
        ("an output, then a node below it", {"a": a, "b": "a ** 2", "d": "b ** 3"}, ["d", "b"]),
        ("a node, then an output above it", {"a": a, "b": "a ** 2", "d": "b ** 3"}, ["b", "d"]),
    ]:
        check_gradients(learner, reference, graph, outputs, case=case)


@exercise("backward")
def test_what_stood_in_grad(learner, reference, rng):
    """A `.grad` that was there before stays in the sum, and is not passed on."""
    graph = {"a": number(rng), "c": number(rng), "b": "a * c", "d": "b ** 2"}
    for case, names in [
        ("every node has a .grad already", list(graph)),  # first: here even None + a number is not met
        ("a leaf has a .grad already", ["a"]),
        ("a node in the middle has a .grad already", ["b"]),
        ("the output has a .grad already", ["d"]),
    ]:
        check_gradients(learner, reference, graph, ["d"], {name: number(rng) for name in names}, case=case)


@exercise("backward")
def test_zeros_and_bystanders(learner, reference, rng):
    """A node that is reached has a number, even 0; one that is not reached keeps what it has."""
    a, c = number(rng), number(rng)
    for case, graph, before in [
        ("a factor of 0", {"a": a, "zero": 0.0, "d": "a * zero"}, {}),
        ("a factor of 0 further up", {"a": a, "zero": 0.0, "b": "a ** 2", "d": "b * zero"}, {}),
        ("two uses that cancel", {"a": a, "minus": -1.0, "b": "a * minus", "d": "a + b"}, {}),
        ("a node that is not used", {"a": a, "c": c, "d": "a ** 2", "e": "a * c"}, {}),
        ("one that is not used, with a .grad", {"a": a, "c": c, "d": "a ** 2", "e": "a * c"}, {"e": a, "c": c}),
    ]:
        check_gradients(learner, reference, graph, ["d"], before, case=case)


@exercise("backward")
def test_long_chain(learner, reference):
    """20,000 nodes in a row: no recursion, which Python ends after 1,000."""
    for length in (3, 20_000):
        factors = np.where(np.arange(length) % 3 == 0, -1.0, 1.0)
        factors[-2:] = [1.5, 0.5]
        got, case = learner.scenario.chain_gradients(factors), f"a chain of {length:,} nodes"
        expect_close(got, reference.scenario.chain_gradients(factors), names=(".grad",), case=case, **EXACT)


@exercise("backward")
def test_many_paths(learner, reference, rng):
    """The number of paths doubles with each of 60 rungs, the work does not."""
    for rungs in (1, 3, 60):
        weights = rng.uniform(0.3, 0.7, size=(rungs, 2, 2))  # of one sign: nothing cancels
        got, case = learner.scenario.ladder_gradients(weights), f"a ladder of {rungs} rungs"
        expect_close(got, reference.scenario.ladder_gradients(weights), names=(".grad",), case=case, **EXACT)
