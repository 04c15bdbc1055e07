"""The cache is bounded, and one value cannot evict all others."""

from __future__ import annotations

from autograder.judging.remembered import Remembered


def test_what_was_not_asked_for_the_longest_is_forgotten() -> None:
    kept: Remembered[str, int] = Remembered(2)
    kept.keep("a", 1)
    kept.keep("b", 2)
    assert kept.get("a") == 1
    kept.keep("c", 3)
    assert [kept.get(key) for key in "abc"] == [1, None, 3]


def test_bytes_are_bounded_and_one_value_has_its_share_at_most() -> None:
    kept: Remembered[int, str] = Remembered(1000, 6400)
    kept.keep(0, "large", 101)
    assert kept.get(0) is None
    for key in range(1, 101):
        kept.keep(key, "small", 100)
    assert len(kept) == 64
    assert kept.get(36) is None
    assert kept.get(37) == "small"


def test_a_value_that_is_kept_again_counts_once() -> None:
    kept: Remembered[str, int] = Remembered(10, 6400)
    for value in range(200):
        kept.keep("a", value, 100)
    kept.keep("b", 1, 100)
    assert (kept.get("a"), len(kept)) == (199, 2)
