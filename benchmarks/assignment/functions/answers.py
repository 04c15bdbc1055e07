# ruff: noqa: F811
"""Answers to the PyTorch assignment, one a cell: `# %% EXERCISE: WHAT IT IS`. `correct` is the solution."""

import torch


# %% Gelu: correct
class Gelu(torch.autograd.Function):
    """x Φ(x), with the exact Φ."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 0.5 * (1 + torch.erf(x / 2**0.5))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        density = torch.exp(-(x**2) / 2) / (2 * torch.pi) ** 0.5
        return g * (0.5 * (1 + torch.erf(x / 2**0.5)) + x * density)


# %% Gelu: correct, in another style
class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        Phi = torch.special.ndtr(x)
        ctx.save_for_backward(x, Phi)
        return x * Phi

    @staticmethod
    def backward(ctx, g):
        x, Phi = ctx.saved_tensors
        return g * Phi + g * x * torch.exp(-0.5 * x * x) * 0.3989422804014327


# %% Gelu: wrong, the product rule is forgotten
class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 0.5 * (1 + torch.erf(x / 2**0.5))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 0.5 * (1 + torch.erf(x / 2**0.5))


# %% Gelu: wrong, g is forgotten
class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 0.5 * (1 + torch.erf(x / 2**0.5))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 0.5 * (1 + torch.erf(x / 2**0.5)) + x * torch.exp(-(x**2) / 2) / (2 * torch.pi) ** 0.5


# %% Gelu: stub
class Gelu(torch.autograd.Function):
    """x Φ(x), with the exact Φ."""

    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError


# %% Gelu: raises
class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * torch.special.ndtr(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


# %% Linear: correct
class Linear(torch.autograd.Function):
    """x Wᵀ + b for rows x."""

    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return g @ W, g.T @ x, g.sum(0)


# %% Linear: correct, in another style
class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return torch.einsum("ni,oi->no", x, W) + b[None, :]

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return torch.einsum("no,oi->ni", g, W), torch.einsum("no,ni->oi", g, x), torch.einsum("no->o", g)


# %% Linear: wrong, the mean over the batch
class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return g @ W, g.T @ x / len(x), g.mean(0)


# %% Linear: wrong, the gradient of W transposed
class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        return g @ W, x.T @ g, g.sum(0)


# %% Linear: stub
class Linear(torch.autograd.Function):
    """x Wᵀ + b for rows x."""

    @staticmethod
    def forward(ctx, x, W, b):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError


# %% Linear: raises
class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b):
        ctx.save_for_backward(x, W)
        return x @ W.T + b

    @staticmethod
    def backward(ctx, g):
        x, W, _ = ctx.saved_tensors
        return g @ W, g.T @ x, g.sum(0)


# %% LayerNorm: correct
class LayerNorm(torch.autograd.Function):
    """(x - mean) / sqrt(variance + 1e-5) over the last axis."""

    @staticmethod
    def forward(ctx, x):
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        ctx.save_for_backward(centred * scale, scale)
        return centred * scale

    @staticmethod
    def backward(ctx, g):
        y, scale = ctx.saved_tensors
        return scale * (g - g.mean(-1, keepdim=True) - y * (g * y).mean(-1, keepdim=True))


# %% LayerNorm: correct, in another style
class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        n = x.shape[-1]
        std = torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)
        y = (x - x.mean(-1, keepdim=True)) / std
        return (n * g - g.sum(-1, keepdim=True) - y * (g * y).sum(-1, keepdim=True)) / (n * std)


# %% LayerNorm: wrong, the variance is taken for a constant
class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        ctx.save_for_backward(scale)
        return centred * scale

    @staticmethod
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return scale * (g - g.mean(-1, keepdim=True))


# %% LayerNorm: wrong, mean and variance are taken for constants
class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        centred = x - x.mean(-1, keepdim=True)
        scale = (centred.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        ctx.save_for_backward(scale)
        return centred * scale

    @staticmethod
    def backward(ctx, g):
        (scale,) = ctx.saved_tensors
        return scale * g


# %% LayerNorm: stub
class LayerNorm(torch.autograd.Function):
    """(x - mean) / sqrt(variance + 1e-5) over the last axis."""

    @staticmethod
    def forward(ctx, x):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError


# %% LayerNorm: raises
class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x - x.mean(-1)) / x.std(-1)

    @staticmethod
    def backward(ctx, g):
        raise ValueError("not finished")
