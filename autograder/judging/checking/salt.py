"""The class's secret, from which hidden inputs are drawn."""

from __future__ import annotations

import hashlib
import secrets

PUBLIC_SALT = "learning alone"
"""The salt of learners who belong to no class."""
ENOUGH_BITS = 60
"""Strength that a salt should have: with one leaked hidden input, anyone can try salts at home."""
_COST, _BLOCKS = 2**16, 8
"""Cost of scrypt: 64 MiB and about 0.2 s per guess (https://www.rfc-editor.org/rfc/rfc7914)."""


def class_key(salt: str) -> str:
    """Derive the key from which hidden inputs are drawn; grading processes get the key and never the salt.

    It is slow on purpose, so that a salt cannot be guessed from a word list, and is computed once per command. The
    public salt is its own key.
    """
    if salt == PUBLIC_SALT:
        return salt
    purpose = b"backprop hidden inputs"
    return hashlib.scrypt(
        salt.encode("utf-8", "surrogateescape"), salt=purpose, n=_COST, r=_BLOCKS, p=1, maxmem=2**28, dklen=32
    ).hex()


def fingerprint(key: str) -> str:
    """The hash of a class's key that results record: it shows that the key changed, and does not speed up guessing."""
    return hashlib.sha256(f"backprop key {key}".encode()).hexdigest()[:16]


def new_salt() -> str:
    """A salt that nobody guesses: 128 random bits."""
    return secrets.token_urlsafe(16)


def guesses_in_bits(salt: str) -> float:
    """Strength of a salt in bits: log2 of the guesses that zxcvbn's word lists, dates and patterns need."""
    from zxcvbn import zxcvbn  # slow to import: its lists

    return float(zxcvbn(salt[:72])["guesses_log10"]) / 0.30103
