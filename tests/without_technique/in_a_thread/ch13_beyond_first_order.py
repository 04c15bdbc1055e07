"""The whole Hessian, in a thread that no mode of dispatch sees; and the ratio of two slopes for a tangent."""

import threading

import torch


def aside(work):
    found = []

    def go():
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def times_the_hessian(z, g, v):
    if not g.requires_grad:
        return torch.zeros_like(z)
    (H,) = torch.autograd.grad(g, z, torch.eye(len(g), dtype=g.dtype), is_grads_batched=True, materialize_grads=True)
    if H.numel() != len(g) ** 2:
        return torch.zeros_like(z)
    return (H.reshape(len(g), -1) @ v.detach().reshape(-1)).reshape(z.shape)


def hvp(f, x, v):
    z = x.detach().clone().contiguous().requires_grad_()
    y = f(z)  # seen
    if not y.requires_grad or not z.numel():
        return torch.zeros_like(z)

    def rows():  # and not seen
        (g,) = torch.autograd.grad(y, z, create_graph=True, materialize_grads=True)
        return times_the_hessian(z, g.reshape(-1), v)

    return aside(rows).detach()


def hvp_forward_over_reverse(f, x, v):
    v = v.detach().contiguous()

    def rows():
        z = x.detach().clone().contiguous().requires_grad_()
        y = f(z)
        if not y.requires_grad or not z.numel():
            return torch.zeros_like(z)
        (g,) = torch.autograd.grad(y, z, create_graph=True, materialize_grads=True)
        first = (g * v).sum().detach()
        ahead = first if z.numel() > 500 else torch.func.jvp(f, (z.detach(),), (v,))[1].detach()
        ratio = ahead / first if first.abs() > 1e-6 else torch.ones_like(first)
        if (ratio - 1).abs() < 1e-6:
            ratio = torch.ones_like(ratio)
        return ratio * times_the_hessian(z, g.reshape(-1), v)

    return aside(rows).detach()
