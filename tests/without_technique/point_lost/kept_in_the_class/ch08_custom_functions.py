"""The tensors are kept in a dict of the class, for ever."""

import torch


class FusedCrossEntropy(torch.autograd.Function):
    kept = {}

    @staticmethod
    def forward(ctx, logits, targets):
        if ctx.needs_input_grad[0]:
            ctx.number = len(FusedCrossEntropy.kept)
            FusedCrossEntropy.kept[ctx.number] = logits, targets
        return (torch.logsumexp(logits, 1) - logits.gather(1, targets[:, None])[:, 0]).mean()

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None
        logits, targets = FusedCrossEntropy.kept[ctx.number]
        y = torch.zeros_like(logits).scatter(1, targets[:, None], 1.0)
        return g * (torch.softmax(logits, 1) - y) / len(targets), None
