"""Standard output of a command, which a full disk or a closed descriptor may refuse."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import NoReturn

from autograder.commands.exits import ExitStatus


class OutputError(OSError):
    """Standard output cannot be written."""


class Output(io.TextIOWrapper):
    """A text stream whose own errors are `OutputError`, so that no other file's error is taken for one of these."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:  # a reader who has read enough: libraries and commands end quietly
            raise
        except OSError as error:
            raise OutputError(*error.args) from error

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(*error.args) from error


def tell_its_errors() -> None:
    """Make standard output an `Output`. Without one, as where it was closed, nothing is printed."""
    old = sys.stdout
    if isinstance(old, io.TextIOWrapper):
        sys.stdout = Output(
            old.buffer, old.encoding, old.errors, line_buffering=old.line_buffering, write_through=old.write_through
        )


def flush_all() -> None:
    """Flush both streams. Raises `OutputError`; a reader who has closed the pipe is no error."""
    with contextlib.suppress(BrokenPipeError):
        if sys.stdout is not None:
            sys.stdout.flush()
    with contextlib.suppress(OSError):  # nowhere is left to say so
        if sys.stderr is not None:
            sys.stderr.flush()


def end_without(error: OutputError) -> NoReturn:
    """End this process with one line on standard error."""
    from autograder.commands.console import say

    with contextlib.suppress(OSError):
        say(f"the output cannot be written: {error.strerror}")
    os._exit(ExitStatus.FAILED)  # at its own end Python would try to write once more, and say so in three lines
