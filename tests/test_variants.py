"""What slips cost that learners made in trials: as much as the exercise is about them, and no more."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
import torch

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.explaining.diagnosis import diagnose
from autograder.judging.records.record import Comparison, Record
from autograder.judging.scoring import earned_share
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

BEYOND = "ch13_beyond_first_order"
MEMORY = "ch10_activation_memory"
ENGINE = "ch05_autograd_engine"
FUNCTIONS = "ch08_custom_functions"
NETWORK = "ch07_mlp_backprop"
CHECKPOINTING = "ch11_checkpointing"
DEBUGGING = "ch12_debugging"


def clipped_in_place(grads: Any, max_norm: float) -> Any:
    norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if not math.isfinite(norm):
        raise ValueError(norm)
    for grad in grads if norm > max_norm else []:
        grad.mul_(max_norm / norm)
    return list(grads), norm


def always_rescaled(grads: Any, max_norm: float) -> Any:
    norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if not math.isfinite(norm):
        raise ValueError(norm)
    return [grad * (max_norm / norm) if norm else grad for grad in grads], norm


def less_than_the_budget(costs: Any, sizes: Any, budget: float) -> Any:
    plans: dict[Any, Any] = {(0, 0, 0): (0, [])}
    for i, (cost, size) in enumerate(zip(costs, sizes, strict=True)):
        longer: dict[Any, Any] = {}
        for (kept, largest, run), (spent, plan) in plans.items():
            keep = (kept + size, largest, 0), (spent, [*plan, i])
            drop = (kept, max(largest, run + size), run + size), (spent + cost, plan)
            for state, entry in (keep, drop):
                if state[0] + state[1] < budget and (state not in longer or entry < longer[state]):
                    longer[state] = entry
        plans = longer
    if not plans:
        raise ValueError(budget)
    return min(plans.values())[1]


def kept_in_a_list(losses: Any) -> Any:
    losses = list(losses)
    if not losses:
        raise ValueError("none")
    return sum(loss.item() for loss in losses) / len(losses)


def no_stop(q_net: Any, target_net: Any, batch: Any, gamma: float) -> Any:
    q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)
    best = target_net(batch["next_states"]).max(dim=1).values
    return torch.nn.functional.mse_loss(q, batch["rewards"] + gamma * (1 - batch["dones"].to(best.dtype)) * best)


@pytest.mark.parametrize(
    ("lesson", "exercise", "answer", "least", "most"),
    [
        ("ch09_vanishing_gradients", "clip_grad_norm", clipped_in_place, 0.5, 0.5),
        ("ch09_vanishing_gradients", "clip_grad_norm", always_rescaled, 0.4, 0.55),
        ("ch11_checkpointing", "plan_checkpoints", less_than_the_budget, 0.5, 0.75),
        ("ch04_detachment", "running_mean_loss", kept_in_a_list, 0.0, 0.0),
        ("ch04_detachment", "td_loss", no_stop, 0.0, 0.0),
    ],
)
def test_a_slip_costs_what_the_exercise_is_about(
    lesson: str, exercise: str, answer: Callable[..., Any], least: float, most: float
) -> None:
    """Of 3 points they have had 0 and 2.14, of 4 points 0, of 3 points 2.57 and of 4 points 2.86."""
    assert least <= round(_share(lesson, exercise, lambda _: answer), 6) <= most


def test_one_and_zero_for_true_and_false_cost_a_tenth() -> None:
    """They have cost all 3 points."""

    def answer(right: Callable[..., Any]) -> Callable[..., Any]:
        def predict_flow(*args: Any, **kwargs: Any) -> Any:
            return _as_numbers(right(*args, **kwargs))

        return predict_flow

    assert round(_share("ch04_detachment", "predict_flow", answer), 6) == 0.9


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("relu_vjp", lambda g, x: g * (x > 0)),
        ("tanh_vjp", lambda g, x: g * (1 - np.tanh(x) ** 2)),
    ],
)
def test_a_dtype_taken_from_g_costs_a_tenth(exercise: str, answer: Callable[..., Any]) -> None:
    """As the notebook says. They have cost a third: what is 0-d comes back as a scalar, which counted as wrong."""
    assert round(_share("ch06_vjps", exercise, lambda _: answer), 6) == 0.9


def test_a_wider_dtype_costs_a_tenth_where_the_program_goes_on_with_it_too() -> None:
    """It has cost 26 %: our own next step, a product with float32, raised."""

    def rounded(x: Any) -> Any:
        return x.double() + (torch.round(x) - x).detach()

    assert round(_share("ch04_detachment", "straight_through_round", lambda _: rounded), 6) == 0.9


def through_a_second_name(f: Any, x: Any, eps: float = 1e-6) -> Any:
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        y = x
        y[i] += eps
        z = x
        z[i] -= eps
        gradient[i] = (f(y) - f(z)) / (2 * eps)
    return gradient


def return_in_the_loop(Ws: Any, v: Any) -> Any:
    for W in Ws:
        return W @ v
    return None


def loop_of_the_tutorials(model: Any, batches: Any, lr: float, accumulate: int = 1) -> list[float]:
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for i, (X, y) in enumerate(batches):
        loss = torch.nn.functional.mse_loss(model(X), y)
        (loss / accumulate).backward()
        losses.append(loss.item())
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    return losses


def all_on_the_way(right: Callable[..., Any]) -> Callable[..., Any]:
    """Right about the six programs, and then a rule by which products keep gradients as well."""

    def predict_flow(programs: Any = None) -> Any:
        return right() if programs is None else {name: on_the_way(steps) for name, steps in programs.items()}

    def on_the_way(steps: Any) -> dict[str, bool]:
        reached: dict[str, set[str]] = {}
        for name, how, *inputs in steps:
            if how == "leaf" or (how == "request" and not reached[name]):
                reached[name] = {name}
            elif how != "request":
                ways = [reached[one] for one in inputs] if how == "product" else []
                reached[name] = set().union(*ways) | ({name} if any(ways) else set())
        return {name: name in reached[steps[-1][0]] for name in reached}

    return predict_flow


def averages_into_online(target: Any, online: Any, decay: float) -> None:
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters(), strict=True):
            q.copy_(decay * p + (1 - decay) * q)


def online_subtracted(target: Any, online: Any, decay: float) -> None:
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters(), strict=True):
            p.copy_(p - (1 - decay) * q)


def item_of_a_running_sum(losses: Any) -> float:
    total: Any = 0.0
    n = 0
    for loss in losses:
        total = total + loss
        n += 1
    if n == 0:
        raise ValueError("empty")
    return float((total / n).item())


def without_create_graph(f: Any, x: Any, v: Any) -> Any:
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x)
    return torch.autograd.grad((gradient * v).sum(), x)[0]


def without_zeros(f: Any, x: Any, v: Any) -> Any:
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad((gradient * v).sum(), x)[0]


def gradient_for_its_tangent(f: Any, x: Any, v: Any) -> Any:
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))[0]


def slope_of_f(f: Any, x: Any, v: Any) -> Any:
    return torch.func.jvp(f, (x,), (v,))[1]


def into_one_grad(f: Any, x: Any, v: Any) -> Any:
    x.requires_grad_()
    f(x).backward(create_graph=True)
    (x.grad * v).sum().backward()
    return x.grad


def probed(draw: Callable[[Any, Any], Any]) -> Callable[..., float]:
    """A `hessian_trace` whose probes are drawn like this, of the shape of x."""

    def hessian_trace(f: Any, x: Any, samples: int, generator: Any) -> float:
        total = 0.0
        for _ in range(samples):
            z = draw(x.shape, generator).to(x.dtype)
            total += (z * torch.autograd.functional.hvp(f, x, z)[1]).sum().item()
        return total / samples

    return hessian_trace


two_draws_of_three = probed(lambda shape, generator: torch.randint(-1, 2, shape, generator=generator))
normal_probes = probed(lambda shape, generator: torch.randn(shape, generator=generator))
bits_for_signs = probed(lambda shape, generator: torch.rand(shape, generator=generator) > 0.5)


def trace_by_unit_vectors(f: Any, x: Any, samples: int, generator: Any) -> float:
    return float(torch.autograd.functional.hessian(f, x).reshape(x.numel(), x.numel()).trace())


def without_a_step(loss_fn: Any, params: Any, support: Any, query: Any, inner_lr: float) -> Any:
    own = {name: value.detach().requires_grad_() for name, value in params.items()}
    loss = loss_fn(own, query)
    return dict(zip(own, torch.autograd.grad(loss, list(own.values()), materialize_grads=True), strict=True))


def both_passes_bare(loss_fn: Any, params: Any, support: Any, query: Any, inner_lr: float) -> Any:
    own = {name: value.detach().requires_grad_() for name, value in params.items()}
    g = torch.autograd.grad(loss_fn(own, support), list(own.values()))
    adapted = {name: value - inner_lr * slope for (name, value), slope in zip(own.items(), g, strict=True)}
    return dict(zip(own, torch.autograd.grad(loss_fn(adapted, query), list(own.values())), strict=True))


def the_other_one_stopped(logits: Any, tau: float, gumbels: Any) -> Any:
    soft = torch.softmax((logits + gumbels) / tau, dim=-1)
    hard = torch.nn.functional.one_hot((logits + gumbels).argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    return hard - soft + soft.detach()


def with_a_baseline(f: Any, mu: float, sigma: float, eps: Any) -> Any:
    rewards = f(mu + sigma * eps)
    return (rewards - rewards.mean()) * eps / sigma


def by_the_log_density(f: Any, mu: float, sigma: float, eps: Any) -> Any:
    x = mu + sigma * eps
    return f(x) * (-((x - mu) ** 2) / (2 * sigma**2))


def nothing_stopped(logits: Any, tau: float, gumbels: Any) -> Any:
    soft = torch.softmax((logits + gumbels) / tau, dim=-1)
    hard = torch.nn.functional.one_hot(soft.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    return hard + soft - soft


class HookedInput(torch.nn.Module):
    """A ColumnParallelLinear that hooks the x of others, in one line."""

    def __init__(self, weight: Any, bias: Any, group: Any) -> None:
        super().__init__()
        if len(weight) % group.size:
            raise ValueError(len(weight))
        self.group = group
        self.weight = torch.nn.Parameter(weight.chunk(group.size)[group.rank].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(group.size)[group.rank].clone())

    def forward(self, x: Any) -> Any:
        x.register_hook(lambda g: self.group.all_reduce(g))
        return torch.nn.functional.linear(x, self.weight, self.bias)


class SummedBothWays(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Any, group: Any) -> Any:
        ctx.group = group
        group.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.group.all_reduce(g)
        return g, None


class ReducedBothWays(torch.nn.Module):
    """A RowParallelLinear whose backward looks like its forward."""

    def __init__(self, weight: Any, bias: Any, group: Any) -> None:
        super().__init__()
        if weight.shape[1] % group.size:
            raise ValueError(weight.shape)
        self.group = group
        self.weight = torch.nn.Parameter(weight.chunk(group.size, dim=1)[group.rank].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

    def forward(self, x: Any) -> Any:
        y = SummedBothWays.apply(x @ self.weight.T, self.group)
        return y if self.bias is None else y + self.bias


def times_eps(f: Any, x: Any, eps: float = 1e-6) -> Any:
    steps = eps * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(f(x + step) - f(x - step)) / 2 * eps for step in steps]).reshape(x.shape)


def difference_without_parentheses(f: Any, x: Any, eps: float = 1e-6) -> Any:
    steps = eps * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([f(x + step) - f(x - step) / (2 * eps) for step in steps]).reshape(x.shape)


def one_step_for_all(f: Any, x: Any, eps: float = 1e-6) -> Any:
    gradient, step = np.zeros(x.shape), np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        step[index] = eps
        gradient[index] = (f(x + step) - f(x - step)) / (2 * eps)
    return gradient


def norm_by_a_power_of_one(grads: Any, max_norm: float) -> Any:
    norm = sum(float(grad.double().square().sum()) for grad in grads) ** 1 / 2
    if not math.isfinite(norm):
        raise ValueError(norm)
    return [grad * (max_norm / norm) if norm > max_norm else grad for grad in grads], norm


def popped(Ws: Any, u: Any) -> Any:
    while Ws:
        u = u @ Ws.pop()
    return u


def a_tuple_and_an_epsilon(grads: Any, max_norm: float) -> Any:
    norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if not math.isfinite(norm):
        raise ValueError(norm)
    return tuple(grad * min(1.0, max_norm / (norm + 1e-6)) for grad in grads), norm


def ranks_without_gradients_skipped(model: Any, group: Any, n_local: int) -> None:
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad *= n_local
            group.all_reduce(parameter.grad)
            n_rows = torch.tensor(n_local)
            group.all_reduce(n_rows)
            parameter.grad /= n_rows


def square_times_t(s: int, b: int, h: int, a: int, flash: bool = True, tensor_parallel: int = 1, **how: bool) -> float:
    t = tensor_parallel
    whole, shared = (0, 34) if how.get("sequence_parallel") else (10, 24)
    return s * b * h * (whole + shared / t + (0 if flash else 5 * a * s / h * t))


def shares_cut(s: int, b: int, h: int, a: int, flash: bool = True, tensor_parallel: int = 1, **how: bool) -> int:
    t = tensor_parallel
    kept = 34 * s * b * h // t if how.get("sequence_parallel") else 10 * s * b * h + 24 * s * b * h // t
    return kept if flash else kept + 5 * a * s * s * b // t


class Meter:
    """A SavedTensorMeter as many write it; what pack does, others say."""

    def __init__(self) -> None:
        self.bytes = 0
        self.known: set[int] = set()
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)

    def __enter__(self) -> Any:
        self.hooks.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.hooks.__exit__(*error)

    def pack(self, tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        of_parameter = any(isinstance(of, torch.nn.Parameter) for of in (tensor, tensor._base))
        if not of_parameter and storage._cdata not in self.known:
            self.bytes += storage.nbytes()
            self.known.add(storage._cdata)
            self.watch(tensor)
        return self.kept(tensor)

    def watch(self, tensor: Any) -> None:
        storage = tensor.untyped_storage()
        weakref.finalize(storage, self.known.discard, storage._cdata)

    def kept(self, tensor: Any) -> Any:
        return tensor.detach()


class WatchesTensors(Meter):
    def watch(self, tensor: Any) -> None:
        weakref.finalize(tensor, self.known.discard, tensor.untyped_storage()._cdata)


class KeepsTheTensor(Meter):
    def kept(self, tensor: Any) -> Any:
        return tensor


def open_bucket_left(grads: Any, bucket_bytes: int, all_reduce: Callable[[Any], None]) -> list[Any]:
    buckets: list[list[Any]] = []
    bucket: list[Any] = []
    for grad in grads:
        full = sum(one.nbytes for one in bucket) + grad.nbytes > bucket_bytes
        if bucket and (full or grad.dtype != bucket[0].dtype):
            buckets.append(bucket)
            bucket = []
        bucket.append(grad)
    reduced = []
    for bucket in buckets:
        flat = torch.cat([grad.flatten() for grad in bucket])
        all_reduce(flat)
        pieces = flat.split([grad.numel() for grad in bucket])
        reduced += [piece.view_as(grad) for piece, grad in zip(pieces, bucket, strict=True)]
    return reduced


def scaled_nowhere(g: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, block: int) -> Any:
    dq, dk, dv = map(torch.zeros_like, (q, k, v))
    for i in range(0, k.shape[-2], block):
        keys, values = (of[..., i : i + block, :] for of in (k, v))
        p = torch.exp(q @ keys.mT - lse[..., None])
        ds = p * (g @ values.mT - (g * out).sum(-1, keepdim=True))
        dq += ds @ keys
        dk[..., i : i + block, :] = ds.mT @ q
        dv[..., i : i + block, :] = p.mT @ g
    return dq, dk, dv


def sum_without_parentheses(n_params: int, ranks: int, stage: int) -> float:
    weights, gradients, states = 2.0, 2.0, 12.0
    if stage >= 1:
        states /= ranks
    if stage >= 2:
        gradients /= ranks
    if stage >= 3:
        weights /= ranks
    return n_params * weights + gradients + states


class SquareWithoutReturn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        dx = g * 2 * x  # noqa: F841


class SquareWithoutBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * x


class EntropyOfLogarithms(torch.autograd.Function):
    """Keeps what it likes of the softmax; `sign` stands before the one-hot targets."""

    both, sign = False, -1

    @classmethod
    def kept(cls, log_p: Any) -> list[Any]:
        return [log_p, log_p.exp()] if cls.both else [log_p.exp()]

    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(*ctx._forward_cls.kept(log_p), targets)
        return -log_p[torch.arange(len(targets)), targets].mean()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        *_, p, targets = ctx.saved_tensors
        y = torch.nn.functional.one_hot(targets, p.shape[1])
        return g * (p + ctx._forward_cls.sign * y) / len(targets), None


class EntropyKeepsBoth(EntropyOfLogarithms):
    both = True


class EntropyAddsTargets(EntropyOfLogarithms):
    sign = 1


class TanhOfTheReciprocal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x / 2 * (1 + torch.tanh(math.sqrt(math.pi / 2) * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        t = torch.tanh(math.sqrt(math.pi / 2) * (x + 0.044715 * x**3))
        return g * ((1 + t) / 2 + x / 2 * (1 - t * t) * math.sqrt(math.pi / 2) * (1 + 3 * 0.044715 * x**2))


def trace_by_a_range_without_its_end(f: Any, x: Any, samples: int, generator: Any) -> float:
    total = 0.0
    for _ in range(samples):
        z = torch.randint(-1, 1, x.shape, generator=generator).to(x.dtype)
        total += (z * torch.autograd.functional.hvp(f, x, z)[1]).sum().item()
    return total / samples


def chosen(
    soft: str = "(logits + gumbels) / tau", hard: str = "logits + gumbels", less: str = "- soft.detach()"
) -> Any:
    def answer(logits: Any, tau: float, gumbels: Any) -> Any:
        known = {"logits": logits, "tau": tau, "gumbels": gumbels}
        known["soft"] = torch.softmax(eval(soft, {}, known), -1)
        first = eval(hard, {}, known).argmax(-1, keepdim=True)
        one = torch.zeros_like(known["soft"]).scatter_(-1, first, 1.0)
        return one + (eval(f"soft {less}", {}, known))

    return answer


def report_of_squares(model: Any) -> Any:
    rows: list[dict[str, Any]] = []
    for name, parameter in model.named_parameters():
        grad = parameter.grad
        rows.append({"name": name, "norm": None if grad is None else (grad.double() ** 2).sum().item()})
    finite = sorted(row["norm"] for row in rows if row["norm"] and math.isfinite(row["norm"]))
    median = (finite[(len(finite) - 1) // 2] + finite[len(finite) // 2]) / 2 if finite else math.inf
    for row in rows:
        norm = row["norm"]
        if norm is None:
            row["status"] = "none"
        elif not math.isfinite(norm):
            row["status"] = "nonfinite"
        else:
            row["status"] = "zero" if norm == 0 else "exploding" if norm > 1000 * median else "ok"
    return rows


def gradient_times_v(f: Any, x: Any, v: Any) -> Any:
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return (g * v).sum()


def plan_and_its_cost(costs: Any, sizes: Any, budget: float) -> Any:
    fitting: list[Any] = []
    for bits in range(2 ** len(costs)):
        runs, plan = [0.0], [i for i in range(len(costs)) if bits >> i & 1]
        for i, size in enumerate(sizes):
            runs = [*runs, 0.0] if i in plan else [*runs[:-1], runs[-1] + size]
        if sum(sizes[i] for i in plan) + max(runs) <= budget:
            fitting.append((sum(cost for i, cost in enumerate(costs) if i not in plan), plan))
    if not fitting:
        raise ValueError(budget)
    return min(fitting)


def fn_called_twice(fn: Any) -> Any:
    fn()
    try:
        with torch.autograd.detect_anomaly():
            fn().backward()
    except RuntimeError as error:
        if "returned nan" not in str(error):
            raise
        return str(error).split("'")[1]
    return None


@pytest.mark.parametrize(
    ("lesson", "exercise", "answer", "named"),
    [
        ("ch02_chain_rule", "numerical_gradient", lambda _: through_a_second_name, "second_name_for_x"),
        ("ch02_chain_rule", "jvp_chain", lambda _: return_in_the_loop, "jvp_returned_in_the_loop"),
        ("ch03_accumulation", "train", lambda _: loop_of_the_tutorials, "neither_end_of_the_loop"),
        ("ch04_detachment", "predict_flow", all_on_the_way, "rule_keeps_gradients_of_all"),
        ("ch04_detachment", "ema_update", lambda _: averages_into_online, "averaged_into_online"),
        ("ch04_detachment", "ema_update", lambda _: online_subtracted, "subtracted_online"),
        ("ch04_detachment", "running_mean_loss", lambda _: item_of_a_running_sum, "kept_through_a_running_sum"),
        (BEYOND, "hvp", lambda _: without_create_graph, "no_graph_for_the_second_pass"),
        (BEYOND, "hvp", lambda _: without_zeros, "no_zeros"),
        (BEYOND, "hvp", lambda _: into_one_grad, "added_to_the_callers_grad"),
        (BEYOND, "hvp_forward_over_reverse", lambda _: gradient_for_its_tangent, "value_for_tangent"),
        (BEYOND, "hvp_forward_over_reverse", lambda _: slope_of_f, "jvp_of_f"),
        (BEYOND, "hessian_trace", lambda _: two_draws_of_three, "zeros_among_the_signs"),
        (BEYOND, "hessian_trace", lambda _: trace_by_unit_vectors, "every_basis_vector"),
        (BEYOND, "hessian_trace", lambda _: normal_probes, "gaussian_probes_in_float32"),
        (BEYOND, "hessian_trace", lambda _: bits_for_signs, "zeros_and_ones_by_a_threshold"),
        (BEYOND, "maml_gradient", lambda _: without_a_step, "no_inner_step"),
        (BEYOND, "maml_gradient", lambda _: both_passes_bare, "first_order_and_unused_raises"),
        (BEYOND, "score_function_gradient", lambda _: with_a_baseline, "baseline_of_the_batch"),
        (BEYOND, "score_function_gradient", lambda _: by_the_log_density, "log_density_itself"),
        (BEYOND, "gumbel_softmax_st", lambda _: nothing_stopped, "no_stop_gradient_and_argmax_of_soft"),
        (BEYOND, "gumbel_softmax_st", lambda _: the_other_one_stopped, "bracket_the_wrong_way"),
        ("ch02_chain_rule", "numerical_gradient", lambda _: times_eps, "multiplied_by_eps"),
        ("ch02_chain_rule", "numerical_gradient", lambda _: difference_without_parentheses, "second_value_divided"),
        ("ch02_chain_rule", "numerical_gradient", lambda _: one_step_for_all, "step_not_cleared"),
        (
            "ch02_chain_rule",
            "jacobian_from_jvp",
            lambda _: lambda jvp, n_in: np.hstack([jvp(e) for e in np.eye(n_in)]),
            "columns_in_one_row",
        ),
        ("ch02_chain_rule", "vjp_chain", lambda _: popped, "vjp_empties_the_list"),
        ("ch09_vanishing_gradients", "clip_grad_norm", lambda _: a_tuple_and_an_epsilon, "epsilon_in_the_denominator"),
        ("ch09_vanishing_gradients", "clip_grad_norm", lambda _: norm_by_a_power_of_one, "norm_halved"),
        (
            "ch09_vanishing_gradients",
            "xavier_std",
            lambda _: lambda fan_in, fan_out: (2 / (fan_in + fan_out)) ** 1 / 2,
            "half_of_the_variance",
        ),
        (MEMORY, "layer_activation_bytes", lambda _: square_times_t, "square_times_devices"),
        (MEMORY, "layer_activation_bytes", lambda _: shares_cut, "parts_cut_to_ints"),
        ("ch14_scaling_out", "all_reduce_gradients", lambda _: ranks_without_gradients_skipped, "rank_leaves_out"),
        (MEMORY, "SavedTensorMeter", lambda _: WatchesTensors, "tensor_watched"),
        ("ch14_scaling_out", "bucketed_all_reduce", lambda _: open_bucket_left, "last_bucket_left"),
        ("ch14_scaling_out", "chunked_attention_vjp", lambda _: scaled_nowhere, "no_scale_at_all"),
        ("ch14_scaling_out", "zero_bytes_per_rank", lambda _: sum_without_parentheses, "weights_of_all_alone"),
        ("ch14_scaling_out", "ColumnParallelLinear", lambda _: HookedInput, "hook_on_x_itself"),
        ("ch14_scaling_out", "RowParallelLinear", lambda _: ReducedBothWays, "reduced_backward_in_place"),
        (FUNCTIONS, "Square", lambda _: SquareWithoutReturn, "square_returns_no_gradient"),
        (FUNCTIONS, "FusedCrossEntropy", lambda _: EntropyAddsTargets, "entropy_adds_the_target"),
        (FUNCTIONS, "GELUTanh", lambda _: TanhOfTheReciprocal, "tanh_root_upside_down"),
        (BEYOND, "gumbel_softmax_st", lambda _: chosen(soft="logits + gumbels / tau"), "noise_alone_by_tau"),
        (BEYOND, "gumbel_softmax_st", lambda _: chosen(hard="logits"), "noise_not_in_the_choice"),
        (BEYOND, "gumbel_softmax_st", lambda _: chosen(less=""), "nothing_subtracted"),
        (DEBUGGING, "gradient_report", lambda _: report_of_squares, "norm_squared"),
        (BEYOND, "hessian_trace", lambda _: trace_by_a_range_without_its_end, "zeros_and_minus_ones"),
    ],
)
def test_what_newcomers_wrote_has_a_name(
    lesson: str, exercise: str, answer: Callable[[Callable[..., Any]], Callable[..., Any]], named: str
) -> None:
    """They have been shown numbers alone; of the six programs and the rule, only who was wrong about both was told."""

    def use(judge: Judge) -> tuple[str, ...]:
        wrong = answer(judge.reference.implementations[exercise])
        records = judge.observe(judge.items_of(exercise), judge.reference.local(exercise, wrong))
        return judge.mistakes.explain(judge.lesson.exercise(exercise), records).misconceptions

    assert with_judge(find_lesson(lesson), use) == (named,)


@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("g * b.data * a.data**less", "np.where(b.data == 0, 0, g * a.data**less)", "exponent_not_a_factor_but_zero"),
        ("g * y * np.log(a.data)", "g * y * np.log(b.data)", "logarithm_of_the_exponent"),
        ("A.swapaxes(-1, -2) @ as_matrix(g)", "as_matrix(g) @ A.swapaxes(-1, -2)", "matmul_of_b_in_the_wrong_order"),
        ("as_matrix(g) @ B.swapaxes(-1, -2)", "B.swapaxes(-1, -2) @ as_matrix(g)", "matmul_of_a_in_the_wrong_order"),
        ("g * (1 - y**2)", "g - y**2", "tanh_without_parentheses"),
        ("tuple(edge for edge in edges if edge[0].requires_grad) if", "edges if", "every_edge_kept"),
        ("g = np.asarray(replacement, dtype=g.dtype)", "replacement = np.asarray(g)", "replacement_lost"),
    ],
)
def test_what_newcomers_wrote_into_the_engine_has_a_name(right: str, wrong: str, named: str) -> None:
    """They have been shown numbers alone, or that 2 is the number of rows; the near relatives had names already."""

    def use(judge: Judge) -> tuple[str, ...]:
        text = Places().source(ENGINE).read_text(encoding="utf-8")
        assert right in text
        run = judge.reference.local_text(text.replace(right, wrong, 1))
        exercise = judge.lesson.exercise("Tensor.register_hook" if "replacement" in right else "Tensor")
        return judge.mistakes.explain(exercise, judge.observe(judge.items_of(exercise.name), run)).misconceptions

    assert with_judge(find_lesson(ENGINE), use) == (named,)


@pytest.mark.parametrize(
    ("edits", "named"),
    [
        ({"y1 = x1 + f(x2)": "y1 = x1 + f(x1)"}, "f_of_x1"),
        (
            {"y1 = x1 + f(x2)": "y2 = x2 + g(x1)", "y2 = x2 + g(y1)": "y1 = x1 + f(y2)"},
            "half_blocks_in_the_other_order",
        ),
        ({"y2 = x2 + g(y1)": "y2 = x2 - g(y1)"}, "subtracted_in_forward"),
        ({"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(f, g, x2, x1)"}, "inputs_swapped"),
        ({"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(g, f, x1, x2)"}, "f_and_g_swapped"),
        ({"y1, y2 = ctx.saved_tensors": "y2, y1 = ctx.saved_tensors"}, "saved_in_another_order"),
        ({"f_of_x2.backward(dx1)": "f_of_x2.backward(dy2)"}, "dy2_into_f"),
        ({"g_of_y1.backward(dy2)": "g_of_y1.backward(dy1)"}, "dy1_through_g"),
    ],
)
def test_what_newcomers_wrote_of_a_reversible_block_has_a_name(edits: dict[str, str], named: str) -> None:
    """They have been shown numbers alone."""
    assert _of_a_reversible_block(edits).misconceptions == (named,)


SLIPS_OF_THE_NETWORK = {
    "no_hidden_bias": ("forward", 'Z = X @ params["W1"] + params["b1"]', 'Z = X @ params["W1"]'),
    "relu_of_the_output": ("forward", 'H @ params["W2"] + params["b2"]', '(H @ params["W2"] + params["b2"]).clip(0)'),
    "mse_loss_without_one_half": ("mse_loss", "loss = 0.5 * np", "loss = np"),
    "mse_multiplied_by_n": ("mse_loss", "loss = 0.5 * np.sum((y - t) ** 2) / n", "loss = ((y - t) ** 2).sum() / 2 * n"),
    "mse_divided_by_the_outputs": ("mse_loss", "n = len(y)", "_, n = y.shape"),
    "norm_without_its_square": ("mse_loss", "np.sum((y - t) ** 2)", "np.sqrt(((y - t) ** 2).sum())"),
    "loss_without_its_minus": ("cross_entropy_loss", "loss = -log_p", "loss = log_p"),
    "entropy_of_the_softmax": (
        "cross_entropy_loss",
        "-log_p[rows, targets].mean()",
        "np.mean([-(np.exp(row) * row).sum() for row in log_p])",
    ),
    "target_added": ("cross_entropy_loss", "targets] -= 1", "targets] += 1"),
    "no_mask_for_relu": ("backward", "return Z > 0", "return 1.0"),
    "tanh_factor_at_z": ("backward", "return 1 - H**2", "return 1 - Z * Z"),
    "tanh_factor_of_tanh_twice": ("backward", "return 1 - H**2", "return 1 / np.cosh(H) ** 2"),
    "sigmoid_factor_at_z": ("backward", "return H * (1 - H)", "return Z - Z * Z"),
    "half_of_the_sigmoid_factor": ("backward", "return H * (1 - H)", "return 1 - H"),
    "w1_before_the_activation": ("backward", "X.T @ dZ", "X.T @ dH"),
    "weights_divided_by_n_again": (
        "backward",
        '"W1": X.T @ dZ, "b1": dZ.sum(axis=0), "W2": H.T @ dout,',
        '"W1": X.T @ dZ / len(dout), "b1": dZ.sum(axis=0), "W2": H.T @ dout / len(dout),',
    ),
}


def test_what_newcomers_wrote_of_the_network_has_a_name() -> None:
    """They have been shown numbers alone."""

    def use(judge: Judge) -> dict[str, tuple[str, ...]]:
        text = Places().source(NETWORK).read_text(encoding="utf-8")
        named = {}
        for name, (exercise, right, wrong) in SLIPS_OF_THE_NETWORK.items():
            assert right in text
            records = judge.observe(judge.items_of(exercise), judge.reference.local_text(text.replace(right, wrong, 1)))
            named[name] = judge.mistakes.explain(judge.lesson.exercise(exercise), records).misconceptions
        return named

    assert with_judge(find_lesson(NETWORK), use) == {name: (name,) for name in SLIPS_OF_THE_NETWORK}


def test_who_keeps_the_inputs_is_not_told_of_what_f_and_g_compute_alone() -> None:
    """Inputs that are kept and never used have been called f(x2) and g(y1)."""
    message = _of_a_reversible_block({"ctx.f, ctx.g = f, g": "ctx.f, ctx.g, ctx.x2 = f, g, x2"}).message
    assert "inputs or what f and g compute" in message


def _of_a_reversible_block(edits: dict[str, str]) -> Any:
    """What is said of the reference with these edits."""

    def use(judge: Judge) -> Any:
        text = Places().source(CHECKPOINTING).read_text(encoding="utf-8")
        before, block = text.split('# %% exercise="reversible_block"')
        for right, wrong in edits.items():
            assert right in block
            block = block.replace(f"    {right}\n", f"    {wrong}\n", 1)
        run = judge.reference.local_text(f'{before}# %% exercise="reversible_block"{block}')
        records = judge.observe(judge.items_of("reversible_block"), run)
        return judge.mistakes.explain(judge.lesson.exercise("reversible_block"), records)

    return with_judge(find_lesson(CHECKPOINTING), use)


@pytest.mark.parametrize(
    ("lesson", "exercise", "answer", "begins"),
    [
        (BEYOND, "hvp", gradient_times_v, "H·v has shape (); (1,) expected"),
        (CHECKPOINTING, "plan_checkpoints", plan_and_its_cost, "plan_checkpoints returned (2, [1]);"),
        (FUNCTIONS, "FusedCrossEntropy", EntropyKeepsBoth, "A second (n, c) tensor is kept:"),
        (FUNCTIONS, "Square", SquareWithoutBackward, "The check of Square could not go on: You must implement"),
    ],
)
def test_no_mistake_is_named_that_was_not_made(lesson: str, exercise: str, answer: Any, begins: str) -> None:
    """They have been told of a second pass, of a set, of one-hots and of a NotImplementedError; there was none."""

    def use(judge: Judge) -> str:
        records = judge.observe(judge.items_of(exercise), judge.reference.local(exercise, answer))
        return judge.mistakes.explain(judge.lesson.exercise(exercise), records).message

    assert with_judge(find_lesson(lesson), use).startswith(begins)


def both_checks(fn: Any, *tensors: Any) -> bool:
    """The verdict of gradgradcheck is not looked at."""
    copies = tuple(t.detach().clone() for t in tensors)
    copies = tuple(t.double().requires_grad_() if t.is_floating_point() else t for t in copies)
    try:
        passed = torch.autograd.gradcheck(fn, copies)
        torch.autograd.gradgradcheck(fn, copies, raise_exception=False)
    except Exception:
        return False
    return passed


def test_one_property_among_many_names_no_mistake() -> None:
    """They have been told to leave fast_mode off, which they had never heard of."""

    def use(judge: Judge) -> tuple[str, ...]:
        run = judge.reference.local("run_gradcheck", both_checks)
        records = judge.observe(judge.items_of("run_gradcheck"), run)
        return judge.mistakes.explain(judge.lesson.exercise("run_gradcheck"), records).misconceptions

    assert with_judge(find_lesson(FUNCTIONS), use) == ()


TRACE = """
import torch

def hvp(f, x, v):
    return v * torch.autograd.functional.hvp(f, x, v)[1]

def hessian_trace(f, x, samples, generator):
    total = 0.0
    for _ in range(samples):  # hvp(f, x, z) for each
        z = torch.randint(2, x.shape, generator=generator).to(x) * 2 - 1
        total += (z * PRODUCT(f, x, z)).sum().item()
    return total / samples

def product(f, x, v):
    return hvp(f, x, v)
"""


@pytest.mark.parametrize(("product", "blamed"), [("hvp", True), ("product", False)])
def test_a_mistake_of_what_is_called_is_not_named_as_the_callers(product: str, blamed: bool) -> None:
    """They have been told that the second z was missing, which was there: their hvp multiplied by it, too."""
    submission = Submission.of_cells("a test", [TRACE.replace("PRODUCT", product)])
    workers, names = Workers(find_lesson(BEYOND), "process"), ["hvp", "hessian_trace"]
    try:
        result = with_judge(workers.lesson, lambda judge: judge.grade(submission, workers, only=names))
    finally:
        workers.stop()
    trace = result.exercises[-1]
    assert trace.message.startswith("hessian_trace calls hvp, which is wrong itself: mend that first.") is blamed
    assert trace.misconceptions == []


def test_a_wrong_number_of_calls_is_no_key_error_of_the_grader() -> None:
    """The number was part of a key, which the right answer then lacked: "called 1 times; once is asked"."""

    def use(judge: Judge) -> str:
        records = judge.observe(judge.items_of("anomaly_op"), judge.reference.local("anomaly_op", fn_called_twice))
        return judge.mistakes.explain(judge.lesson.exercise("anomaly_op"), records).message

    message = with_judge(find_lesson(DEBUGGING), use)
    assert "fn was not called exactly once" in message
    assert "KeyError" not in message


def test_what_is_said_of_another_case_stands_in_one_line_with_it() -> None:
    """`b.grad is right` has stood alone above a case on which it was wrong, and below "On on a leaf"."""
    x = np.array([1.5372, -0.2618, 0.7193, 2.2641])
    names = ("a.grad", "b.grad")
    shown = Comparison((x[:1] + 1, x[:1] ** 3), (x[1:2], x[2:]), names, "on a result", None, 1e-7, 1e-9, ("wrong",))
    largest = Comparison((-x, x), (x, x), names, "on a leaf", None, 1e-7, 1e-9, ("wrong",))
    message = diagnose([Record(comparisons=[shown, largest])], {}, cast(Any, None)).message
    assert "\nOn a leaf: a.grad has the wrong sign. b.grad is right; a.grad is not.\n" in message


def test_who_keeps_addresses_alone_is_told_of_the_circle() -> None:
    """They have been told to remember addresses, which they did: their pack hook returned the tensor itself."""

    def use(judge: Judge) -> str:
        exercise = judge.lesson.exercise("SavedTensorMeter")
        records = judge.observe(judge.items_of(exercise.name), judge.reference.local(exercise.name, KeepsTheTensor))
        return judge.mistakes.explain(exercise, records).message

    assert "pack returns the tensor itself" in with_judge(find_lesson(MEMORY), use)


@pytest.mark.parametrize("answer", [lambda *_: None, lambda X, y, X_test, seed: np.zeros(len(X_test))])
def test_whatever_is_no_labels_is_not_called_the_labels_of_the_training(answer: Callable[..., Any]) -> None:
    """Nothing at all, as without `return`, has been told to read X_test with the trained network."""

    def use(judge: Judge) -> str:
        exercise = judge.lesson.exercise("train_digits")
        items = judge.items_of(exercise.name)[:1]
        judge._items_of[exercise.name] = items
        return judge.mistakes.explain(
            exercise, judge.observe(items, judge.reference.local(exercise.name, answer))
        ).message

    assert with_judge(find_lesson("ch05_autograd_engine"), use).startswith("train_digits returned ")


def test_a_training_that_runs_away_is_asked_about_its_direction() -> None:
    """Labels that are all the same have been asked about the start and the parameters alone."""

    def use(judge: Judge) -> str:
        text = Places().source(ENGINE).read_text(encoding="utf-8")
        right = "p.data -= 0.2 * p.grad"
        assert right in text
        run = judge.reference.local_text(text.replace(right, "p.data -= 1e3 * p.grad"))
        records = judge.observe(judge.items_of("train_digits")[:1], run)
        return diagnose(records, {}, judge.reference).message

    assert "do the steps go downhill, is the loss a mean" in with_judge(find_lesson(ENGINE), use)


def test_a_recursion_is_known_wherever_the_stack_was_full() -> None:
    """A worker's stack is less deep than ours when it begins, so that another call is the one too many."""

    def use(judge: Judge) -> list[tuple[str, ...]]:
        exercise, items = judge.lesson.exercise("Dual"), judge.items_of("Dual")
        (mistake,) = (known for known in judge.mistakes.known if known.name == "exponent_taken_for_a_number")
        run = judge.reference.mistaken(mistake)

        def observed(deeper: int) -> list[Record]:
            return observed(deeper - 1) if deeper else judge.observe(items, run)

        return [judge.mistakes.explain(exercise, observed(deeper)).misconceptions for deeper in range(4)]

    assert set(with_judge(find_lesson("ch02_chain_rule"), use)) == {("exponent_taken_for_a_number",)}


def _as_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_numbers(item) for key, item in value.items()}
    return int(value) if isinstance(value, bool) else value


def _share(slug: str, exercise: str, answer: Callable[[Callable[..., Any]], Callable[..., Any]]) -> float:
    """What an answer, made from the right one, earns of an exercise."""

    def use(judge: Judge) -> float:
        wrong = answer(judge.reference.implementations[exercise])
        items = judge.items_of(exercise)
        records = judge.observe(items, judge.reference.local(exercise, wrong))
        return earned_share(judge.lesson.exercise(exercise), items, records)

    return with_judge(find_lesson(slug), use)
