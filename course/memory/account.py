"""Computes the bytes of one training step by kind, and its FLOPs."""

from __future__ import annotations

from dataclasses import dataclass

from course.memory.training import NORMS, RECOMPUTE, Shape, Training, known


@dataclass(frozen=True)
class Memory:
    """Bytes on each GPU at the peak of a step. `total` is the sum of all fields except `peak_at` and the two peaks."""

    weights: int
    grads: int
    optimizer: int
    """The master copy and the moments."""
    gathered: int
    """Shards temporarily gathered: the weights of the largest unit (stage 3), and its gradient (stages 2 and 3)."""
    activations: int
    """Arrays that all layers save from forward to backward."""
    loss_head: int
    """At the peak: arrays saved by the final norm, the head and the loss; 0 if the peak is in a layer."""
    transients: int
    """At the peak: gradients of logits or of activations, and arrays that a layer saves when it is recomputed."""
    peak_at: str
    """"loss", or "layer": the backward pass of the last layer."""
    loss_peak: int
    """Activations, loss head and transients at the loss."""
    layer_peak: int
    """Activations and transients in the backward pass of the last layer, where they are largest."""

    @property
    def states(self) -> int:
        """Weights, gradients, optimizer, and what is gathered."""
        return self.weights + self.grads + self.optimizer + self.gathered

    @property
    def peak(self) -> int:
        """All bytes that are not states."""
        return self.activations + self.loss_head + self.transients

    @property
    def total(self) -> int:
        return self.states + self.peak


@dataclass(frozen=True)
class Moment:
    """Bytes at one moment of a step, in addition to the states and the layers' activations."""

    loss_head: int
    transients: int


# a layer, in bytes per token


def layer_bytes(shape: Shape, recompute: str = "none", norms: str = "fused", itemsize: int = 2) -> int:
    """The arrays that one layer saves from forward to backward, in bytes per token.

    With i bytes per item, h `hidden`, k the width of keys, f `ffn`, a `heads`: `none` with fused norms saves
    i·(6h + 2k + 4f) + 8 + 4a, which is 12h + 4k + 8f + 8 + 4a at 16 bits. A layer's result counts as the next one's
    input.

    Raises:
        MemoryInputError: `recompute` or `norms` is unknown.
    """
    known("recompute", recompute, RECOMPUTE)
    known("norms", norms, NORMS)
    h, k, f = shape.hidden, shape.kv, shape.ffn
    attention = itemsize * h + 4 * shape.heads  # result, and a float32 log-sum-exp for each row and head
    if recompute == "none":
        # q, k, v and attention's result; gate, up, silu(gate), their product; the two norms
        return itemsize * (h + 2 * k + 4 * f) + attention + 2 * _norm_bytes(shape, norms, itemsize)
    kept = {
        "matmuls": itemsize * (3 * h + 2 * k + 2 * f) + attention,  # q, o, down; k, v; gate, up
        "half": itemsize * (2 * h + k + f) + attention,  # the 1st, 3rd, 5th, 7th product: q, v, gate, down
        "selective": attention,
        "full": 0,
    }
    return itemsize * h + kept[recompute]


def _norm_bytes(shape: Shape, norms: str, itemsize: int) -> int:
    """Bytes per token that an RMSNorm saves, including its result, which the next matrix products need."""
    h = shape.hidden
    if norms == "fused":
        return 2 * itemsize * h + 4  # x, the result; the reciprocal root mean square
    return (4 + 2 * itemsize) * h + 4  # x in float32, x/rms, the result


def _recomputed_bytes(training: Training) -> int:
    """Bytes per token that recomputing one layer adds to those saved of it."""
    shape, itemsize, how = training.shape, training.precision.activations, training.recompute
    if how == "none":
        return 0
    whole, kept = (layer_bytes(shape, which, training.norms, itemsize) for which in ("none", how))
    # Composed norms save a float32 copy, not the 16-bit input, so the checkpoint's input is not shared with them.
    shared = kept - itemsize * shape.hidden * (training.norms == "composed" and itemsize == 2)
    # The saved result of the last product is not needed again, but is not freed before the layer is done.
    unused = itemsize * shape.hidden if how in ("matmuls", "half") else 0
    return whole - shared + unused


# the account


def predict_memory(training: Training) -> Memory:
    """The bytes that each GPU needs at the peak of a step.

    Gradients count in full all the time, as when gradients are accumulated. The peak is the larger of two `moments`.
    Both are exact for `course.llama`, except for eight bytes, the loss and its gradient, if `ffn` and `vocab` are at
    least twice `hidden`, as in all of `MODELS`.
    """
    a_layer = layer_bytes(training.shape, training.recompute, training.norms, training.precision.activations)
    kept = training.tokens * training.shape.layers * a_layer
    both = moments(training)
    peaks = {name: kept + moment.loss_head + moment.transients for name, moment in both.items()}
    peak_at = max(peaks, key=peaks.__getitem__)  # "loss" if they are equal
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
    """The two moments of a step that may be its peak.

    - "loss": the arrays of the final norm, and three float32 arrays of tokens × vocab: the log-softmax, its upstream
      gradient, and the gradient that it sends back.
    - "layer": inside SwiGLU in the backward pass of the last layer. All arrays that the layer saves without
      recomputation are there, the gradient of its result, and two more arrays of width `ffn`.
    """
    shape, precision, n = training.shape, training.precision, training.tokens
    itemsize, h = precision.activations, shape.hidden
    rows = min(n, training.loss_rows or n)
    norm = n * _norm_bytes(shape, training.norms, itemsize)
    if rows == n:
        at_loss = Moment(norm + 4 * n * shape.vocab, 8 * n * shape.vocab)
    else:  # one chunk at a time is recomputed, and gradients of finished chunks are there
        at_loss = Moment(norm, 12 * rows * shape.vocab + itemsize * h * (n - rows))
    return {"loss": at_loss, "layer": Moment(0, n * (_recomputed_bytes(training) + itemsize * (h + 2 * shape.ffn)))}


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
    """Whether a GPU with `gpu_bytes` bytes has enough memory."""
    return memory.total <= gpu_bytes


# FLOPs


def step_flops(training: Training) -> int:
    """FLOPs of one step on each GPU, in matrix products and attention only, recomputation included.

    Attention counts as two products of seq × seq for each head in forward and five in backward, as in PyTorch's count
    of its fused kernel, without a discount for the causal mask. Recomputation stops when backward has all that it needs
    (PyTorch's `early_stop`), so a layer's last product is not repeated.
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
