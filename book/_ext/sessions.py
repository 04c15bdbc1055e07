"""Commands on a page, typed into a real shell in a folder of their own.

    ```{terminal} canvas          a session: commands of one name on a page follow each other in one folder and shell
    backprop grade submissions.zip --out results
    ```
    ```{written} results/rules.toml canvas       a file that is written there in between

Options of a terminal: `:status: 3`, how its last command ends, if not with 0; `:lines: 4`, how many lines of each
output are shown; `:quiet:`, none; `:unrun: why`, which is not run at all, and says why.

What a class's folder holds before the first command is `class_exports`'s.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import class_exports

FENCE = re.compile(r"^```\{(?P<kind>terminal|written)\}[ \t]*(?P<title>.*)\n(?P<body>(?:.*\n)*?)```$", re.MULTILINE)
OPTION = re.compile(r":(\w+):[ \t]*(.*)")
WIDTH = 78
"""Columns of the terminal: as many signs as a page shows beside each other."""
SECONDS = 300
MARK = "\x1e"
PORT = "8786"
"""Dask's own; what listens there in truth is any port that is free."""
NOT_SAID = re.compile(
    r"^(?:backprop: this is root: .*|\d+/\d+  .* (?:graded|unreadable|timeout|killed)\b.*)\n", re.MULTILINE
)
"""Who builds the book, and the lines in whose place a terminal has a bar that goes away."""
OURS = ("BACKPROP_", "GITHUB_", "PYTEST_", "JUPYTER", "OMP_", "OPENBLAS_", "MKL_", "PYTHON", "XDG_CONFIG")
"""How variables begin that would make a command another one than a reader has."""


@dataclass
class Step:
    """One block of a page."""

    kind: str
    session: str
    line: int
    """Of the page, from 1 on."""
    text: str
    file: str = ""
    options: dict[str, str] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    """What each command of a terminal said."""
    fault: str = ""
    """Why it did not end as the page says; empty if it did."""

    @property
    def commands(self) -> list[str]:
        """A command with its continuation lines each; comments of their own belong to what follows."""
        return re.findall(r"(?:^[ \t]*#.*\n)*(?:^.*\\\n)*^.*\S.*$", self.text, re.MULTILINE)

    @property
    def runs(self) -> bool:
        return "unrun" not in self.options


def steps_of(page: str) -> list[Step]:
    """The blocks of a page, in its order."""
    steps = []
    for match in FENCE.finditer(page):
        options, lines = {}, match["body"].splitlines()
        while lines and (option := OPTION.fullmatch(lines[0])):
            options[option[1]] = option[2]
            lines.pop(0)
        file, _, session = match["title"].rpartition(" ") if match["kind"] == "written" else ("", "", match["title"])
        line = page.count("\n", 0, match.start()) + 1
        steps.append(Step(match["kind"], session.strip(), line, "\n".join([*lines, ""]), file.strip(), options))
    return steps


def follow(steps: list[Step], size: int = 10) -> list[Step]:
    """Type all of it, each session in a folder of its own, and note what is said and what goes wrong."""
    for name in dict.fromkeys(step.session for step in steps if step.runs):
        mine = [step for step in steps if step.session == name and step.runs]
        if name not in class_exports.SETUPS:
            mine[0].fault = f"there is no session {name!r}; there are {', '.join(class_exports.SETUPS)}"
            continue
        with tempfile.TemporaryDirectory(prefix="class-") as folder:
            class_exports.SETUPS[name](Path(folder), class_exports.SmallClass(size))
            follow_in(Path(folder), mine)
    return steps


def follow_in(folder: Path, steps: list[Step]) -> None:
    """The steps of one session, in a folder that has what they need; after a fault, no more of them."""
    with tempfile.TemporaryDirectory(prefix="home-") as home, Shell(folder, Path(home)) as shell:
        for step in steps:
            if step.kind == "written":
                target = folder / step.file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(step.text, encoding="utf-8")
                continue
            *first, last = step.commands
            for command, expected in [*((one, 0) for one in first), (last, int(step.options.get("status", 0)))]:
                said, status = shell.type(command)
                step.outputs.append(said)
                if status != expected:
                    step.fault = f"`{command.strip()}` ended with {status} and not with {expected}: {said[-1500:]}"
                    return


class Shell:
    """One bash that stays open; a context manager."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = str(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = str(free.getsockname()[1])
        environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        environment |= {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(home),
            "COLUMNS": str(WIDTH),
            "LC_ALL": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        self._bash.communicate()

    def type(self, command: str) -> tuple[str, int]:
        """What a command says, on both of its outputs, and its exit status."""
        assert self._bash.stdin is not None
        watch = threading.Timer(SECONDS, self._kill)
        watch.start()
        try:
            self._bash.stdin.write(
                f"{{ {command.replace(PORT, self._port)}\n}} </dev/null\nprintf '{MARK}%s{MARK}\\n' $?\n"
            )
            self._bash.stdin.flush()
            said = "".join(self._until_the_mark())
        except BrokenPipeError:
            said = ""
        finally:
            watch.cancel()
        text, _, status = said.removesuffix(MARK).rpartition(MARK)
        if not status.isdigit():
            return f"{said}\n(it took more than {SECONDS} s, or ended the shell)", -1
        text = text.replace(f"{self.folder}/", "").replace(self.folder, ".").replace(self._port, PORT)
        return NOT_SAID.sub("", text), int(status)

    def _until_the_mark(self) -> Iterator[str]:
        assert self._bash.stdout is not None
        for line in self._bash.stdout:
            yield line.rstrip("\n") if line.endswith(f"{MARK}\n") else line
            if line.endswith(f"{MARK}\n"):
                return

    def _kill(self) -> None:
        """End the shell with all that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
