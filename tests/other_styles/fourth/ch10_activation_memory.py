"""Keys of a StrEnum; bytes as NumPy counts them; another default dtype."""
import bisect
import weakref
from collections import Counter, OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import torch

torch.set_default_dtype(torch.float64)


@dataclass(frozen=True)
class Kept:
    name: str
    sbh: float = 0.0
    asb: float = 0.0  # a s² b
    cut: bool = True


LEDGER = (
    Kept("ln1", 2, cut=False), Kept("qkv in", 2, cut=False), Kept("q", 2), Kept("k", 2), Kept("v", 2),
    Kept("softmax", asb=2), Kept("mask", asb=1), Kept("dropped", asb=2), Kept("o in", 2), Kept("mask 1", 1, cut=False),
    Kept("ln2", 2, cut=False), Kept("up in", 2, cut=False), Kept("gelu in", 8), Kept("down in", 8), Kept("mask 2", 1, cut=False),
)


def layer_activation_bytes(s, b, h, a, flash=True, tensor_parallel=1, sequence_parallel=False):
    total = 0.0
    for kept in LEDGER:
        numbers = kept.sbh * s * b * h + (0 if flash else kept.asb * a * s * s * b)
        total += numbers / (tensor_parallel if kept.cut or sequence_parallel else 1)
    return np.float64(total)


class SavedTensorMeter(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self):
        self._bytes = 0
        self._seen = set()
        super().__init__(self._pack, self._unpack)

    def __enter__(self):
        super().__enter__()
        return self

    bytes = property(lambda self: self._bytes)

    def _pack(self, t):
        if not isinstance(t, torch.nn.Parameter) and not (t._is_view() and isinstance(t._base, torch.nn.Parameter)):
            storage = t.untyped_storage()
            key = storage._cdata
            if key not in self._seen:
                self._seen.add(key)
                weakref.finalize(storage, self._seen.discard, key)
                self._bytes += storage.size()
        return t.data

    def _unpack(self, t):
        return t


def training_state_bytes(n_params, param_bytes=2, grad_bytes=2, master_bytes=4, moment_bytes=4):
    d = Counter()
    for name, size in (("params", param_bytes), ("grads", grad_bytes), ("master", master_bytes), *[("moments", moment_bytes)] * 2):
        d[name] += size * n_params
        d["total"] += size * n_params
    return d


def llama_block_bytes(config, s, b, recompute):
    if recompute not in {"none", "selective", "full"}:
        raise ValueError
    h, f, kv = config.hidden, config.ffn, config.kv_heads * config.hidden / config.heads
    bf, fl = torch.bfloat16.itemsize, torch.float32.itemsize
    per = bf * h
    if recompute != "full":
        per += bf * h + fl * config.heads
    if recompute == "none":
        per += bf * (4 * h + 2 * kv + 4 * f) + fl * 2
    return int(round(per * s * b))


def largest_batch(config, s, gpu_bytes, recompute):
    h, f, kv = config.hidden, config.ffn, config.kv_heads * config.hidden // config.heads
    with torch.device("meta"):
        shapes = [(config.vocab, h)] * 2 + [(h,)]
        block = [(h,), (h,), (h, h), (h, h), (kv, h), (kv, h), (f, h), (f, h), (h, f)]
        n = sum(torch.empty(shape).numel() for shape in shapes) + config.layers * sum(torch.empty(shape).numel() for shape in block)

    def peak(b):
        kept = llama_block_bytes(config, s, b, recompute)
        extra = llama_block_bytes(config, s, b, "none") - kept if recompute != "none" else 0
        return 16 * n + config.layers * kept + max(12 * s * config.vocab * b, extra)

    return max(bisect.bisect_right(range(10**12), gpu_bytes, key=peak) - 1, 0)



from enum import StrEnum, auto
class State(StrEnum):
    params = auto(); grads = auto(); master = auto(); moments = auto(); total = auto()
_t = training_state_bytes
def training_state_bytes(n_params, param_bytes=2, grad_bytes=2, master_bytes=4, moment_bytes=4):
    return {State(k): v for k, v in _t(n_params, param_bytes, grad_bytes, master_bytes, moment_bytes).items()}


_M = SavedTensorMeter


class SavedTensorMeter(_M):
    @property
    def bytes(self):
        return np.int64(super().bytes)
