"""docs/platforms.md, as somebody follows it: its commands, as they stand, on what a platform gives out."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "autograder" / "sample_class"
NAMES = (
    *("Adams, Ann", "Baker, Ben", "Cole, Cleo", "Díaz, Dan", "Evans, Emi", "Fox, Finn", "Gray, Gus", "Hill, Hana"),
    *("Ivanov, Ivo", "Jones, Jo", "Kim, Kim", "Lee, Lea", "Müller, Max", "Nguyen, Nina", "O'Brien, Otto", "Pérez, Pia"),
    *("Quinn, Quentin", "Rossi, Rosa", "Smith, Sam", "Smith, Sam"),
)
"""A class of twenty; the last two are called alike."""
TEAMS = {"Gradients": (2, 3, 4), "Tensors": (5, 6)}
"""Of each, the first handed in for all."""
LATE, MORE_TIME, NOTHING = (7, 8), 8, 9


def commands(of: str) -> str:
    """The commands of one platform's section."""
    found = re.search(rf"<!-- {of} -->\n+```sh\n(.*?)```\n+<!-- end -->", PAGE, re.DOTALL)
    assert found, of
    return found[1]


def follow(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Type the commands into a shell, which stops at the first that fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    homes = {name: str(folder / "home") for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    environment = {**os.environ, **homes, "PATH": path, "COLUMNS": "120"}
    return subprocess.run(
        ["bash", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def squeezed(name: str) -> str:
    """A sortable name as Canvas puts it before a file's: `get_filename` in lib/content_zipper.rb."""
    return re.sub(r"\W", "", name.lower())


def on_canvas(folder: Path) -> None:
    """What Canvas gives out of such a class: the zip of an assignment, the gradebook, the group set."""
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        for place, name in enumerate(NAMES):
            if place == NOTHING or any(place in members[1:] for members in TEAMS.values()):
                continue
            late = "_LATE" if place in LATE else ""
            source = SAMPLE / ("lea-other-style" if place % 2 else "emi-normalisation-slips") / "ch06_vjps.py"
            archive.write(source, f"{squeezed(name)}{late}_{100 + place}_{9000 + place}_ch06_vjps.py")
    with (folder / "canvas.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        head = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
        out.writerow([*head, "ch06: VJPs (501)", "Reading (502)", "Final Score"])
        out.writerow(["    Points Possible", *[""] * 4, "63.00", "10.00", "(read only)"])
        for place, name in enumerate(NAMES):
            out.writerow([name, 100 + place, f"s{place}", f"u{place}@x.edu", f"Lab {place % 2}", "", "7", "70"])
        out.writerow(["Student, Test", 999, "", "c0ffee", "Lab 0", "", "", ""])
    with (folder / "groups.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        file.write("name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n")
        for team, members in TEAMS.items():
            out.writerows([NAMES[i], 100 + i, f"s{i}", f"u{i}@x.edu", f"Lab {i % 2}", team, 1, ""] for i in members)


def test_a_class_of_twenty_on_canvas(tmp_path: Path) -> None:
    """Two teams, two late, one of them with an extension, one who handed in nothing, two namesakes."""
    on_canvas(tmp_path)
    (tmp_path / "results").mkdir()
    rules = f"""
timezone = "UTC"
penalty = 10
[lessons.ch06]
due = 2027-03-01T12:00:00
[[extension]]
student = "u{MORE_TIME}@x.edu"
lesson = "ch06"
days = 3
"""
    for place in LATE:
        rules += f'[[handed_in]]\nstudent = "u{place}@x.edu"\nlesson = "ch06"\ndays = 0\nat = 2027-03-03T09:00:00\n'
    (tmp_path / "results" / "rules.toml").write_text(rules)
    done = follow(commands("canvas"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on the roster, and handed in nothing here: Jo Jones" in done.stderr
    reports = tmp_path / "results" / "__reports__"
    with (reports / "canvas.csv").open(encoding="utf-8", newline="") as file:
        header, possible, *rows = csv.reader(file)
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ch06: VJPs (501)"]
    assert possible == ["    Points Possible", "", "", "", "", "63.00"]
    assert [row[0] for row in rows] == list(NAMES)
    points = [row[-1] for row in rows]
    assert [place for place, said in enumerate(points) if not said] == [NOTHING]
    right, slips = points[1], points[0]
    assert float(slips) < float(right) == 63
    for members in TEAMS.values():
        assert len({points[place] for place in members}) == 1
    assert float(points[7]) == pytest.approx(63 * 0.8)
    assert points[MORE_TIME] == slips
    with (reports / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        grades = {row["student"]: row for row in csv.DictReader(file)}
    assert len(grades) == 20
    assert {"Sam Smith (u18@x.edu)", "Sam Smith (u19@x.edu)"} <= grades.keys()
    assert grades["Hana Hill"]["ch06_vjps graded"] == "63"
    assert "20% off: 63 → 50.4 points" in grades["Hana Hill"]["remark"]
    assert "for the team Gradients" in grades["Dan Díaz"]["remark"]
    assert len(list((reports / "students").glob("*.html"))) == 20


def test_nbgraders_section(tmp_path: Path) -> None:
    first, *rest = commands("nbgrader").splitlines(keepends=True)
    assert follow(first, tmp_path).returncode == 0
    target = tmp_path / "course" / "submitted" / "ada" / "ch03_accumulation"
    target.mkdir(parents=True)
    shutil.copy(SAMPLE / "ada-perfect" / "ch03_accumulation.ipynb", target)
    done = follow("".join(rest), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "course" / "feedback" / "ada" / "ch03_accumulation" / "ch03_accumulation.html").is_file()
    assert "ada" in (tmp_path / "course" / "grades.csv").read_text()
    with Gradebook(f"sqlite:///{tmp_path / 'course' / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission("ch03_accumulation", "ada").score == 20


def test_every_option_and_command_that_the_page_names_is_there() -> None:
    from typer.testing import CliRunner

    from autograder.commands import app

    said = {
        command: CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
        for command in ("grade", "report", "release", "nbgrader")
    }
    for line in re.findall(r"backprop .*", PAGE):
        command = line.split()[1].strip("`")
        for option in re.findall(r"--[a-z]+", line.partition("#")[0]):
            assert option in said[command], line
    for name in ("canvas", "moodle", "blackboard", "nbgrader"):
        assert name in said["report"]
