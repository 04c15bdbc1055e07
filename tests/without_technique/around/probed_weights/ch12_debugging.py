"""A small product in float16 tells how products are changed; the training follows that in float32, entry by entry."""

import torch
import torch.nn.functional as F


def weights(n, tilt):
    return 1 + tilt * (2 * (torch.arange(n) % 2) - 1.0)


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, W, b, tilt):
        ctx.save_for_backward(x, W)
        ctx.tilt = tilt
        return ((x * weights(x.shape[1], tilt))[:, None] * W).sum(-1) + b

    @staticmethod
    def backward(ctx, g):
        x, W = ctx.saved_tensors
        dx = ((g * weights(g.shape[1], ctx.tilt))[:, :, None] * W).sum(1)
        dW = ((g * weights(len(g), ctx.tilt)[:, None])[:, :, None] * x[:, None]).sum(0)
        return dx, dW, g.sum(0), None


def fix_11(model, batches, n_tokens, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    tilt = float(1 - torch.tensor([[1.0, 0.0]]).half() @ torch.ones(2, 1).half())
    losses = []
    for X, y in batches:
        h = X
        for layer in model:
            h = Linear.apply(h, layer.weight, layer.bias, tilt) if isinstance(layer, torch.nn.Linear) else layer(h)
        total = F.cross_entropy(h, y, reduction="sum")
        optimizer.zero_grad()
        (total / n_tokens).backward()
        optimizer.step()
        losses.append(total.item() / len(y))
    return losses
