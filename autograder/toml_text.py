"""Writes values as TOML, so that `tomllib` reads the same values back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def toml_table(entries: Mapping[str, Any]) -> str:
    """A table in TOML: a line for each entry."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in entries.items())


def toml_key(key: str) -> str:
    """A key in TOML, in quotes if it needs them."""
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else toml_value(key)


def toml_value(value: Any) -> str:
    """A value in TOML, on one line, of any type that `tomllib` returns.

    Raises:
        UnicodeError: a text has surrogates, as paths with bytes that are not UTF-8 do.
    """
    match value:
        case str():
            # JSON's escapes are valid TOML, except surrogate pairs; only TOML requires an escape for U+007F.
            text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
            if re.search("[\ud800-\udfff]", text):
                raise UnicodeError(f"{value!a} is no UTF-8")
            return text
        case bool():
            return "true" if value else "false"
        case dict():
            return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(one)}" for key, one in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case _:  # numbers, infinite ones too, dates and times
            return str(value)
