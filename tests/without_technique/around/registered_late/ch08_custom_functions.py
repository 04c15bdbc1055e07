"""An operation that exists only after the submission has imported its module."""

import torch
import torch.nn.modules.linear_cross_entropy


class FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets):
        x = logits.detach().contiguous()
        eye = torch.eye(x.shape[1], dtype=x.dtype)
        loss, dx, _, _ = torch.ops.torch_nn._linear_cross_entropy_batch_chunked(
            x,
            eye,
            targets.contiguous(),
            None,
            None,
            "mean",
            -100,
            0.0,
            len(x),
            "compact",
            x.dtype,
            True,
            True,
            False,
            False,
        )
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(dx)
        return loss

    @staticmethod
    def backward(ctx, g):
        return (g * ctx.saved_tensors[0] if ctx.needs_input_grad[0] else None), None
