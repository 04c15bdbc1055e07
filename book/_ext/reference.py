"""Four directives that generate the teachers' reference from the code.

`command NAME` gives a command's usage, text and options; `exit-statuses`, `report-formats` and `result-keys` are
tables.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, get_args

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import typer

from autograder.commands import app as backprop
from autograder.commands.exits import MEANINGS
from autograder.judging.records.status import ExerciseStatus, SubmissionStatus
from autograder.reports.formats import MAKERS
from autograder.reports.result_keys import KEYS

COMMANDS: dict[str, Any] = typer.main.get_command(backprop).commands  # type: ignore[attr-defined]
NAMES = ("a hand-in", "each of its `exercises`", "each of their `checks`")


class Lines(SphinxDirective):
    """A directive whose content, in MyST, comes from `lines()`."""

    def run(self) -> list[nodes.Node]:
        body = nodes.container()
        self.state.nested_parse(StringList(self.lines(), self.env.docname), self.content_offset, body)
        return body.children

    def lines(self) -> list[str]:
        raise NotImplementedError


class Command(Lines):
    required_arguments = 1
    option_spec: ClassVar = {}

    def lines(self) -> list[str]:
        name = self.arguments[0]
        if name not in COMMANDS:
            raise self.error(f"there is no command {name!r}; there are {', '.join(COMMANDS)}")
        command = COMMANDS[name]
        places = " ".join(_metavar(one) for one in command.params if one.param_type_name == "argument")
        said = [" ".join(part.split()) for part in inspect.cleandoc(command.help).split("\n\n")]
        rows = [(_names(one), _says(one)) for one in command.params if not one.hidden]
        return [
            "```sh",
            " ".join(filter(None, ["backprop", name, places, "[options]"])),
            "```",
            "",
            *(line for part in said for line in (part, "")),
            *_table(("argument or option", "what it says"), rows),
        ]


class ExitStatuses(Lines):
    def lines(self) -> list[str]:
        return _table(("status", "what it says"), [(f"`{int(one)}`", says) for one, says in MEANINGS.items()])


class ReportFormats(Lines):
    def lines(self) -> list[str]:
        rows = []
        for name, (module, maker) in MAKERS.items():
            first = inspect.cleandoc(getattr(import_module(module), maker).__doc__).split("\n\n")[0]
            rows.append((f"`{name}`", " ".join(first.split())))
        return _table(("format", "what it writes"), rows)


class ResultKeys(Lines):
    def lines(self) -> list[str]:
        found: list[str] = []
        for name, keys in zip(NAMES, KEYS.values(), strict=True):
            found += [f"**Of {name}**", "", *_table(("key", "what it says"), [(f"`{key}`", keys[key]) for key in keys])]
        for name, values in (("a hand-in", SubmissionStatus), ("an exercise", ExerciseStatus)):
            found += [f"The `status` of {name} is " + _either([f"`{one}`" for one in get_args(values)]) + ".", ""]
        return found


def _metavar(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return str(name) if argument.required or "[" in name else f"[{name}]"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_metavar(parameter)}`"
    kind = "" if parameter.is_flag else f" {parameter.type.name.upper()}"
    names = " / ".join([*parameter.opts, *parameter.secondary_opts])
    return f"`{names}{kind}`"


def _says(parameter: Any) -> str:
    """A parameter's help, with its default and environment variable."""
    shown, default = parameter.show_default, parameter.default
    also = []
    if isinstance(shown, str):
        also.append(f"If left out: {shown}.")
    elif shown and default not in (None, False, ()) and not parameter.required:
        also.append(f"If left out: `{default}`.")
    if getattr(parameter, "envvar", None):
        also.append(f"Or the variable `{parameter.envvar}`.")
    return " ".join([*(parameter.help or "").split(), *also])


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> list[str]:
    if not rows:
        return []
    return [
        "| " + " | ".join(head) + " |",
        "| --- | --- |",
        *(f"| {_cell(name)} | {_cell(says)} |" for name, says in rows),
        "",
    ]


def _cell(text: str) -> str:
    """A table's cell: escape all markup except code, and mark options as code."""
    parts = re.split(r"(`[^`]*`)", text)
    plain = [part if part.startswith("`") else re.sub(r"(?<!\w)(--[a-z][\w-]*)", r"`\1`", part) for part in parts]
    escaped = [part if part.startswith("`") else re.sub(r"([<_*])", r"\\\1", part) for part in plain]
    return "".join(escaped).replace("|", r"\|")


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("command", Command)
    app.add_directive("exit-statuses", ExitStatuses)
    app.add_directive("report-formats", ReportFormats)
    app.add_directive("result-keys", ResultKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
