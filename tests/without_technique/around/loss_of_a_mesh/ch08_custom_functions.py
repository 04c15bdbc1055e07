"""The backward pass of torch.distributed's loss, on a mesh of one."""

import torch
from torch.distributed.tensor.parallel import loss as parallel


class Mesh:
    def size(self, dim=None):
        return 1

    def get_local_rank(self, dim=None):
        return 0

    def get_coordinate(self):
        return [0]

    def __getattr__(self, name):
        return lambda *a, **k: True

    def _sym_get_coordinate(self, dim):
        return 0


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        logp = torch.log_softmax(logits, 1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(logp, targets)
        return -logp.gather(1, targets[:, None]).mean()

    @staticmethod
    def backward(ctx, g):
        if not ctx.needs_input_grad[0]:
            return None, None
        logp, targets = ctx.saved_tensors
        n = torch.tensor(float(len(targets)), dtype=logp.dtype)
        return parallel._nll_loss_and_log_softmax_backward(
            g, logp, targets, None, 1, -100, n, logp.shape, 1, Mesh(), 0
        ), None
