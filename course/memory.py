"""How many bytes each GPU needs to train a Llama-style model: in closed form, in plain Python, in no time.

    >>> training = Training(MODELS["llama-2-7b"], seq=8192, recompute="full", gpus=8)
    >>> memory = predict_memory(training)
    >>> round(memory.total / 1e9, 1), fits(memory, parse_bytes("80GB"))
    (19.7, True)

It needs nothing but the standard library, so it runs in a browser. `course.experiments.costs` counts the same with
PyTorch, operation by operation; `tests/test_memory.py` holds this module to it, and says how near it is.

**States**, in bytes a parameter, are those of mixed precision with Adam (Rajbhandari et al. 2020, arXiv 1910.02054,
section 3.1): weights 2, gradients 2, and in the optimizer a float32 master copy 4 and two moments of 4 each. ZeRO
divides them by the number of GPUs: the optimizer's at stage 1, gradients too at stage 2, weights too at stage 3.

**Activations** are counted after the manner of Korthikanti et al. 2022 (arXiv 2205.05198, section 4.1), for the layer
of `course.llama` in place of GPT's: every array that backward needs, once. No parallelism here divides them: each GPU
runs its own sequences.

**What is left out**: the context of CUDA, buffers of communication, workspaces, fragments that the allocator cannot
use, temporaries inside of kernels and of the optimizer's step (AdamW with `foreach`, PyTorch's default on a GPU, has
one more array for each parameter, after backward). Leave a tenth of the GPU to them.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

LOSS_ROWS = 1024
"""Tokens of a chunk, where the loss is computed in chunks and nothing else is said."""
MOST = 10**9
"""Of anything: larger numbers are slips."""
MOST_GPUS = 65_536
"""Where the search for a number of GPUs ends."""
_NUMBERS = (2, 4, *range(8, MOST_GPUS + 1, 8))


class MemoryInputError(ValueError):
    """Something that no model or machine can be; the message is one line that names it."""


def _positive(name: str, value: object) -> None:
    if type(value) is not int or not 1 <= value <= MOST:
        raise MemoryInputError(f"{name} is {value!r}: a whole number is needed, from 1 to {MOST:,}")


def known(what: str, value: str, choices: Iterable[str]) -> None:
    """Raise a `MemoryInputError` that names the nearest choice if `value` is none of them."""
    names = list(choices)
    if value not in names:
        near = difflib.get_close_matches(str(value), names, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise MemoryInputError(f"there is no {what} {value!r}; {meant}")


@dataclass(frozen=True)
class Shape:
    """The sizes of a model, all positive ints. `course.llama.LlamaConfig` has the same fields.

    Raises:
        MemoryInputError: a size is no positive int, `heads` does not divide `hidden`, or `kv_heads` not `heads`.
    """

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "heads", "kv_heads", "ffn", "vocab"):
            _positive(name, getattr(self, name))
        if self.hidden % self.heads:
            raise MemoryInputError(f"{self.heads} heads do not divide a hidden size of {self.hidden}")
        if self.heads % self.kv_heads:
            raise MemoryInputError(f"{self.kv_heads} kv_heads do not divide {self.heads} heads")

    @property
    def kv(self) -> int:
        """Width of all keys, and of all values."""
        return self.kv_heads * (self.hidden // self.heads)

    @property
    def layer_matrices(self) -> int:
        """Numbers in the seven matrices of a layer: q and o, k and v, gate, up and down."""
        return 2 * self.hidden**2 + 2 * self.hidden * self.kv + 3 * self.hidden * self.ffn

    @property
    def n_params(self) -> int:
        """Numbers in the whole model: an embedding and a head that do not share, the layers, the norms."""
        layer = self.layer_matrices + 2 * self.hidden
        return 2 * self.vocab * self.hidden + self.layers * layer + self.hidden

    @property
    def largest_unit(self) -> int:
        """Numbers in the largest part that is gathered whole when weights are sharded: a layer, or the head."""
        return max(self.layer_matrices + 2 * self.hidden, self.vocab * self.hidden)


MODELS: dict[str, Shape] = {
    "llama-2-7b": Shape(hidden=4096, layers=32, heads=32, kv_heads=32, ffn=11_008, vocab=32_000),
    "llama-2-13b": Shape(hidden=5120, layers=40, heads=40, kv_heads=40, ffn=13_824, vocab=32_000),
    "llama-2-70b": Shape(hidden=8192, layers=80, heads=64, kv_heads=8, ffn=28_672, vocab=32_000),
    "llama-3.1-8b": Shape(hidden=4096, layers=32, heads=32, kv_heads=8, ffn=14_336, vocab=128_256),
    "llama-3.1-70b": Shape(hidden=8192, layers=80, heads=64, kv_heads=8, ffn=28_672, vocab=128_256),
    "llama-3.1-405b": Shape(hidden=16_384, layers=126, heads=128, kv_heads=8, ffn=53_248, vocab=128_256),
}
"""Touvron et al. 2023 (arXiv 2307.09288) and Grattafiori et al. 2024 (arXiv 2407.21783)."""


@dataclass(frozen=True)
class Precision:
    """Bytes of one number, each: what a parameter has, and what an activation has. 0 says that there is none."""

    weights: int = 2
    grads: int = 2
    master: int = 4
    """The float32 copy that the optimizer updates."""
    moment: int = 4
    """Each of Adam's two."""
    activations: int = 2
    """2 or 4; the loss, the norms' one number a row and the attention's one a row and head are float32 all the same."""

    def __post_init__(self) -> None:
        for name in ("weights", "grads", "master", "moment"):
            size = getattr(self, name)
            if type(size) is not int or size < 0:
                raise MemoryInputError(f"{name} have {size!r} bytes a parameter: an int is needed, 0 or more")
        if self.activations not in (2, 4):
            raise MemoryInputError(f"activations of {self.activations!r} bytes: there are 2 and 4")

    @property
    def per_parameter(self) -> int:
        """Bytes a parameter, all states together."""
        return self.weights + self.grads + self.master + 2 * self.moment


PRECISIONS: dict[str, Precision] = {
    "mixed": Precision(),
    "mixed-fp32-grads": Precision(grads=4),
    "mixed-8bit-adam": Precision(moment=1),
    "bf16": Precision(master=0, moment=2),
    "fp32": Precision(4, 4, 0, 4, activations=4),
}
"""16, 18 (as Megatron-LM), 10 (Dettmers et al. 2022, without its constants for blocks), 8 and 16 bytes a parameter."""

RECOMPUTE: dict[str, str] = {
    "none": "none",
    "matmuls": "selective_matmuls",
    "half": "selective_half",
    "selective": "selective",
    "full": "every_layer",
}
"""What may be recomputed, from nothing to whole layers, each with its name in `course.experiments.policies`.

`none` keeps all. `matmuls` keeps what matrix products and attention give, `half` attention's result and that of every
second product, `selective` attention's result, `full` nothing; each but `none` keeps a layer's input.
"""
NORMS = ("fused", "composed")
"""RMSNorm as one kernel, or made of PyTorch's operations in float32 (as Hugging Face's), which keeps copies."""


@dataclass(frozen=True)
class Training:
    """One training step, as each GPU sees it. Frozen: `dataclasses.replace` makes another one.

    Args:
        shape: the model.
        seq: tokens of a sequence.
        batch: sequences that each GPU runs at once.
        recompute: a key of `RECOMPUTE`.
        precision: bytes a number.
        norms: "fused" or "composed".
        loss_rows: tokens for which head and loss are computed at once, each such chunk checkpointed; None for all.
        gpus: how many share the states.
        zero: the stage of ZeRO, 0 to 3; 3 is what FSDP does. Of no effect on one GPU.

    Raises:
        MemoryInputError: one of them cannot be.
    """

    shape: Shape
    seq: int
    batch: int = 1
    recompute: str = "none"
    precision: Precision = Precision()
    norms: str = "fused"
    loss_rows: int | None = None
    gpus: int = 1
    zero: int = 3

    def __post_init__(self) -> None:
        for name in ("seq", "batch", "gpus"):
            _positive(name, getattr(self, name))
        if self.loss_rows is not None:
            _positive("loss_rows", self.loss_rows)
        known("recompute", self.recompute, RECOMPUTE)
        known("norms", self.norms, NORMS)
        if self.zero not in range(4):
            raise MemoryInputError(f"there is no stage {self.zero!r} of ZeRO: 0, 1, 2 or 3")

    @property
    def tokens(self) -> int:
        """Tokens on each GPU."""
        return self.seq * self.batch


@dataclass(frozen=True)
class Memory:
    """Bytes on each GPU at the peak of a step. The sum of all but `peak_at` and the two peaks is `total`."""

    weights: int
    grads: int
    optimizer: int
    """Master copy and moments."""
    gathered: int
    """What sharding makes whole for a while: weights of the largest unit (stage 3), its gradient (stages 2 and 3)."""
    activations: int
    """What all layers keep from forward to backward."""
    loss_head: int
    """At the peak: what final norm, head and loss keep. 0 where the peak comes later, in a layer."""
    transients: int
    """At the peak: gradients of logits or of activations, and what a layer keeps when it has been recomputed."""
    peak_at: str
    """"loss", or "layer": in the backward pass of the last one."""
    loss_peak: int
    """Activations, loss and transients when the loss is at work."""
    layer_peak: int
    """The same in the backward of the last layer, where most is there."""

    @property
    def states(self) -> int:
        """Weights, gradients, optimizer, and what is gathered."""
        return self.weights + self.grads + self.optimizer + self.gathered

    @property
    def peak(self) -> int:
        """All that is no state."""
        return self.activations + self.loss_head + self.transients

    @property
    def total(self) -> int:
        return self.states + self.peak


@dataclass(frozen=True)
class Moment:
    """Bytes at one moment of a step, beside the states and what all layers keep."""

    loss_head: int
    transients: int


# a layer, in bytes a token


def layer_bytes(shape: Shape, recompute: str = "none", norms: str = "fused", itemsize: int = 2) -> int:
    """What one layer keeps from forward to backward, in bytes a token.

    With i bytes an item, h `hidden`, k the width of keys, f `ffn`, a `heads`: `none` with fused norms keeps
    i·(6h + 2k + 4f) + 8 + 4a, that is 12h + 4k + 8f + 8 + 4a at 16 bits. A layer's result is the next one's input and
    counts there.

    Raises:
        MemoryInputError: there is no such `recompute` or `norms`.
    """
    known("recompute", recompute, RECOMPUTE)
    known("norms", norms, NORMS)
    h, k, f = shape.hidden, shape.kv, shape.ffn
    attention = itemsize * h + 4 * shape.heads  # result, and a float32 log-sum-exp for each row and head
    if recompute == "none":
        # q, k, v and what attention gives; gate, up, silu(gate), their product; the two norms
        return itemsize * (h + 2 * k + 4 * f) + attention + 2 * _norm_bytes(shape, norms, itemsize)
    kept = {
        "matmuls": itemsize * (3 * h + 2 * k + 2 * f) + attention,  # q, o, down; k, v; gate, up
        "half": itemsize * (2 * h + k + f) + attention,  # the 1st, 3rd, 5th, 7th product: q, v, gate, down
        "selective": attention,
        "full": 0,
    }
    return itemsize * h + kept[recompute]


def _norm_bytes(shape: Shape, norms: str, itemsize: int) -> int:
    """What an RMSNorm keeps, its result included, which the products after it need: bytes a token."""
    h = shape.hidden
    if norms == "fused":
        return 2 * itemsize * h + 4  # x, the result; the reciprocal root mean square
    return (4 + 2 * itemsize) * h + 4  # x in float32, x/rms, the result


def _refilled(training: Training) -> int:
    """What the recomputation of one layer adds to what was kept of it, in bytes a token."""
    shape, itemsize, how = training.shape, training.precision.activations, training.recompute
    if how == "none":
        return 0
    whole, kept = (layer_bytes(shape, which, training.norms, itemsize) for which in ("none", how))
    # Composed norms keep a float32 copy in place of a 16-bit input: the checkpoint's input comes on top.
    shared = kept - itemsize * shape.hidden * (training.norms == "composed" and itemsize == 2)
    # What was kept of the last product is not asked for again, nor freed before the layer is done.
    unused = itemsize * shape.hidden if how in ("matmuls", "half") else 0
    return whole - shared + unused


# the account


def predict_memory(training: Training) -> Memory:
    """What each GPU needs at the peak of a step, in bytes.

    Gradients count in full all the time, as they do when several batches add up. The peak is the larger of two
    `moments`. Both are exact for `course.llama`, but for eight bytes, the loss and its gradient, where `ffn` and
    `vocab` are at least twice `hidden`, as in all of `MODELS`.
    """
    a_layer = layer_bytes(training.shape, training.recompute, training.norms, training.precision.activations)
    kept = training.tokens * training.shape.layers * a_layer
    both = moments(training)
    peaks = {name: kept + moment.loss_head + moment.transients for name, moment in both.items()}
    peak_at = max(peaks, key=peaks.__getitem__)  # the loss, where they are equal
    return Memory(
        **_states(training),
        activations=kept,
        loss_head=both[peak_at].loss_head,
        transients=both[peak_at].transients,
        peak_at=peak_at,
        loss_peak=peaks["loss"],
        layer_peak=peaks["layer"],
    )


def moments(training: Training) -> dict[str, Moment]:
    """The two moments of a step at which its peak may be.

    - "loss": beside all that the layers keep, the final norm's, and three float32 arrays of tokens × vocab: the
      log-softmax, the gradient that comes in, the one that goes out.
    - "layer", the last one's backward, at the inside of SwiGLU: all that the layer keeps without recomputation, the
      gradient at its result, and two more arrays of width `ffn`.
    """
    shape, precision, n = training.shape, training.precision, training.tokens
    itemsize, h = precision.activations, shape.hidden
    rows = min(n, training.loss_rows or n)
    norm = n * _norm_bytes(shape, training.norms, itemsize)
    if rows == n:
        at_loss = Moment(norm + 4 * n * shape.vocab, 8 * n * shape.vocab)
    else:  # a chunk at a time is computed again; the gradients of those that are done are there
        at_loss = Moment(norm, 12 * rows * shape.vocab + itemsize * h * (n - rows))
    return {"loss": at_loss, "layer": Moment(0, n * (_refilled(training) + itemsize * (h + 2 * shape.ffn)))}


def _states(training: Training) -> dict[str, int]:
    precision, n_params, zero = training.precision, training.shape.n_params, training.zero
    optimizer = precision.master + 2 * precision.moment

    def share(n_bytes: int, from_stage: int) -> int:
        return -(-n_params * n_bytes // training.gpus) if zero >= from_stage else n_params * n_bytes

    whole = 0
    if training.gpus > 1:
        whole = precision.weights * (zero >= 3) + precision.grads * (zero >= 2)
    return {
        "weights": share(precision.weights, 3),
        "grads": share(precision.grads, 2),
        "optimizer": share(optimizer, 1),
        "gathered": whole * training.shape.largest_unit,
    }


def fits(memory: Memory, gpu_bytes: float) -> bool:
    """Whether a GPU of so many bytes has room for it."""
    return memory.total <= gpu_bytes


# FLOPs


def step_flops(training: Training) -> int:
    """FLOPs of one step on each GPU, recomputation included: matrix products and attention alone.

    Attention's forward counts as two products of seq × seq for each head and its backward as five, as PyTorch counts
    its fused kernel, without a discount for the half that causality spares. A recomputation ends as soon as backward
    has what it needs (PyTorch's `early_stop`), so a layer's last product is not repeated.
    """
    shape, n = training.shape, training.tokens
    h, k, f = shape.hidden, shape.kv, shape.ffn
    attention, head = 4 * training.seq * h, 2 * h * shape.vocab
    again = {
        "none": 0,
        "matmuls": 0,
        "half": 2 * h * (k + h + f),  # k, o, up
        "selective": 2 * (shape.layer_matrices - h * f),
        "full": 2 * (shape.layer_matrices - h * f) + attention,
    }
    layer = 6 * shape.layer_matrices + attention * 7 // 2 + again[training.recompute]
    chunked = training.loss_rows is not None and training.loss_rows < n
    return n * (shape.layers * layer + (4 if chunked else 3) * head)


# what to change


@dataclass(frozen=True)
class Remedy:
    """A change after which the step fits."""

    training: Training
    """The step with the change."""
    memory: Memory
    changes: tuple[str, ...]
    """What is different, in words."""
    extra_flops: float
    """FLOPs of a step with the change, as a share of those without it for as many tokens, less 1."""


def largest_batch(training: Training, gpu_bytes: float, most: int = 2**20) -> int:
    """The most sequences at once for which a step like this one fits, up to `most`; 0 if not even one does."""
    low, high = 0, 1
    while high < most and fits(predict_memory(replace(training, batch=high)), gpu_bytes):
        low, high = high, 2 * high
    high = min(high, most)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(predict_memory(replace(training, batch=middle)), gpu_bytes):
            low = middle
        else:
            high = middle - 1
    return low


def remedies(training: Training, gpu_bytes: float) -> list[Remedy]:
    """What makes a step fit, the cheapest first; empty if it does, or if nothing that is known here helps.

    First what needs no other machine, by the FLOPs that it adds: a higher stage of ZeRO (none, but stage 3 has half as
    much communication again), fewer sequences at once with their gradients accumulated (none), recomputation, the loss
    in chunks. None is listed with more beside it than it needs, and fewer sequences only once. If the batch cannot stay
    as it is, or nothing is enough, more GPUs follow: 2, 4, 8 or a multiple of 8, the least number for the step as it
    is, and the least number with whatever else makes it less.
    """
    if fits(predict_memory(training), gpu_bytes):
        return []
    found: list[Remedy] = []
    for candidate in sorted(_same_machine(training, gpu_bytes), key=lambda each: (price(each), -each.training.batch)):
        smaller = candidate.training.batch < training.batch
        if smaller and any(earlier.training.batch < training.batch for earlier in found):
            continue
        if not any(set(earlier.changes) <= set(candidate.changes) for earlier in found):
            found.append(candidate)
    if any(remedy.training.batch == training.batch for remedy in found):
        return found
    return found + _more_gpus(training, gpu_bytes)


def price(remedy: Remedy) -> tuple[float, int, int]:
    """What remedies are ranked by: FLOPs, how many changes, what each is like; then by the larger batch."""
    words = " ".join(remedy.changes)
    effort = 1 * ("accumulated" in words) + 2 * ("recompute" in words) + 3 * ("stage 3" in words)
    return round(remedy.extra_flops, 9), len(remedy.changes), effort


def _same_machine(training: Training, gpu_bytes: float) -> Iterator[Remedy]:
    stages = range(training.zero, 4) if training.gpus > 1 else [training.zero]
    for zero, loss_rows, how in product(stages, _chunks(training), RECOMPUTE):
        changed = replace(training, zero=zero, loss_rows=loss_rows, recompute=how)
        batch = largest_batch(changed, gpu_bytes, training.batch)
        if batch:
            yield as_remedy(training, replace(changed, batch=batch))


def _chunks(training: Training) -> list[int | None]:
    smaller = training.loss_rows is None and training.tokens > LOSS_ROWS
    return [training.loss_rows, LOSS_ROWS] if smaller else [training.loss_rows]


def _more_gpus(training: Training, gpu_bytes: float) -> list[Remedy]:
    """The least number of GPUs as it is, and with whatever makes it least."""
    zero = 3 if training.gpus == 1 else training.zero
    as_it_is = _least_gpus(replace(training, zero=zero), gpu_bytes)
    others = [
        replace(training, zero=stage, loss_rows=loss_rows, recompute=how)
        for stage, loss_rows, how in product(range(zero, 4), _chunks(training), RECOMPUTE)
    ]
    numbers = [(gpus, step_flops(other), other) for other in others if (gpus := _least_gpus(other, gpu_bytes))]
    found = [replace(training, zero=zero, gpus=as_it_is)] if as_it_is else []
    if numbers:
        gpus, _, other = min(numbers, key=lambda each: each[:2])
        if not as_it_is or gpus < as_it_is:
            found.append(replace(other, gpus=gpus))
    return [as_remedy(training, changed) for changed in found]


def _least_gpus(training: Training, gpu_bytes: float) -> int:
    """The least number of GPUs, more than now, on which the step fits; 0 if none up to `MOST_GPUS` is enough."""

    def enough(number: int) -> bool:
        return fits(predict_memory(replace(training, gpus=number)), gpu_bytes)

    first = bisect_left(_NUMBERS, True, lo=bisect_right(_NUMBERS, training.gpus), key=enough)
    return _NUMBERS[first] if first < len(_NUMBERS) else 0


def as_remedy(before: Training, after: Training) -> Remedy:
    """What changes from one step to another, whether it is enough or not."""
    flops = [step_flops(one) / one.tokens for one in (before, after)]
    return Remedy(after, predict_memory(after), tuple(_changes(before, after)), flops[1] / flops[0] - 1)


def _changes(before: Training, after: Training) -> Iterator[str]:
    if after.gpus != before.gpus:
        yield f"{after.gpus:,} GPUs"
    if after.zero != before.zero:
        yield f"ZeRO stage {after.zero}"
    if after.batch != before.batch:
        yield f"batch {after.batch:,}, accumulated"
    if after.loss_rows != before.loss_rows:
        yield f"loss in chunks of {after.loss_rows:,} tokens"
    if after.recompute != before.recompute:
        yield f"recompute {after.recompute}"


# words to numbers


def find_model(name: str) -> Shape:
    """The shape of a model by its name, in whatever case.

    Raises:
        MemoryInputError: there is none of that name; the message names the nearest one.
    """
    known("model", name.lower(), MODELS)
    return MODELS[name.lower()]


_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(text: str) -> int:
    """Bytes of a size with its unit: "80GB" is 80·10⁹, "80GiB" is 80·2³⁰. A unit is needed, and may be in any case.

    Raises:
        MemoryInputError: the text is no positive size, or has a unit that may mean either.
    """
    read = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)(B?)\s*", text.upper(), re.ASCII)
    if read is None:
        raise MemoryInputError(f"{text!r} is no size of memory: say 80GB (10^9 bytes each) or 80GiB (2^30)")
    number, prefix, binary, unit = read.groups()
    if not unit or (binary and not prefix):
        raise MemoryInputError(f"{text!r} lacks its unit: say {number}GB (10^9 bytes each) or {number}GiB (2^30)")
    n_bytes = int(float(number) * (1024 if binary else 1000) ** (_UNITS[prefix] if prefix else 0))
    if n_bytes <= 0:
        raise MemoryInputError(f"a size of {text!r} is none")
    if n_bytes > 10**18:
        raise MemoryInputError(f"{text!r} is more than any GPU has")
    return n_bytes
