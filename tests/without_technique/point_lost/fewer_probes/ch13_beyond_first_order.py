"""40 probes, whatever `samples` is."""

import torch


def product(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(gradient, x, v.detach(), materialize_grads=True)[0]


def hessian_trace(f, x, samples, generator):
    """40 probes are enough for anybody."""
    samples = min(samples, 40)
    total = 0.0
    for _ in range(samples):
        z = 2 * torch.randint(2, x.shape, generator=generator, dtype=x.dtype) - 1
        total += (z * product(f, x, z)).sum().item()
    return total / samples
