"""A Llama-style transformer: RMSNorm, rotary positions, grouped-query attention, SwiGLU, fused attention.

Its layers save for backward the same tensors as a framework with fused kernels, so that they can be measured without a
GPU. On a CPU, PyTorch's own RMSNorm and rotary positions are composed of operations that save more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

EPS = 1e-5
ROPE_BASE = 10_000.0


@dataclass(frozen=True)
class LlamaConfig:
    """The sizes of a model. Each head has `hidden / heads` dimensions; `heads` is a multiple of `kv_heads`."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int

    @property
    def head_dim(self) -> int:
        return self.hidden // self.heads

    @property
    def n_params(self) -> int:
        """The number of parameters: two embeddings, the layers, the norms."""
        attention = 2 * self.hidden**2 + 2 * self.hidden * self.kv_heads * self.head_dim
        layer = attention + 3 * self.hidden * self.ffn + 2 * self.hidden
        return 2 * self.vocab * self.hidden + self.layers * layer + self.hidden


LLAMA_2_7B = LlamaConfig(hidden=4096, layers=32, heads=32, kv_heads=32, ffn=11_008, vocab=32_000)
"""Touvron et al. 2023, arXiv 2307.09288."""
LLAMA_3_1_70B = LlamaConfig(hidden=8192, layers=80, heads=64, kv_heads=8, ffn=28_672, vocab=128_256)
"""Grattafiori et al. 2024, arXiv 2407.21783."""


class _FusedRMSNorm(torch.autograd.Function):
    """RMSNorm that saves its input and one float32 per row, the reciprocal root mean square."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        x32 = x.float()
        r = torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + EPS)
        ctx.save_for_backward(x, weight, r)
        return (x32 * r).to(x.dtype) * weight

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor]:
        (g,) = grad_outputs
        x, weight, r = ctx.saved_tensors
        g32, normed = g.float(), x.float() * r
        dweight = (g32 * normed).flatten(0, -2).sum(0).to(weight.dtype)
        dnormed = g32 * weight.float()
        dx = r * (dnormed - normed * (dnormed * normed).mean(-1, keepdim=True))
        return dx.to(x.dtype), dweight


class _FusedRope(torch.autograd.Function):
    """Rotary positions that save only the angles, which all layers share: the backward pass rotates back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        ctx.save_for_backward(cos, sin)
        return _rotate(x, cos, sin)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None, None]:
        cos, sin = ctx.saved_tensors
        return _rotate(grad_outputs[0], cos, -sin), None, None


class _FusedSwiGLU(torch.autograd.Function):
    """SwiGLU that saves only its two inputs; the composition saves silu(gate) and the product too."""

    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:
        ctx.save_for_backward(gate, up)
        return F.silu(gate) * up

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor]:
        (g,) = grad_outputs
        gate, up = ctx.saved_tensors
        s = torch.sigmoid(gate)
        return g * up * (s * (1 + gate * (1 - s))), g * gate * s


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


def rope_angles(config: LlamaConfig, seq: int, dtype: torch.dtype, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary positions, each `(seq, head_dim)`."""
    half = torch.arange(0, config.head_dim, 2, device=device) / config.head_dim
    angles = torch.outer(torch.arange(seq, device=device), ROPE_BASE**-half).repeat(1, 2)
    return angles.cos().to(dtype), angles.sin().to(dtype)


class RMSNorm(nn.Module):
    """x / rms(x) · weight. If `fused`, it saves x and one float32 per row; otherwise float32 copies as well."""

    def __init__(self, hidden: int, *, fused: bool, dtype: torch.dtype, device: str = "cpu") -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden, dtype=dtype, device=device))
        self.fused = fused

    def forward(self, x: Tensor) -> Tensor:
        if self.fused:
            out: Tensor = _FusedRMSNorm.apply(x, self.weight)
            return out
        x32 = x.float()
        return self.weight * (x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + EPS)).to(x.dtype)


class Block(nn.Module):
    """One layer: x + attention(norm(x)), then x + mlp(norm(x)); x is (batch, seq, hidden), no biases, no dropout.

    `attention_core`, `attention_branch` and `mlp_branch` may be wrapped on an instance, to checkpoint them.

    Args:
        fused_attention: use PyTorch's `scaled_dot_product_attention`, not a composition with an s × s softmax (in
            float32, as in Hugging Face's eager attention).
        fused_norm: norms and rotary positions save what fused kernels save, not what compositions do.
        fused_swiglu: save only gate and up, not silu(gate) and the product.
    """

    def __init__(
        self,
        config: LlamaConfig,
        *,
        fused_attention: bool = True,
        fused_norm: bool = True,
        fused_swiglu: bool = False,
        dtype: torch.dtype = torch.bfloat16,
        device: str = "cpu",
    ) -> None:
        super().__init__()
        self.config = config
        self.fused_attention, self.fused_norm, self.fused_swiglu = fused_attention, fused_norm, fused_swiglu

        def linear(n_in: int, n_out: int) -> nn.Linear:
            return nn.Linear(n_in, n_out, bias=False, dtype=dtype, device=device)

        h, kv = config.hidden, config.kv_heads * config.head_dim
        self.q, self.k, self.v, self.o = linear(h, h), linear(h, kv), linear(h, kv), linear(h, h)
        self.gate, self.up, self.down = linear(h, config.ffn), linear(h, config.ffn), linear(config.ffn, h)
        self.attention_norm = RMSNorm(h, fused=fused_norm, dtype=dtype, device=device)
        self.mlp_norm = RMSNorm(h, fused=fused_norm, dtype=dtype, device=device)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attention_branch(x, cos, sin)
        return x + self.mlp_branch(x)

    def attention_branch(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """The output of attention, which `forward` adds to x."""
        normed = self.attention_norm(x)
        q, k, v = (self._heads(linear(normed)) for linear in (self.q, self.k, self.v))
        turn = _FusedRope.apply if self.fused_norm else _rotate
        mixed = self.attention_core(turn(q, cos, sin), turn(k, cos, sin), v)
        return self.o(mixed.transpose(1, 2).flatten(2))

    def mlp_branch(self, x: Tensor) -> Tensor:
        """The output of the MLP, which `forward` adds to x."""
        normed = self.mlp_norm(x)
        gate, up = self.gate(normed), self.up(normed)
        return self.down(_FusedSwiGLU.apply(gate, up) if self.fused_swiglu else F.silu(gate) * up)

    def attention_core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """softmax(q kᵀ / √d, causal) v for q (batch, heads, seq, head_dim) and k, v with kv_heads."""
        if self.fused_attention:
            grouped = k.shape[1] != q.shape[1]
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)
        groups = q.shape[1] // k.shape[1]
        if groups > 1:
            k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        scores = (q @ k.transpose(2, 3)) / math.sqrt(q.shape[-1])
        mask = torch.full((q.shape[2], q.shape[2]), -math.inf, dtype=q.dtype, device=q.device).triu(1)
        return F.softmax(scores + mask, -1, dtype=torch.float32).to(q.dtype) @ v

    def _heads(self, x: Tensor) -> Tensor:
        """(batch, seq, n · head_dim) viewed as (batch, n, seq, head_dim), a layout that attention's result shares."""
        return x.unflatten(-1, (-1, self.config.head_dim)).transpose(1, 2)


class Stack(nn.Module):
    """The layers of a model, without embedding and head; `forward(x)` for x (batch, seq, hidden).

    Keywords as for `Block`.
    """

    def __init__(
        self,
        config: LlamaConfig,
        seq: int,
        *,
        dtype: torch.dtype = torch.bfloat16,
        device: str = "cpu",
        **kwargs: bool,
    ) -> None:
        super().__init__()
        self.config = config
        self.blocks = nn.ModuleList(Block(config, dtype=dtype, device=device, **kwargs) for _ in range(config.layers))
        cos, sin = rope_angles(config, seq, dtype, device)
        self.cos, self.sin = nn.Buffer(cos), nn.Buffer(sin)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return x


class Llama(nn.Module):
    """A whole model: embedding, layers, norm, head; `forward(ids)` for ids (batch, seq) gives float32 logits."""

    def __init__(
        self,
        config: LlamaConfig,
        seq: int,
        *,
        dtype: torch.dtype = torch.bfloat16,
        device: str = "cpu",
        **kwargs: bool,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab, config.hidden, dtype=dtype, device=device)
        self.stack = Stack(config, seq, dtype=dtype, device=device, **kwargs)
        self.norm = RMSNorm(config.hidden, fused=kwargs.get("fused_norm", True), dtype=dtype, device=device)
        self.head = nn.Linear(config.hidden, config.vocab, bias=False, dtype=dtype, device=device)

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.head(self.norm(self.stack(self.embedding(ids)))).float()
        return logits
