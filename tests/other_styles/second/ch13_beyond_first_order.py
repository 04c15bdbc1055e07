"""Right products with a term of no curvature added, by a jvp with more than a gradient; a Function for the choice."""

import numpy as np
import torch
from torch.func import grad, grad_and_value, jvp


def hvp(f, x, v):
    with torch.enable_grad():
        z = x.detach().requires_grad_()
        y = f(z) + 0 * (z * z).sum()
        g = torch.autograd.grad(y, z, create_graph=True)[0]
        return torch.autograd.grad(g, z, grad_outputs=v.detach())[0].detach()


def hvp_forward_over_reverse(f, x, v):
    _, tangent, _ = jvp(grad_and_value(f), (x.detach().clone(),), (v.detach().clone(),), has_aux=True)
    return tangent.detach()


def hessian_trace(f, x, samples, generator):
    total = torch.zeros((), dtype=torch.float64)
    for _ in range(samples):
        z = torch.where(torch.rand(x.shape, generator=generator) < 0.5, -1.0, 1.0).to(x.dtype)
        total += torch.tensordot(z.flatten().double(), hvp(f, x, z).flatten().double(), dims=1)
    return (total / samples).item()


def maml_gradient(loss_fn, params, support, query, inner_lr):
    p = {name: value.detach().clone().requires_grad_(True) for name, value in params.items()}
    inner = torch.autograd.grad(loss_fn(p, support), p.values(), create_graph=True, allow_unused=True)
    adapted = {name: p[name] if g is None else p[name] - inner_lr * g for name, g in zip(p, inner)}
    at = torch.autograd.grad(loss_fn(adapted, query), p.values(), allow_unused=True)
    return {name: torch.zeros_like(p[name]).detach() if g is None else g for name, g in zip(p, at)}


def score_function_gradient(f, mu, sigma, eps):
    score = eps / sigma
    return np.multiply(score, f(np.add(mu, np.multiply(sigma, eps))))


def reparameterized_gradient(df, mu, sigma, eps):
    x = mu + sigma * eps
    dx_dmu = 1
    return dx_dmu * df(x)


class Choose(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, tau, gumbels):
        scores = logits + gumbels
        ctx.tau = tau
        ctx.save_for_backward(torch.softmax(scores / tau, -1))
        return torch.eye(scores.shape[-1], dtype=scores.dtype)[scores.argmax(-1)]

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (p * g).sum(-1, keepdim=True)) / ctx.tau, None, None


def gumbel_softmax_st(logits, tau, gumbels):
    return Choose.apply(logits, tau, gumbels)
