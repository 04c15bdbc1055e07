"""The class's secret, from which hidden inputs are drawn."""

from __future__ import annotations

import hashlib
import secrets

PUBLIC_SALT = "learning alone"
"""The salt of those who belong to no class."""
ENOUGH_BITS = 60
"""What a salt should take to guess: one hidden input that came out would let anyone try salts at home."""
_COST, _BLOCKS = 2**16, 8
"""Of scrypt: 64 MiB and some 0.2 s for each guess (https://www.rfc-editor.org/rfc/rfc7914)."""


def class_key(salt: str) -> str:
    """What a class's hidden inputs are drawn from, and all that grading processes know of its salt.

    It is slow to compute, so that a salt cannot be found by trying words; so it is computed once a command. The public
    salt stays what it is.
    """
    if salt == PUBLIC_SALT:
        return salt
    purpose = b"backprop hidden inputs"
    return hashlib.scrypt(
        salt.encode("utf-8", "surrogateescape"), salt=purpose, n=_COST, r=_BLOCKS, p=1, maxmem=2**28, dklen=32
    ).hex()


def fingerprint(key: str) -> str:
    """What results record of a class's key: enough to see that it changed, and no shorter way to the salt."""
    return hashlib.sha256(f"backprop key {key}".encode()).hexdigest()[:16]


def new_salt() -> str:
    """A salt that nobody guesses: 128 random bits."""
    return secrets.token_urlsafe(16)


def guesses_in_bits(salt: str) -> float:
    """How many guesses a salt takes, as a power of two: by zxcvbn's lists of words, dates and patterns."""
    from zxcvbn import zxcvbn  # slow to import: its lists

    return float(zxcvbn(salt[:72])["guesses_log10"]) / 0.30103
