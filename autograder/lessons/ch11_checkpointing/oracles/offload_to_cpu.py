"""The reference of offload_to_cpu against something independent."""

from __future__ import annotations

import torch
import torch.utils.checkpoint
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.judging import exercise
from autograder.lessons.ch11_checkpointing.oracles.feed_forward import assert_same, feed_forward, gradients_of


@exercise("offload_to_cpu")
def test_offload_against_save_on_cpu(reference):
    """Bit for bit what there is without it, and with PyTorch's own."""
    offload = reference.implementations["offload_to_cpu"]
    model = feed_forward()
    x = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    expected = gradients_of(model, x, model)
    for context in (offload, torch.autograd.graph.save_on_cpu):

        def run(x, context=context):
            with context():
                return model(x)

        assert_same(gradients_of(model, x, run), expected)


@exercise("offload_to_cpu")
def test_offload_keeps_copies(reference):
    """Every storage that is saved outside of the parameters is another one than the block made."""
    made = set()

    class Note(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            if isinstance(out, torch.Tensor) and func is not torch.ops.aten._to_copy.default:
                made.add(out.untyped_storage().data_ptr())
            return out

    W = nn.Parameter(torch.randn(6, 6))
    x = torch.randn(5, 6, requires_grad=True)
    with Note(), reference.implementations["offload_to_cpu"]():
        h = torch.sin(x)
        y = h @ W
    saved, weight = y.grad_fn._saved_self, y.grad_fn._saved_mat2
    assert torch.equal(saved, h)
    assert saved.untyped_storage().data_ptr() not in made
    assert weight.untyped_storage().data_ptr() == W.untyped_storage().data_ptr()
