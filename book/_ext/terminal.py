"""The directives `terminal` (commands with their outputs) and `written` (a file), and the role `repo`.

`sessions` documents and runs them. The build fails if a command's exit status differs from the page's, or its output is
not of the kind that `expected_output` knows. Where submissions cannot be confined (macOS, an old kernel), no command is
run, and the page shows commands only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from expected_output import unexpected  # noqa: E402
from kept_runs import keep_said, said  # noqa: E402
from sessions import Step, follow, steps_of  # noqa: E402

from autograder.worker.landlock import landlock_abi  # noqa: E402
from course.published import published  # noqa: E402

logger = logging.getLogger(__name__)
MORE = "…"


class Typed(nodes.General, nodes.Element):
    """Placeholder for a terminal whose commands have not run yet."""


class Terminal(SphinxDirective):
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar = {
        "status": directives.nonnegative_int,
        "lines": directives.nonnegative_int,
        "quiet": directives.flag,
        "unrun": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        if "unrun" in self.options:
            return [_block("\n".join(self.content), "sh")]
        typed = Typed()
        self.set_source_info(typed)
        return [typed]


class Written(SphinxDirective):
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        file = self.arguments[0].rpartition(" ")[0].strip()
        block = _block("\n".join(self.content), file.rpartition(".")[2])
        return [nodes.paragraph("", "", nodes.literal("", file), nodes.Text(":")), block]


class Repo(SphinxRole):
    """The name of a file in the repository, with a link if the repository is published."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        if not (ROOT / self.text).exists():
            return [], [self.inliner.reporter.error(f"there is no {self.text}", line=self.lineno)]
        name, at = nodes.literal("", self.text), published().repository
        return [nodes.reference("", "", name, refuri=f"{at}/blob/main/{self.text}") if at else name], []


def _block(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


def type_them(app: Sphinx, doctree: nodes.document) -> None:
    """Run the page's sessions, and replace its terminals by their commands and outputs."""
    typed = list(doctree.findall(Typed))
    if not typed:
        return
    text = Path(app.env.doc2path(app.env.docname)).read_text(encoding="utf-8")
    steps = steps_of(text)
    for module in ("sessions.py", "class_exports.py", "expected_output.py"):
        app.env.note_dependency(str(Path(__file__).with_name(module)))
    runs = landlock_abi() >= 1
    if runs:
        run_or_recall(app.env.docname, text, steps)
    terminals = [step for step in steps if step.kind == "terminal" and step.runs]
    for node, step in zip(typed, terminals, strict=True):
        for fault in faults(step) if runs else ():
            logger.warning("%s", fault, location=node, type="terminal")
        text = "\n".join(_lines(step)) if runs else step.text.strip()
        block = _block(text, "console" if runs else "sh")
        block["classes"].append("terminal")
        node.replace_self(block)
    if not runs:
        logger.info("%s: its commands were not run, as submissions cannot be confined here", app.env.docname)


def run_or_recall(name: str, text: str, steps: list[Step]) -> None:
    """Run the steps, or recall what they said when nothing was wrong and all was as it is now."""
    kept = said(name, text)
    if kept is not None:
        for step, outputs in zip(steps, kept, strict=True):
            step.outputs = outputs
        return
    follow(steps)
    if not any(faults(step) for step in steps if step.kind == "terminal" and step.runs):
        keep_said(name, text, [step.outputs for step in steps])


def faults(step: Step) -> list[str]:
    """What is wrong with a terminal: an unexpected exit status or unexpected outputs."""
    if step.fault:
        return [step.fault]
    if len(step.outputs) < len(step.commands):
        return ["not typed, as a block before it has a fault"]
    statuses = [*[0] * (len(step.commands) - 1), int(step.options.get("status", 0))]
    found = [unexpected(*one) for one in zip(step.commands, step.outputs, statuses, strict=True)]
    return [fault for fault in found if fault]


def _lines(step: Step) -> Iterator[str]:
    """Commands after a prompt, each with the lines of its output that the page shows."""
    outputs = [*step.outputs, *[""] * len(step.commands)]
    for command, output in zip(step.commands, outputs, strict=False):
        first, *more = command.splitlines()
        yield f"$ {first}"
        yield from (f"> {line.strip()}" for line in more)
        if "quiet" in step.options:
            continue
        lines = [line.rstrip() for line in output.replace("\ufeff", "").splitlines()]
        most = int(step.options.get("lines", len(lines)))
        yield from lines[:most]
        if len(lines) > most:
            yield MORE


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(Typed)
    app.add_directive("terminal", Terminal)
    app.add_directive("written", Written)
    app.add_role("repo", Repo())
    app.connect("doctree-read", type_them)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
