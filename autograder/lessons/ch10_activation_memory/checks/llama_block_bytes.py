"""Checks of llama_block_bytes."""

from __future__ import annotations

from autograder.judging import exercise, expect_close, expect_raises
from autograder.lessons.ch10_activation_memory.checks.sizes import RECOMPUTE, sizes

ONE_PERCENT = {"rtol": 0.01, "atol": 0.0}


def agree_on_block(learner, reference, config, s, b, recompute, case) -> None:
    got, expected = (who.scenario.block_bytes(*config.values(), s, b, recompute) for who in (learner, reference))
    if type(got) is int:  # ints are compared exactly; anything else but an int is refused
        got, expected = float(got), float(expected)
    expect_close(got, expected, names=("the bytes",), case=case, **ONE_PERCENT)


@exercise("llama_block_bytes")
def test_all_kept(learner, reference, rng):
    """recompute="none", grouped queries and not."""
    for tokens in ((1, 1), (7, 1), (int(rng.integers(100, 9000)), int(rng.integers(2, 9)))):
        agree_on_block(learner, reference, sizes(rng), *tokens, "none", "none, fewer heads of keys than of queries")
    config = sizes(rng)
    agree_on_block(learner, reference, {**config, "kv_heads": config["heads"]}, 64, 3, "none", "none, kv_heads = heads")
    for ffn in (1, 20 * config["hidden"]):
        agree_on_block(learner, reference, {**config, "ffn": ffn}, 64, 3, "none", f"none, ffn = {ffn}")


@exercise("llama_block_bytes")
def test_recomputed(learner, reference, rng):
    """selective and full."""
    for recompute in ("full", "selective"):
        for tokens in ((1, 1), (7, 1), (int(rng.integers(100, 9000)), int(rng.integers(2, 9)))):
            config = sizes(rng)
            case = f"{recompute}, heads of {config['hidden'] // config['heads']}"
            agree_on_block(learner, reference, config, *tokens, recompute, case)


@exercise("llama_block_bytes")
def test_unknown_policy(learner, reference, rng):
    """ValueError, and none for the policies that there are."""
    for recompute in ("everything", "", "None"):
        config = sizes(rng)
        case = f"recompute={recompute!r}"
        expect_raises(ValueError, learner.scenario.block_bytes, *config.values(), 8, 1, recompute, case=case)
        known = str(rng.choice(RECOMPUTE))
        agree_on_block(learner, reference, config, 8, 1, known, f"beside that: recompute={known!r}")
