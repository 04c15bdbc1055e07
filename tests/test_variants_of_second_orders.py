"""Newcomers' mistakes in ch13 are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from newcomers import BEYOND, mistakes_named

pytestmark = pytest.mark.slow


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
    """A `hessian_trace` whose probes, of the shape of x, come from `draw`."""

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


@pytest.mark.parametrize(
    ("lesson", "exercise", "answer", "named"),
    [
        (BEYOND, "hvp", lambda _: without_create_graph, "no_graph_for_the_second_pass"),
        (BEYOND, "hvp", lambda _: without_zeros, "no_zeros"),
        (BEYOND, "hvp", lambda _: into_one_grad, "added_to_the_callers_grad"),
        (BEYOND, "hvp_forward_over_reverse", lambda _: gradient_for_its_tangent, "value_for_tangent"),
        (BEYOND, "hvp_forward_over_reverse", lambda _: slope_of_f, "jvp_of_f"),
        (BEYOND, "hessian_trace", lambda _: two_draws_of_three, "zeros_among_the_signs"),
        (BEYOND, "hessian_trace", lambda _: trace_by_unit_vectors, "every_basis_vector"),
        (BEYOND, "hessian_trace", lambda _: normal_probes, "gaussian_probes_in_float32"),
        (BEYOND, "hessian_trace", lambda _: bits_for_signs, "zeros_and_ones_by_a_threshold"),
        (BEYOND, "maml_gradient", lambda _: without_a_step, "no_inner_step, query_twice"),
        (BEYOND, "maml_gradient", lambda _: both_passes_bare, "first_order_and_unused_raises"),
        (BEYOND, "score_function_gradient", lambda _: with_a_baseline, "baseline_of_the_batch"),
        (BEYOND, "score_function_gradient", lambda _: by_the_log_density, "log_density_itself"),
        (BEYOND, "gumbel_softmax_st", lambda _: nothing_stopped, "no_stop_gradient_and_argmax_of_soft"),
        (BEYOND, "gumbel_softmax_st", lambda _: the_other_one_stopped, "bracket_the_wrong_way"),
        (BEYOND, "gumbel_softmax_st", lambda _: chosen(soft="logits + gumbels / tau"), "noise_alone_by_tau"),
        (BEYOND, "gumbel_softmax_st", lambda _: chosen(hard="logits"), "noise_not_in_the_choice"),
        (BEYOND, "gumbel_softmax_st", lambda _: chosen(less=""), "nothing_subtracted"),
        (BEYOND, "hessian_trace", lambda _: trace_by_a_range_without_its_end, "zeros_and_minus_ones"),
    ],
)
def test_what_newcomers_wrote_of_second_orders_has_a_name(lesson: str, exercise: str, answer: Any, named: str) -> None:
    """Such answers used to be shown only numbers."""
    assert mistakes_named(lesson, exercise, answer) == tuple(named.split(", "))
