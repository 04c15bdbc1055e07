"""Pages and the dashboard: text stays text, nothing runs, figures are right, and a phone shows them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import Visit, served, visit
from hostile_results import EVIL, LESSON, NAMES, Command, a_result, read_csv, texts, unreadable, worth, write
from lxml import html

from autograder.reports.safety import file_stem
from autograder.wording import clean
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


PHONE = 360
"""Width in CSS pixels of a small phone."""


# Pages
@pytest.fixture(scope="module")
def pages(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages of the hostile class."""
    from typer.testing import CliRunner

    from autograder.commands import app

    out = tmp_path_factory.mktemp("pages")
    options = ["--format", "html", "--out", str(out), "--book-url", "https://book.example/", "--hidden", "visible"]
    assert CliRunner().invoke(app, ["report", str(hostile), *options]).exit_code == 0
    return out


def test_pages_lead_to_the_published_book_unless_another_is_named(hostile: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from autograder.commands import app

    order = ["report", str(hostile), "--student", "ann", "--format", "html", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, order, env={"BACKPROP_BOOK": "https://published.example/"})
    assert done.exit_code == 0
    assert "--book-url" not in done.output
    page = html.fromstring((tmp_path / "students" / "ann.html").read_bytes())
    address = "https://published.example/ch06_vjps.html#ch06-mul-vjp"
    assert address in page.xpath("//a/@href")


def test_a_page_a_student_and_a_dashboard_hold_what_learners_wrote_as_text(pages: Path, bytes_before: Any) -> None:
    files = [pages / "index.html", *sorted((pages / "students").iterdir())]
    assert len(files) == 1 + len(NAMES)
    ours = re.compile(r"^(https://book\.example/ch0[67]\w+\.html(#[\w-]+)?|#[\w-]+|students/[a-z0-9._~-]+\.html)$")
    for file in files:
        page = html.fromstring(file.read_bytes())
        scripts = page.xpath("//script")
        assert len(scripts) == (file.parent == pages)
        assert not page.xpath("//img | //iframe | //base | //link | //object | //form[@action]")
        assert len(page.xpath("//style")) == 1
        assert len(page.xpath("//meta[@http-equiv]")) == 1
        assert not page.xpath("//@*[starts-with(name(), 'on')] | //@style | //@src")
        assert all(ours.match(address) for address in page.xpath("//@href"))
        assert "49" not in texts(page.find("body").find("header")), "a template in a name"
    ann = html.fromstring((pages / "students" / "ann.html").read_bytes())
    assert texts(ann.xpath("//h1")[0]) == "ann"
    mistake = ann.get_element_by_id("ch06-vjps-mul-vjp")
    assert texts(mistake.xpath(".//p[contains(@class, 'lead')]")[0]) == EVIL.splitlines()[0]
    case = texts(mistake.find("pre"))
    assert case.startswith("  ]]> --> ``` ```` | | \\x00\\x08\\x0b\\x1b[2J\\ufffe\\ud800 \\u202e *nan")
    assert [texts(mark) for mark in mistake.xpath("pre/mark")] == ["*nan"]
    hints = find_lesson(LESSON).exercise("mul_vjp").hints
    staged = [texts(hint.find("p")) for hint in mistake.xpath(".//details[@class='hint']")]
    assert staged == [hint.replace("`", "") for hint in hints]
    assert len(mistake.xpath("./details[@class='hint']")) == 1, "the next hint lies in the one before"
    assert mistake.xpath(".//a/@href") == ["https://book.example/ch06_vjps.html#ch06-mul-vjp"]
    assert {texts(row[2]) for row in mistake.xpath(".//tbody/tr")} == {"value", "instrumented"}
    everything = texts(ann)
    assert hashlib.sha256(b"ann").hexdigest() in everything
    assert "Landlock ABI 7" in everything
    assert 'x"><svg onload=alert(1)>.py' in everything


def test_the_dashboard_counts(pages: Path) -> None:
    page = html.fromstring((pages / "index.html").read_bytes())
    rows = page.get_element_by_id("table").find("tbody")
    assert [texts(row[0]) for row in rows] == [clean(name, 60) for name in sorted(NAMES)]
    linked = [pages / address for address in page.xpath("//table[@id='table']//a/@href")]
    assert sorted(linked) == sorted((pages / "students").iterdir())
    mistakes = page.xpath("//ol[@class='mistakes']/li")
    assert [texts(entry[0]) for entry in mistakes] == [str(len(NAMES))]
    counts = {
        texts(row[0]).split()[0]: (texts(row[1]), texts(row[2]))
        for row in page.xpath("//table[@class='exercises']//tr")
    }
    assert counts["add_vjp"] == ("100 %", "0")
    assert counts["mul_vjp"] == ("0 %", str(len(NAMES)))
    assert counts["relu_vjp"] == ("0 %", "0")
    assert len(page.xpath("//*[local-name()='svg'][@role='img']")) == 2
    assert "unreadable" in texts(page.get_element_by_id("overview"))


@pytest.fixture(scope="module")
def opened(pages: Path) -> dict[str, Visit]:
    """Some pages, opened from the disk as an instructor opens them."""
    names = ["index.html", "students/ann.html", f"students/{file_stem(NAMES[12])}.html"]
    return {name: visit((pages / name).as_uri()) for name in names}


def dashboard(backprop: Command, results: Path, *options: str) -> Any:
    """The dashboard of a class."""
    done = backprop("report", results, "--format", "html,csv", *options)
    assert done.returncode == 0, done.stderr
    return html.fromstring((results / "__reports__" / "index.html").read_bytes())


def test_versions_of_the_grader_are_compared_within_a_lesson(backprop: Command, tmp_path: Path) -> None:
    """Each lesson has a grader's version of its own."""
    other = a_result("ann", lesson="ch07_mlp_backprop", message="wrong")
    other.grader_version = "0.1.0+def"
    write(tmp_path / "results", a_result("ann", message="wrong"), other)
    overview = texts(dashboard(backprop, tmp_path / "results").get_element_by_id("overview"))
    assert "versions of the grader" not in overview
    old = a_result("bob", message="wrong")
    old.grader_version = "0.1.0+old"
    write(tmp_path / "results", old)
    overview = texts(dashboard(backprop, tmp_path / "results").get_element_by_id("overview"))
    assert "Results of 2 versions of the grader of ch06_vjps lie here" in overview
    assert "ch07" not in overview


def test_shares_are_of_what_was_due(backprop: Command, tmp_path: Path) -> None:
    ch07, ch09 = "ch07_mlp_backprop", "ch09_vanishing_gradients"
    due = worth(LESSON, ch09)
    early = a_result("bob", lesson=ch07, message="wrong")
    write(tmp_path / "results", a_result("ann", message="wrong"), a_result("bob", message="wrong"), early)

    def shares(page: Any) -> dict[str, str]:
        return {texts(row[0]): row[1].get("data-value") for row in page.get_element_by_id("table").find("tbody")}

    assert shares(dashboard(backprop, tmp_path / "results"))["ann"] == str(int(100 * 4.5 / float(worth(LESSON, ch07))))
    page = dashboard(backprop, tmp_path / "results", "--due", "ch06,ch9", "--title", "Autumn <1>")
    assert shares(page) == dict.fromkeys(("ann", "bob"), str(int(100 * 4.5 / float(due))))
    assert f"Shares are of the {due} points of {LESSON}, {ch09}: what was due" in texts(page)
    assert texts(page.xpath("//h1")[0]) == "Autumn <1>"
    assert page.find("head/title").text == "Autumn <1>: 2 students"
    reports = tmp_path / "results" / "__reports__"
    for row in read_csv(reports / "grades.csv"):
        assert (row["total"], row["total max"], row[f"{ch09} max"]) == ("4.5", due, worth(ch09))
    bob = texts(html.fromstring((reports / "students" / "bob.html").read_bytes()))
    assert f"4.5 of {due} points" in " ".join(bob.split())
    assert "not handed in" in bob
    assert bob.count("was not due") == 1, "of ch07"
    backprop("report", tmp_path / "results", "--format", "gradescope", "--student", "bob", "--due", "ch06,ch9")
    assert json.loads((reports / "gradescope" / "results.json").read_text(encoding="utf-8"))["score"] == 4.5


def test_scores_are_shown_with_their_maxima_and_the_page_is_not_called_after_a_folder(
    backprop: Command, tmp_path: Path
) -> None:
    write(tmp_path / "res", a_result("ann", message="wrong"))
    page = dashboard(backprop, tmp_path / "res")
    (row,) = page.get_element_by_id("table").find("tbody")
    assert texts(row[2]) == f"4.5/{worth(LESSON)}"
    assert page.find("head/title").text == "Backprop, by hand: 1 student"


@pytest.mark.parametrize("hidden", ["hidden", "after_due_date", "visible"])
def test_pages_show_checks_on_hidden_inputs_where_students_may_see_them(
    backprop: Command, tmp_path: Path, hidden: str
) -> None:
    write(tmp_path / "results", a_result("ann", message="wrong"))
    done = backprop("report", tmp_path / "results", "--format", "html", "--student", "ann", "--hidden", hidden)
    assert done.returncode == 0, done.stderr
    page = html.fromstring((tmp_path / "results" / "__reports__" / "students" / "ann.html").read_bytes())
    checks = page.get_element_by_id("ch06-vjps-mul-vjp").find_class("checks")[0]
    kinds = [texts(row[1]) for row in checks.find_class("wide")[0].iter("tr")][1:]
    assert kinds == (["visible", "hidden"] if hidden == "visible" else ["visible"])
    counted = "and 1 on hidden inputs, of which 0 pass"
    assert (counted in texts(checks.find("summary"))) == (hidden != "visible")


def test_pages_run_nothing_and_ask_nobody(opened: dict[str, Visit]) -> None:
    for name, seen in opened.items():
        assert [url for url in seen.requests if not url.startswith("file:")] == [], name
        assert seen.console == [], name
        page = html.fromstring(seen.dom)
        assert len(page.xpath("//script")) == (name == "index.html")
        assert not page.xpath("//img | //base | //@*[starts-with(name(), 'on')]")
        assert page.find("head/title").text != "pwned"
        assert "</footer>" in seen.dom


def test_the_policy_holds_where_escaping_would_fail(pages: Path, tmp_path: Path) -> None:
    """The same hostile text as markup: the browser refuses it, and does not without the policy."""
    safe = (pages / "students" / "ann.html").read_text(encoding="utf-8")
    attack = "<img src='http://evil.example/i'><script>fetch('http://evil.example/s')</script><p id=x onclick=1>"
    broken = safe.replace("</main>", f"{attack}</main>")
    bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", broken)
    for name, page in (("broken", broken), ("bare", bare)):
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    assert [url for url in visit((tmp_path / "broken.html").as_uri()).requests if "evil" in url] == []
    reached = [url for url in visit((tmp_path / "bare.html").as_uri()).requests if "evil" in url]
    assert sorted(reached) == ["http://evil.example/i", "http://evil.example/s"]


USE = """<script>
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const frame = document.querySelector("iframe");
function say(name, value) {
  const line = document.createElement("b");
  line.title = name;
  line.textContent = value;
  document.body.append(line);
}
frame.onload = async () => {
  const page = frame.contentDocument, table = page.getElementById("table");
  const shown = () => Array.from(table.tBodies[0].rows).filter((row) => !row.hidden);
  const names = () => shown().map((row) => row.cells[0].textContent);
  function type(id, value) {
    page.getElementById(id).value = value;
    page.getElementById(id).dispatchEvent(new Event("input", { bubbles: true }));
  }
  say("width", page.documentElement.scrollWidth);
  say("first", names().length);
  page.getElementById("more").click();
  say("all", names().length);
  const share = table.tHead.rows[0].cells[1];
  share.querySelector("button").click();
  say("lowest", names()[0]);
  share.querySelector("button").click();
  say("highest", names()[0] + " " + share.getAttribute("aria-sort"));
  type("filter-name", "-7");
  say("named", names().sort().join());
  type("filter-name", "");
  page.querySelector("button[data-stuck]").click();
  await wait(50);
  say("stuck", page.getElementById("filter-stuck").value + " " + page.getElementById("shown").value);
  page.querySelector("button[type=reset]").click();
  await wait(50);
  page.querySelector("button[data-status]").click();
  await wait(50);
  say("lost", names().join());
  say("sized", Array.from(page.querySelectorAll("svg.figure text")).some((text) => text.getBBox().width > 0));
  say("ink", page.defaultView.getComputedStyle(page.querySelector("svg.figure text")).fill);
};
</script>"""


def test_the_dashboard_is_used_on_a_phone(backprop: Command, tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "out"
    for i in range(150):
        result = a_result(f"student-{i}", message="wrong")
        result.points = float(i % 60) if i != 77 else float(worth(LESSON))
        if i >= 140:
            result.exercises[1].status = "passed"
        write(results, result)
    write(results, unreadable("student-3"))
    assert backprop("report", results, "--format", "html", "--out", out).returncode == 0
    (out / "use.html").write_text(f'<iframe width="{PHONE}" height="700" src="index.html"></iframe>{USE}')
    with served(out) as site:
        seen = visit(f"{site}/use.html")
    assert seen.console == []
    said = dict(re.findall(r'<b title="(\w+)">([^<]*)</b>', seen.dom))
    assert int(said["width"]) <= PHONE
    assert (said["first"], said["all"]) == ("100", "150")
    assert said["lowest"] in ("student-0", "student-60", "student-120")
    assert said["highest"] == "student-77 descending"
    assert said["named"] == ",".join(["student-7", *(f"student-{i}" for i in range(70, 80))])
    assert said["stuck"] == "ch06_vjps/mul_vjp 140 of 150 students"
    assert said["lost"] == "student-3"
    assert (said["sized"], said["ink"]) == ("true", "rgb(86, 96, 114)"), "in the page's color"
