"""What `course.memory` predicts, as tables of whole numbers: the widget `memory_account` looks up, adds and compares.

All that a step holds is a number of bytes per token, and for a loss in chunks a constant; states are shares of a sum.
So a few numbers for each way to run a model stand for all sequences, batches and numbers of GPUs. They are taken from
the predictor's answers, and where a table would answer otherwise than the predictor, at any stop, it is not made.
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
"""Tokens of a sequence, where the slider stops; all more than `LOSS_ROWS`."""
BATCHES = tuple(range(1, 17))
GPUS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
CARDS = ("24GB", "40GB", "80GB", "141GB", "192GB")
WAYS = tuple(product((None, LOSS_ROWS), RECOMPUTE))
"""Rows of a chunk of the loss, and what is recomputed. A table's list of ways stands in this order."""
_ITEMSIZES = (2, 4)


def tables(models: Mapping[str, Shape]) -> dict[str, Any]:
    """All that the widget knows of these models.

    - "precisions": bytes of a weight, of a gradient, of the optimizer's share in a parameter, of an activation.
    - "states", by model and precision: weights, gradients, optimizer, to be divided by the GPUs and rounded up, and
      what is gathered where there are several GPUs.
    - "bytes", by model, itemsize of activations, norms and way: five numbers per token, and the constant of the last
      but one. They are activations; loss head and transients at the loss; and transients in the layer.
    - "flops", by model, length and way: FLOPs per token.
    - "ranks": for each model, length and way, which of "orders" it has. That is a letter for each other way, the batch
      as it is and then a smaller one: the place of such a change when all are ranked by price, "-" where there is none.

    Raises:
        ArithmeticError: a prediction is not what its table says.
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
    """One sequence on one GPU with no states, run each way."""
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
    """Five numbers: activations; loss head, transients and their constant at the loss; transients in the layer."""

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
        if before.loss_rows is None or loss_rows is not None:  # a loss in chunks stays so
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
