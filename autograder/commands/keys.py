"""Reads single keys from the terminal while a command waits for something else."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType

LOOK_AGAIN = 0.05
"""Seconds between two looks for a key, where a process cannot wait for one."""


class Keys:
    """The keys that are typed while the context is open, without Enter and without an echo.

    There are none if input or output is no terminal, nor in the background, where reading would stop the process.
    """

    def __init__(self) -> None:
        self.pressed = threading.Event()
        """Set while a key waits to be taken."""
        self.are_read = False
        self._typed: deque[str] = deque()
        self._ends = threading.Event()
        self._exits = ExitStack()

    def __enter__(self) -> Keys:
        if sys.stdin.isatty() and sys.stdout.isatty():
            read = _of_windows() if sys.platform == "win32" else _of_posix(self._exits)
            if read is not None:
                self.are_read = True
                thread = threading.Thread(target=self._collect, args=(read,), daemon=True)
                thread.start()
                self._exits.callback(thread.join)  # before the terminal is as it was
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ends.set()
        self._exits.close()

    def take(self) -> str:
        """The key typed first of those not taken yet, in lower case; "" if there is none."""
        self.pressed.clear()
        key = self._typed.popleft() if self._typed else ""
        if self._typed:
            self.pressed.set()
        return key

    def _collect(self, read: Callable[[], str]) -> None:
        while not self._ends.is_set():
            for key in read():
                self._typed.append(key.lower())
                self.pressed.set()


def _of_posix(exits: ExitStack) -> Callable[[], str] | None:
    """A function that waits briefly for keys and returns them; `exits` puts the terminal back as it was."""
    import select
    import signal
    import termios
    import tty

    terminal = sys.stdin.fileno()

    def in_the_foreground() -> bool:
        with suppress(OSError):
            return os.tcgetpgrp(terminal) == os.getpgrp()
        return False

    if not in_the_foreground():
        return None
    before = termios.tcgetattr(terminal)

    def take_it(*_: object) -> None:
        if in_the_foreground():
            tty.setcbreak(terminal)

    def give_it_back() -> None:
        if in_the_foreground():
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    take_it()
    exits.callback(give_it_back)
    exits.callback(signal.signal, signal.SIGCONT, signal.signal(signal.SIGCONT, take_it))  # after Ctrl-Z

    def read() -> str:
        with suppress(OSError):
            if not select.select([terminal], [], [], LOOK_AGAIN)[0]:
                return ""
            if in_the_foreground():
                typed = os.read(terminal, 64).decode(errors="replace")
                return "" if typed.startswith("\x1b") else typed  # Home and F4 are an escape and letters
        time.sleep(LOOK_AGAIN)
        return ""

    return read


def _of_windows() -> Callable[[], str]:
    """The same for the console of Windows, which needs no change."""
    import msvcrt

    def read() -> str:
        if msvcrt.kbhit():  # type: ignore[attr-defined]
            key = str(msvcrt.getwch())  # type: ignore[attr-defined]
            if key in ("\0", "\xe0"):  # an arrow or a function key, named by the next one
                msvcrt.getwch()  # type: ignore[attr-defined]
                return ""
            return key
        time.sleep(LOOK_AGAIN)
        return ""

    return read
