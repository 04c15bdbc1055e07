"""Attempts to bring hidden inputs out of one grading into the next: they are in no memory while anything is shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import BACKPROP

from autograder.collection import with_judge
from autograder.judging.checking.salt import class_key, new_salt
from autograder.judging.recorder import Recorder
from autograder.judging.records.withheld import OUTCOMES
from autograder.judging.session import Judge
from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]

LESSON = "ch06_vjps"
SPY = """
import gc, sys
import numpy as np
WANTED = bytes.fromhex({wanted!r})

def everything():
    frame, found = sys._getframe(), []
    while frame is not None:
        found += [frame.f_locals, frame.f_globals]
        frame = frame.f_back
    seen, left = set(), [*found, *gc.get_objects()]
    while left:
        one = left.pop()
        if id(one) in seen or len(seen) > 400_000:
            continue
        seen.add(id(one))
        if type(one) in (dict, list, tuple, set, deque):
            left += gc.get_referents(one)
        elif type(one) is np.ndarray:
            yield one.tobytes()
        elif type(one) in (bytes, bytearray):
            yield bytes(one)
        elif hasattr(one, "__dict__"):
            left.append(vars(one))

from collections import deque
def seen():
    return "seen" if any(WANTED in one for one in everything() if one is not WANTED) else "not there"

# %%
raise ValueError(f"while cells run: {{seen()}}")
# %%
from functools import cache
looked = cache(seen)
def relu_vjp(g, x):
    if x.tobytes() == WANTED:
        raise KeyError("on the hidden input itself: seen")
    raise ValueError(f"on a visible input: {{looked()}}")
"""
TELLTALES = """
import numpy as np
def number(*a, **k):
    return abs(float(np.asarray(a[-1]).flat[0])) if np.size(a[-1]) else 0.0
def relu_vjp(*a, **k):
    raise ValueError(f"x is {number(*a)}")
def sigmoid_vjp(*a, **k):
    return np.zeros(int(number(*a) * 1000) + 1)
def tanh_vjp(*a, **k):
    return {f"{number(*a):.3f}": 1}
def softmax_vjp(*a, **k):
    raise NotImplementedError(f"softmax_vjp {number(*a):.3f}: your code here")
def logsumexp_vjp(*a, **k):
    __import__(f"m{int(number(*a) * 1000)}")
def add_vjp(*a, **k):
    exec("\\n" * int(number(*a) * 50) + "raise ValueError")
def rmsnorm_vjp(*a, **k):
    return type(f"T{int(number(*a) * 1000)}", (), {})()
"""


def hidden_input(key: str) -> bytes:
    """The first x that relu_vjp is asked about on hidden inputs."""

    def use(judge: Judge) -> bytes:
        recorder = Recorder(judge.reference)
        judge.observe(judge.items_of("relu_vjp", visible=False)[:1], recorder)
        x = next(call for call in recorder.calls() if call is not None).request["args"][1]
        return np.asarray(x).tobytes()

    return with_judge(find_lesson(LESSON), use, salt=key)


def graded(folder: Path, salt: str, students: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The results of a class, by the real command."""
    for student, source in students.items():
        file = folder / "class" / student / f"{LESSON}.py"
        file.parent.mkdir(parents=True)
        file.write_text(source, encoding="utf-8")
    command = [BACKPROP, "grade", folder / "class", "--out", folder / "results", "--jobs", "1"]
    environ = {**os.environ, "BACKPROP_SALT": salt}
    done = subprocess.run([*map(str, command)], env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    files = (folder / "results").glob(f"students/*/{LESSON}.json")
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def test_no_hidden_input_is_in_a_process_that_is_listened_to(tmp_path: Path) -> None:
    """Frames led to the calls of all exercises, hidden ones among them, before the first cell ran."""
    salt = new_salt()
    spy = SPY.format(wanted=hidden_input(class_key(salt)).hex())
    # the second of a class: by then the workers know what is asked of all
    result = graded(tmp_path, salt, {"a_first": spy, "b_second": spy})["b_second"]
    said = {exercise["name"]: exercise["message"] for exercise in result["exercises"]}
    assert "while cells run: not there" in result["message"]
    assert "on a visible input: not there" in said["relu_vjp"]
    assert "hidden input itself" not in json.dumps(result)


def test_what_is_said_of_hidden_inputs_is_one_of_a_few_sentences(tmp_path: Path) -> None:
    """An exception, a shape, a key, a stub's words, a package's name, a line: each told fourteen bits and more."""
    result = graded(tmp_path, new_salt(), {"mallory": TELLTALES})["mallory"]
    sentences = "|".join(map(re.escape, OUTCOMES))
    hidden = [(e["name"], c["message"]) for e in result["exercises"] for c in e["checks"] if not c["visible"]]
    assert hidden
    for name, message in hidden:
        assert re.fullmatch(rf"On a hidden input {name} ({sentences}) \(the check: [\w ]+\)\.", message), message
