"""Counts FLOPs, including those of fused attention on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

FORWARD_MATMULS = 2
"""q kᵀ and p v."""
BACKWARD_MATMULS = 5
"""q kᵀ again (nothing of size s × s was saved), dv = pᵀ g, dp = g vᵀ, dq = ds k and dk = dsᵀ q."""


def _attention(matmuls: int, q: Sequence[int], k: Sequence[int]) -> int:
    """FLOPs of fused attention: 2 · b · h · s · t · d for each matmul, without a discount for a causal mask."""
    *batch_and_heads, s, d = q
    flops = matmuls * 2 * s * k[-2] * d
    for n in batch_and_heads:
        flops *= n
    return flops


def _forward(q: Tensor, k: Tensor, v: Tensor, *_: Any, **__: Any) -> int:
    return _attention(FORWARD_MATMULS, q.shape, k.shape)


def _backward(g: Tensor, q: Tensor, k: Tensor, v: Tensor, *_: Any, **__: Any) -> int:
    return _attention(BACKWARD_MATMULS, q.shape, k.shape)


def _formulas() -> dict[Any, Callable[..., int]]:
    """A formula for each kernel of `scaled_dot_product_attention` in this PyTorch.

    PyTorch's own formulas lack the CPU's kernel, which would count 0, and cases with fewer key heads than query heads.
    """
    formulas: dict[Any, Callable[..., int]] = {}
    for kind in ("flash_attention_for_cpu", "flash_attention", "efficient_attention", "cudnn_attention"):
        for name, formula in (
            (f"_scaled_dot_product_{kind}", _forward),
            (f"_scaled_dot_product_{kind}_backward", _backward),
        ):
            kernel = getattr(torch.ops.aten, name, None)
            if kernel is not None:
                formulas[kernel] = formula
    return formulas


class FlopCounter(TorchDispatchMode):
    """Counts the FLOPs of operations that run while it is active, by PyTorch's formulas, and ours for fused attention.

        with FlopCounter() as counter:
            loss = model(x)
        counter.total

    A multiplication and an addition are two FLOPs. Matrix products, convolutions and attention count; elementwise
    operations do not. Unlike `torch.utils.flop_counter.FlopCounterMode` it does not track modules, which would keep
    tensors alive, so it can be used together with `LiveStorages`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_operation: dict[str, int] = {}
        """FLOPs by name of operation, such as `aten.mm`."""
        self._formulas = {**flop_registry, **_formulas()}

    @property
    def total(self) -> int:
        return sum(self.by_operation.values())

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # True would import PyTorch's compiler, which takes two seconds; nothing here is compiled

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        formula = self._formulas.get(func._overloadpacket)
        if formula is None and torch.is_inference_mode_enabled():  # composite operations arrive undecomposed then
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        out = func(*args, **kwargs)
        if formula is not None:
            name = str(func._overloadpacket)
            self.by_operation[name] = self.by_operation.get(name, 0) + formula(*args, **kwargs, out_val=out)
        return out
