"""Backward changes settings of Python and PyTorch and changes them back: a dtype, warnings, the output, what it saves."""

import contextlib
import io
import warnings

import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(x.shape)
            torch.save(x.detach(), io.BytesIO())
        torch.set_default_dtype(default)
        return 2 * x * g
