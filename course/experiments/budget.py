"""Steps on a card of so many bytes that need no card: fake tensors, and an instrument that says no."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from course.experiments.policies import Policy, none
from course.instruments.live import LiveStorages
from course.llama import Llama, LlamaConfig


class Card(LiveStorages):
    """Tracks live bytes, and raises `torch.OutOfMemoryError` at the first storage for which there is no room.

        with Card(capacity=40e9, held=20e9) as card:
            loss = model(x)

    `held` are the bytes that are taken before and all the time. What it cannot see does not count: an allocator's
    rounding, temporaries inside of kernels. A card that has refused is of no more use.
    """

    def __init__(self, capacity: float = math.inf, held: float = 0) -> None:
        super().__init__()
        self.capacity, self.held = capacity, held

    def _change(self, n_bytes: int) -> None:
        free = self.capacity - self.held - self.bytes
        if n_bytes > free:
            raise torch.OutOfMemoryError(f"{n_bytes / 1e9:.2f} GB wanted, {free / 1e9:.2f} GB free")
        super()._change(n_bytes)


@dataclass(frozen=True)
class Step:
    """What one card holds during a step, in bytes, and where it ends."""

    held: int
    """All the time: the card's share of weights, master copies and moments, and one gathered layer."""
    forward: int
    """At the peak of the forward pass, or when it ended there; `held` included."""
    backward: int
    """The same of the backward pass; 0 where there was none."""
    refused: str
    """What the card said, or nothing."""


def sharded_step(
    config: LlamaConfig, seq: int, gpus: int, card_bytes: float = math.inf, *, batch: int = 1, policy: Policy = none
) -> Step:
    """One step of the whole model with all states sharded over `gpus` cards (ZeRO-3, FSDP), each with its own batch.

    Weights and gradients have 2 bytes per number, the master copy 4, each of Adam's two moments 4. A layer's weights
    are whole while it runs: one layer's are counted all the time. Its gradients are whole until they all are there;
    then the card's share of them stays. What communication needs beside that is left out.
    """
    held = 14 * config.n_params // gpus + 2 * _block_params(config)
    forward, refused = 0, ""
    with FakeTensorMode():
        model = Llama(config, seq)
        ids = torch.zeros(batch, seq, dtype=torch.long)
        card = Card(card_bytes, held)
        run = policy(model.stack, card)
        shards = [
            shard
            for unit in (*model.stack.blocks, model.embedding, model.norm, model.head)
            for shard in [_reduce_when_complete(unit, gpus)]
        ]
        try:
            with card:
                logits = model.head(model.norm(run(model.embedding(ids)))).float()
                loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten())
                del logits
                forward, card.peak = held + card.peak, card.bytes
                loss.backward()
        except torch.OutOfMemoryError as error:
            refused = str(error)
        del shards
    if not forward:
        return Step(held, held + card.peak, 0, refused)
    return Step(held, forward, held + card.peak, refused)


def _block_params(config: LlamaConfig) -> int:
    outside = 2 * config.vocab * config.hidden + config.hidden
    return (config.n_params - outside) // config.layers


def _reduce_when_complete(unit: nn.Module, gpus: int) -> list[Tensor]:
    """Replace the gradients of a module's parameters by this card's share as soon as all are there; the shares."""
    parameters, shares = list(unit.parameters()), list[Tensor]()

    def reduce(_: Tensor) -> None:
        if all(one.grad is not None for one in parameters):
            for one in parameters:
                shares.append(torch.empty(-(-one.numel() // gpus), dtype=one.dtype))
                one.grad = None

    for one in parameters:
        one.register_post_accumulate_grad_hook(reduce)
    return shares
