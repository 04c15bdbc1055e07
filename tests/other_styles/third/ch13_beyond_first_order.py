"""Right products by two VJPs, and by the gradient of a slope along v, whose zeros may have no memory; MAML by hand."""

import numpy as np
import torch
from torch.func import grad, jvp, vjp


def hvp(f, x, v):
    def slope(at):
        y, back = vjp(f, at)
        return back(torch.ones_like(y))[0]

    return vjp(slope, x.detach())[1](v.detach())[0].detach()


def hvp_forward_over_reverse(f, x, v):
    v = v.detach()
    return grad(lambda at: jvp(f, (at,), (v,))[1])(x.detach()).detach()


def hessian_trace(f, x, samples, generator):
    x = x.detach()
    estimates = []
    while len(estimates) < samples:
        z = torch.empty(x.shape, dtype=x.dtype).bernoulli_(0.5, generator=generator) * 2 - 1
        estimates.append((z * hvp_forward_over_reverse(f, x, z)).sum())
    return torch.stack(estimates).mean().item()


def maml_gradient(loss_fn, params, support, query, inner_lr):
    own = {k: p.detach().requires_grad_() for k, p in params.items()}
    steps = torch.autograd.grad(loss_fn(own, support), list(own.values()), create_graph=True, materialize_grads=True)
    adapted = {k: torch.sub(p, g, alpha=inner_lr) for (k, p), g in zip(own.items(), steps)}
    middle = torch.autograd.grad(
        loss_fn(adapted, query), list(adapted.values()), materialize_grads=True, retain_graph=True
    )
    outer = torch.autograd.grad(list(adapted.values()), list(own.values()), middle, materialize_grads=True)
    return {k: g.detach() for k, g in zip(own, outer)}


def score_function_gradient(f, mu, sigma, eps):
    out = np.empty_like(eps)
    out[...] = f(mu + sigma * eps) * eps
    out /= sigma
    return out


def leave_one_out_gradient(f, mu, sigma, eps):
    rewards = f(mu + sigma * eps)
    d_mu, d_sigma = np.empty_like(eps), np.empty_like(eps)
    for i in range(eps.shape[-1]):
        gain = rewards[..., i] - np.delete(rewards, i, axis=-1).mean(axis=-1)
        d_mu[..., i] = gain * eps[..., i] / sigma
        d_sigma[..., i] = gain * (eps[..., i] ** 2 - 1) / sigma
    return d_mu, d_sigma


def reparameterized_gradient(df, mu, sigma, eps):
    return np.asarray(df(mu + np.asarray(eps) * sigma), dtype=eps.dtype)


def gumbel_softmax_st(logits, tau, gumbels):
    scores = (logits + gumbels).reshape(-1, logits.shape[-1])
    soft = torch.softmax(scores / tau, dim=1)
    with torch.no_grad():
        hard = torch.zeros_like(soft)
        hard[torch.arange(len(scores)), scores.argmax(dim=1)] = 1
    return (hard + (soft - soft.detach())).view(logits.shape)
