"""Values as TOML, for the files that we write: `tomllib` reads what these functions give as the same values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def toml_table(entries: Mapping[str, Any]) -> str:
    """A line for each entry of a table, as `toml_value` gives them."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in entries.items())


def toml_key(key: str) -> str:
    """A key, in quotes where it needs them."""
    return key if re.fullmatch(r"[\w-]+", key, re.ASCII) else toml_value(key)


def toml_value(value: Any) -> str:
    """A value that `tomllib` may have read, on one line.

    Raises:
        UnicodeError: a text is no UTF-8, such as a path with other bytes.
    """
    match value:
        case str():
            # JSON's escapes are TOML's, but for pairs of surrogates; U+007F has to be escaped in TOML alone.
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
