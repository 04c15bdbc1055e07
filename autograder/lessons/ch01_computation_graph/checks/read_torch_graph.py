"""Checks of read_torch_graph."""

from __future__ import annotations

from collections import Counter

from autograder.judging import exercise, expect
from autograder.wording import clean, enumeration


def is_order(names: list[str], labels: list[str], parents: list[list[int]]) -> bool:
    """Whether `names` are the labels of some topological order of the graph, parents first.

    `names` must be a permutation of `labels`.
    """
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
    expect_graph(learner.scenario.read_torch_graph(program), reference, program, case)


def expect_graph(got, reference, program, case):
    """Expect the names of the nodes of a program's graph in some right order."""
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
        "p, q = W.exp().unbind(0); L = (q * x).sum()",
        "p, q = (W @ x).split(1); L = torch.sin(q.sum()) * a",
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
def test_every_kind_of_tensor(learner, reference, kinds, rng):
    """All pairs of programs, leaves, hooks, and whether a backward pass has gone through the graph."""
    for kind in kinds:
        program = kind.options["program"].replace("sin", str(rng.choice(["sin", "cos", "sinh", "cosh"])))
        case = f"{kind.label}: {program}" if program != kind.levels["case"] else kind.label
        expect_graph(learner.scenario.read_torch_graph_in_states(program, kind.states), reference, program, case)


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
