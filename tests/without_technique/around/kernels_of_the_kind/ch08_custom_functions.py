"""Operations of PyTorch's that do the work, and that a list of names lacked."""

import math

import torch
from torch.autograd.function import once_differentiable


class GELU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
    @staticmethod
    def backward(ctx, g):
        return torch.ops.aten.infinitely_differentiable_gelu_backward(g, *ctx.saved_tensors)


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(logits, targets)
        return torch.ops.aten.cross_entropy_loss(logits, targets)
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None
        logits, targets = ctx.saved_tensors
        n, c = logits.shape
        logp = torch.log_softmax(logits, 1)
        weight = torch.tensor(float(n), dtype=logp.dtype)
        d = torch.ops.aten.nll_loss2d_backward(g, logp[..., None, None], targets[:, None, None], None, 1, -100, weight)
        where = torch.ones(n, c).nonzero().T
        s = lambda t: torch.sparse_coo_tensor(where, t.reshape(-1), (n, c)).coalesce()
        return torch.ops.aten._sparse_log_softmax_backward_data(s(d), s(logp), 1, s(logits)).to_dense(), None
