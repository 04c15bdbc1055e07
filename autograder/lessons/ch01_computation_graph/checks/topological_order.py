"""Checks of topological_order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_raises
from autograder.judging.records.errors import Raised, TimedOut
from autograder.lessons.ch01_computation_graph.checks.graphs import (
    SHARED,
    SMALL,
    TWICE,
    Parents,
    expect_untouched,
    local_gradients_of,
    parents_of,
    random_graph,
)
from autograder.wording import clean


def reachable(parents: Parents, output: str) -> set[str]:
    """The output and all of its ancestors."""
    found, waiting = {output}, [output]
    while waiting:
        new = set(parents[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def is_list(got: Any, case: str) -> bool:
    """Expect a list. For any other answer, and for a RecursionError, the scenario returns a description as a str."""
    too_deep = "The calls inside calls became too many for Python (RecursionError): do without recursion."
    no_list = f"topological_order returned {clean(str(got))}, not a list of nodes."
    recursed = isinstance(got, str) and got == "RecursionError"
    expect(not recursed, too_deep, case=case)
    if not recursed:
        expect(not isinstance(got, str), no_list, case=case)
    return not isinstance(got, str)


@contextmanager
def no_cycle_in(case: str) -> Iterator[None]:
    """Wrap a call with an acyclic graph: report a `ValueError` and go on, to learn for which graphs it is raised."""
    try:
        yield
    except Raised as error:
        if error.failure.kind != "ValueError":
            raise
        why = "This graph has no cycle. A node may well be reached several times, if it is used several times."
        expect(False, f"{why} {error}", case=case)


def within_time(call: Callable[[], Any], why: str, case: str) -> Any:
    """The result of `call`; if it takes too long, report `why`. Shorter calls must have returned before.

    A misconception raises `TimeoutError` to simulate a call that takes too long.
    """
    try:
        return call()
    except (TimedOut, Raised) as error:
        if isinstance(error, Raised) and error.failure.kind != "TimeoutError":
            raise
        expect(False, why, case=case)
        raise TimedOut(str(error)) from None


def check_order(learner, graph: str, case: str, *, named: bool = True) -> None:
    """Expect a topological order of an acyclic graph."""
    with no_cycle_in(case):
        expect_order(learner.scenario.topological_order(graph), parents_of(graph), case, named=named)


def expect_order(got: Any, parents: Parents, case: str, *, named: bool = True) -> None:
    """Expect a topological order of a graph, whose output is its last key. `named`: mention nodes by name."""
    if not is_list(got, case):
        return
    order, output = list(got), list(parents)[-1]
    wanted = reachable(parents, output)
    place = {node: len(order) - 1 - index for index, node in enumerate(reversed(order))}  # the first, if several
    early = [
        f"Node {node} stands before its parent {parent}."
        for node in order
        for parent in parents.get(node, [])
        if place.get(parent, -1) > place[node]
    ]
    expect_properties(
        case,
        told_order(order) if len(order) < 20 and (named or not order) else "",
        stranger=next((told_stranger(node, parents) for node in order if node not in wanted), ""),
        missing=sum(node not in place for node in wanted),
        wanted=len(wanted),
        early=early[0] if early and named else "A node stands before one of its parents." if early else "",
        repeated=len(order) - len(place),
        output_last=order[-1:] == [output],
    )


def expect_order_of_many(learner, children, parents, case):
    """Expect a topological order of a large graph of numbered nodes, whose output, the last, depends on all others."""
    with no_cycle_in(case):
        expect_order_in_time(learner, np.asarray(children), np.asarray(parents), case)


def expect_order_in_time(learner, children, parents, case):
    """Like `expect_order_of_many`, with a message if the call takes too long."""
    size = 1 + int(children.max())
    why = f"10 seconds were not enough for {case}. Each step must cost the same, however many nodes are placed."
    ask = partial(learner.scenario.topological_order_of_many, children, parents)
    got = within_time(ask, why, case) if size > 10 else ask()
    if not is_list(got, case):
        return
    known = got[(got >= 0) & (got < size)]
    place = np.full(size, -1)
    place[known[::-1]] = np.arange(len(known))[::-1]  # the first place, if several
    early = bool(np.any((place[children] >= 0) & (place[parents] > place[children])))
    expect_properties(
        case,
        "" if len(got) else told_order([]),
        stranger="something that is no node below the output" if len(known) < len(got) else "",
        missing=int(np.sum(place < 0)),
        wanted=size,
        early="A node stands before one of its parents." if early else "",
        repeated=len(known) - int(np.sum(place >= 0)),
        output_last=got[-1:].tolist() == [size - 1],
    )


def told_order(order: list[Any]) -> str:
    """A sentence that gives the order."""
    return f" The order returned: {clean(', '.join(map(str, order)), 200)}." if order else " The list is empty."


def told_stranger(entry: Any, parents: Parents) -> str:
    """A description of an entry that does not belong in the list."""
    if entry in parents:
        return f"node {entry}, on which the output does not depend"
    node = next((node for node in parents if entry == f"the text '{node}'"), "")
    return f"{clean(str(entry))}, not the node {f'{node} itself' if node else 'itself'}"


def expect_properties(case, told, *, stranger, missing, wanted, early, repeated, output_last):
    """Expect the properties of a topological order; `told` gives the order in words, `stranger` a foreign entry."""
    expect(not stranger, f"The list holds {stranger}.{told}", case=case)
    which = "nodes are" if missing > 1 else "node is"
    expect(not missing, f"{missing} {which} missing from the list; {wanted} expected.{told}", case=case)
    expect(not early, f"{early} Parents come first.{told}", case=case)
    expect(not repeated, f"The list has {repeated} too many: each node stands in it once.{told}", case=case)
    expect(output_last, f"The output is not the last of the list.{told}", case=case)


@exercise("topological_order")
def test_small_graphs(learner):
    """Parents first, the output last; a single node is its own order."""
    for case, graph in SMALL.items():
        check_order(learner, graph, f"{case}: {graph}")


@exercise("topological_order")
def test_used_twice(learner):
    """A node that is a parent twice is in the list once."""
    for case, graph in {**TWICE, "a diamond": SHARED["a diamond"]}.items():  # the last tells two mistakes apart
        check_order(learner, graph, f"{case}: {graph}")


@exercise("topological_order")
def test_shared_nodes(learner):
    """A node with several children comes before all of them, whichever way it is reached first."""
    for case, graph in SHARED.items():
        check_order(learner, graph, f"{case}: {graph}")


@exercise("topological_order")
def test_every_kind_of_graph(learner, kinds, rng):
    """Nodes of one name, of one value and of both are still different nodes; grads and local gradients mean nothing."""
    for kind in kinds:
        letters = dict(zip("abcdeL", rng.permutation(list("abcdefgh")).tolist(), strict=False))
        graph = re.sub(r"\b[a-eL]\b", lambda found, of=letters: of[found[0]], kind.options["graph"])
        case = f"{kind.label}: {graph}"
        with no_cycle_in(case):
            local = local_gradients_of(kind, rng, graph)
            got = learner.scenario.topological_order_in_states(graph, local, kind.states)
            expect_order(got, parents_of(graph), case)


@exercise("topological_order")
def test_random_graphs(learner, rng):
    """Graphs without any plan, small ones first."""
    for size in (2, 3, 4, 5, 6, 8, 10, 15, 25, 40):
        for _ in range(3):
            graph = random_graph(rng, size)
            check_order(learner, graph, f"a random graph of {size} nodes", named=False)


def with_a_cycle(rng, graph: str) -> str:
    """The graph with a cycle added below its output."""
    parents = parents_of(graph)
    output = list(parents)[-1]
    inner = [node for node in parents if parents[node] and node in reachable(parents, output) and node != output]
    child = str(rng.choice(inner or [output]))
    below = sorted(reachable(parents, child) - {child}) or [child]
    parent = str(rng.choice(below))
    statements = graph.split("; ")
    if not any(statement.startswith(f"{parent} from ") for statement in statements):
        return "; ".join([f"{parent} from {child}", *(one for one in statements if one != parent)])
    return "; ".join(f"{one}, {child}" if one.startswith(f"{parent} from ") else one for one in statements)


@exercise("topological_order")
def test_cycles(learner, rng):
    """A node that depends on itself: ValueError. A node that is reached twice is no cycle."""
    cycles = {
        "a node that is its own parent": "a from a",
        "two nodes, each a parent of the other": "a from b; b from a",
        "a cycle of three": "a from c; b from a; c from b",
        "a cycle below the output": "b from c; c from b; L from b",
        "a node below the output that is its own parent": "b from a, b; c from b; L from c",
        "a cycle with leaves": "b from a, d; c from b, a; d from c; L from a, d",
        "a cycle behind the second parent": "c from b; d from c, e; e from d; L from c, e",
    }
    for case in ("a diamond", "a short and a long way, the short one first", "two diamonds, one after the other"):
        check_order(learner, SHARED[case], f"{case}: {SHARED[case]}")

    why = "On a graph with a cycle topological_order does not come back: 10 seconds were not enough."

    def expect_refused(graph: str, case: str) -> None:
        def ordered(graph: str) -> Any:
            return within_time(lambda: learner.scenario.topological_order(graph), why, case)

        expect_raises(ValueError, ordered, graph, case=case)

    for case, graph in cycles.items():
        expect_refused(graph, f"{case}: {graph}")
    for size in (4, 6, 9, 14, 20):
        graph = random_graph(rng, size)
        while not parents_of(graph)[f"n{size - 1}"]:
            graph = random_graph(rng, size)
        check_order(learner, graph, f"a random graph of {size} nodes", named=False)
        expect_refused(with_a_cycle(rng, graph), f"a random graph of {size} nodes with a cycle in it")


@exercise("topological_order", promise="instrumented")
def test_nodes_stay_as_they_are(learner):
    """No attribute of a node is set or changed."""
    for case in ("a diamond", "a leaf used at every step"):
        graph = SHARED[case]
        check_order(learner, graph, f"{case}: {graph}")
        expect_untouched(learner, "topological_order", graph, f"{case}: {graph}")


@exercise("topological_order")
def test_many_paths_and_wide_graphs(learner, rng):
    """Each node is visited once, however many ways lead to it and however many parents it has."""
    for count in (1, int(rng.integers(250, 350))):
        rung = 3 * np.arange(count)
        children = np.ravel([rung + 1, rung + 2, rung + 3, rung + 3])
        parents = np.ravel([rung, rung, rung + 1, rung + 2])
        case = "a diamond" if count == 1 else f"{count} diamonds, one after the other"
        expect_order_of_many(learner, children, parents, case)
    deep, wide = int(rng.integers(26, 34)), int(rng.integers(16, 24))
    layers = np.arange(deep)[:, None, None] * wide
    children = layers + wide + np.arange(wide)[:, None] + 0 * np.arange(wide)
    parents = layers + 0 * np.arange(wide)[:, None] + np.arange(wide)
    last = np.full(wide, (deep + 1) * wide)
    children, parents = np.append(children, last), np.append(parents, deep * wide + np.arange(wide))
    case = f"{deep} layers, each node of one a parent of all nodes of the next"
    expect_order_of_many(learner, children, parents, case)
    many = int(rng.integers(9_000, 10_000))
    leaves = np.arange(many)
    expect_order_of_many(learner, np.full(many, many), leaves, f"a node with {many:,} parents")
    expect_order_of_many(learner, np.ones(many, dtype=int), 0 * leaves, f"a node that is a parent {many:,} times")


@exercise("topological_order")
def test_long_chain(learner):
    """20,000 nodes, one after the other, with a cycle too: no recursion, which Python ends after 1,000."""
    for size in (3, 20_000):
        steps = np.arange(size - 1)
        expect_order_of_many(learner, steps + 1, steps, f"a chain of {size:,} nodes")
    size = 6_000
    steps = np.arange(size - 1)
    case = f"a chain of {size:,} nodes, of which the first three are a cycle"
    why = f"10 seconds were not enough for {case}."

    def ordered(children: np.ndarray, parents: np.ndarray) -> Any:
        return within_time(partial(learner.scenario.topological_order_of_many, children, parents), why, case)

    expect_raises(ValueError, ordered, np.append(steps + 1, 0), np.append(steps, 2), case=case)
