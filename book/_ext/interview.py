"""The `interview-questions` directive: lists the interview questions of all chapters on one page.

It reads them from the chapters' sources. The answers are in the chapters, to which the list links.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HEADING = "## Interview questions"
_QUESTION = re.compile(r"^:{3,}\{dropdown\} (.+)$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def questions_of(chapter: str) -> list[str]:
    """The questions in a chapter's source, in order."""
    _, _, after = chapter.partition(f"\n{HEADING}\n")
    return _QUESTION.findall(after.partition("\n## ")[0])


class InterviewQuestions(SphinxDirective):
    """The questions of each chapter that has some, in the order of the table of contents. No arguments."""

    def run(self) -> list[nodes.Node]:
        lines: list[str] = []
        for name in self.env.external_site_map:
            file = Path(self.env.doc2path(name))
            text = file.read_text(encoding="utf-8")
            questions = questions_of(text)
            title = _TITLE.search(text)
            if questions and title:
                self.env.note_dependency(str(file))
                lines += [f"**[{title[1]}]({file.name}#interview-questions)**", ""]
                lines += [f"{number}. {question}" for number, question in enumerate(questions, 1)] + [""]
        if not lines:
            raise self.error(f"no chapter has a section {HEADING!r}")
        body = nodes.container()
        self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, body)
        return body.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("interview-questions", InterviewQuestions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
