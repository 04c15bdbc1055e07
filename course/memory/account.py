"""The bytes of one step, kind by kind, and its FLOPs."""

from __future__ import annotations

from dataclasses import dataclass

from course.memory.training import NORMS, RECOMPUTE, Shape, Training, known


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


# a layer, in bytes per token


def layer_bytes(shape: Shape, recompute: str = "none", norms: str = "fused", itemsize: int = 2) -> int:
    """What one layer keeps from forward to backward, in bytes per token.

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
    """What an RMSNorm keeps, its result included, which the products after it need: bytes per token."""
    h = shape.hidden
    if norms == "fused":
        return 2 * itemsize * h + 4  # x, the result; the reciprocal root mean square
    return (4 + 2 * itemsize) * h + 4  # x in float32, x/rms, the result


def _refilled(training: Training) -> int:
    """What the recomputation of one layer adds to what was kept of it, in bytes per token."""
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
