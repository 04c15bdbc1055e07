"""Two (n, c) tensors are kept by a closure: the logits, and the softmax."""

import torch


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        p = torch.softmax(logits, 1)
        if ctx.needs_input_grad[0]:
            ctx.keep = lambda: (logits, p, targets)
        return (torch.logsumexp(logits, 1) - logits.gather(1, targets[:, None])[:, 0]).mean()

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None
        logits, p, targets = ctx.keep()
        y = torch.zeros_like(p).scatter(1, targets[:, None], 1.0)
        return g * (torch.softmax(logits, 1) - y) / len(targets), None
