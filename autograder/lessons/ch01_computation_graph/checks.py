"""Checks of ch01_computation_graph: gradients by hand, orders, sums over paths, one sweep, PyTorch's own graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from autograder.judging import exercise, expect, expect_close, expect_raises
from autograder.judging.errors import Raised, TimedOut
from autograder.wording import clean, enumeration

# Over 27,000 random graphs of `random_graph`, 50 rounding errors of the sum of all paths' sizes are 4% of this at most.
EXACT = {"rtol": 1e-9, "atol": 1e-11}
Parents = dict[str, list[str]]


def numbers(rng, count):
    """Random floats of both signs, none near 0."""
    return (rng.uniform(0.5, 3.0, count) * rng.choice([-1, 1], count)).tolist()


# forward and backward_by_hand

WORKED = (2.0, -3.0, 10.0)


def cancelling(rng):
    """a, b and c with a·b + c exactly 0."""
    a, b = (float(x) for x in rng.integers(2, 9, size=2))
    return a, b, -a * b


@exercise("forward")
def test_worked_example(learner, reference, rng):
    """d = a·b, e = d + c, L = e²: a=2, b=-3, c=10, and random numbers."""
    for case, arguments in [("the worked example", WORKED), *[("random numbers", numbers(rng, 3)) for _ in range(3)]]:
        expect_close(learner.forward(*arguments), reference.forward(*arguments), case=case, **EXACT)


@exercise("forward")
def test_forward_with_zeros(learner, reference, rng):
    """A factor of 0, a sum of 0, and a sum below 0, whose square is positive."""
    x, y = (abs(number) for number in numbers(rng, 2))
    cases = {
        "a is 0": (0.0, x, y),
        "b is 0": (x, 0.0, -y),
        "c is 0": (x, -y, 0.0),
        "e is exactly 0": cancelling(rng),
        "e is negative": (x, -y, -x),
    }
    for case, arguments in cases.items():
        expect_close(learner.forward(*arguments), reference.forward(*arguments), case=case, **EXACT)


@exercise("forward")
def test_large_and_small(learner, reference, rng):
    """Numbers of very different sizes."""
    x, y, z = numbers(rng, 3)
    for case, arguments in {
        "large numbers": (1e3 * x, 1e3 * y, 1e6 * z),
        "a small and a large factor": (1e-3 * x, 1e3 * y, z),
    }.items():
        expect_close(learner.forward(*arguments), reference.forward(*arguments), case=case, **EXACT)


def expect_exact(got, expected, case):
    """Expect derivatives; say it in words where they are close to right and no more."""
    if isinstance(got, dict) and got.keys() == expected.keys():
        mine, theirs = (np.array([answer[key] for key in expected], dtype=object) for answer in (got, expected))
        if all(isinstance(value, int | float) for value in mine):
            gaps, sizes = np.abs(mine - theirs).astype(float), np.abs(theirs).astype(float)
            exact = bool(np.all(gaps <= EXACT["atol"] + EXACT["rtol"] * sizes))
            near = bool(np.all(gaps <= 1e-3 * (1 + sizes)))
            differences = "These look like finite differences: close, not exact. Use the exact derivative of each step."
            expect(exact or not near, differences, case=case)
    expect_close(got, expected, case=case, **EXACT)


@exercise("backward_by_hand")
def test_worked_gradients(learner, reference, rng):
    """dL/de = 2e; e = d + c passes it on as it is, d = a·b times the other factor."""
    for case, arguments in [("the worked example", WORKED), *[("random numbers", numbers(rng, 3)) for _ in range(3)]]:
        expect_exact(learner.backward_by_hand(*arguments), reference.backward_by_hand(*arguments), case)


@exercise("backward_by_hand")
def test_gradients_with_zeros(learner, reference, rng):
    """A factor of 0 stops the other factor's gradient, not its own; at e = 0 all but dL/dL are 0."""
    x, y = (abs(number) for number in numbers(rng, 2))
    cases = {
        "a is 0": (0.0, x, y),
        "b is 0": (x, 0.0, -y),
        "c is 0": (x, -y, 0.0),
        "e is exactly 0": cancelling(rng),
        "e is negative": (x, -y, -x),
    }
    for case, arguments in cases.items():
        expect_exact(learner.backward_by_hand(*arguments), reference.backward_by_hand(*arguments), case)


@exercise("backward_by_hand")
def test_gradients_of_large_and_small(learner, reference, rng):
    """Exact derivatives, whatever the sizes of the numbers."""
    x, y, z = numbers(rng, 3)
    for case, arguments in {
        "large numbers": (1e3 * x, 1e3 * y, 1e6 * z),
        "a small and a large factor": (1e-3 * x, 1e3 * y, z),
    }.items():
        expect_exact(learner.backward_by_hand(*arguments), reference.backward_by_hand(*arguments), case)


# neuron_gradients


@exercise("neuron_gradients")
def test_neuron(learner, reference, rng):
    """With the error r = w·x + b − y: 2r·x, 2r·w, 2r and −2r."""
    cases = [("w=1, x=2, b=0, y=0", (1.0, 2.0, 0.0, 0.0)), *[("random numbers", numbers(rng, 4)) for _ in range(3)]]
    for case, arguments in cases:
        expect_exact(learner.neuron_gradients(*arguments), reference.neuron_gradients(*arguments), case)


@exercise("neuron_gradients")
def test_neuron_with_zeros(learner, reference, rng):
    """An input of 0, a weight of 0, a target of 0, and a target that is met: then all four are 0."""
    p, q, r = numbers(rng, 3)
    w, x = (float(number) for number in rng.integers(2, 9, size=2))
    cases = {
        "x is 0": (p, 0.0, q, r),
        "w is 0": (0.0, p, q, r),
        "b and y are 0": (p, q, 0.0, 0.0),
        "the target is met": (w, x, 1.0, w * x + 1.0),
    }
    for case, arguments in cases.items():
        expect_exact(learner.neuron_gradients(*arguments), reference.neuron_gradients(*arguments), case)


@exercise("neuron_gradients")
def test_signs_of_the_error(learner, reference, rng):
    """A prediction above its target, and one below: the gradients change sign with the error."""
    w, x, b = numbers(rng, 3)
    for case, above in {"a prediction that is too high": 2.0, "a prediction that is too low": -2.0}.items():
        arguments = (w, x, b, w * x + b - above)
        expect_exact(learner.neuron_gradients(*arguments), reference.neuron_gradients(*arguments), case)


# Graphs

SMALL = {  # what a graph is: the graph, its output last
    "a single node": "a",
    "a chain": "b from a; c from b",
    "two parents": "c from a, b",
    "L = (a·b + c)²": "d from a, b; e from d, c; L from e",
    "L = (w·x + b − y)²": "m from w, x; p from m, b; r from p, y; L from r",
    "an output that another node uses": "c from b; b from a",
    "a node that the output does not use": "b from a; z from a; c from b",
}
TWICE = {
    "b = a + a": "b from a, a",
    "b = a + a; c = b + b": "b from a, a; c from b, b",
    "d = a·a·b, in one step": "d from a, a, b",
    "a node used three times": "b from a; c from b, b, b; d from c",
}
SHARED = {
    "a diamond": "b from a; c from a; d from b, c",
    "a short and a long way, the long one first": "b from a; c from b, a",
    "a short and a long way, the short one first": "b from a; c from a, b",
    "ways of three lengths, the longest first": "b from a; c from b; d from c, b, a",
    "ways of three lengths, the shortest first": "b from a; c from b; d from a, b, c",
    "a long way round, found last": "h from x; p from h; q from p; L from x, h, q",
    "a long way round, found first": "h from x; p from h; q from p; L from q, h, x",
    "two diamonds, one after the other": "b from a; c from a; d from b, c; e from d; f from d; g from e, f",
    "a leaf used at every step": "h from w, x; p from w, h; q from w, p; L from q, h",
}


def parents_of(graph: str) -> Parents:
    """The parents of every node that a graph's text mentions; its output is the last key."""
    found: Parents = {}
    for statement in graph.split("; "):
        name, _, parents = statement.partition(" from ")
        found.pop(name, None)
        found |= {parent: [] for parent in parents.split(", ") if parent and parent not in found}
        found[name] = parents.split(", ") if parents else []
    return found


def edges(graph: str) -> int:
    """How many local gradients a graph has."""
    return sum(len(parents) for parents in parents_of(graph).values())


def local_gradients(rng, graph):
    """A random number of either sign for each use of a parent, none near 0 and none 1."""
    count = edges(graph)
    below, above = rng.uniform(0.5, 0.9, count), rng.uniform(1.1, 1.5, count)
    return rng.choice([-1, 1], count) * np.where(rng.random(count) < 0.5, below, above)


def random_graph(rng, size) -> str:
    """A graph of up to three parents a node, one twice at times, with nodes that the output does not use.

    Neither names nor the order of the statements say what comes first; the output stands last.
    """
    names = [f"n{number}" for number in [*rng.permutation(size - 1), size - 1]]
    written = []
    for node, name in enumerate(names):
        most = 0 if node == 0 else 2 if node == 1 else 3
        count = int(rng.integers(min(node, 1) if node == size - 1 else 0, most + 1))
        parents = [names[parent] for parent in rng.integers(0, max(node, 1), size=count)]
        written.append(f"{name} from {', '.join(parents)}" if parents else name)
    return "; ".join([*[written[i] for i in rng.permutation(size - 1)], written[-1]])


def ladder(stages: int) -> str:
    """One diamond after the other: 2 to the power of `stages` paths."""
    rungs = [f"l{i} from n{i}; r{i} from n{i}; n{i + 1} from l{i}, r{i}" for i in range(stages)]
    return "; ".join(rungs)


# topological_order


def reachable(parents: Parents, output: str) -> set[str]:
    """The output and all it depends on."""
    found, waiting = {output}, [output]
    while waiting:
        new = set(parents[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def is_list(got: Any, case: str) -> bool:
    """Expect a list: a scenario says what an answer is that is none, and when calls inside calls were too many."""
    too_deep = "The calls inside calls became too many for Python (RecursionError): do without recursion."
    no_list = f"topological_order returned {clean(str(got))}, not a list of nodes."
    recursed = isinstance(got, str) and got == "RecursionError"
    expect(not recursed, too_deep, case=case)
    if not recursed:
        expect(not isinstance(got, str), no_list, case=case)
    return not isinstance(got, str)


@contextmanager
def no_cycle_in(case: str) -> Iterator[None]:
    """Around a call with a graph that has none: a `ValueError` is told for what it is, and the check goes on.

    So it is seen which graphs it is raised for.
    """
    try:
        yield
    except Raised as error:
        if error.failure.kind != "ValueError":
            raise
        why = "This graph has no cycle. A node may well be reached several times, if it is used several times."
        expect(False, f"{why} {error}", case=case)


def within_time(call: Callable[[], Any], why: str, case: str) -> Any:
    """What `call` returns; if it takes too long, `why` that may be is told. Shorter calls must have come back before.

    A misconception says by a `TimeoutError` that it would take too long.
    """
    try:
        return call()
    except (TimedOut, Raised) as error:
        if isinstance(error, Raised) and error.failure.kind != "TimeoutError":
            raise
        expect(False, why, case=case)
        raise TimedOut(str(error)) from None


def check_order(learner, graph: str, case: str, *, named: bool = True) -> None:
    """Expect an order of a graph, which has no cycle."""
    with no_cycle_in(case):
        expect_order(learner.scenario.topological_order(graph), parents_of(graph), case, named=named)


def expect_order(got: Any, parents: Parents, case: str, *, named: bool = True) -> None:
    """Expect an order of a graph whose output is its last key. `named`: whether nodes have names that are told."""
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
    """Expect an order of a large graph of numbered nodes; its output, the last one, depends on all of them."""
    with no_cycle_in(case):
        expect_order_in_time(learner, np.asarray(children), np.asarray(parents), case)


def expect_order_in_time(learner, children, parents, case):
    """As `expect_order_of_many`. Of small graphs no time is told: what does not come back from them never does."""
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
    """The order in words, a sentence of its own."""
    return f" The order returned: {clean(', '.join(map(str, order)), 200)}." if order else " The list is empty."


def told_stranger(entry: Any, parents: Parents) -> str:
    """What an entry is that does not belong into the list."""
    if entry in parents:
        return f"node {entry}, on which the output does not depend"
    node = next((node for node in parents if entry == f"the text '{node}'"), "")
    return f"{clean(str(entry))}, not the node {f'{node} itself' if node else 'itself'}"


def expect_properties(case, told, *, stranger, missing, wanted, early, repeated, output_last):
    """What an order must be; `told` is the order in words, `stranger` an entry that does not belong there."""
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


ALIKE = {  # what nodes have in common: attribute and value
    "nodes without names": ("name", ""),
    "nodes of one name": ("name", "x"),
    "nodes of one value": ("value", 1.0),
}


@exercise("topological_order")
def test_namesakes(learner):
    """Nodes of one name, and nodes of one value, are still different nodes."""
    for graph in (SMALL["a chain"], SMALL["two parents"], SMALL["L = (a·b + c)²"], SHARED["a diamond"]):
        for case, (attribute, common) in ALIKE.items():
            with no_cycle_in(f"{case}: {graph}"):
                got = learner.scenario.topological_order_of_namesakes(graph, attribute, common)
                expect_order(got, parents_of(graph), f"{case}: {graph}")


@exercise("topological_order")
def test_random_graphs(learner, rng):
    """Graphs without any plan, small ones first."""
    for size in (2, 3, 4, 5, 6, 8, 10, 15, 25, 40):
        for _ in range(3):
            graph = random_graph(rng, size)
            check_order(learner, graph, f"a random graph of {size} nodes", named=False)


def with_a_cycle(rng, graph: str) -> str:
    """A graph, one of whose nodes below the output depends on one that depends on it."""
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


def expect_untouched(learner, function, graph, case):
    found = enumeration([clean(str(name), 30) for name in learner.scenario.changed(function, graph)] or ["nothing"])
    message = f"{function} wrote to the nodes: {found}. Keep notes in a set or a dict of your own."
    expect(found == "nothing", message, case=case)


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
    """20,000 nodes, one after the other: no recursion, which Python ends after 1,000."""
    for size in (3, 20_000):
        steps = np.arange(size - 1)
        expect_order_of_many(learner, steps + 1, steps, f"a chain of {size:,} nodes")


# gradient_by_paths


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
def test_leaf_among_namesakes(learner, reference, rng):
    """The paths end at the one object that was given, not at another of its name and value."""
    for case, graph, leaf in [
        ("a chain", SMALL["a chain"], "a"),
        ("two parents", SMALL["two parents"], "b"),
        ("L = (a·b + c)²", SMALL["L = (a·b + c)²"], "b"),
        ("a diamond", SHARED["a diamond"], "c"),
    ]:
        for alike, (attribute, common) in ALIKE.items():
            local = local_gradients(rng, graph)
            got = learner.scenario.gradient_by_paths_among_namesakes(graph, local, leaf, attribute, common)
            expected = reference.scenario.gradient_by_paths_among_namesakes(graph, local, leaf, attribute, common)
            expect_close(got, expected, names=("the gradient",), case=f"{case}, {alike}", **EXACT)


@exercise("gradient_by_paths")
def test_paths_of_random_graphs(learner, reference, rng):
    """Graphs without any plan, with respect to several nodes each."""
    for size in (3, 4, 5, 6, 8, 10):
        graph = random_graph(rng, size)
        local = local_gradients(rng, graph)
        names = sorted(str(name) for name in parents_of(graph))
        for leaf in rng.permutation(names)[:4].tolist():
            check_gradient(learner, reference, rng, graph, leaf, f"a random graph of {size} nodes", local)


# reverse_sweep


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


@exercise("reverse_sweep", promise="instrumented")
def test_sweep_leaves_the_nodes_as_they_are(learner, reference, rng):
    """No attribute of a node is set or changed, `grad` included."""
    for case in ("a diamond", "a leaf used at every step"):
        check_sweep(learner, reference, rng, SHARED[case], case)
        expect_untouched(learner, "reverse_sweep", SHARED[case], case)


# read_torch_graph


def is_order(names: list[str], labels: list[str], parents: list[list[int]]) -> bool:
    """Whether some order of the graph, parents first, reads like this. `names` has each label as often as `labels`."""
    dead: set[frozenset[int]] = set()

    def completes(placed: frozenset[int]) -> bool:
        if len(placed) == len(labels):
            return True
        if placed in dead:
            return False
        for node, label in enumerate(labels):
            fits = label == names[len(placed)] and node not in placed and placed.issuperset(parents[node])
            if fits and completes(placed | {node}):
                return True
        dead.add(placed)
        return False

    return completes(frozenset())


def check_torch_graph(learner, reference, program, case):
    got = learner.scenario.read_torch_graph(program)
    if not isinstance(got, list | tuple):
        expect(False, f"read_torch_graph returned {clean(str(got))}, not a list of names.", case=case)
        return
    labels, parents = reference.scenario.torch_graph(program)
    texts = all(isinstance(name, str) for name in got)
    expect(texts, "The list holds something that is no text: the name is type(node).__name__.", case=case)
    names = [str(name).rpartition("::")[2] for name in got]
    told = f" The list returned: {clean(', '.join(names), 300) or 'empty'}."
    count, wanted = Counter(names), Counter(labels)
    for what, difference in [("missing", wanted - count), ("too many", count - wanted)]:
        found = enumeration([f"{many} × {clean(name, 40)}" for name, many in sorted(difference.items())] or ["none"])
        expect(not difference, f"These nodes are {what}: {found}.{told}", case=case)
    last = names[-1:] == labels[:1]
    expect(last, f"The tensor's own node, its grad_fn, is not the last.{told}", case=case)
    if count == wanted:
        fits = is_order(names, labels, parents)
        expect(fits, f"A node stands before one of its parents (its next_functions).{told}", case=case)


@exercise("read_torch_graph")
def test_few_operations(learner, reference):
    """Inputs first, the tensor's own node last."""
    for program in (
        "L = a * b",
        "L = torch.exp(a)",
        "L = torch.sin(torch.exp(a))",
        "L = (a * b + c) ** 2",
        "L = torch.tanh(a) - b / c",
        "L = (W @ x).relu().sum()",
    ):
        check_torch_graph(learner, reference, program, program)


@exercise("read_torch_graph")
def test_shared_tensors(learner, reference):
    """A tensor that is used twice has one node; two operations of one kind have two."""
    for program in (
        "L = a * a",
        "d = a + a; L = d + d",
        "d = a * b; L = torch.exp(d) + d",
        "d = a * b; L = d + torch.exp(d)",
        "d = a * b; e = c * d; L = e * d",
        "d = torch.exp(a); e = torch.sin(d); f = torch.cos(e); L = d * f - e",
        "d = torch.exp(a); e = torch.sin(d); f = torch.cos(e); L = e - f * d",
        "p, q = W.unbind(0); L = (p.exp() * q).sum()",
    ):
        check_torch_graph(learner, reference, program, program)


@exercise("read_torch_graph")
def test_tensors_without_a_graph(learner, reference):
    """A leaf, a constant and a detached tensor have no nodes; an input that needs no gradient is none either."""
    for program in (
        "L = a",
        "L = torch.exp(a)",
        "L = k * k",
        "L = (a * b).detach()",
        "L = a * k + 2",
        "L = torch.exp(k) * torch.sin(b)",
        "d = (a * b).detach(); L = d * a",
    ):
        check_torch_graph(learner, reference, program, program)


@exercise("read_torch_graph")
def test_graphs_of_loops(learner, reference):
    """Python's control flow leaves one node for each operation that ran; a billion paths are no more nodes."""
    for case, program in {
        "L = a; three times L = L * a": "L = a\nfor _ in range(3): L = L * a",
        "L = a; three times L = exp(L) if L < 5, else L * b": "L = a\n"
        "for _ in range(3): L = torch.exp(L) if L < 5 else L * b",
        "L = a; 30 times L = L * L, a billion paths": "L = a\nfor _ in range(30): L = L * L",
    }.items():
        check_torch_graph(learner, reference, program, case)


@exercise("read_torch_graph")
def test_random_programs(learner, reference, rng):
    """Operations without any plan."""
    for size in (2, 3, 4, 5, 6, 7):
        known, lines = ["a", "b", "k"], []
        for step in range(size):
            one, other = rng.choice([*known, *known[3:], *known[-1:]], size=2).tolist()
            known.append("L" if step == size - 1 else f"t{step}")
            pattern = str(rng.choice(["{} = {} * {}", "{} = {} + {}", "{} = {} - {}", "{} = torch.sin({})"]))
            lines.append(pattern.format(known[-1], one, other))
        lines[-1] = f"L = {one} * {known[-2]}"
        check_torch_graph(learner, reference, "; ".join(lines), f"a random program of {size} operations")
