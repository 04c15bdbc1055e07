"""Tables of integers from which the widget `memory_account` computes the predictions of `course.memory`.

Activations are proportional to the number of tokens, plus a constant for a loss in chunks; states are sums divided by
the number of GPUs. So a few numbers for each way to run a model are enough for all sequences, batches and numbers of
GPUs. They are derived from the predictor's results and compared with it at every value of the sliders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from course.memory import (
    LOSS_ROWS,
    MOST_GPUS,
    NORMS,
    PRECISIONS,
    RECOMPUTE,
    Shape,
    Training,
    as_remedy,
    moments,
    parse_bytes,
    predict_memory,
    price,
    step_flops,
)

SEQS = (2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
"""The slider's values for tokens in a sequence; all more than `LOSS_ROWS`."""
BATCHES = tuple(range(1, 17))
GPUS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
CARDS = ("24GB", "40GB", "80GB", "141GB", "192GB")
WAYS = tuple(product((None, LOSS_ROWS), RECOMPUTE))
"""Pairs of the loss's chunk size and the recomputation, in the order that the tables use."""
_ITEMSIZES = (2, 4)


def tables(models: Mapping[str, Shape]) -> dict[str, Any]:
    """All data of the widget about these models.

    - "precisions": bytes of a weight, of a gradient, of the optimizer's states of a parameter, of an activation.
    - "states", by model and precision: bytes of weights, gradients and optimizer, to be divided by the number of GPUs
      and rounded up; and bytes gathered if there are several GPUs.
    - "bytes", by model, itemsize of activations, norms and way: per token, the activations, the loss head and the
      transients at the loss; the constant part of these transients; and per token, the transients in the layer.
    - "flops", by model, length and way: FLOPs per token.
    - "ranks", by model, length and way: an index into "orders". An order has two letters for each other way, with the
      same batch and with a smaller one: its rank by price among all such changes, or "-" if there is no such change.

    Raises:
        ArithmeticError: a table disagrees with a prediction.
    """
    orders: dict[str, int] = {}
    return {
        "precisions": {
            name: [each.weights, each.grads, each.master + 2 * each.moment, each.activations]
            for name, each in PRECISIONS.items()
        },
        "recompute": list(RECOMPUTE),
        "norms": list(NORMS),
        "chunk": LOSS_ROWS,
        "mostGpus": MOST_GPUS,
        "seqs": SEQS,
        "batches": BATCHES,
        "gpus": GPUS,
        "cards": [[text, parse_bytes(text)] for text in CARDS],
        "states": {name: {key: _states(shape, key) for key in PRECISIONS} for name, shape in models.items()},
        "bytes": {
            name: {
                size: {norms: [_bytes(one) for one in _ways(shape, size, norms)] for norms in NORMS}
                for size in _ITEMSIZES
            }
            for name, shape in models.items()
        },
        "flops": {
            name: [[step_flops(replace(way, seq=seq)) // seq for way in _ways(shape)] for seq in SEQS]
            for name, shape in models.items()
        },
        "ranks": {
            name: [
                [orders.setdefault(_order(replace(way, seq=seq)), len(orders)) for way in _ways(shape)] for seq in SEQS
            ]
            for name, shape in models.items()
        },
        "orders": list(orders),
    }


def _ways(shape: Shape, itemsize: int = 2, norms: str = "fused") -> Iterator[Training]:
    stateless = replace(PRECISIONS["mixed"], weights=0, grads=0, master=0, moment=0, activations=itemsize)
    for loss_rows, recompute in WAYS:
        yield Training(shape, SEQS[0], recompute=recompute, precision=stateless, norms=norms, loss_rows=loss_rows)


def _states(shape: Shape, precision: str) -> list[int]:
    one, two = (predict_memory(Training(shape, 1, precision=PRECISIONS[precision], gpus=gpus)) for gpus in (1, 2))
    found = [one.weights, one.grads, one.optimizer, two.gathered]
    for gpus in GPUS:
        memory = predict_memory(Training(shape, 1, precision=PRECISIONS[precision], gpus=gpus))
        shares = [-(-n_bytes // gpus) for n_bytes in found[:3]]
        if [memory.weights, memory.grads, memory.optimizer, memory.gathered] != [*shares, found[3] * (gpus > 1)]:
            raise ArithmeticError(f"states in {precision} are no shares of a sum at {gpus} GPUs")
    return found


def _bytes(way: Training) -> list[int]:
    """Activations; loss head, transients and their constant at the loss; transients in the layer: see `tables`."""

    def parts(n_tokens: int) -> list[int]:
        training = replace(way, seq=n_tokens)
        loss, layer = moments(training).values()
        return [predict_memory(training).activations, loss.loss_head, loss.transients, layer.transients]

    few, more = parts(SEQS[0]), parts(SEQS[0] + 1)
    activations, head, at_loss, in_layer = (after - before for before, after in zip(few, more, strict=True))
    constant = few[2] - SEQS[0] * at_loss
    for n in {seq * batch for seq in SEQS for batch in BATCHES}:
        loss, layer = n * (head + at_loss) + constant, n * in_layer
        memory = predict_memory(replace(way, seq=n))
        said = [memory.activations, memory.loss_head, memory.transients]
        if said != [n * activations, *([n * head, n * at_loss + constant] if loss >= layer else [0, layer])]:
            raise ArithmeticError(f"what {n:,} tokens take is not in proportion: {way}")
    return [activations, head, at_loss, constant, in_layer]


def _order(before: Training) -> str:
    prices: dict[tuple[int, bool], tuple[float, int, int]] = {}
    before = replace(before, batch=2)
    for index, (loss_rows, recompute) in enumerate(WAYS):
        if before.loss_rows is None or loss_rows is not None:  # no change gives up chunks of the loss
            for batch in (2, 1):
                after = replace(before, batch=batch, loss_rows=loss_rows, recompute=recompute)
                prices[index, batch == 1] = price(as_remedy(before, after))
    places = sorted(set(prices.values()))
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(
        letters[places.index(prices[key])] if (key := (index, fewer)) in prices else "-"
        for index in range(len(WAYS))
        for fewer in (False, True)
    )
