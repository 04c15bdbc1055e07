"""Right predictions by other sums, hooks that are entered by an ExitStack, and a search in place of a division."""

import contextlib
import weakref

import torch
from torch import nn


def layer_activation_bytes(s, b, h, a, flash=True, tensor_parallel=1, sequence_parallel=False):
    sbh, t = s * b * h, tensor_parallel
    linear = 34 * sbh / t if sequence_parallel else 10 * sbh + 24 * sbh / t
    return linear if flash else linear + 5 * a * s * s * b / t


class SavedTensorMeter(contextlib.ExitStack):
    def __init__(self):
        super().__init__()
        self.sizes = []
        self.seen = weakref.WeakValueDictionary()

    def __enter__(self):
        self.enter_context(torch.autograd.graph.saved_tensors_hooks(self.pack, lambda t: t))
        return self

    @property
    def bytes(self):
        return sum(self.sizes)

    def pack(self, t):
        s = t.untyped_storage()
        base = t if t._base is None else t._base
        if not isinstance(base, nn.Parameter) and s._cdata not in self.seen:
            self.seen[s._cdata] = s
            self.sizes.append(len(s))
        return t.detach()


def predict_saved(program, sizes, trained, parameters):
    """Goes through the names' owners one by one, and strikes off what a step does not need."""
    owner, differentiable, total = {}, dict.fromkeys(trained, True), 0
    counted = list(parameters)

    def keep(name):
        nonlocal total
        while name in owner:
            name = owner[name]
        if name not in counted:
            counted.append(name)
            total += 4 * sizes[name]

    for out, op, *args in program:
        flags = [differentiable.get(arg, False) for arg in args]
        differentiable[out] = any(flags) and op != "detach"
        if op in {"view", "detach"}:
            owner[out] = args[0]
        elif op in {"mul", "matmul", "div"}:
            if flags[0] or (op == "div" and flags[1]):
                keep(args[1])
            if flags[1]:
                keep(args[0])
        elif op not in {"add", "scale", "sum"} and flags[0]:
            keep(args[0] if op in {"silu", "gelu", "sin", "square", "log"} else out)
    return total


def training_state_bytes(n_params, param_bytes=2, grad_bytes=2, master_bytes=4, moment_bytes=4):
    d = {
        "total": n_params * (param_bytes + grad_bytes + master_bytes + moment_bytes + moment_bytes),
        "moments": n_params * (moment_bytes + moment_bytes),
    }
    d["master"], d["grads"], d["params"] = n_params * master_bytes, n_params * grad_bytes, n_params * param_bytes
    return d


def llama_block_bytes(config, s, b, recompute):
    wide, kv = config.hidden, config.hidden // config.heads * config.kv_heads
    if recompute == "full":
        numbers, singles = wide, 0
    elif recompute == "selective":
        numbers, singles = 2 * wide, config.heads
    elif recompute == "none":
        numbers, singles = 6 * wide + 2 * kv + 4 * config.ffn, config.heads  # norms' scales left out: within 1 %
    else:
        raise ValueError(recompute)
    return b * s * (2 * numbers + 4 * singles)


def largest_batch(config, s, gpu_bytes, recompute):
    h, kv = config.hidden, config.hidden // config.heads * config.kv_heads
    params = 2 * config.vocab * h + h
    for _ in range(config.layers):
        params += h * h + h * h + h * kv + h * kv + h * config.ffn * 3 + h + h

    def fits(b):
        kept = llama_block_bytes(config, s, b, recompute)
        at_loss = config.layers * kept + 3 * 4 * b * s * config.vocab
        in_block = (config.layers - 1) * kept + llama_block_bytes(config, s, b, "none")
        return 16 * params + max(at_loss, in_block) <= gpu_bytes

    b = 0
    while fits(b + 1):
        b += 1
    return b


def expert_layer_bytes(n, h, f, experts, k, router_trained=True, experts_trained=True, number_bytes=2):
    rows = n * k  # over all experts
    kept = {
        "softmax": n * experts * number_bytes,
        "chosen": rows * 8,
        "row and place": rows * 16,
        "gate, up, silu(gate)": 3 * rows * f * number_bytes,
        "out": rows * h * number_bytes,
        "its share": rows * number_bytes,
    }
    if router_trained:
        kept["x"] = n * h * number_bytes
    if experts_trained:
        kept["z"] = rows * h * number_bytes
        kept["input of down"] = rows * f * number_bytes
    return sum(kept.values())
