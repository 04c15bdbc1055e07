"""Runs a page's commands in a real shell.

    ```{terminal} canvas          a session: all blocks of a page with this name share one folder and shell
    backprop grade submissions.zip --out results
    ```
    ```{written} results/rules.toml canvas       a file that is written into the folder between commands

Options of a terminal: `:status: 3`, the exit status of its last command, if not 0; `:lines: 4`, how many lines of each
output to show; `:quiet:`, show none; `:unrun: why`, do not run the commands, and why.

`class_exports` fills the folder before the first command.
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
"""Columns of the terminal: as many as fit in a page."""
SECONDS = 300
MARK = "\x1e"
PORT = "8786"
"""Dask's default port, as shown in pages; commands use any free port instead."""
NOT_SAID = re.compile(
    r"^(?:backprop: this is root: .*|\d+/\d+  .* (?:graded|unreadable|timeout|killed)\b.*)\n", re.MULTILINE
)
"""Lines to drop: the warning if root builds the book, and progress, for which a terminal has a bar that disappears."""
OURS = ("BACKPROP_", "GITHUB_", "PYTEST_", "JUPYTER", "OMP_", "OPENBLAS_", "MKL_", "PYTHON", "XDG_CONFIG")
"""Prefixes of environment variables to drop, because they would change a command's behaviour."""


@dataclass
class Step:
    """One `terminal` or `written` block of a page."""

    kind: str
    session: str
    line: int
    """Its line in the page, counted from 1."""
    text: str
    file: str = ""
    options: dict[str, str] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    """The output of each command."""
    fault: str = ""
    """Why a command did not end as the page says; empty if all did."""

    @property
    def commands(self) -> list[str]:
        """The commands, each with its continuation lines and the comment lines before it."""
        return re.findall(r"(?:^[ \t]*#.*\n)*(?:^.*\\\n)*^.*\S.*$", self.text, re.MULTILINE)

    @property
    def runs(self) -> bool:
        return "unrun" not in self.options


def steps_of(page: str) -> list[Step]:
    """The blocks of a page, in order."""
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
    """Run all steps, each session in a new folder, and record outputs and faults in them."""
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
    """Run the steps of one session in its prepared folder; stop after the first fault."""
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
    """A context manager with one bash process for all commands of a session."""

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
            "BACKPROP_SLIP_SECONDS": "0.5",  # all slips of the lessons that pages release take half a minute
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
        """Run a command; return its stdout and stderr together, and its exit status."""
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
        """Kill the shell with all its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
