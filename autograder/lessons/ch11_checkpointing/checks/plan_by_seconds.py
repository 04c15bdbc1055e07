"""Checks of plan_by_seconds."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

from autograder.judging import exercise, expect, expect_close
from autograder.judging.records.record import current_record
from autograder.lessons.ch11_checkpointing.checks.integers import IDENTICAL, is_int
from autograder.lessons.ch11_checkpointing.checks.plan_checkpoints import integers, public
from autograder.values import summarise

MOST_OPERATIONS = 10


@dataclass
class Layer:
    """The arguments of plan_by_seconds, in their order."""

    reads: list[list[int]]
    needed: list[bool]
    sizes: list[int]
    times: list[int]
    budget: int

    def held(self, plan: list[int]) -> int:
        return sum(self.sizes[i] for i in plan)

    def runs_again(self, plan: list[int]) -> list[int]:
        """The operations that run again, ascending."""
        again = set[int]()
        open_ = [i for i, needed in enumerate(self.needed) if needed]
        while open_:
            i = open_.pop()
            if i not in plan and i not in again:
                again.add(i)
                open_.extend(self.reads[i])
        return sorted(again)

    def added(self, plan: list[int]) -> int:
        return sum(self.times[i] for i in self.runs_again(plan))


def check_layer(learner, reference, layer: Layer, *, case: str) -> None:
    """Expect a plan within the budget that adds the least time; any of several is accepted."""
    show = current_record().visible
    best = reference.plan_by_seconds(*astuple(layer))
    got = learner.plan_by_seconds(*astuple(layer))
    listed = isinstance(got, list | tuple) and all(map(is_int, got))
    message = f"plan_by_seconds returned {summarise(got, show_numbers=show)}; a list of numbers of results expected."
    expect(listed, message, case=case, instead="number" if isinstance(got, int | float) else type(got).__name__)
    if not listed:
        return
    plan = [int(i) for i in got]
    told = str(plan) if show and len(plan) <= MOST_OPERATIONS else "The list"
    known = all(0 <= i < len(layer.reads) for i in plan)
    expect(known, f"{told} names a result that is not there: they are counted from 0 to n − 1.", case=case)
    if not known:
        return
    ascending = plan == sorted(set(plan))
    expect(ascending, f"{told} is not in ascending order, each result once.", case=case)
    if not ascending:
        return
    held = layer.held(plan)
    message = f"{plan} takes {held} bytes, the budget is {layer.budget} ({layer})."
    expect(held <= layer.budget, message if show else "The plan takes more bytes than the budget.", case=case)
    if held <= layer.budget:
        name = f"the time that {plan} adds, running {layer.runs_again(plan)} again," if show else "the time added"
        expect_close(float(layer.added(plan)), float(layer.added(best)), names=(name,), case=case, **IDENTICAL)


def tight(rng, layer: Layer) -> Layer:
    """The layer with a budget that some plan just meets: room for some results, not for all."""
    n = len(layer.reads)
    kept = [i for i in range(n) if rng.random() < rng.uniform(0.2, 0.7)] or [0]
    return replace(layer, budget=layer.held(kept[:-1] if len(kept) == n > 1 else kept))


def chain(rng, n: int, share: float = 0.5) -> Layer:
    """Each operation reads the one before it; backward needs the last result and a share of the others."""
    needed = [bool(rng.random() < share) for _ in range(n - 1)] + [True]
    reads = [[i - 1] if i else [] for i in range(n)]
    return tight(rng, Layer(reads, needed, integers(rng, n), integers(rng, n, 1, 30), 0))


def graph(rng, n: int, high: int = 9) -> Layer:
    """Each operation reads up to three earlier ones."""
    reads = [sorted(rng.choice(i, size=min(i, int(rng.integers(0, 4))), replace=False).tolist()) for i in range(n)]
    needed = [bool(rng.random() < 0.6) for _ in range(n - 1)] + [True]
    return tight(rng, Layer(reads, needed, integers(rng, n, 1, high), integers(rng, n, 1, 30), 0))


@exercise("plan_by_seconds")
def test_two_operations(learner, reference):
    """The second operation reads the first, and there is room for one result, for both or for none."""
    rng = public()
    slow, fast, size = int(rng.integers(10, 20)), int(rng.integers(1, 9)), int(rng.integers(1, 9))
    for needed in ([True, True], [False, True], [True, False]):
        for times in ([slow, fast], [fast, slow]):
            for room in (0, 1, 2):
                layer = Layer([[], [0]], needed, [size] * 2, times, room * size)
                check_layer(learner, reference, layer, case=f"two operations, needed: {needed}, room for {room}")


@exercise("plan_by_seconds")
def test_alone(learner, reference, rng):
    """No operation reads another: sizes against times."""
    for n in (1, 3, 4, 5, 6, 7, 8):
        layer = Layer([[] for _ in range(n)], [True] * n, integers(rng, n), integers(rng, n, 1, 30), 0)
        check_layer(learner, reference, tight(rng, layer), case=f"{n} operations that read no other")


@exercise("plan_by_seconds")
def test_chains(learner, reference, rng):
    """Each operation reads the one before; backward needs some of the results."""
    for n in (2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8):
        for share in (0.0, 0.5):
            check_layer(learner, reference, chain(rng, n, share), case=f"a chain of {n} operations")
    for n in (4, 5, 6, 7, 8):  # what fits is far from what backward needs
        sizes = [*sorted(integers(rng, n - 1, 1, 12)), 13]
        reads, needed = [[i - 1] if i else [] for i in range(n)], [False] * (n - 1) + [True]
        layer = Layer(reads, needed, sizes, integers(rng, n, 1, 30), sizes[n // 2 - 1])
        check_layer(learner, reference, layer, case=f"a chain of {n} operations whose results grow")


@exercise("plan_by_seconds")
def test_branches(learner, reference, rng):
    """Results that several operations read, or none."""
    for n in (3, 4, 4, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8):
        check_layer(learner, reference, graph(rng, n), case=f"{n} operations with branches")


@exercise("plan_by_seconds")
def test_one_read_by_many(learner, reference, rng):
    """A slow operation whose small result backward does not need, and large ones that read it."""
    for many in (2, 3, 4):
        small, slow = int(rng.integers(1, 4)), int(rng.integers(20, 40))
        sizes, times = [small, *integers(rng, many, 6, 12)], [slow, *integers(rng, many)]
        reads = [[], *([0] for _ in range(many))]
        for budget in (small, small + int(rng.integers(1, 12)), max(sizes)):
            layer = Layer(reads, [False] + [True] * many, sizes, times, budget)
            check_layer(learner, reference, layer, case=f"{many} results made from one that backward does not need")


@exercise("plan_by_seconds")
def test_a_layer(learner, reference, rng):
    """Two norms, attention and SwiGLU, as in Llama: backward needs neither of the sums that end a branch alone."""
    # norm, q k v, attention, its projection plus the input, norm, gate, up, silu, product, down plus the sum
    reads = [[], [0], [1], [2], [3], [4], [4], [5], [6, 7], [3, 8]]
    for _ in range(6):
        needed = [True, True, True, bool(rng.random() < 0.5), True, True, True, True, True, False]
        sizes = [size + int(rng.integers(3)) for size in (4, 12, 4, 4, 4, 11, 11, 11, 11, 4)]
        times = [time + int(rng.integers(9)) for time in (6, 40, 30, 15, 6, 40, 40, 8, 8, 40)]
        layer = tight(rng, Layer(reads, needed, sizes, times, 0))
        check_layer(learner, reference, layer, case="a transformer's layer of ten operations")


@exercise("plan_by_seconds")
def test_zeros(learner, reference, rng):
    """Results of no bytes, operations of no time, a budget of 0, and room for all."""
    for n in (2, 4, 6):
        layer, free = graph(rng, n), int(rng.integers(n))
        words = f"{n} operations"
        without = [0 if i == free else size for i, size in enumerate(layer.sizes)]
        check_layer(learner, reference, replace(layer, sizes=without), case=f"{words}, a result of no bytes")
        check_layer(learner, reference, replace(layer, sizes=without, budget=0), case=f"{words}, a budget of 0")
        quick = [0 if i == free else time for i, time in enumerate(layer.times)]
        check_layer(learner, reference, replace(layer, times=quick), case=f"{words}, one that takes no time")
        check_layer(learner, reference, replace(layer, budget=sum(layer.sizes)), case=f"{words}, room for all")


@exercise("plan_by_seconds")
def test_no_operations(learner, reference):
    """One operation, none, or none whose result backward needs."""
    rng = public()
    size, time = integers(rng, 2)
    check_layer(learner, reference, Layer([[]], [True], [size], [time], size), case="one operation, and room for it")
    for budget in (0, int(rng.integers(1, 9))):
        check_layer(learner, reference, Layer([], [], [], [], budget), case="no operations")
        idle = replace(graph(rng, 3), needed=[False] * 3, budget=budget)
        check_layer(learner, reference, idle, case="backward needs no result")


@exercise("plan_by_seconds")
def test_ten_operations(learner, reference, rng):
    """As many operations as there may be."""
    for high in (5, 30, 30):
        layer = graph(rng, MOST_OPERATIONS, high)
        check_layer(learner, reference, layer, case=f"{MOST_OPERATIONS} operations with branches")
