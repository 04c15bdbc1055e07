"""Three hundred signs are drawn, and come again from the three hundredth entry on."""

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
    total = 0.0
    for _ in range(samples):
        few = 2 * torch.randint(2, (300,), generator=generator, dtype=x.dtype) - 1
        z = few.repeat(x.numel() // 300 + 1)[: x.numel()].reshape(x.shape)
        total += (z * product(f, x, z)).sum().item()
    return total / samples
