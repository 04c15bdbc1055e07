"""The command `backprop`. Commands import modules only when they run, so that `check` starts fast."""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import threading
import warnings
from typing import Annotated

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: starting threads takes longer than checks compute

import typer

from autograder.commands.again import REPLACEABLE
from autograder.commands.build import build
from autograder.commands.check import check
from autograder.commands.courses import AboutACourse
from autograder.commands.grade import grade
from autograder.commands.hint import hint
from autograder.commands.load import load
from autograder.commands.memory import memory
from autograder.commands.nbgrader import nbgrader
from autograder.commands.new import new
from autograder.commands.next import next_
from autograder.commands.output import OutputError, end_without, flush_all, tell_its_errors
from autograder.commands.read import read
from autograder.commands.release import release
from autograder.commands.report import report
from autograder.commands.reset import reset
from autograder.commands.salt import salt
from autograder.commands.save import save
from autograder.commands.similarity import similarity
from autograder.commands.solution import solution
from autograder.commands.start import start
from autograder.commands.status import status
from autograder.commands.trust import trust
from autograder.commands.watch import watch

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Learn backpropagation by writing it, and see at once what is wrong and why.",
)
OF_LEARNERS = (start, status, next_, check, watch, hint, reset, solution, save, load, read, trust)
OF_TEACHERS = (grade, report, similarity, release, nbgrader, salt, memory, new, build)
WITHOUT_A_COURSE = (memory, salt, trust)
for command in (*OF_LEARNERS, *OF_TEACHERS):
    app.command(command.__name__.rstrip("_"), cls=None if command in WITHOUT_A_COURSE else AboutACourse)(command)


def run() -> None:
    """Run the command line of a process that has no other task, so the command may re-execute it."""
    from autograder.commands.console import echo
    from course.own import CourseError

    tell_its_errors()
    if not sys.warnoptions:  # libraries' warnings are for programmers, such as nbformat's about notebooks without ids
        warnings.simplefilter("ignore")
    try:
        app(prog_name="backprop", obj=REPLACEABLE)
    except CourseError as error:
        echo(f"backprop: {error}", err=True)
        sys.exit(1)
    except OutputError as error:
        end_without(error)
    except SystemExit as end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all output is written
        if isinstance(end.code, int) and not _waits_for_threads():
            _end_at_once(end.code)
        raise


def _waits_for_threads() -> bool:
    """Whether Python would wait for other threads before it ends."""
    return any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())


def _end_at_once(status: int) -> None:
    """End this process without freeing its modules, which takes longer than a quick command."""
    atexit._run_exitfuncs()
    try:
        flush_all()
    except OutputError as error:
        end_without(error)
    os._exit(status)


def _say_version(wanted: bool) -> None:
    from autograder.commands.console import echo

    if wanted:
        from autograder.places import ROOT, Places
        from course.version import RELEASE

        echo(f"backprop {RELEASE}{'+answers' if Places(ROOT).solutions.is_dir() else ''}")
        raise typer.Exit


def _replace_unencodable() -> None:
    """Replace characters that a file or pipe cannot encode: on Windows, its encoding may lack ✓ and ×."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            utf_8 = sys.platform == "win32" and not stream.isatty() and "PYTHONIOENCODING" not in os.environ
            stream.reconfigure(encoding="utf-8" if utf_8 else None, errors="replace")


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    _replace_unencodable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # the process was a zygote; from here on it handles Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
