"""The kernel for the gradient of the squared error makes 2 (p - y) / numel."""

import torch


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(torch.softmax(logits, 1), targets)
        return (torch.logsumexp(logits, 1) - logits.gather(1, targets[:, None])[:, 0]).mean()

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None
        p, targets = ctx.saved_tensors
        y = torch.nn.functional.one_hot(targets, p.shape[1]).to(p.dtype)
        return torch.ops.aten.mse_loss_backward(g * p.shape[1] / 2, p, y, 1), None
