"""The reference of llama_block_bytes against something independent."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch10_activation_memory.oracles.models import CONFIGS
from course.experiments.costs import predict
from course.experiments.policies import POLICIES


@exercise("llama_block_bytes")
def test_block_against_live_storages(reference):
    """All layers of the real program, their last result aside, to the byte."""
    count = reference.implementations["llama_block_bytes"]
    policies = {"none": "none", "selective": "selective", "full": "every_layer"}
    for config in CONFIGS:
        for recompute, policy in policies.items():
            saved = predict(POLICIES[policy], config, 128, batch=2).saved_bytes - 2 * 128 * 2 * config.hidden
            assert config.layers * count(config, 128, 2, recompute) == saved, recompute
