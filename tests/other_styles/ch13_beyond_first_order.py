"""Right products by grad_outputs and by dual numbers, a trace of probes drawn at once, MAML by functional transforms."""

import numpy as np
import torch
import torch.autograd.forward_ad as fwd
from torch.func import grad


def hvp(f, x, v):
    own = x.detach().clone().requires_grad_(True)
    value = f(own)
    if value.grad_fn is None:
        return torch.zeros_like(own).detach()
    slope = torch.autograd.grad(value, [own], create_graph=True, allow_unused=True)[0]
    if slope is None or slope.grad_fn is None and not slope.requires_grad:
        return torch.zeros_like(own).detach()
    product = torch.autograd.grad((slope * v.detach()).sum(), [own], allow_unused=True)[0]
    return torch.zeros_like(own).detach() if product is None else product


def hvp_forward_over_reverse(f, x, v):
    with fwd.dual_level():
        dual = fwd.make_dual(x.detach().clone().requires_grad_(), v.detach())
        y = f(dual)
        if not y.requires_grad:
            return torch.zeros_like(x)
        (g,) = torch.autograd.grad(y, dual, allow_unused=True)
        tangent = None if g is None else fwd.unpack_dual(g).tangent
    return x.new_zeros(x.shape) if tangent is None else tangent.detach()


def hessian_trace(f, x, samples, generator):
    probes = torch.randint(0, 2, (samples, *x.shape), generator=generator).mul(2).sub(1).to(x.dtype)
    return float(np.mean([torch.sum(z * hvp(f, x, z)).item() for z in probes]))


def maml_gradient(loss_fn, params, support, query, inner_lr):
    start = {k: p.detach() for k, p in params.items()}

    def after_a_step(start):
        slopes = grad(loss_fn)(start, support)
        return loss_fn({k: p - inner_lr * slopes[k] for k, p in start.items()}, query)

    return {k: g.detach() for k, g in grad(after_a_step)(start).items()}


def score_function_gradient(f, mu, sigma, eps):
    x = mu + sigma * eps
    return f(x) * (x - mu) / sigma**2


def leave_one_out_gradient(f, mu, sigma, eps):
    x = mu + sigma * eps
    rewards = f(x)
    n = eps.shape[-1]
    gain = (rewards - rewards.mean(axis=-1, keepdims=True)) * (n / (n - 1))
    return gain * (x - mu) / sigma**2, gain * ((x - mu) ** 2 / sigma**3 - 1 / sigma)


def reparameterized_gradient(df, mu, sigma, eps):
    x = np.multiply(sigma, eps)
    x += mu
    return df(x) * np.ones_like(eps)


def gumbel_softmax_st(logits, tau, gumbels):
    scores = logits + gumbels
    soft = ((scores - scores.max(-1, keepdim=True).values.detach()) / tau).softmax(-1)
    hard = torch.zeros_like(soft).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)
    return soft - soft.detach() + hard
