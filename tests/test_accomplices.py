"""Two submissions that work together, in a class of the real command: what one has made pass is nothing to the other.

The first is right, and sends frames that no one can read in the place of prefetched answers; asked again, it answers
rightly. The second sends the same frames, and knows nothing. (Frames were once remembered as right for that.)
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

ROOT = Path(__file__).resolve().parents[1]
LESSON = "ch06_vjps"
UNREADABLE = r"""

# %%
import gc
talk, = [one for one in gc.get_objects() if type(one).__name__ == "Conversation"]
def answer_all(calls):
    for _ in calls:
        talk.channel.hold(b"\x03\0\0\0\x03\0\0\0{{{")
talk.answer_all = answer_all
"""
ALL = find_lesson(LESSON).points
POINTS = {"ab_first": ALL, "ac_first": ALL, "ba_second": 0, "bb_second": 0, "aa_honest": ALL, "zz_honest": ALL}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Student to points."""
    from conftest import run_backprop

    folder = tmp_path_factory.mktemp("accomplices")
    solution = (ROOT / "solutions" / f"{LESSON}.py").read_text(encoding="utf-8")
    names = [line[4 : line.index("(")] for line in solution.splitlines() if line.startswith("def ")]
    nothing = "\n\n".join(f"def {name}(*args, **kwargs):\n    return None" for name in names)
    sources = {"honest": solution, "first": solution + UNREADABLE, "second": nothing + UNREADABLE}
    for student in POINTS:
        (folder / "class" / student).mkdir(parents=True)
        file = folder / "class" / student / f"{LESSON}.py"
        file.write_text(sources[student.partition("_")[2]], encoding="utf-8")
    try:
        done = run_backprop("grade", folder / "class", "--out", folder / "results", "--jobs", "2", cwd=folder)
        assert done.returncode == 0, done.stderr
        results: list[dict[str, Any]] = [
            json.loads(file.read_text()) for file in folder.glob("results/students/*/*.json")
        ]
        return {result["student"]: result["points"] for result in results}
    finally:
        shutil.rmtree(folder)


def test_who_knows_nothing_earns_nothing_and_who_is_right_earns_all(points: dict[str, float]) -> None:
    assert points == POINTS
