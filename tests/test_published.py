"""The setting for the addresses of book and repository, and its effect on notebooks, feedback and pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder import sections
from autograder.authoring import stubs
from autograder.notebook.feedback import Feedback
from course import published as setting
from course.published import Published, read_published
from course.syllabus import SyllabusError, find_lesson, syllabus

ROOT = Path(__file__).parents[1]
BOOK = Published("https://book.example/course", "https://github.com/someone/course")
RELU = find_lesson("ch06_vjps").exercise("relu_vjp")
WRONG = {"exercises": [{"name": "relu_vjp", "status": "failed", "points": 1, "max_points": 2, "message": "No."}]}


@pytest.fixture(autouse=True)
def _nobody_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(setting.VARIABLE, raising=False)
    monkeypatch.setattr(setting, "published", Published)


def test_a_setting_is_two_addresses_or_nothing(tmp_path: Path) -> None:
    file = tmp_path / "published.toml"
    file.write_text('book = "https://book.example/course/"\nrepository = "https://github.com/someone/course.git"')
    assert read_published(file) == BOOK
    file.write_text('book = ""')
    assert read_published(file) == Published()
    read_published(setting.PUBLISHED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('book = "book.example"', "published.toml: book must be an address (https://...) or empty"),
        ("book = 3", "must be an address"),
        ('book = "javascript:alert(1)"', "must be an address"),
        ('book = "https://book.example/)x"', "must be an address"),
        ('boook = ""', "published.toml: 'boook' means nothing here"),
        ("book = ", "published.toml is no TOML"),
    ],
)
def test_what_is_no_setting_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "published.toml"
    file.write_text(text)
    with pytest.raises(SyllabusError) as error:
        read_published(file)
    assert said in str(error.value)
    assert "\n" not in str(error.value).strip()


def test_an_issue_begins_with_title_and_text() -> None:
    assert Published().new_issue("a", "b") == ""
    assert BOOK.new_issue("a & b", "c\nd") == "https://github.com/someone/course/issues/new?title=a+%26+b&body=c%0Ad"
    gitlab = Published("", "https://gitlab.example/someone/course")
    assert gitlab.new_issue("a", "b") == (
        "https://gitlab.example/someone/course/-/issues/new?issue%5Btitle%5D=a&issue%5Bdescription%5D=b"
    )


def test_pages_have_addresses_and_colab_opens_what_is_on_github() -> None:
    assert BOOK.page("ch06_vjps") == "https://book.example/course/ch06_vjps.html"
    assert BOOK.page("ch06_vjps", "ch06-why") == "https://book.example/course/ch06_vjps.html#ch06-why"
    assert BOOK.colab("ch06_vjps").endswith("/github/someone/course/blob/main/exercises/ch06_vjps.ipynb")
    assert Published().page("ch06_vjps", "ch06-why") == ""
    assert Published("", "https://git.example/someone/course").colab("ch06_vjps") == ""


def test_a_link_leads_to_the_page_and_without_an_address_names_the_command() -> None:
    to = "../book/ch06_vjps.md"
    text = f"[Chapter]({to}), [section]({to}#ch06-relu-vjp), [why]({to}#ch06-why)."
    assert sections.with_links(text, Published()) == (
        "Chapter (`backprop read ch06` shows it), section: `backprop read ch06/relu_vjp`, "
        "why: `backprop read ch06-why`."
    )
    assert sections.with_links(text, BOOK) == (
        "[Chapter](https://book.example/course/ch06_vjps.html) (`backprop read ch06` shows it offline), "
        "[section](https://book.example/course/ch06_vjps.html#ch06-relu-vjp), "
        "[why](https://book.example/course/ch06_vjps.html#ch06-why)."
    )


@pytest.mark.parametrize("slug", syllabus())
def test_every_notebook_says_where_each_exercise_is_taught(slug: str) -> None:
    """In the notebook as built, for any setting; and in its source with an address."""
    lesson = find_lesson(slug)
    cells = json.loads((ROOT / "exercises" / f"{slug}.ipynb").read_text(encoding="utf-8"))["cells"]
    built = "\n".join("".join(cell["source"]) for cell in cells)
    linked = sections.with_links((ROOT / "solutions" / f"{slug}.py").read_text(encoding="utf-8"), BOOK)
    places = read_published(setting.PUBLISHED)
    for text in (built, linked):
        assert "](../" not in text, "a link that leads nowhere from the folder of a learner"
        assert f"`backprop read {slug[:4]}`" in text, "there may be no network"
    for exercise in lesson.exercises:
        command = f": `backprop read {slug[:4]}/{exercise.name}`"
        assert (f"]({places.page(slug, exercise.anchor)})" if places.book else command) in built
        assert f"]({BOOK.page(slug, exercise.anchor)})" in linked


def test_a_notebook_offers_colab_where_a_repository_is(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = find_lesson("ch09_vanishing_gradients")
    monkeypatch.setattr(stubs, "published", Published)
    assert not [cell for cell in stubs.stub_notebook(lesson).cells if "colab" in cell.source.lower()]
    monkeypatch.setattr(stubs, "published", lambda: BOOK)
    (first,) = [cell for cell in stubs.stub_notebook(lesson).cells if "colab" in cell.source.lower()]
    assert first.source.startswith("# ")
    assert f"[Open in Colab]({BOOK.colab(lesson.slug)})" in first.source
    assert "run `%pip install -q git+https://github.com/someone/course`" in first.source


def feedback() -> Feedback:
    result = {**WRONG, "message": ""}
    return Feedback(RELU, result, hints=0)


def test_feedback_leads_to_the_section(monkeypatch: pytest.MonkeyPatch) -> None:
    without = feedback()
    assert "Section: backprop read ch06/relu_vjp" in without.text
    assert "<a " not in without._repr_mimebundle_()["text/html"]
    monkeypatch.setenv(setting.VARIABLE, "https://mirror.example/book/")
    linked = feedback()
    assert "https://mirror.example/book/ch06_vjps.html#ch06-relu-vjp" in linked.text
    assert "href='https://mirror.example/book/ch06_vjps.html#ch06-relu-vjp'" in linked._repr_mimebundle_()["text/html"]


def test_a_variable_that_is_no_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(setting.VARIABLE, "here")
    with pytest.raises(SyllabusError, match="the variable BACKPROP_BOOK must be an address"):
        sections.where_to_read(RELU)
