"""The command `backprop`. Each command imports what it needs when it runs: `check` has to start fast."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: starting threads costs more than checks compute

import typer

from autograder.commands.build import build
from autograder.commands.check import check
from autograder.commands.grade import grade
from autograder.commands.report import report
from autograder.commands.start import start
from autograder.commands.watch import watch

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Learn backpropagation by writing it, and see at once what is wrong and why.",
)
for command in (start, check, watch, grade, report, build):
    app.command()(command)
