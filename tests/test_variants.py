"""Variants, the reference with one small explained change: their costs, and newcomers' mistakes in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from newcomers import ENGINE, _of_a_reversible_block, mistakes_named

from autograder.collection import with_judge
from autograder.judging.scoring import earned_share
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


NETWORK = "ch07_mlp_backprop"


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
        ("ch09_vanishing_gradients", "clip_grad_norm", clipped_in_place, 0.4, 0.5),  # expanded grads raise an error
        ("ch09_vanishing_gradients", "clip_grad_norm", always_rescaled, 0.4, 0.55),
        ("ch11_checkpointing", "plan_checkpoints", less_than_the_budget, 0.5, 0.75),
        ("ch04_detachment", "running_mean_loss", kept_in_a_list, 0.0, 0.0),
        ("ch04_detachment", "td_loss", no_stop, 0.0, 0.0),
    ],
)
def test_a_slip_costs_what_the_exercise_is_about(
    lesson: str, exercise: str, answer: Callable[..., Any], least: float, most: float
) -> None:
    """They used to earn 0 and 2.14 of 3 points, 0 of 4, 2.57 of 3 and 2.86 of 4."""
    assert least <= round(_share(lesson, exercise, lambda _: answer), 6) <= most


def test_one_and_zero_for_true_and_false_cost_a_tenth() -> None:
    """They used to cost all 3 points."""

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
    """As the notebook says. It used to cost a third, because a 0-d result was returned as a scalar."""
    assert round(_share("ch06_vjps", exercise, lambda _: answer), 6) == 0.9


def test_a_wider_dtype_costs_a_tenth_where_the_program_goes_on_with_it_too() -> None:
    """It used to cost 26 %, because our own next step, a product with float32, raised."""

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
    """Right for the six programs; for others, products keep gradients as well."""

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
    ],
)
def test_what_newcomers_wrote_has_a_name(lesson: str, exercise: str, answer: Any, named: str) -> None:
    """Such answers used to be shown only numbers."""
    assert mistakes_named(lesson, exercise, answer) == (named,)


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
    """They used to be shown only numbers, or that 2 is the number of rows; similar mistakes already had names."""

    def use(judge: Judge) -> tuple[str, ...]:
        text = Places().source(ENGINE).read_text(encoding="utf-8")
        assert right in text
        run = judge.reference.local_text(text.replace(right, wrong, 1))
        exercise = judge.lesson.exercise("Tensor.register_hook" if "replacement" in right else "Tensor")
        return judge.mistakes.explain(exercise, judge.observe(judge.items_of(exercise.name), run)).misconceptions

    assert with_judge(find_lesson(ENGINE), use) == (named,)


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
    """Such answers used to be shown only numbers."""

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
    """Inputs that are kept and never used used to be called f(x2) and g(y1)."""
    message = _of_a_reversible_block({"ctx.f, ctx.g = f, g": "ctx.f, ctx.g, ctx.x2 = f, g, x2"}).message
    assert "inputs or what f and g compute" in message


def _as_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_numbers(item) for key, item in value.items()}
    return int(value) if isinstance(value, bool) else value


def _share(slug: str, exercise: str, answer: Callable[[Callable[..., Any]], Callable[..., Any]]) -> float:
    """The share of an exercise's points that an altered right answer earns."""

    def use(judge: Judge) -> float:
        wrong = answer(judge.reference.implementations[exercise])
        items = judge.items_of(exercise)
        records = judge.observe(items, judge.reference.local(exercise, wrong))
        return earned_share(judge.lesson.exercise(exercise), items, records)

    return with_judge(find_lesson(slug), use)
