"""The reference of ch11_checkpointing against brute force, recurrences and PyTorch's own checkpointing."""

from __future__ import annotations

import heapq
import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.judging import exercise
from course.experiments.costs import measure_bytes
from course.experiments.policies import POLICIES
from course.instruments.live import LiveStorages
from course.llama import LlamaConfig

# checkpoint


def feed_forward(width=6, layers=3, dropout=0.3):
    """A small network with dropout and LayerNorm, in float64."""
    parts: list[nn.Module] = []
    for _ in range(layers):
        parts += [nn.Linear(width, width), nn.GELU(), nn.Dropout(dropout), nn.LayerNorm(width)]
    return nn.Sequential(*parts).double()


def gradients_of(model, x, run):
    """Value and gradients of `run(x)`, squared, summed; of x where it requires one."""
    model.zero_grad()
    x.grad = None
    torch.manual_seed(3)
    y = run(x)
    torch.rand(5)
    (y**2).sum().backward()
    return [y.detach(), x.grad, *(parameter.grad for parameter in model.parameters())]


def assert_same(got, expected):
    for mine, theirs in zip(got, expected, strict=True):
        if theirs is None:
            assert mine is None
        else:
            assert torch.equal(mine, theirs)


@exercise("checkpoint")
def test_checkpoint_against_none_and_against_pytorch(reference):
    """Bit for bit what there is without a checkpoint, and with both of PyTorch's."""
    checkpoint, theirs = reference.implementations["checkpoint"], torch.utils.checkpoint.checkpoint
    model = feed_forward()
    for wanted in (True, False):
        x = torch.randn(5, 6, dtype=torch.float64, requires_grad=wanted)
        expected = gradients_of(model, x, model)
        assert_same(gradients_of(model, x, lambda x: checkpoint(model, x)), expected)
        assert_same(gradients_of(model, x, lambda x: theirs(model, x, use_reentrant=False)), expected)
        first, second = model[:6], model[6:]

        def outer(x, first=first, second=second):
            return second(checkpoint(first, x))

        inner = gradients_of(model, x, lambda x, outer=outer: checkpoint(outer, x))
        assert_same(inner, expected)


@exercise("checkpoint")
def test_checkpoint_against_finite_differences(reference):
    checkpoint = reference.implementations["checkpoint"]
    leaves = [torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(2)]

    def loss(a, b):
        return checkpoint(lambda u, v: (torch.sin(u * v) * u).sum(), a * b, b)

    loss(*leaves).backward()
    for i, leaf in enumerate(leaves):
        for index in np.ndindex(3, 2):
            values = []
            for step in (1e-6, -1e-6):
                moved = [other.detach().clone() for other in leaves]
                moved[i][index] += step
                values.append(float(loss(*moved).detach()))
            assert math.isclose(float(leaf.grad[index]), (values[0] - values[1]) / 2e-6, rel_tol=1e-6, abs_tol=1e-8)


@exercise("checkpoint")
def test_checkpoint_keeps_its_input_alone(reference):
    """Of a network that keeps 12 tensors as large as x autograd keeps none; the peak stays below it."""
    model, x = feed_forward(64, dropout=0.0), torch.randn(256, 64, dtype=torch.float64, requires_grad=True)
    kept = {}
    for name, run in {
        "plain": model,
        "checkpoint": lambda x: reference.implementations["checkpoint"](model, x),
    }.items():
        with LiveStorages() as live:
            y = run(x)
            kept[name] = live.bytes - y.untyped_storage().nbytes()
    assert kept["plain"] > 8 * x.nbytes
    assert kept["checkpoint"] == 0


# checkpoint_sequential


@exercise("checkpoint_sequential")
def test_sequential_against_none_and_against_pytorch(reference):
    """Bit for bit the plain loop, for every number of segments; and PyTorch's own, which cuts elsewhere."""
    function, theirs = (
        reference.implementations["checkpoint_sequential"],
        torch.utils.checkpoint.checkpoint_sequential,
    )
    model = feed_forward()
    layers = list(model)
    for wanted in (True, False):
        x = torch.randn(5, 6, dtype=torch.float64, requires_grad=wanted)
        expected = gradients_of(model, x, model)
        for segments in range(1, len(layers) + 1):
            assert_same(gradients_of(model, x, lambda x, n=segments: function(layers, x, n)), expected)
        assert_same(gradients_of(model, x, lambda x: theirs(model, 4, x, use_reentrant=False)), expected)


@exercise("checkpoint_sequential")
def test_sequential_against_array_split(reference):
    """What is kept in bytes, and the calls, follow from a cut as NumPy makes it."""
    for n_layers, segments in [(1, 1), (4, 2), (7, 3), (9, 5), (12, 5)]:
        log: list[int] = []

        class Noted(nn.Module):
            def __init__(self, number):
                super().__init__()
                self.number = number

            def forward(self, x):
                log.append(self.number)  # noqa: B023
                return torch.tanh(x * 0.9)

        x = torch.randn(100, requires_grad=True)
        with LiveStorages() as live:
            y = reference.implementations["checkpoint_sequential"]([Noted(i) for i in range(n_layers)], x, segments)
            assert live.bytes == segments * x.nbytes
        y.sum().backward()
        assert log[:n_layers] == list(range(n_layers))
        assert sorted(log[n_layers:]) == list(range(n_layers))
        starts = [i for before, i in pairwise([n_layers, *log[n_layers:]]) if i != before + 1]
        lengths = sorted(np.diff(sorted([*starts, n_layers])).tolist())
        assert lengths == sorted(len(part) for part in np.array_split(np.arange(n_layers), segments))


# peak_activations


@exercise("peak_activations")
def test_peak_against_a_walk_through_the_segments(reference):
    """Cut the layers up, and count what is held while each segment is run again."""
    for n_layers in range(1, 41):
        for segments in range(1, n_layers + 1):
            cut = [list(part) for part in np.array_split(np.arange(n_layers), segments)]
            assert max(map(len, cut)) - min(map(len, cut)) <= 1
            inputs = {part[0] for part in cut}
            held = [len(inputs) + len(part) for part in cut]
            got = reference.peak_activations(n_layers, segments)
            assert type(got) is int
            assert got == max(held)


@exercise("peak_activations")
def test_peak_of_32_layers(reference):
    """The least peak of 32 layers is 12, with 4 to 8 segments."""
    peaks = {segments: reference.peak_activations(32, segments) for segments in range(1, 33)}
    assert min(peaks.values()) == 12
    assert [segments for segments, peak in peaks.items() if peak == 12] == [4, 5, 6, 7, 8]


# best_segments


@exercise("best_segments")
def test_best_against_the_bound(reference):
    """⌈2 √n⌉ is the least peak; √n rounded down, up or to the nearest reaches it, and so does what is returned."""
    for n_layers in [*range(1, 1200), 9_999, 10_000]:
        root = math.isqrt(n_layers)
        bound = 1 + math.isqrt(4 * n_layers - 1)  # ⌈√(4 n)⌉
        segments = reference.best_segments(n_layers)
        assert type(segments) is int
        assert 1 <= segments <= n_layers
        for candidate in (segments, root, root + (root * root < n_layers), round(math.sqrt(n_layers))):
            assert candidate + math.ceil(n_layers / candidate) == bound
        if n_layers < 300:
            assert bound == min(s + math.ceil(n_layers / s) for s in range(1, n_layers + 1))


# minimal_forwards


@cache
def by_recurrence(n: int, s: int) -> int:
    """Advance j steps, store; the right part with a slot less, then the left part with all of them."""
    if s == 1:
        return n * (n - 1) // 2
    return min((j + by_recurrence(n - j, s - 1) + by_recurrence(j, s) for j in range(1, n)), default=0)


def by_search(n_steps: int, slots: int) -> int:
    """Dijkstra over all schedules: (steps left to take back, state at hand, states stored)."""
    start: Any = (n_steps, 0, frozenset([0]))
    spent, queue, count = {start: 0}, [(0, 0, start)], 0  # count: so that positions are never compared
    while queue:
        cost, _, position = heapq.heappop(queue)
        left, hand, stored = position
        if left == 0:
            return cost
        if cost > spent[position]:
            continue
        moves: list[Any] = [(0, (left, state, stored)) for state in stored]  # load
        if hand is not None:
            if hand + 1 < left:
                moves.append((1, (left, hand + 1, stored)))  # advance without taping
            if hand + 1 == left:
                moves.append((0, (left - 1, None, stored)))  # tape the step and take it back
            if len(stored) < slots:
                moves.append((0, (left, hand, stored | {hand})))
            moves += [(0, (left, hand, stored - {state})) for state in stored]
        for more, following in moves:
            if cost + more < spent.get(following, math.inf):
                spent[following] = cost + more
                count += 1
                heapq.heappush(queue, (cost + more, count, following))
    raise AssertionError("no schedule")


@exercise("minimal_forwards")
def test_forwards_against_the_recurrence(reference):
    """The formula is what the recurrence gives, up to 60 steps and 10 slots, and for the longest chains."""
    for slots in range(1, 11):
        for n_steps in [*range(1, 61), 100, 200]:
            got = reference.minimal_forwards(n_steps, slots)
            assert type(got) is int
            assert got == by_recurrence(n_steps, slots)


@exercise("minimal_forwards")
def test_forwards_against_every_schedule(reference):
    """No schedule whatever does with less, also one that loads, stores and drops states as it likes."""
    for slots in (1, 2, 3, 4):
        for n_steps in range(1, 10):
            assert reference.minimal_forwards(n_steps, slots) == by_search(n_steps, slots)


@exercise("minimal_forwards")
def test_forwards_of_a_million_steps(reference):
    """Exact far beyond what is asked: the bound, met where n is a binomial (Griewank and Walther 2000)."""
    assert reference.minimal_forwards(3, 1) == 3
    for slots, sweeps in [(3, 100), (10, 12), (20, 8)]:
        n_steps = math.comb(slots + sweeps, slots)
        # C(s + r, s) steps: r n − C(s + r, s + 1) is n s r / (s + 1)
        assert reference.minimal_forwards(n_steps, slots) * (slots + 1) == n_steps * slots * sweeps
    assert reference.minimal_forwards(10**6, 10**6) == 10**6 - 1


# plan_checkpoints


def least_cost(costs, sizes, budget):
    """Every plan, as a mask in the bits of a number, in NumPy: the least cost of those that fit; inf if none does."""
    n = len(costs)
    keep = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    run = largest = np.zeros(2**n)
    for kept, size in zip(keep.T, sizes, strict=True):
        run = np.where(kept, 0, run + size)
        largest = np.maximum(largest, run)
    memory = keep @ np.asarray(sizes, dtype=float) + largest
    return np.where(memory <= budget, ~keep @ np.asarray(costs, dtype=float), np.inf).min()


def needs(plan, sizes):
    """The memory of a plan, from the text of the sizes kept and not."""
    marks = "".join("|" if i in plan else chr(ord("a") + i) for i in range(len(sizes)))
    runs = [sum(sizes[ord(letter) - ord("a")] for letter in run) for run in marks.split("|")]
    return sum(sizes[i] for i in plan) + max(runs)


@exercise("plan_checkpoints")
def test_plan_against_brute_force(reference, rng):
    """The plan fits, and none of the 2ⁿ costs less; where none fits a ValueError is raised."""
    seen = {"fits": 0, "nothing fits": 0}
    for _ in range(300):
        n = int(rng.integers(0, 10))
        costs, sizes = (rng.integers(0, int(rng.integers(2, 20)), size=n) for _ in range(2))
        scale = 1 if rng.random() < 0.7 else 8
        costs, sizes = (costs / scale).tolist(), (sizes / scale).tolist()
        budget = float(rng.integers(0, 8 * sum(sizes) + 9)) / 8
        least = least_cost(costs, sizes, budget)
        if np.isinf(least):
            seen["nothing fits"] += 1
            with pytest.raises(ValueError, match="fits"):
                reference.implementations["plan_checkpoints"](costs, sizes, budget)
            continue
        seen["fits"] += 1
        plan = reference.plan_checkpoints(costs, sizes, budget)
        assert plan == sorted(set(plan))
        assert all(0 <= i < n for i in plan)
        assert needs(plan, sizes) <= budget
        assert sum(cost for i, cost in enumerate(costs) if i not in plan) == least
    assert min(seen.values()) > 30


@exercise("plan_checkpoints")
def test_plan_of_twelve_layers(reference, rng):
    for _ in range(10):
        costs, sizes = (rng.integers(1, 30, size=12).tolist() for _ in range(2))
        budget = int(rng.integers(sum(sizes) // 2, sum(sizes)))
        plan = reference.plan_checkpoints(costs, sizes, budget)
        assert needs(plan, sizes) <= budget
        assert sum(cost for i, cost in enumerate(costs) if i not in plan) == least_cost(costs, sizes, budget)


@exercise("plan_checkpoints")
def test_plan_of_equal_layers_against_the_segment_model(reference):
    """32 equal layers: k kept leave runs of ⌈(32 − k) / (k + 1)⌉, so the least room is that of k kept, minimised."""
    n = 32
    rooms = [k + -(-(n - k) // (k + 1)) for k in range(n + 1)]
    plan = reference.plan_checkpoints([1] * n, [1] * n, min(rooms))
    assert needs(plan, [1] * n) == min(rooms)
    assert len(plan) == max(k for k, room in enumerate(rooms) if room == min(rooms))
    with pytest.raises(ValueError, match="fits"):
        reference.implementations["plan_checkpoints"]([1] * n, [1] * n, min(rooms) - 1)


# offload_to_cpu


@exercise("offload_to_cpu")
def test_offload_against_save_on_cpu(reference):
    """Bit for bit what there is without it, and with PyTorch's own."""
    offload = reference.implementations["offload_to_cpu"]
    model = feed_forward()
    x = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    expected = gradients_of(model, x, model)
    for context in (offload, torch.autograd.graph.save_on_cpu):

        def run(x, context=context):
            with context():
                return model(x)

        assert_same(gradients_of(model, x, run), expected)


@exercise("offload_to_cpu")
def test_offload_keeps_copies(reference):
    """Every storage that is saved outside of the parameters is another one than the block made."""
    made = set()

    class Note(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            if isinstance(out, torch.Tensor) and func is not torch.ops.aten._to_copy.default:
                made.add(out.untyped_storage().data_ptr())
            return out

    W = nn.Parameter(torch.randn(6, 6))
    x = torch.randn(5, 6, requires_grad=True)
    with Note(), reference.implementations["offload_to_cpu"]():
        h = torch.sin(x)
        y = h @ W
    saved, weight = y.grad_fn._saved_self, y.grad_fn._saved_mat2
    assert torch.equal(saved, h)
    assert saved.untyped_storage().data_ptr() not in made
    assert weight.untyped_storage().data_ptr() == W.untyped_storage().data_ptr()


# reversible_block


@exercise("reversible_block")
def test_block_against_autograd(reference):
    """The block written down, with what autograd makes of it; and back from its outputs."""
    block = reference.implementations["reversible_block"]
    f, g = (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)).double() for _ in range(2))
    for n in (1, 5):
        x1, x2, dy1, dy2 = torch.randn(4, n, 4, dtype=torch.float64).unbind()
        found = []
        for run in (block, lambda f, g, x1, x2: ((y1 := x1 + f(x2)), x2 + g(y1))):
            leaves = [x.clone().requires_grad_() for x in (x1, x2)]
            for module in (f, g):
                module.zero_grad()
            y1, y2 = run(f, g, *leaves)
            torch.autograd.backward([y1, y2], [dy1, dy2])
            parameters = [p.grad.clone() for module in (f, g) for p in module.parameters()]
            found.append([y1.detach(), y2.detach(), *(leaf.grad for leaf in leaves), *parameters])
        for mine, theirs in zip(*found, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-11, atol=1e-13)


@exercise("reversible_block")
def test_block_keeps_its_outputs(reference):
    """Two tensors, however wide f and g are."""
    f, g = (nn.Sequential(nn.Linear(16, 512), nn.Tanh(), nn.Linear(512, 16)) for _ in range(2))
    x1, x2 = torch.randn(2, 32, 16).unbind()
    with LiveStorages() as live:
        a, b = (x.clone().requires_grad_() for x in (x1, x2))
        pair = reference.implementations["reversible_block"](f, g, a, b)
        del a, b
        assert live.bytes - 2 * x1.nbytes == sum(y.nbytes for y in pair)  # the leaves hold their gradients' place


# measure


MODEL = LlamaConfig(hidden=64, layers=9, heads=4, kv_heads=2, ffn=96, vocab=1)


@pytest.fixture
def module(reference):
    """The solutions, with another stack than the learner sees."""
    before = reference.module.CONFIG, reference.module.SEQ
    reference.module.CONFIG, reference.module.SEQ = MODEL, 40
    yield reference.module
    reference.module.CONFIG, reference.module.SEQ = before


@exercise("measure")
def test_measure_against_the_experiment(module):
    """The book's own experiment, which runs its policies by other code. It makes x in the step, so that x counts."""
    x_bytes = 4 * 40 * MODEL.hidden
    for policy in module.POLICIES:
        cost = measure_bytes(POLICIES[policy], MODEL, 40, dtype=torch.float32)
        got = module.measure(policy, "cpu")
        assert list(got) == ["saved_bytes", "flops", "seconds", "peak_bytes"]
        assert got["flops"] == cost.flops
        saved = cost.saved_bytes - (x_bytes if policy not in ("offload", "reversible") else 0)
        assert got["saved_bytes"] == saved
        assert cost.peak_bytes - 3 * x_bytes <= got["peak_bytes"] <= cost.peak_bytes
        assert got["seconds"] > 0


@exercise("measure")
def test_policies_against_the_plain_stack(module):
    """Gradients bit for bit, in every policy but the one that is another function."""
    gradients = {}
    for policy in module.POLICIES:
        forward, x, g = module.prepared(policy, "cpu", LiveStorages())
        forward(x).backward(g)
        gradients[policy] = x.grad
    for policy, gradient in gradients.items():
        assert torch.equal(gradient, gradients["none"]) == (policy != "reversible")


@exercise("measure")
def test_reversible_against_two_streams(module):
    """What autograd makes of the two streams."""
    forward, x, g = module.prepared("reversible", "cpu", LiveStorages())
    forward(x).backward(g)
    stack, other, g = module.fresh("cpu")
    x1 = x2 = other
    for block in stack.blocks:
        x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
        x2 = x2 + block.mlp_branch(x1)
    (x1 + x2).backward(g)
    torch.testing.assert_close(x.grad, other.grad, rtol=1e-4, atol=1e-5)
