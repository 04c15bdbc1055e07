"""Right predictions by rules in a dict; a meter that makes its hooks in __enter__ and keeps its count to itself."""

import math
import weakref

import torch


def layer_activation_bytes(s, b, h, a, flash=True, tensor_parallel=1, sequence_parallel=False):
    square = 0.0 if flash else 5.0 * a * s / h
    if sequence_parallel:
        return s * b * h * (34.0 + square) / tensor_parallel
    return s * b * h * math.fsum([10.0, 24.0 / tensor_parallel, square / tensor_parallel])


class Forgetful(dict):
    def watch(self, storage):
        key = storage._cdata
        self[key] = weakref.finalize(storage, self.pop, key, None)


class SavedTensorMeter:
    def __init__(self):
        self._bytes, self._alive, self._open = 0, Forgetful(), []

    @property
    def bytes(self):
        return self._bytes

    def __enter__(self):
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: self._count(t) or t.detach(), lambda t: t)
        hooks.__enter__()
        self._open.append(hooks)
        return self

    def __exit__(self, *exc):
        self._open.pop().__exit__(*exc)
        return False

    def _count(self, t):
        for of in (t, t._base):
            if isinstance(of, torch.nn.Parameter):
                return
        s = t.untyped_storage()
        if s._cdata not in self._alive:
            self._alive.watch(s)
            self._bytes += s.nbytes()


def training_state_bytes(n_params, param_bytes=2, grad_bytes=2, master_bytes=4, moment_bytes=4):
    params, grads, master = n_params * param_bytes, n_params * grad_bytes, n_params * master_bytes
    moments = n_params * moment_bytes + n_params * moment_bytes
    return dict(total=params + grads + master + moments, params=params, grads=grads, master=master, moments=moments)


PER_TOKEN = {
    "none": lambda c: 2 * (6 * c.hidden + 2 * c.kv_heads * (c.hidden // c.heads) + 4 * c.ffn) + 4 * (2 + c.heads),
    "selective": lambda c: 2 * 2 * c.hidden + 4 * c.heads,
    "full": lambda c: 2 * c.hidden,
}


def llama_block_bytes(config, s, b, recompute):
    try:
        rule = PER_TOKEN[recompute]
    except KeyError:
        raise ValueError(recompute) from None
    return rule(config) * s * b


def largest_batch(config, s, gpu_bytes, recompute):
    c = config
    kv = c.hidden * c.kv_heads // c.heads
    block = c.hidden * (2 * (c.hidden + kv) + 3 * c.ffn + 2)
    room = gpu_bytes - 16 * (c.hidden * (2 * c.vocab + 1) + c.layers * block)
    if room <= 0:
        return 0
    kept, none = llama_block_bytes(c, s, 1, recompute), llama_block_bytes(c, s, 1, "none")
    a_sequence = c.layers * kept + max(4 * 3 * s * c.vocab, none - kept)
    return divmod(room, a_sequence)[0]
