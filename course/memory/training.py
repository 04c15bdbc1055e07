"""The predictor's input: model, training step and precision, with validation."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

MOST = 10**9
"""The limit on every number: a larger one is a mistake."""


class MemoryInputError(ValueError):
    """An impossible model, step or size; the message is one line that names it."""


def _positive(name: str, value: object) -> None:
    if type(value) is not int or not 1 <= value <= MOST:
        raise MemoryInputError(f"{name} is {value!r}: a whole number is needed, from 1 to {MOST:,}")


def known(what: str, value: str, choices: Iterable[str]) -> None:
    """Raise a `MemoryInputError` that names the nearest choice if `value` is not among the choices."""
    names = list(choices)
    if value not in names:
        near = difflib.get_close_matches(str(value), names, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise MemoryInputError(f"there is no {what} {value!r}; {meant}")


@dataclass(frozen=True)
class Shape:
    """The sizes of a model, all positive ints. `course.llama.LlamaConfig` has the same fields.

    Raises:
        MemoryInputError: a size is not a positive int, `heads` does not divide `hidden`, or `kv_heads` does not divide
            `heads`.
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
        """The width of all keys together, and of all values."""
        return self.kv_heads * (self.hidden // self.heads)

    @property
    def layer_matrices(self) -> int:
        """The number of entries in a layer's seven matrices: q and o, k and v, gate, up and down."""
        return 2 * self.hidden**2 + 2 * self.hidden * self.kv + 3 * self.hidden * self.ffn

    @property
    def n_params(self) -> int:
        """The number of parameters: an embedding and a separate head, the layers, the norms."""
        layer = self.layer_matrices + 2 * self.hidden
        return 2 * self.vocab * self.hidden + self.layers * layer + self.hidden

    @property
    def largest_unit(self) -> int:
        """The number of parameters in the largest unit that sharding gathers at once: a layer, or the head."""
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
    """Bytes of each number that a parameter has, 0 if it has none, and of an activation."""

    weights: int = 2
    grads: int = 2
    master: int = 4
    """The float32 copy that the optimizer updates."""
    moment: int = 4
    """Bytes of each of Adam's two moments."""
    activations: int = 2
    """2 or 4. The loss, the norms' statistic per row and attention's statistic per row and head are always float32."""

    def __post_init__(self) -> None:
        for name in ("weights", "grads", "master", "moment"):
            size = getattr(self, name)
            if type(size) is not int or size < 0:
                raise MemoryInputError(f"{name} have {size!r} bytes per parameter: an int is needed, 0 or more")
        if self.activations not in (2, 4):
            raise MemoryInputError(f"activations of {self.activations!r} bytes: there are 2 and 4")


PRECISIONS: dict[str, Precision] = {
    "mixed": Precision(),
    "mixed-fp32-grads": Precision(grads=4),
    "mixed-8bit-adam": Precision(moment=1),
    "bf16": Precision(master=0, moment=2),
    "fp32": Precision(4, 4, 0, 4, activations=4),
}
"""Bytes per parameter: 16, 18 (as in Megatron-LM), 10 (Dettmers et al. 2022, without constants per block), 8, 16."""

RECOMPUTE: dict[str, str] = {
    "none": "none",
    "matmuls": "selective_matmuls",
    "half": "selective_half",
    "selective": "selective",
    "full": "every_layer",
}
"""Ways to recompute, from nothing to whole layers, each with its name in `course.experiments.policies`.

`none` saves everything. All others save a layer's input and: `matmuls` the results of matrix products and attention,
`half` those of attention and every second product, `selective` that of attention, `full` nothing else.
"""
NORMS = ("fused", "composed")
"""RMSNorm as one kernel, or composed of PyTorch's operations in float32 (as in Hugging Face), which saves copies."""


@dataclass(frozen=True)
class Training:
    """One training step, as each GPU sees it. Frozen: use `dataclasses.replace` to change it.

    Args:
        shape: the model.
        seq: tokens in a sequence.
        batch: sequences that each GPU runs at once.
        recompute: a key of `RECOMPUTE`.
        precision: bytes per number.
        norms: "fused" or "composed".
        loss_rows: tokens in a chunk of head and loss, which are checkpointed chunk by chunk; None for no chunks.
        gpus: the number of GPUs that share the states.
        zero: the stage of ZeRO, 0 to 3; 3 corresponds to FSDP. It has no effect on one GPU.

    Raises:
        MemoryInputError: an argument is impossible.
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


def find_model(name: str) -> Shape:
    """The shape of the model `name`, ignoring case.

    Raises:
        MemoryInputError: there is no such model; the message names the nearest one.
    """
    known("model", name.lower(), MODELS)
    return MODELS[name.lower()]


_UNITS = {"": 1, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(text: str) -> int:
    """The bytes of a size with its unit, ignoring case: "80GB" is 80·10⁹, "80GiB" is 80·2³⁰.

    Raises:
        MemoryInputError: the text is not a positive size with a complete unit.
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
