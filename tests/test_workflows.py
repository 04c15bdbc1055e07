"""The workflows call existing targets, and the learner's template works as described."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from course.syllabus import syllabus

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "autograder" / "templates" / "grade.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_targets_that_exist(workflow: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    called = [target for step in steps(workflow) for target in re.findall(r"make ([\w-]+)", step.get("run", ""))]
    assert called
    assert set(called) <= set(targets)


def test_the_learners_workflow_checks_and_shows(tmp_path: Path) -> None:
    """Its commands fail on untouched notebooks, with every lesson in the summary."""
    bin_ = Path(sys.executable).parent
    subprocess.run([bin_ / "backprop", "start", tmp_path / "work"], check=True, capture_output=True)
    summary = tmp_path / "summary.md"
    places = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary), "COLUMNS": "100"}
    environment = {**os.environ, **places, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    codes = []
    for step in steps(TEMPLATE):
        if "run" in step and not step["name"].startswith("Install"):
            folder = tmp_path / step.get("working-directory", ".")
            codes.append(subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=environment).returncode)
    assert codes == [1, 0]
    text = summary.read_text()
    assert text.startswith("```text\n")
    assert text.endswith("```\n")
    assert all(lesson.title in text for lesson in syllabus().values())
