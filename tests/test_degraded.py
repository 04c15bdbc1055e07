"""Older kernels: what still confines a submission if Landlock knows less, and the message if there is no Landlock.

The code is the same as on an older kernel, and asks this kernel for no more than the older one has.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import BACKPROP
from hostile_class import Servers
from traces import look

from autograder.collection import with_judge
from autograder.isolation import Workers, sandbox
from autograder.isolation.choice import start_worker
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.submission import Submission, read_submission
from autograder.worker.landlock import FULL_ABI, landlock_abi
from course.syllabus import find_lesson

REPOSITORY = Path(__file__).resolve().parents[1]
LESSON = find_lesson("ch07_mlp_backprop")
OLDER = (1, 2, 3, 4, 5)
NONE = 0
"""No Landlock at all."""
SECRET = """
try:
    open("@", "a").write("lost")
except OSError:
    pass
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="it takes a full set to try reduced ones"),
]

PROBE = """
import ctypes, fcntl, os, resource, signal, socket

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
reached = []
SERVERS = "@UNIX@", "@UNIX@.datagram", "\\0@ABSTRACT@"


def attempt(name, action):
    try:
        action()
        reached.append(name)
    except BaseException:
        pass


def call(*arguments):
    wide = [ctypes.c_long(a) if type(a) is int else a for a in arguments]
    if libc.syscall(*wide) < 0:
        raise OSError


def owner(process):
    ours, theirs = socket.socketpair()
    fcntl.fcntl(ours, fcntl.F_SETOWN, process)


def other_owner(process):
    ours, theirs = socket.socketpair()
    fcntl.ioctl(ours, 0x8901, process.to_bytes(4, "little"))  # FIOSETOWN


def datagram(address):
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"hello", address)


buffer = ctypes.create_string_buffer(64)
for process in (os.getppid(), @BYSTANDER@):
    for number in (0, signal.SIGCONT):
        attempt(f"signal {process}", lambda: os.kill(process, number))
    attempt("signal a group", lambda: os.killpg(process, 0))
    attempt("signal a thread", lambda: call(200, process, 0))
    attempt("signal by descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open(process), 0))
    attempt("queue a signal", lambda: call(129, process, 0, buffer))
    attempt("own a descriptor", lambda: owner(process))
    attempt("own a socket", lambda: other_owner(process))
    attempt("limit", lambda: resource.prlimit(process, resource.RLIMIT_CPU, (0, 0)))
    attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, process, 19))
    attempt("trace", lambda: call(101, 16, process, 0, 0))
    attempt("read memory", lambda: call(310, process, buffer, 1, buffer, 1, 0))
    attempt("open memory", lambda: os.open(f"/proc/{process}/mem", os.O_RDONLY))
attempt("signal everyone", lambda: os.kill(-1, 0))
for path in ("@OUTSIDE@/secret", "@READABLE@"):
    attempt(f"write {path}", lambda: os.open(path, os.O_WRONLY))
    attempt(f"truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"open and truncate {path}", lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
    attempt(f"remove {path}", lambda: os.unlink(path))
    attempt(f"rename {path}", lambda: os.rename(path, path + ".old"))
    attempt(f"take {path}", lambda: os.rename(path, "taken"))
    attempt(f"link {path}", lambda: os.link(path, "linked"))
    attempt(f"change {path}", lambda: os.chmod(path, 0o777))
    attempt(f"hold {path}", lambda: os.open(path, 3))
    attempt(f"hold and truncate {path}", lambda: os.open(path, 3 | os.O_TRUNC))
attempt("read", lambda: os.open("@OUTSIDE@/secret", os.O_RDONLY))
attempt("list", lambda: os.listdir("@OUTSIDE@"))
attempt("leave something for the next", lambda: os.mkdir("../left"))
attempt("a socket", socket.socket)
for address in SERVERS:
    attempt("a unix socket", lambda: socket.socket(socket.AF_UNIX).connect(address))
    attempt("a datagram", lambda: datagram(address))
attempt("a process", os.fork)
attempt("a message queue", lambda: call(240, b"left", 0o102, 0o600, 0))


def device():
    # What no Landlock before ABI 5 refuses: to control a device.
    try:
        with open("/dev/urandom", "rb") as random:
            return len(fcntl.ioctl(random, 0x80045200, bytes(4))) == 4  # RNDGETENTCNT
    except OSError:
        return False


def tell():
    with open("own", "w") as file:
        file.write("its own folder")
        file.truncate(7)
    os.kill(os.getpid(), 0)
    return reached, device(), open("@READABLE@").read(), open("own").read()
"""


@dataclass
class Surroundings:
    """The targets of an attack."""

    folder: Path
    servers: Servers
    bystander: psutil.Popen

    def source(self) -> str:
        """The probe's source, with the locations of all targets."""
        names = {
            "OUTSIDE": self.folder / "outside",
            "READABLE": self.readable,
            "BYSTANDER": self.bystander.pid,
            "UNIX": self.servers.unix,
            "ABSTRACT": self.servers.abstract,
        }
        return re.sub("@([A-Z]+)@", lambda match: str(names[match[1]]), PROBE)

    @property
    def readable(self) -> Path:
        """A file that a worker may read."""
        return self.folder / "readable"

    def state(self) -> Any:
        """The state of everything that an attack could change."""
        files = [look(path) for path in (self.folder / "outside", self.folder / "outside" / "secret", self.readable)]
        return files, self.servers.connections[:], self.bystander.status(), self.bystander.nice()


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    folder = tmp_path_factory.mktemp("older")
    (folder / "outside").mkdir()
    (folder / "outside" / "secret").write_text("a secret")
    (folder / "readable").write_text("a library")
    bystander = psutil.Popen(["sleep", "1000"])
    yield Surroundings(folder, Servers(folder), bystander)
    bystander.kill()
    bystander.wait()


def older_kernel(monkeypatch: pytest.MonkeyPatch, abi: int, readable: str = "") -> None:
    """Confine workers as on a kernel with this Landlock version; they may read one more file."""
    monkeypatch.setattr(sandbox, "landlock_abi", lambda: abi)
    paths = sandbox.readable
    monkeypatch.setattr(
        sandbox, "readable", lambda environment: [*paths(environment), *([readable] if readable else [])]
    )


@pytest.mark.parametrize("abi", [*OLDER, landlock_abi()])
def test_a_submission_reaches_nothing_with_any_landlock_version(
    monkeypatch: pytest.MonkeyPatch, surroundings: Surroundings, abi: int
) -> None:
    older_kernel(monkeypatch, abi, str(surroundings.readable))
    before = surroundings.state()
    worker = start_worker(LESSON.environment, "sandbox")
    run = SubmissionRun(SubmissionProcess(Submission.of_cells("a probe", [surroundings.source()]), worker))
    try:
        answer = run.ask(request_of("tell", []), 20.0)
        assert (answer.get("failure"), run.process.problems) == (None, [])
        assert answer["value"] == ([], False, "a library", "its own")
        assert run.ask(request_of("tell", []), 20.0)["value"], "the worker is still there"
        assert surroundings.state() == before
        assert ("degraded" in worker.isolation) == (abi < 6)
        assert worker.isolation.endswith(f"(Landlock ABI {abi})")
    finally:
        run.close()
        worker.stop()


def test_a_grade_is_the_same_and_names_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formerly every submission on Linux 6.1 got 0 points: its process ended when adding its second sandbox."""
    older_kernel(monkeypatch, 2)
    workers = Workers(LESSON, "sandbox")
    submission = read_submission(REPOSITORY / "solutions" / f"{LESSON.slug}.py")
    try:
        result = with_judge(LESSON, lambda judge: judge.grade(submission, workers, only=["mse_loss"]))
    finally:
        workers.stop()
    assert (result.points, result.isolation) == (2.0, "sandbox, degraded (Landlock ABI 2)")


def test_landlock_alone_refuses_tcp(surroundings: Surroundings) -> None:
    """Tested alone, in case the seccomp filter, which refuses every socket, has a hole."""
    program = f"""
import socket
from autograder.worker.landlock import restrict
restrict(['/'], ['/'], 4)
for action in (socket.socket().connect, socket.socket().bind):
    try:
        action(("127.0.0.1", {surroundings.servers.port}))
    except PermissionError:
        print("refused")
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["refused"] * 2


def under_a_kernel(abi: int) -> list[str]:
    """Command prefix for running with this Landlock version."""
    return [sys.executable, str(Path(__file__).with_name("old_kernel.py")), str(abi)]


def test_without_landlock_grade_stops_with_one_line(tmp_path: Path) -> None:
    student = tmp_path / "class" / "ann"
    student.mkdir(parents=True)
    (student / f"{LESSON.slug}.py").write_text("import os\nos.mkdir('@')\n".replace("@", str(tmp_path / "ran")))
    grade = [*under_a_kernel(NONE), str(BACKPROP), "grade", "class"]
    command = subprocess.run(grade, cwd=tmp_path, capture_output=True, text=True)
    assert command.returncode != 0
    said = command.stderr.strip().splitlines()
    assert len([line for line in said if line.startswith("backprop: ")]) == 1
    assert "no Landlock" in command.stderr
    assert "--isolation process" in command.stderr
    assert "Traceback" not in command.stderr
    assert not (tmp_path / "ran").exists()
    assert not list(tmp_path.glob("results/students/ann/*"))
    subprocess.run([*grade, "--isolation", "process"], cwd=tmp_path, check=True)
    assert (
        json.loads((tmp_path / "results" / "students" / "ann" / f"{LESSON.slug}.json").read_text())["isolation"]
        == "process"
    )


@pytest.mark.parametrize("abi", [1, 3, 4, 5, 6])
def test_a_class_is_graded_under_an_older_kernel(tmp_path: Path, abi: int) -> None:
    """If a library confined with all of ABI 6 or not at all, submissions there would get 0 points."""
    student = tmp_path / "class" / "ann"
    student.mkdir(parents=True)
    solved = (REPOSITORY / "solutions" / f"{LESSON.slug}.py").read_text(encoding="utf-8")
    (student / f"{LESSON.slug}.py").write_text(f"{SECRET.replace('@', str(tmp_path / 'secret'))}\n{solved}")
    (tmp_path / "secret").write_text("kept")
    subprocess.run([*under_a_kernel(abi), str(BACKPROP), "grade", "class"], cwd=tmp_path, check=True)
    result = json.loads((tmp_path / "results" / "students" / "ann" / f"{LESSON.slug}.json").read_text())
    degraded = "" if abi >= FULL_ABI else ", degraded"
    assert (result["points"], result["isolation"]) == (LESSON.points, f"sandbox{degraded} (Landlock ABI {abi})")
    assert (tmp_path / "secret").read_text() == "kept"
