"""Processes of ours compute with one thread, whatever the machine has and the environment says."""

from __future__ import annotations

import os
import subprocess
import sys

from autograder.threads import ONE_THREAD

JUDGE = """
from autograder.judging.session import with_judge
from course.syllabus import find_lesson

def use(judge):
    import torch
    return torch.get_num_threads()

print(with_judge(find_lesson("ch04_detachment"), use))
"""


def test_a_judge_has_one_thread() -> None:
    """Two judges side by side, each with threads on all processors, took many times as long as one after the other."""
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "2")}
    done = subprocess.run([sys.executable, "-c", JUDGE], env=environment, capture_output=True, text=True, timeout=200)
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
