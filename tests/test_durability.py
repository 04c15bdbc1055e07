"""Whatever happens to a grading, the same command completes the class, and no result is half, lost or another."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import BACKPROP

from autograder.wording import counted
from autograder.worker.landlock import landlock_abi

PATIENCE = 120.0
"""Seconds until a busy machine must have done what takes a moment on an idle one."""
SEED = 20240607
SALT = "a salt of tests, kept by no class"

RELU = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x {} 0)).astype(x.dtype)\n"
MSE = "import numpy as np\n\ndef mse_loss(y, t):\n    return np.mean((y - t) ** 2) / 2, (y - t) / y.size\n"
CLASS = {
    **{f"s{i}/ch06_vjps.py": RELU.format(">" if i % 2 else ">=") + f"# {i}\n" for i in range(5)},
    **{f"s{i}/ch07_mlp_backprop.py": MSE + f"# {i}\n" for i in range(3)},
    "s5/ch06_vjps.py": "",
    "s6/ch06_vjps.py": "def relu_vjp(g, x)\n",
}

TRIED = re.compile(r"[a-z0-9_]{8}\Z")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


class Class:
    """A class folder and the command that grades it."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.results = self.folder / "results"
        self.before: tuple[str, ...] = ()
        """The command that runs the command: in a mount namespace of its own, with a limit."""
        for name, source in CLASS.items():
            file = self.folder / "class" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source, encoding="utf-8")
        (self.folder / "tmp").mkdir()

    def start(self, *options: str) -> psutil.Popen:
        command = [*self.before, str(BACKPROP), "grade", "class", "--out", "results", "--jobs", "2", *options]
        env = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "BACKPROP_SALT": SALT}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        return psutil.Popen(command, cwd=self.folder, env=env, start_new_session=True, **pipes)

    def run(self, *options: str, code: int = 0) -> str:
        """Run the command to its end; what it said on standard error."""
        process = self.start(*options)
        _, said = process.communicate(timeout=5 * PATIENCE)
        assert process.returncode == code, said
        assert "Traceback" not in said
        return str(said)

    def graded(self) -> int:
        """How many results there are now."""
        return len(list(self.results.glob("students/*/*.json")))

    def content(self) -> dict[str, Any]:
        """All results, without the times that they took. Fails for whatever else lies among them."""
        found = {}
        for path in sorted(path for path in self.results.rglob("*") if not path.is_dir()):
            name = path.relative_to(self.results).as_posix()
            if name in ("class.json", ".hand-ins.json", ".lock") or name.startswith(".earlier/"):
                continue
            assert name.startswith("students/"), f"{name} is left"
            assert name.count("/") == 2, f"{name} is left"
            assert name.endswith(".json"), f"{name} is left"
            result = json.loads(path.read_text(encoding="utf-8"))
            for exercise in result["exercises"]:
                del exercise["seconds"]
            found[name.removeprefix("students/")] = result
        return found

    def assert_complete(self, undisturbed: dict[str, Any]) -> None:
        """Every submission has its result, all are in the summary, and nothing else is left."""
        assert self.content() == undisturbed
        assert not (self.results / ".earlier").exists()  # no file was replaced by another
        summary = json.loads((self.results / "class.json").read_text(encoding="utf-8"))["submissions"]
        assert [(row["student"], row["lesson"], row["points"]) for row in summary] == [
            (result["student"], result["lesson"], result["points"]) for result in undisturbed.values()
        ]
        wait_until(lambda: not self.left(), self.left)

    def left(self) -> list[str]:
        """What stands where temporary files go, but for what Python writes there to see whether it can.

        `tempfile` does so once in a process, into a file of eight letters, and a kill in that moment leaves it.
        """
        there = [path for path in (self.folder / "tmp").rglob("*") if not (path.is_file() and TRIED.match(path.name))]
        return sorted(str(path.relative_to(self.folder)) for path in there)


def wait_until(condition: Callable[[], bool], what: Callable[[], Any] = str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of the class when nothing happens."""
    whole = Class(tmp_path_factory.mktemp("undisturbed"))
    whole.run()
    content = whole.content()
    assert sorted(content) == sorted(f"{name.removesuffix('.py')}.json" for name in CLASS)
    assert {content[f"s{i}/ch06_vjps.json"]["points"] for i in (1, 3)} == {2}
    return content


@pytest.fixture
def a_class(tmp_path: Path) -> Iterator[Class]:
    yield Class(tmp_path)
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_the_command_is_killed_again_and_again(a_class: Class, undisturbed: dict[str, Any]) -> None:
    """At moments that are drawn: while it starts, in submissions, while a result is written, at the end."""
    rng = random.Random(SEED)
    for _ in range(12):
        before, more, pause = a_class.graded(), rng.randrange(3), rng.uniform(0.0, 0.4)
        command = a_class.start()
        while command.poll() is None and a_class.graded() < before + more:
            time.sleep(0.001)
        time.sleep(pause)
        if command.poll() is None:
            assert command.returncode is None
            command.kill()
        command.communicate(timeout=PATIENCE)
        assert a_class.graded() >= before, "what was graded stays"
    a_class.run()
    a_class.assert_complete(undisturbed)


def test_grading_processes_and_workers_are_killed(a_class: Class, undisturbed: dict[str, Any]) -> None:
    """At moments that are drawn; those who start and those who serve. Their submissions are graded all the same."""
    rng = random.Random(SEED)
    command = a_class.start()
    for _ in range(6):
        with contextlib.suppress(psutil.Error):
            victims = [p for p in command.children(recursive=True) if is_ours(p)]
            if victims:
                rng.choice(victims).kill()
        time.sleep(rng.uniform(0.2, 1.0))
    _, said = command.communicate(timeout=5 * PATIENCE)
    assert "Traceback" not in said
    a_class.run()
    a_class.assert_complete(undisturbed)


def is_ours(process: psutil.Process) -> bool:
    """Whether this is of the grader's own processes, and no submission's: what that does is its own."""
    return process.name().startswith("bp-") and process.name() != "bp-submission"


def test_interrupted_it_says_what_is_done_and_how_to_go_on(a_class: Class, undisturbed: dict[str, Any]) -> None:
    slow = a_class.folder / "class" / "slow" / "ch07_mlp_backprop.py"
    slow.parent.mkdir()
    slow.write_text(f"import time\n\ntime.sleep(5)\n# %%\n{MSE}", encoding="utf-8")  # longer than all others
    command = a_class.start("--salt", SALT)
    wait_until(lambda: a_class.graded() >= 1)
    os.killpg(command.pid, signal.SIGINT)
    _, said = command.communicate(timeout=PATIENCE)
    line = said.strip().splitlines()[-1]
    done = a_class.graded()
    assert command.returncode == 130
    assert line.startswith(
        f"backprop: interrupted: {done} of {len(CLASS) + 1} graded, all kept; go on with: backprop grade"
    )
    words = shlex.split(line.partition("go on with: ")[2])
    assert words == ["backprop", "grade", "class", "--out", "results", "--jobs", "2", "--salt", "SECRET"]
    assert SALT not in said
    assert f"{counted(done, 'submission is', 'submissions are')} graded already" in a_class.run()
    assert (a_class.results / "students" / "slow" / "ch07_mlp_backprop.json").is_file()
    for folder in ("class", "results/students"):
        shutil.rmtree(a_class.folder / folder / "slow")
    a_class.run()
    a_class.assert_complete(undisturbed)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "s0/ch06_vjps": lambda data: data[: len(data) // 2],  # cut off
    "s1/ch06_vjps": lambda data: data.replace(b'"points": 2.0', b'"points": "2.0"'),  # points that are none
    "s2/ch06_vjps": lambda data: b"",
    "s3/ch06_vjps": lambda data: data.replace(b'"student": "s3"', b'"student": "s1"'),  # someone else's
    "s4/ch06_vjps": lambda data: b"\0" * len(data),
    "s0/ch07_mlp_backprop": lambda data: b"[1, 2, 3]",  # of another type
    "s1/ch07_mlp_backprop": lambda data: b"[" * 100_000,  # a nest
    "s2/ch07_mlp_backprop": lambda data: data[:-20] + b"\xff\xfe" + data[-18:],  # not UTF-8
}


def test_damaged_results_are_graded_again(a_class: Class, undisturbed: dict[str, Any]) -> None:
    a_class.run()
    for name, damage in DAMAGE.items():
        file = a_class.results / "students" / f"{name}.json"
        whole = file.read_bytes()
        assert damage(whole) != whole
        file.write_bytes(damage(whole))
    assert f"{len(CLASS) - len(DAMAGE)} submissions are graded already" in a_class.run()
    a_class.assert_complete(undisturbed)


def test_what_is_in_the_way_is_named_and_costs_nobody_else(a_class: Class, undisturbed: dict[str, Any]) -> None:
    (a_class.results / "students" / "s1" / "ch06_vjps.json").mkdir(parents=True)
    (a_class.results / "students" / "s2").write_text("")
    said = a_class.run(code=1)
    assert (
        "results/students/s1/ch06_vjps.json: a folder is in the way of this result; remove it and grade again" in said
    )
    assert "results/students/s2: this is no folder, and results go there; remove it and grade again" in said
    assert a_class.graded() - 1 == len(CLASS) - 3
    (a_class.results / "students" / "s1" / "ch06_vjps.json").rmdir()
    (a_class.results / "students" / "s2").unlink()
    a_class.run()
    a_class.assert_complete(undisturbed)


def test_submissions_change_while_they_are_graded(a_class: Class) -> None:
    """Each result is of the bytes that it names; the next run grades what is not the latest."""
    command = a_class.start()
    wait_until(lambda: a_class.graded() >= 1)
    for name in CLASS:
        if "ch06" in name:
            (a_class.folder / "class" / name).write_text(RELU.format(">") + f"# {name}\n", encoding="utf-8")
    (a_class.folder / "class" / "s2" / "ch07_mlp_backprop.py").unlink()
    command.communicate(timeout=5 * PATIENCE)
    assert command.returncode == 0
    a_class.run()
    content = a_class.content()
    assert {result["points"] for name, result in content.items() if "ch06" in name} == {2}
    for kept in (a_class.results / ".earlier").rglob("*.json"):
        before = json.loads(kept.read_text(encoding="utf-8"))["result"]
        assert before["sha256"] != content[f"{before['student']}/{before['lesson']}.json"]["sha256"]
    summary = json.loads((a_class.results / "class.json").read_text(encoding="utf-8"))["submissions"]
    assert len(summary) == len(CLASS) - 1


def test_two_graders_at_a_time_are_one_too_many(a_class: Class, undisturbed: dict[str, Any]) -> None:
    first = a_class.start()
    wait_until(lambda: a_class.graded() >= 1)
    said = a_class.run(code=2)
    assert said == "backprop: another 'backprop grade' writes to results now; wait for it, or give another --out\n"
    first.kill()
    first.communicate(timeout=PATIENCE)
    a_class.run()
    a_class.assert_complete(undisturbed)


def may_mount() -> bool:
    """Whether we may have a file system of our own."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    command = [unshare, "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="a full or read-only disk is made in a mount namespace of our own")
@pytest.mark.parametrize("size", ["32k", "64k"])
def test_the_disk_is_full(a_class: Class, undisturbed: dict[str, Any], size: str) -> None:
    """One clear line, whole results on the full disk, and with more room the same command completes them."""
    a_class.results.mkdir()
    script = (
        f"mount -t tmpfs -o size={size} tmpfs results; "
        '"$@" >said.out 2>said; echo $? >code; cp -a results kept; '
        "mount -o remount,size=10m results; "
        '"$@" >again.out 2>again; echo $? >>code; cp -a results complete'
    )
    a_class.before = ("unshare", "-Urm", "sh", "-c", script, "sh")
    a_class.run()
    assert (a_class.folder / "code").read_text().split() == ["2", "0"], (a_class.folder / "again").read_text()
    said = (a_class.folder / "said").read_text(encoding="utf-8")
    assert "Traceback" not in said
    line = said.strip().splitlines()[-1]
    assert "cannot be written (No space left on device)" in line
    a_class.results = a_class.folder / "kept"
    kept = a_class.content()
    assert all(undisturbed[name] == result for name, result in kept.items())
    assert f"{len(kept)} of {len(CLASS)} graded, all kept; when that is mended, go on with: backprop grade" in line
    a_class.results = a_class.folder / "complete"
    a_class.assert_complete(undisturbed)


@pytest.mark.skipif(not may_mount(), reason="a full or read-only disk is made in a mount namespace of our own")
def test_the_results_are_read_only(a_class: Class, undisturbed: dict[str, Any]) -> None:
    a_class.run()
    a_class.before = ("unshare", "-Urm", "sh", "-c", 'mount --bind -o ro results results; exec "$@"', "sh")
    said = a_class.run("--regrade", code=2)
    assert "cannot be written (Read-only file system)" in said
    assert len(said.splitlines()) == 1
    a_class.assert_complete(undisturbed)


def test_no_file_may_be_large_enough(a_class: Class) -> None:
    """As under a quota: the results that do not fit stop the run with a line, and are not there in part."""
    # Python 3.11 would keep bytecode that is cut off at the limit, and read it from then on.
    a_class.before = ("sh", "-c", 'ulimit -f 4; export PYTHONDONTWRITEBYTECODE=1; exec "$@"', "sh")
    said = a_class.run("--isolation", "process", code=2)
    assert "cannot be written (File too large)" in said
    assert all(result["points"] == 0 for result in a_class.content().values())
