"""Workers and judges that are forked from a process with PyTorch behave as if they had been started afresh."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import BACKPROP, Command

from autograder.isolation import IsolationError, Worker, start_worker, zygote
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.submission import Submission
from course.syllabus import Environment, find_lesson

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not zygote.FORKS, reason="nothing is forked here")]

PYTORCH = find_lesson("ch04_detachment").environment
SOLUTION = Path(__file__).resolve().parents[1] / "solutions" / "ch04_detachment.py"
FACTS = """
import gc, locale, os, random, resource, signal, sys, threading
import numpy as np, torch

def facts():
    environ, status = dict(os.environ), open("/proc/self/status").read().splitlines()
    return {
        "path": list(sys.path), "argv": list(sys.argv), "flags": repr(sys.flags), "prefix": sys.prefix,
        "finders": [getattr(one, "__name__", type(one).__name__) for one in sys.meta_path],
        "modules": sorted(name for name in sys.modules if not name.startswith("_")),
        "environ": [f"{name}={environ[name]}" for name in sorted(environ) if os.getcwd() not in environ[name]],
        "signals": [repr(signal.getsignal(number)) for number in range(1, 32)],
        "blocked": [line for line in status if line[:3] in ("Sig", "Thr", "NoN") and line[:4] != "SigQ"],
        "random": [random.random(), float(np.random.random()), float(torch.rand(1))],
        "hash": hash("a text"), "locale": locale.setlocale(locale.LC_ALL), "umask": os.umask(0o22),
        "descriptors": sorted(os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in range(3) ),
        "more": [n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")],
        "leads": os.getsid(0) == os.getpid() == os.getpgid(0), "gc": [*gc.get_threshold(), gc.isenabled()],
        "limits": [repr(resource.getrlimit(getattr(resource, name))) for name in sorted(dir(resource))
                   if name.startswith("RLIMIT_") and name != "RLIMIT_NPROC"],
    }
"""


@pytest.fixture
def no_zygotes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the zygotes of other tests, and end those of this test."""
    monkeypatch.setattr(zygote, "_known", {})
    yield
    for packages in list(zygote._known):
        zygote.forget(packages)


def answer(worker: Worker, source: str, name: str) -> Any:
    run = SubmissionRun(SubmissionProcess(Submission.of_cells("a test", [source]), worker, cell_seconds=20.0))
    try:
        return run.ask(request_of(name, []), 20.0)["value"]
    finally:
        run.close()


def process_of_zygote() -> psutil.Process:
    (found,) = zygote._known.values()
    assert found.process is not None
    return psutil.Process(found.process.pid)


@pytest.mark.slow
def test_a_worker_that_is_forked_is_as_one_that_is_started_afresh(
    no_zygotes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for forks in (True, False):
        monkeypatch.setattr(zygote, "FORKS", forks)
        worker = start_worker(PYTORCH, "process")
        seen.append(answer(worker, FACTS, "facts"))
        worker.stop()
    forked, fresh = seen
    more = set(forked.pop("modules")) ^ set(fresh.pop("modules"))
    assert all(name.startswith(("autograder.worker.", "runpy", "pkgutil")) for name in more), more
    assert forked == fresh


def test_of_one_zygote_many_workers(no_zygotes: None) -> None:
    environment = Environment(("numpy",), ())
    workers = [start_worker(environment, "process") for _ in range(3)]
    for worker in workers:
        worker.ready()
    (of_them,) = {psutil.Process(worker._pid).parents()[1] for worker in workers}  # type: ignore[attr-defined]
    assert of_them == process_of_zygote()
    for worker in workers:
        worker.stop()
    _, alive = psutil.wait_procs(of_them.children(), timeout=30)  # the parent of a worker ends a moment after it
    assert not alive


AT_ONCE = """
import threading
import torch

def failures():
    ready, seen = threading.Barrier(16), []

    def compute():
        ready.wait()
        try:
            torch.ones(200, 200).exp_()
        except RuntimeError as error:
            seen.append(str(error))

    threads = [threading.Thread(target=compute) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen
"""


def test_threads_of_a_submission_may_begin_at_once(no_zygotes: None) -> None:
    """Ranks are threads; one that starts right after the fork used to get `Invalid thread pool!` and lose points.

    PyTorch raises it (caffe2/utils/threadpool/pthreadpool-cpp.cc), and did so in 58 of 60 such forks.
    """
    worker = start_worker(PYTORCH, "process")
    assert [answer(worker, AT_ONCE, "failures") for _ in range(10)] == [[]] * 10
    worker.stop()


def test_one_that_was_killed_is_replaced_and_costs_nobody_anything(no_zygotes: None) -> None:
    environment, source = Environment(("numpy",), ()), "def f(): return 1"
    before = start_worker(environment, "process")
    assert answer(before, source, "f") == 1
    process_of_zygote().kill()
    after = start_worker(environment, "process")
    assert answer(after, source, "f") == answer(before, source, "f") == 1
    folders = [worker._folder for worker in (before, after)]  # type: ignore[attr-defined]
    for worker in (before, after):
        worker.stop()
    assert not any(map(os.path.exists, folders))


def test_one_that_is_killed_before_it_forks_is_replaced(no_zygotes: None) -> None:
    worker = start_worker(Environment(("numpy",), ()), "process")
    process_of_zygote().kill()
    assert answer(worker, "def f(): return 1", "f") == 1
    worker.stop()


def test_why_a_package_cannot_be_imported_is_said(no_zygotes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    command = zygote._command
    monkeypatch.setattr(
        zygote,
        "_command",
        lambda *args, **how: [word.replace('["numpy"]', '["nowhere"]') for word in command(*args, **how)],
    )
    worker = start_worker(Environment(("numpy",), ()), "process")
    with pytest.raises(IsolationError, match=r"the worker did not start: .*No module named 'nowhere'"):
        worker.ready()


def test_it_ends_with_its_judge(tmp_path: Path) -> None:
    """Also if the judge is killed. The worker that was to be forked leaves nothing either."""
    script = (
        "import os, sys, time; from autograder.isolation import start_worker; from course.syllabus import Environment\n"
        "worker = start_worker(Environment(('numpy',), ()), 'sandbox');"
        "print(worker._folder, flush=True); time.sleep(60)"
    )
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", script], env=environ, stdout=subprocess.PIPE, text=True) as judge:
        assert judge.stdout is not None
        folder = judge.stdout.readline().strip()
        below = psutil.Process(judge.pid).children(recursive=True)
        judge.kill()
    assert below
    psutil.wait_procs(below, timeout=30)
    assert not any(process.is_running() for process in below)
    deadline = time.monotonic() + 30
    while os.path.exists(folder):
        assert time.monotonic() < deadline
        time.sleep(0.02)


PROBE = """
import json, os, sys, sysconfig
print(json.dumps({
    "path": sys.path, "argv": sys.argv[1:], "name": __name__, "file": __file__, "prefix": sys.prefix,
    "executable": sys.executable, "environ": dict(os.environ), "purelib": sysconfig.get_path("purelib"),
    "finders": [getattr(one, "__name__", type(one).__name__) for one in sys.meta_path],
    "input": sys.stdin.read(), "cwd": os.getcwd(),
    "grader": __import__("autograder").__file__, "bytecode": sys.dont_write_bytecode, "safe": sys.flags.safe_path,
    "descriptors": sorted(int(n) for n in os.listdir("/proc/self/fd")),
}))
"""


@pytest.mark.parametrize("package", ["numpy", pytest.param("torch", marks=pytest.mark.slow)])
def test_a_judge_that_was_a_zygote_is_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    (tmp_path / "probe.py").write_text(PROBE, encoding="utf-8")
    told = []
    for forks in (True, False):
        monkeypatch.setattr(zygote, "FORKS", forks)
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environ = {**os.environ, "PYTHONPATH": str(tmp_path), "A_VARIABLE": "of ours"}
        environments = [Environment(("numpy",), ()), Environment(tuple({"numpy", package}), ())]
        judge = zygote.start_judge("probe", ["some", "words"], environments, environ=environ, cwd=tmp_path, **pipes)
        said, errors = judge.communicate(b"a line\n", timeout=60)
        assert judge.returncode == 0, errors
        told.append(json.loads(said))
    forked, afresh = told
    controls = len({"numpy", package})
    assert len(forked.pop("descriptors")) == len(afresh.pop("descriptors")) + controls
    assert forked == afresh
    assert forked["environ"]["A_VARIABLE"] == "of ours"


SHIFTED = bytes((byte + 1) % 256 for byte in range(256))
MEMORY = """
def found():
    found = set()
    for line in open("/proc/self/maps"):
        places, rights = line.split()[:2]
        begin, end = (int(place, 16) for place in places.split("-"))
        if rights.startswith("rw"):
            with open("/proc/self/mem", "rb", buffering=0) as memory:
                memory.seek(begin)
                content = memory.read(end - begin).translate(SHIFTED)
            found |= {n for n, word in enumerate(WORDS) if word in content}  # itself it lies there only shifted
    return sorted(found)

FOUND = found()

def td_loss(*args, **kwargs):
    raise ValueError(f"found: {FOUND}")
"""


@pytest.mark.slow
def test_nothing_of_ours_is_in_the_memory_of_a_fork(backprop: Command, tmp_path: Path) -> None:
    """Without a sandbox, a submission can read its memory, which must not contain salt, variables or reference."""
    (line,) = (line for line in SOLUTION.read_text(encoding="utf-8").splitlines() if "goes_on = 1" in line)
    words = ["the salt of this class", "a token of the instructor", line.strip(), "a word of its own"]
    (tmp_path / "class" / "ann").mkdir(parents=True)
    shifted = [word.encode().translate(SHIFTED) for word in words]
    source = f"WORDS, SHIFTED, OWN = {shifted!r}, {SHIFTED!r}, {words[-1]!r}\n{MEMORY}"
    (tmp_path / "class" / "ann" / "ch04_detachment.py").write_text(source, encoding="utf-8")
    env = {"BACKPROP_SALT": words[0], "A_TOKEN": words[1]}
    done = backprop("grade", "class", "--isolation", "process", "--out", "results", env=env, cold=True)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "results" / "students" / "ann" / "ch04_detachment.json").read_text())
    (said,) = (exercise["message"] for exercise in result["exercises"] if exercise["name"] == "td_loss")
    assert "found: [3]" in said


LOOKS_FOR_PYTORCH = """
import sys

def relu_vjp(g, x):
    mapped = any("libtorch" in line for line in open("/proc/self/maps"))
    raise ValueError(f"found: {mapped or 'torch' in sys.modules}")
"""


@pytest.mark.slow
def test_a_lesson_without_pytorch_has_none_beside_one_that_has(backprop: Command, tmp_path: Path) -> None:
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / "ch04_detachment.py").touch()
    (tmp_path / "class" / "ann" / "ch06_vjps.py").write_text(LOOKS_FOR_PYTORCH, encoding="utf-8")
    done = backprop("grade", "class", "--isolation", "process", "--out", "results", "--jobs", "1", cold=True)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "results" / "students" / "ann" / "ch06_vjps.json").read_text())
    (said,) = (exercise["message"] for exercise in result["exercises"] if exercise["name"] == "relu_vjp")
    assert "found: False" in said


@pytest.mark.slow
def test_check_becomes_a_zygote_and_can_be_stopped_at_any_time(tmp_path: Path) -> None:
    (tmp_path / SOLUTION.name).write_text(SOLUTION.read_text(encoding="utf-8"), encoding="utf-8")
    command = [str(BACKPROP), "check", "ch04/freeze"]
    for wait in (0.0, 0.03, 0.3, 1.0, 2.0, None):
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        process = psutil.Popen(command, cwd=tmp_path, start_new_session=True, **pipes)
        while not any(word.endswith("bootstrap.py") for word in process.cmdline()):
            time.sleep(0.001)
        below: list[psutil.Process] = []
        if wait is not None:
            time.sleep(wait)
            below = process.children(recursive=True)
            os.killpg(process.pid, signal.SIGINT)
        said, errors = process.communicate(timeout=120)
        assert "Traceback" not in errors
        _, alive = psutil.wait_procs(below, timeout=30)
        assert alive == []
    assert process.returncode == 0
    assert "✓ freeze" in said
