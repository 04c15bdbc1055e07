"""Simulates training steps on a GPU with limited memory, using fake tensors, without a GPU."""

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
    """Tracks live bytes, and raises `torch.OutOfMemoryError` when they exceed the capacity.

        with Card(capacity=40e9, held=20e9) as card:
            loss = model(x)

    `held` is the number of bytes in use all the time. An allocator's rounding and temporaries inside kernels do not
    count. Do not use a card again after it has raised.
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
    """The bytes in use on one card during a step."""

    held: int
    """In use all the time: the card's share of weights, master copies and moments, and one gathered layer."""
    forward: int
    """The peak of the forward pass, `held` included, or the bytes when it ran out of memory."""
    backward: int
    """The same for the backward pass; 0 if it was not reached."""
    refused: str
    """The message of the out-of-memory error; empty if there was none."""


def sharded_step(
    config: LlamaConfig, seq: int, gpus: int, card_bytes: float = math.inf, *, batch: int = 1, policy: Policy = none
) -> Step:
    """One step of the whole model with all states sharded over `gpus` cards (ZeRO-3, FSDP), each with its own batch.

    Weights and gradients have 2 bytes per number, the master copy 4, each of Adam's two moments 4. One layer's gathered
    weights count all the time. A layer's gradients are whole until all of them are computed; then only the card's share
    stays. Communication buffers are left out.
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
    """Replace a module's gradients by this card's share as soon as all are computed; return the list of shares."""
    parameters, shares = list(unit.parameters()), list[Tensor]()

    def reduce(_: Tensor) -> None:
        if all(one.grad is not None for one in parameters):
            for one in parameters:
                shares.append(torch.empty(-(-one.numel() // gpus), dtype=one.dtype))
                one.grad = None

    for one in parameters:
        one.register_post_accumulate_grad_hook(reduce)
    return shares
