"""Whatever is handed in, under any name, the commands grade it or list it, and lose no result."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from browser import visit
from hand_ins import CANVAS, Command, class_of, zipped
from lxml import html

from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


ROOT = Path(__file__).resolve().parents[1]


# The commands
def test_every_report_has_rows_for_unrecognised_files(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps (1).ipynb", "ann/essay.md", "bob/ch99.pdf", "cy/ch06_vjps.ipynb")
    done = backprop("grade", "class", "--out", "res")
    assert done.returncode == 3, done.stderr
    assert "backprop: bob/ch99.pdf: no lesson of that name" in done.stderr
    assert "4 submissions: 2 graded, 2 not recognised" in " ".join(done.stdout.split())
    result = json.loads((tmp_path / "res" / "students" / "ann" / "ch06_vjps.json").read_text())
    assert result["message"] == "'ch06_vjps (1).ipynb' was graded as ch06_vjps, by its name."
    again = backprop("grade", "class", "--out", "res")
    assert (again.returncode, "2 submissions are graded already" in again.stderr) == (3, True)

    formats = "terminal,html,csv,junit,gradescope,github"
    shown = backprop("report", "res", "--format", formats, env={"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")})
    assert shown.returncode == 0, shown.stderr
    assert "not recognised: ch99.pdf" in shown.stdout
    reports = tmp_path / "res" / "__reports__"
    page = html.fromstring((reports / "index.html").read_bytes())
    table = {row[0].text_content(): row for row in page.get_element_by_id("table").find("tbody")}
    assert table["bob"].get("data-status") == "not recognised"
    assert "not recognised: ch99.pdf" in table["bob"].text_content()
    assert "2 not recognised" in " ".join(page.get_element_by_id("overview").text_content().split())
    for student in ("ann", "bob"):
        own = html.fromstring((reports / "students" / f"{student}.html").read_bytes())
        assert "not recognised" in own.get_element_by_id("uncounted").getparent().text_content()
        assert "Everything that was handed in passes" not in own.text_content()
    grades = list(csv.DictReader((reports / "grades.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert {row["student"]: "not recognised" in row["remark"] for row in grades} == {
        "ann": True,
        "bob": True,
        "cy": False,
    }
    long = list(csv.DictReader((reports / "exercises.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [row["student"] for row in long if row["status"] == "not recognised"] == ["ann", "bob"]
    assert 'name="bob/ch99.pdf"' in (reports / "junit.xml").read_text()
    assert "not recognised" in (reports / "gradescope" / "bob.json").read_text()
    assert "not recognised" in (tmp_path / "summary.md").read_text()
    data = json.loads(backprop("report", "res", "--format", "json").stdout)
    assert [(one["student"], one["status"]) for one in data] == [
        ("ann", "graded"),
        ("ann", "not recognised"),
        ("bob", "not recognised"),
        ("cy", "graded"),
    ]


def test_a_report_has_all_remarks_on_a_hand_in(backprop: Command, tmp_path: Path) -> None:
    """A whole lesson under a wrong name, beside an unrecognised file; a late one; a file of no student."""
    perfect = (ROOT / "autograder" / "sample_class" / "ada-perfect" / "ch03_accumulation.ipynb").read_text()
    class_of(
        tmp_path / "class", "ann_1_2_ch03.ipynb", "ann_1_3_x.pdf", "bob_LATE_4_5_ch03_accumulation.ipynb", "ch03.py"
    )
    (tmp_path / "class" / "ann_1_2_ch03.ipynb").write_text(perfect)
    (tmp_path / "class" / "bob_LATE_4_5_ch03_accumulation.ipynb").write_text("{")
    assert backprop("grade", "class", "--out", "res").returncode == 3
    assert backprop("report", "res", "--format", "html,csv").returncode == 0
    reports = tmp_path / "res" / "__reports__"
    own = (reports / "students" / "ann_1.html").read_text()
    assert "All that was recognised passes; look at what is not counted." in own
    assert "Everything that was handed in passes" not in own
    grades = {row["student"]: row for row in csv.DictReader((reports / "grades.csv").open(encoding="utf-8-sig"))}
    assert grades["ann_1"]["remark"].startswith("ch03_accumulation: graded: 'ch03.ipynb' was graded as ch03_accum")
    assert "by its name; not recognised: ann_1_3_x.pdf: no lesson" in grades["ann_1"]["remark"]
    assert grades["bob_4"]["remark"].startswith(
        "ch03_accumulation: unreadable: bob_LATE_4_5_ch03_accumulation.ipynb: line 1 is not JSON"
    )
    assert grades["bob_4"]["remark"].endswith("save it again. Canvas says that this was handed in late")
    page = html.fromstring((reports / "index.html").read_bytes())
    assert page.get_element_by_id("overview").text_content().split()[:2] == ["2", "students"], "nobody is none"
    assert len(page.get_element_by_id("table").find("tbody")) == 3
    assert visit((reports / "index.html").as_uri()).dom.count("2 of 2 students") == 1


def test_a_class_can_be_a_zip(backprop: Command, tmp_path: Path) -> None:
    zipped(class_of(tmp_path / "export", *CANVAS[:3]), tmp_path / "submissions.zip")
    done = backprop("grade", "submissions.zip", "--out", "res")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "res" / "students" / "otherann_12346" / "ch06_vjps.json").is_file()
    assert sorted(path.name for path in (tmp_path / "res").iterdir() if path.name.startswith(".")) == [
        ".hand-ins.json",
        ".lock",
    ]
    assert "3 submissions are graded already" in backprop("grade", "submissions.zip", "--out", "res").stderr
    (tmp_path / "submissions.zip").write_bytes(b"PK\3\4")
    broken = backprop("grade", "submissions.zip", "--out", "res")
    assert broken.returncode == 2
    assert broken.stderr.startswith("backprop: submissions.zip: this is no zip that can be unpacked")
    assert len(broken.stderr.splitlines()) == 1


def test_another_salt_is_refused_without_regrade(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")

    def salt() -> str:
        return str(json.loads((tmp_path / "res" / "students" / "ann" / "ch06_vjps.json").read_text())["salt_sha256"])

    assert backprop("grade", "class", "--out", "res", "--salt", "one salt of tests, kept by no class").returncode == 0
    first = salt()
    for options, says in (
        ((), "res was graded with a salt, and none is given now; give it (--salt or BACKPROP_SALT), or say --regrade"),
        (
            ("--salt", "two salts of tests, kept by no class"),
            "res was graded with another salt; give that one, or say --regrade",
        ),
        (("--salt", "two salts of tests, kept by no class", "--diff"), "res was graded with another salt"),
    ):
        done = backprop("grade", "class", "--out", "res", *options)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert salt() == first
    record = tmp_path / "res" / ".hand-ins.json"
    assert "one" not in json.loads(record.read_text())["salt_sha256"]
    record.unlink()  # as older versions left it
    assert backprop("grade", "class", "--out", "res").returncode == 2
    assert backprop("grade", "class", "--out", "res", "--regrade").returncode == 0
    assert salt() != first
    stopped = backprop("grade", "class", "--out", "res", "--salt", "one salt of tests, kept by no class")
    assert "res was graded without a salt, and one is given now; leave it out" in stopped.stderr


def test_a_deleted_hand_in_does_not_count_and_one_elsewhere_does(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py", "bob/ch06_vjps.py", "bob/ch07_mlp_backprop.py")
    class_of(tmp_path / "late", "cy/ch06_vjps.py")
    assert backprop("grade", "class", "--out", "res").returncode == 0

    def summary() -> list[str]:
        data = json.loads((tmp_path / "res" / "class.json").read_text())
        return [f"{row['student']}/{row['lesson'][:4]}" for row in data["submissions"]]

    other = backprop("grade", "late", "--out", "res")
    assert "3 submissions of other class folders are in res too, and stay as they are" in other.stderr
    assert summary() == ["ann/ch06", "bob/ch06", "bob/ch07", "cy/ch06"]
    assert "ann" not in other.stdout, "the table is of this class folder"
    class_of(tmp_path / "late", "cy/essay.md")
    assert backprop("grade", "late", "--out", "res").returncode == 3
    again = backprop("grade", "class", "--out", "res")
    assert (again.returncode, "cy" in again.stdout) == (0, False), "nor is what was not recognised in another"
    (tmp_path / "late" / "cy" / "essay.md").unlink()
    backprop("grade", "late", "--out", "res")

    (tmp_path / "class" / "bob" / "ch06_vjps.py").unlink()
    gone = backprop("grade", "class", "--out", "res")
    assert gone.returncode == 0
    assert "bob/ch06_vjps was handed in before, and the file is gone" in gone.stderr
    assert summary() == ["ann/ch06", "bob/ch07", "cy/ch06"]
    assert (tmp_path / "res" / "students" / "bob" / "ch06_vjps.json").is_file()
    report = backprop("report", "res", "--format", "terminal,csv,html")
    gone_now = (
        f"gone: ch06_vjps.py is no longer in the class folder; its 2/{find_lesson('ch06_vjps').points:g} do not count"
    )
    assert gone_now in " ".join(report.stdout.split())
    reports = tmp_path / "res" / "__reports__"
    grades = {row["student"]: row for row in csv.DictReader((reports / "grades.csv").open(encoding="utf-8-sig"))}
    assert (grades["bob"]["ch06_vjps"], grades["bob"]["total"]) == ("", "0")
    page = html.fromstring((reports / "index.html").read_bytes())
    (handed_in,) = [one for one in page.find_class("points") if "handed in" in one.text_content()][:1]
    assert handed_in.text_content().startswith("2 handed in")

    class_of(tmp_path / "class", "bob/ch06_vjps.py")
    back = backprop("grade", "class", "--out", "res")
    assert "gone" not in back.stderr
    assert "3 submissions are graded already" in back.stderr, "and its result is still there"
    assert summary() == ["ann/ch06", "bob/ch06", "bob/ch07", "cy/ch06"]


def test_remarks_on_a_renamed_file_use_its_new_name(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06.py")
    backprop("grade", "class", "--out", "res")
    (tmp_path / "class" / "ann" / "ch06.py").rename(tmp_path / "class" / "ann" / "ch06_vjps.py")
    backprop("grade", "class", "--out", "res")
    result = json.loads((tmp_path / "res" / "students" / "ann" / "ch06_vjps.json").read_text())
    assert (result["file"], result["message"]) == ("ch06_vjps.py", "")


def test_a_damaged_record_loses_no_result(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    backprop("grade", "class", "--out", "res")
    (tmp_path / "res" / ".hand-ins.json").write_text('{"salt_sha256": 3, "folders": {}}')
    done = backprop("report", "res", "--format", "json")
    assert [one["student"] for one in json.loads(done.stdout)] == ["ann"]
    assert "res/.hand-ins.json cannot be read; grade each class folder again" in done.stderr
    class_of(tmp_path / "class", "bob/ch06_vjps.py")
    (tmp_path / "class" / "ann" / "ch06_vjps.py").unlink()
    again = backprop("grade", "class", "--out", "res")
    assert "res/.hand-ins.json cannot be read" in again.stderr
    assert "1 result in res still counts, of hand-ins that no class folder graded since holds: grade" in again.stderr
    (tmp_path / "res" / "students" / "ann" / "ch06_vjps.json").unlink()
    assert "no class folder graded since" not in backprop("grade", "class", "--out", "res").stderr


def test_a_run_without_results_does_not_fix_the_salt(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    (tmp_path / "res").mkdir()
    (tmp_path / "res" / ".hand-ins.json").write_text('{"salt_sha256": "of another", "folders": {}}')
    assert backprop("grade", "class", "--out", "res", "--salt", "mine").returncode == 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="root is warned, and this is another user")
def test_root_is_warned(backprop: Command, tmp_path: Path) -> None:
    class_of(tmp_path / "class", "ann/ch06_vjps.py")
    assert backprop("grade", "class").stderr.count("backprop: this is root") == 1
