"""Right predictions by tables of arrays and fractions, and a meter that remembers storages by weak references."""

import weakref
from contextlib import contextmanager
from fractions import Fraction

import torch


def layer_activation_bytes(s, b, h, a, flash=True, tensor_parallel=1, sequence_parallel=False):
    parts = Fraction(24 * h, tensor_parallel) + Fraction(10 * h, tensor_parallel if sequence_parallel else 1)
    if not flash:
        parts += Fraction(5 * a * s, tensor_parallel)
    return float(s * b * parts)


class SavedTensorMeter:
    bytes = 0

    def __enter__(self):
        self.live = {}
        self.context = self._counting()
        self.context.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        self.context.__exit__(None, None, None)

    @contextmanager
    def _counting(self):
        with torch.autograd.graph.saved_tensors_hooks(self._saved, self._asked):
            yield

    def _saved(self, t):
        owner = t if t._base is None else t._base
        if isinstance(owner, torch.nn.Parameter):
            return t.detach()
        storage = t.untyped_storage()
        known = self.live.get(storage._cdata)
        if known is None or known() is None:
            self.live[storage._cdata] = weakref.ref(storage)
            self.bytes += storage.nbytes()
        return t.detach()

    @staticmethod
    def _asked(t):
        return t


def training_state_bytes(n_params, param_bytes=2, grad_bytes=2, master_bytes=4, moment_bytes=4):
    names = "params grads master moments".split()
    sizes = param_bytes, grad_bytes, master_bytes, moment_bytes * 2
    states = {name: size * n_params for name, size in zip(names, sizes)}
    states["total"] = sum(states.values())
    return states


def llama_block_bytes(config, s, b, recompute):
    tokens, d = s * b, config.hidden // config.heads
    x = attention = 2 * tokens * config.hidden
    lse = 4 * tokens * config.heads
    match recompute:
        case "full":
            return x
        case "selective":
            return x + attention + lse
        case "none":
            pass
        case _:
            raise ValueError(f"no such recompute: {recompute}")
    wide = [x, x, x, attention, x, x]
    narrow = [2 * tokens * config.kv_heads * d] * 2
    mlp = [2 * tokens * config.ffn] * 4
    norms = [4 * tokens] * 2
    return sum(wide) + sum(narrow) + sum(mlp) + sum(norms) + lse


def largest_batch(config, s, gpu_bytes, recompute):
    def parameters():
        h, d = config.hidden, config.hidden // config.heads
        yield from (config.vocab * h, config.vocab * h, h)
        for _ in range(config.layers):
            yield from (h, h, h * h, h * h, h * d * config.kv_heads, h * d * config.kv_heads)
            yield from (h * config.ffn,) * 3

    def needed(b):
        kept = llama_block_bytes(config, s, b, recompute)
        again = llama_block_bytes(config, s, b, "none") - kept
        return config.layers * kept + max(3 * 4 * b * s * config.vocab, again)

    free, b = gpu_bytes - 16 * sum(parameters()), 0
    while needed(b + 1) <= free:
        b += 1
    return b


def expert_layer_bytes(n, h, f, experts, k, router_trained=True, experts_trained=True, number_bytes=2):
    per_expert = (1 + experts_trained) * h + (3 + experts_trained) * f + 1
    entries = sum(per_expert for _ in range(k)) + experts + h * router_trained
    return n * (Fraction(entries * number_bytes) + 3 * k * torch.int64.itemsize).numerator
