"""Commands that tests fork from a warm process do what a new process does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Command, run_module, warm_commands
from repairable import GUIDED
from warm import FORKS

from autograder.judging.repairs import REPAIRS

pytestmark = pytest.mark.slow

PROGRAM = """\
import atexit, os, sys
atexit.register(print, "the end")
print(os.getcwd(), os.environ["ASKED"], "ABSENT" in os.environ, sys.argv[1:], sys.path[0], sys.stdout.isatty())
print(sys.stdout.encoding, sys.stdout.line_buffering, sys.stderr.errors, file=sys.stderr)
print(repr(sys.stdin.read()), __name__, len(os.listdir("/proc/self/fd")))
sys.exit(EXIT)
"""
forked = pytest.mark.skipif(not FORKS, reason="this system forks no commands")


@forked
@pytest.mark.parametrize(
    "words",
    [("--version",), ("status",), ("check", "ch06"), ("grade", "nothing"), ("read", "ch01/forward"), ("nonsense",), ()],
)
def test_a_forked_command_does_what_a_new_process_does(backprop: Command, words: tuple[str, ...]) -> None:
    warm, cold = backprop(*words), backprop(*words, cold=True)
    assert warm_commands() is not None
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)


@forked
@pytest.mark.parametrize("end", ["0", "3", "'a message'", "1 / 0", "os.kill(os.getpid(), 9)"])
def test_a_forked_process_has_the_streams_the_folder_and_the_environment_of_a_new_one(tmp_path: Path, end: str) -> None:
    (tmp_path / "asked.py").write_text(PROGRAM.replace("EXIT", end))
    env = {**os.environ, "ASKED": "of this command"}
    warm, cold = (run_module("asked", "--a", "b", cwd=tmp_path, env=env, cold=cold) for cold in (False, True))
    assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
    assert warm.stderr.splitlines()[0] == cold.stderr.splitlines()[0]
    assert warm.stderr.splitlines()[-1] == cold.stderr.splitlines()[-1]


@forked
def test_a_forked_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time\ntime.sleep(600)")
    warm = warm_commands()
    assert warm is not None
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run("endless", [], cwd=tmp_path, env=os.environ, module=True, timeout=0.2)


@forked
def test_what_python_reads_when_it_starts_takes_a_new_process() -> None:
    warm = warm_commands()
    assert warm is not None
    assert warm.suits({**os.environ, "BACKPROP_SALT": "a salt"})
    assert not any(warm.suits({**os.environ, name: "1"}) for name in ("PYTHONPATH", "LC_ALL", "OMP_NUM_THREADS2"))


ASKS_FOR_ITS_ZYGOTE = """
def relu_vjp(g, x):
    pid = "self"
    for _ in range(3):
        pid = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]
    raise ValueError(f"zygote {pid}")
"""
"""The parent of its process is the worker, whose parent is the launcher, whose parent is the zygote."""


def _results(folder: Path) -> Any:
    """By student: the results that are the same in each run."""
    found = {file.parent.name: json.loads(file.read_text()) for file in folder.glob("students/*/*.json")}
    for exercise in (exercise for result in found.values() for exercise in result["exercises"]):
        del exercise["seconds"]
    return found


@forked
def test_a_forked_nursery_does_what_a_new_one_does(backprop: Command, tmp_path: Path) -> None:
    """It has the environment of its command, and shares no more than zygotes with that of another command."""
    for student, source in {"ann": ASKS_FOR_ITS_ZYGOTE, "ben": f"import numpy as np\n{GUIDED}"}.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "ch06_vjps.py").write_text(source, encoding="utf-8")
    done, found, zygotes = list[Any](), list[str](), list[set[str]]()
    for number, (is_cold, repairs) in enumerate([(True, "1"), (False, "1"), (False, "0")]):
        options = "--isolation", "process", "--out", f"results{number}"
        done.append(backprop("grade", "class", *options, env={REPAIRS: repairs}, cold=is_cold))
        results = _results(tmp_path / f"results{number}")
        zygotes.append(set(re.findall(r"zygote \d+", said := json.dumps(results))))
        found.append(re.sub(r"zygote \d+", "zygote", said))
    cold, warm, unrepaired = (re.sub(r"results\d|[\d.]+/s", "", repr(vars(one) | {"args": ""})) for one in done)
    assert warm == cold == unrepaired
    assert found[0] == found[1]
    assert zygotes[0] != zygotes[1] == zygotes[2]
    assert len(zygotes[0]) == len(zygotes[1]) == 1
    assert "every visible case passes" in found[1]
    assert "every visible case passes" not in found[2]
