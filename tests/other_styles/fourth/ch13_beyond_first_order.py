"""A trace as NumPy's float64."""
import numpy as np
import torch
import torch.autograd.forward_ad as fw


def hvp(f, x, v):
    z = x.detach().clone().requires_grad_()
    y = f(z)
    zeros = torch.zeros_like(z)
    if not y.requires_grad:
        return zeros
    y.backward(create_graph=True, inputs=[z])
    g, z.grad = z.grad, None
    if g is None or not g.requires_grad:
        return zeros.detach()
    g.backward(v.detach(), inputs=[z])
    return zeros.detach() if z.grad is None else z.grad.detach()


def hvp_forward_over_reverse(f, x, v):
    with fw.dual_level():
        z = fw.make_dual(x.detach().clone().requires_grad_(), v.detach().clone())
        y = f(z)
        if not y.requires_grad:
            return torch.zeros_like(x.detach())
        (g,) = torch.autograd.grad(y, z, allow_unused=True)
        tangent = None if g is None else fw.unpack_dual(g).tangent
        return torch.zeros_like(x.detach()) if tangent is None else tangent.detach().clone()


def hessian_trace(f, x, samples, generator):
    probes = torch.randint(0, 2, (samples, *x.shape), generator=generator).mul(2).sub(1).to(x.dtype)
    return float(np.mean([torch.sum(z * hvp(f, x, z)).item() for z in probes]))


def maml_gradient(loss_fn, params, support, query, inner_lr):
    names = list(params)
    p = [params[k].detach().clone().requires_grad_() for k in names]
    g = torch.autograd.grad(loss_fn(dict(zip(names, p)), support), p, create_graph=True, allow_unused=True)
    a = [(q if h is None else q - inner_lr * h).detach().requires_grad_() for q, h in zip(p, g)]
    u = torch.autograd.grad(loss_fn(dict(zip(names, a)), query), a, allow_unused=True)
    u = [torch.zeros_like(q) if w is None else w for q, w in zip(a, u)]
    with torch.no_grad():
        result = [w.clone() for w in u]
    live = [(h, w) for h, w in zip(g, u) if h is not None and h.requires_grad]
    if live:
        H = torch.autograd.grad([h for h, _ in live], p, [w for _, w in live], allow_unused=True)
        result = [r if h is None else r - inner_lr * h for r, h in zip(result, H)]
    return {k: r.detach() for k, r in zip(names, result)}


def score_function_gradient(f, mu, sigma, eps):
    x = mu + sigma * eps
    return f(x) * (x - mu) / sigma**2


def reparameterized_gradient(df, mu, sigma, eps):
    x = np.full_like(eps, mu)
    x += np.multiply(eps, sigma, dtype=eps.dtype)
    return df(x)


def gumbel_softmax_st(logits, tau, gumbels):
    s = logits + gumbels
    with torch.no_grad():
        m = s == s.amax(-1, keepdim=True)
        hard = (m & (m.cumsum(-1) == 1)).to(s.dtype)
    soft = torch.nn.functional.log_softmax(s / tau, -1).exp()
    return hard + (soft - soft.detach())


_t = hessian_trace
def hessian_trace(*a):
    return np.float64(_t(*a))
