"""The reasons in a lesson's `factors.toml` why no check has certain levels or pairs of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

Level = tuple[str, str, str]
"""An argument, a factor of it, and a level."""


class Reasons:
    """The reasons in a lesson's `factors.toml` for levels and pairs that no check has; notes which ones are used."""

    def __init__(self, without: Mapping[str, str]) -> None:
        self._parts = {key: _parts_of(key) for key in without}
        self.used: set[str] = set()

    def of_level(self, level: Level) -> bool:
        """Whether there is a reason for a level."""
        return self._note(key for key, parts in self._parts.items() if len(parts) == 1 and parts[0].fits(level))

    def of_pair(self, pair: frozenset[Level]) -> bool:
        """Whether there is a reason for a pair of levels."""
        one, other = pair
        return self._note(
            key
            for key, parts in self._parts.items()
            if len(parts) == 2
            and ((parts[0].fits(one) and parts[1].fits(other)) or (parts[0].fits(other) and parts[1].fits(one)))
        )

    def _note(self, keys: Iterator[str]) -> bool:
        found = list(keys)
        self.used.update(found)
        return bool(found)


class _Part:
    """One part of a reason's key: `x, g: layout columns, strided`."""

    def __init__(self, arguments: str, levels: str) -> None:
        self._arguments = [one.strip() for one in arguments.split(",")]
        self._factor, _, listed = levels.strip().partition(" ")
        self._levels = [one.strip() for one in listed.split(",") if one.strip()]

    def fits(self, level: Level) -> bool:
        name, factor, of_it = level
        named = any(fnmatchcase(name, one) for one in self._arguments)
        return named and factor == self._factor and (not self._levels or of_it in self._levels)


def _parts_of(key: str) -> list[_Part]:
    """The parts of a key; those without arguments have the first one's. Raises `ValueError` if it has no arguments."""
    arguments, colon, rest = key.partition(":")
    if not colon:
        raise ValueError(f"“{key}” names no argument: write “x: layout columns”")
    first, *others = rest.split("&")
    parts = [_Part(arguments, first)]
    for other in others:
        names, colon, levels = other.partition(":")
        parts.append(_Part(names, levels) if colon else _Part(arguments, other))
    return parts
