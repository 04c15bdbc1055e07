"""A GPT layer as Korthikanti et al. 2022 count it, to compare their formula with a program."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class GPTBlock(nn.Module):
    """LayerNorm, multi-head attention, an MLP with GELU of width 4h, and dropout; x is (batch, seq, hidden).

    q is scaled by 1/√d before the product. So of (seq, seq) arrays attention saves only the softmax's result and
    dropout's mask and result, as Megatron-LM's fused softmax does. There is no causal mask: adding one saves nothing.

    Args:
        dropout: use dropout, with masks of one byte per number as in PyTorch's `native_dropout`.
        fused_attention: use PyTorch's `scaled_dot_product_attention`, without dropout inside.
    """

    def __init__(
        self,
        hidden: int,
        heads: int,
        *,
        dropout: bool = True,
        fused_attention: bool = False,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        super().__init__()
        self.heads, self.rate, self.fused_attention = heads, 0.1 if dropout else 0.0, fused_attention
        self.norms = nn.ModuleList(nn.LayerNorm(hidden, dtype=dtype) for _ in range(2))
        sizes = [(hidden, hidden)] * 4 + [(hidden, 4 * hidden), (4 * hidden, hidden)]
        self.linears = nn.ModuleList(nn.Linear(*size, dtype=dtype) for size in sizes)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v, out, up, down = self.linears
        normed = self.norms[0](x)
        heads = [linear(normed).unflatten(-1, (self.heads, -1)).transpose(1, 2) for linear in (q, k, v)]
        x = x + self._drop(out(self._attend(*heads).transpose(1, 2).flatten(2)))
        return x + self._drop(down(F.gelu(up(self.norms[1](x)))))

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        if self.fused_attention:
            return F.scaled_dot_product_attention(q, k, v)
        return self._drop(F.softmax((q / k.shape[-1] ** 0.5) @ k.transpose(2, 3), -1)) @ v

    def _drop(self, x: Tensor) -> Tensor:
        dropped: Tensor = torch.native_dropout(x, self.rate, True)[0] if self.rate else x
        return dropped
