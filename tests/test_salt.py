"""The class's salt is slow to guess, and weak ones cause a warning."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from conftest import BACKPROP

from autograder.judging.checking.salt import ENOUGH_BITS, PUBLIC_SALT, class_key, fingerprint, guesses_in_bits, new_salt


def test_a_guess_takes_as_long_as_thousands_of_hashes() -> None:
    """In processor time, relative to a hash and a generator, which a guess used to take."""
    start = time.process_time()
    class_key("a guess")
    slow = time.process_time() - start
    start = time.process_time()
    for number in range(1000):
        fingerprint(str(number))
    assert slow > 10 * (time.process_time() - start)


def test_keys_differ_and_the_public_one_is_what_it_was() -> None:
    keys = {class_key(salt) for salt in ("a", "b", "ä", "\udce4")}
    assert len(keys) == 4
    assert class_key(PUBLIC_SALT) == PUBLIC_SALT
    assert "a" * 8 not in class_key("a" * 8)


@pytest.mark.parametrize(
    ("salt", "weak"),
    [("s3cret", True), ("Backprop2026!", True), ("x" * 5000, True), (new_salt(), False), ("é" * 3, True)],
    ids=["a word", "a word and a year", "one letter", "ours", "other letters"],
)
def test_what_lists_of_words_find_is_weak(salt: str, weak: bool) -> None:
    assert (guesses_in_bits(salt) < ENOUGH_BITS) is weak


@pytest.mark.slow
def test_the_command_makes_salts_and_warns_of_weak_ones(tmp_path: Path) -> None:
    made = [subprocess.run([BACKPROP, "salt"], capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert made[0] != made[1]
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / "notes.txt").write_text("no lesson", encoding="utf-8")
    said = []
    for salt in ("s3cret", made[0].strip()):
        command = [BACKPROP, "grade", tmp_path / "class", "--out", tmp_path / "results"]
        environ = {**os.environ, "BACKPROP_SALT": salt}
        said.append(subprocess.run([*map(str, command)], env=environ, capture_output=True, text=True).stderr)
        assert salt not in said[-1]
    assert "this salt is weak: about 2^7 guesses find it" in said[0]
    assert "weak" not in said[1]
