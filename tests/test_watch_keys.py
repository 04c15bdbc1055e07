"""Keys of `backprop watch`, in a terminal of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BACKPROP

from autograder.commands.keys import Keys

if sys.platform == "win32":
    pytest.skip("these tests make a terminal with pty, which Windows does not have", allow_module_level=True)

import pty
import termios

RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"


class Terminal:
    """A terminal in which one command runs in the foreground."""

    def __init__(self, *command: str | Path, cwd: Path) -> None:
        self._shown = self.all = ""
        self.pid, self._ours = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.environ |= {"COLUMNS": "100", "TERM": "dumb"}
            os.execv(command[0], [str(word) for word in command])
        os.set_blocking(self._ours, False)

    def wait(self, text: str) -> None:
        """Wait until `text` is shown, after what was waited for before."""
        for _ in range(600):
            try:
                new = os.read(self._ours, 65536).decode(errors="replace")
                self._shown += new
                self.all += new
            except BlockingIOError:
                time.sleep(0.1)
            if text in self._shown:
                self._shown = self._shown.partition(text)[2]
                return
        raise AssertionError(f"{text!r} did not come: {self._shown}")

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def end(self) -> int:
        """Press Ctrl-C; returns the exit status."""
        self.type("\x03")
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.slow
def test_keys_show_hints_go_on_and_show_the_solution_after_a_pass(tmp_path: Path) -> None:
    file = tmp_path / "ch06_vjps.py"
    file.write_text(RIGHT.replace("x > 0", "x >= 0"))
    terminal = Terminal(BACKPROP, "watch", "ch06/relu_vjp", cwd=tmp_path)
    terminal.wait("h hint, n next, s solution")
    assert not terminal.echoes
    terminal.type("h")
    terminal.wait("hint 1 of 2")
    terminal.wait("Next hint: press h")
    terminal.type("\x1b[H")  # Home, which ends in an H
    time.sleep(0.3)
    terminal.type("s")
    terminal.wait("The model solution of relu_vjp is shown after a pass")
    assert "hint 2" not in terminal.all
    file.write_text(RIGHT)
    terminal.wait("2 of 2 points")
    terminal.wait("Ctrl-C ends it")
    terminal.type("s")
    terminal.wait("The model solution:")
    terminal.type("n")
    terminal.wait("Next: ch06/")
    terminal.wait("missing")
    terminal.wait("Ctrl-C ends it")
    assert terminal.end() == 0
    assert terminal.echoes


@pytest.mark.slow
def test_a_watch_in_the_background_reads_no_keys_and_goes_on(tmp_path: Path) -> None:
    """A process in the background that changes or reads the terminal is stopped by the system."""
    file = tmp_path / "ch06_vjps.py"
    file.write_text(RIGHT.replace("x > 0", "x >= 0"))
    terminal = Terminal("/bin/bash", "-ic", f"{BACKPROP} watch ch06/relu_vjp & jobs -p; wait", cwd=tmp_path)
    try:
        terminal.wait("Stuck? backprop hint ch06/relu_vjp")
        terminal.wait("ch06_vjps.py; Ctrl-C ends it")
        terminal.type("h")
        file.write_text(RIGHT)
        terminal.wait("2 of 2 points")
        assert "hint 1" not in terminal.all
    finally:
        subprocess.run(["pkill", "-INT", "-s", str(terminal.pid)], check=False)
        os.kill(terminal.pid, signal.SIGHUP)
        os.waitpid(terminal.pid, 0)


def test_without_a_terminal_there_are_no_keys() -> None:
    with Keys() as keys:
        assert not keys.are_read
        assert keys.take() == ""
