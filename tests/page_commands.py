"""The commands that pages show in blocks for a shell, and how a test types them and looks at what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from test_teaching_pages import sessions

BLOCK = re.compile(r"^```(?:sh|bash|shell|console|powershell)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands_in(text: str) -> list[str]:
    """The commands of a page, without the comments behind them."""
    lines = (line for block in BLOCK.findall(text) for line in re.sub(r"\\\n\s*", "", block).splitlines())
    return [command for line in lines if (command := re.sub(r"(^|\s+)#\s.*$", "", line).strip())]


def type_all(folder: Path, commands: Iterable[str], said: Mapping[str, str], status: Mapping[str, int]) -> None:
    """Type commands into one shell in `folder`; each ends as `status` has it, else with 0, and says what `said` has.

    Commands that say nothing have an empty text there.
    """
    steps: list[Any] = [
        sessions.Step("terminal", "", 0, command, options={"status": status.get(command, 0)}) for command in commands
    ]
    sessions.follow_in(folder, steps)
    faults = [(step.fault, step.outputs) for step in steps if step.fault]
    assert not faults, faults
    for step in steps:
        (output,) = step.outputs
        words = " ".join(output.split())
        assert said[step.text] in words if said[step.text] else not words, (step.text, words)
