"""Our processes compute with one thread, on any machine and in any environment."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from autograder.authoring import rules
from autograder.authoring.tree import Course
from autograder.places import ROOT, Places
from autograder.threads import ONE_THREAD
from course.syllabus import syllabus

pytestmark = pytest.mark.slow

JUDGE = """
from autograder.collection import with_judge
from course.syllabus import find_lesson

def use(judge):
    import torch
    return torch.get_num_threads()

print(with_judge(find_lesson("ch04_detachment"), use))
"""
ORACLES = """
from autograder.authoring.local import failing_oracles
from course.syllabus import find_lesson

assert failing_oracles(find_lesson("ch04_detachment"), only="freeze") == []
import torch
print(torch.get_num_threads())
"""


@pytest.mark.parametrize("code", [JUDGE, ORACLES], ids=["judge", "oracles"])
def test_judging_has_one_thread(code: str) -> None:
    """Two parallel judges with threads on all processors used to take many times as long as one after the other."""
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "2")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=200)
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr


A_RULE = """
import os
from autograder.authoring.rules import Problem
from autograder.threads import ONE_THREAD

def threads_of_a_rule(course):
    return [Problem(name, os.environ.get(name, "nothing"), "") for name in ONE_THREAD]
"""


def test_health_rules_have_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels and the nbgrader that they start also have one thread."""
    (tmp_path / "a_rule.py").write_text(A_RULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ONE_THREAD:
        monkeypatch.setenv(name, "2")
    monkeypatch.setattr(rules, "JUDGED", (import_module("a_rule").threads_of_a_rule,))
    course = Course.at()
    found = rules.run_code(course, [course.part("ch06_vjps")], nbgrader=False)
    del sys.modules["a_rule"]
    assert {problem.file: problem.what for problem in found} == ONE_THREAD


@pytest.mark.parametrize("slug", list(syllabus()))
def test_a_chapter_has_one_thread(slug: str) -> None:
    """A chapter sets its libraries to one thread before it imports them, since the book is built while tests run."""
    text = Places(ROOT).chapter(slug).read_text(encoding="utf-8")
    before, _, after = text.partition("\nimport numpy")
    assert 'os.environ["OPENBLAS_NUM_THREADS"] = "1"' in before
    assert "import torch" not in text or "\ntorch.set_num_threads(1)\n" in after
