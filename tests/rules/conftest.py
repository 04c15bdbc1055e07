"""The small course, whole, and `backprop build` of it."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest
from rule_course import CHAPTER, CHECKS, LESSONS, MISCONCEPTIONS, ORACLES, SOURCE, SYLLABUS

from autograder.authoring.rejections import rejections_text
from autograder.authoring.stubs import notebook_text, stub_notebook
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.places import file_of


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small course with nothing wrong."""
    root = tmp_path_factory.mktemp("template")
    (root / "course").mkdir()
    (root / "course" / "syllabus.toml").write_text(SYLLABUS, encoding="utf-8")
    course = Course.at(root)
    for slug, words in LESSONS.items():
        lesson = course.lessons[slug]
        words = {"SLUG": slug, "TITLE": lesson.title, "ANCHOR": lesson.exercises[0].anchor, **words}
        for path, text in (
            (course.source(slug), SOURCE),
            (course.chapter(slug), CHAPTER),
            (file_of(course.checks(slug), words["NAME"]), CHECKS),
            (file_of(course.mistakes(slug), words["NAME"]), MISCONCEPTIONS),
            (file_of(course.oracles(slug), words["NAME"]), ORACLES),
        ):
            for word, value in words.items():
                text = text.replace(word, value)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        notebook = course.notebook(slug)
        notebook.parent.mkdir(exist_ok=True)
        notebook.write_text(notebook_text(stub_notebook(lesson, root / "solutions")), encoding="utf-8")
        rejections = with_judge(lesson, partial(rejections_text, places=course), root=root)
        course.rejections(slug).write_text(rejections, encoding="utf-8")
    return root


@pytest.fixture
def whole(template: Path, tmp_path: Path) -> Course:
    """A copy of the small course, to break."""
    without_bytecode = shutil.ignore_patterns("__pycache__")  # it is taken for that of a text of one time and size
    return Course.at(Path(shutil.copytree(template, tmp_path / "course", ignore=without_bytecode)))
