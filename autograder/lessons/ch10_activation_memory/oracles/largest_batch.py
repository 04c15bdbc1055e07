"""The reference of largest_batch against something independent."""

from __future__ import annotations

from types import SimpleNamespace

from autograder.judging import exercise
from autograder.lessons.ch10_activation_memory.oracles.models import CONFIGS
from course.llama import LlamaConfig


@exercise("largest_batch")
def test_batch_by_trying(reference):
    """Batch by batch, from states and each moment of a step; n_params is that of the course's model."""
    largest, block = (reference.implementations[name] for name in ("largest_batch", "llama_block_bytes"))
    for config in CONFIGS:
        bare = SimpleNamespace(**{name: getattr(config, name) for name in LlamaConfig.__dataclass_fields__})
        for recompute in ("none", "selective", "full"):

            def moments(b, config=config, recompute=recompute):
                kept = [block(config, 128, b, recompute)] * config.layers
                again = [block(config, 128, b, "none"), *kept[1:]]
                loss = 3 * b * 128 * config.vocab * 4
                return [sum(kept) + loss, sum(again)]

            for room in (0, 10**6, 10**7, 10**8):
                gpu_bytes, b = 16 * config.n_params + room, 0
                while max(moments(b + 1)) <= room:
                    b += 1
                assert largest(bare, 128, gpu_bytes, recompute) == b
