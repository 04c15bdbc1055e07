"""A class of hostile submissions, graded once by the real command: nobody gets a point that they did not earn.

Each file of `red_team/` is one attack and says what must happen. The test appends the cells of `honest_part.py`, so
that each submission has four points to earn; honest classmates stand between them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from traces import left_behind, look, processes_of

from autograder.isolation import Worker, start_worker
from autograder.judging.asking import account, submission_process
from autograder.judging.asking import run as judging_run
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.judging.records.errors import Crashed, TimedOut, WorkerLost
from autograder.submission import Submission
from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

TESTS = Path(__file__).resolve().parent
REPOSITORY = TESTS.parent
RED_TEAM = TESTS / "red_team"
BACKPROP = Path(sys.executable).with_name("backprop")
HONEST_PART = "honest_part"
LESSON = "ch07_mlp_backprop"
HONEST = ("aa_honest", "honest_all", "zz_honest", "mm_honest")
"""All of the solutions, but for the last: the honest part alone."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


@dataclass(frozen=True)
class Outcome:
    """What an attack must come to, beside the four points of its honest part."""

    statuses: dict[str, str] = field(default_factory=dict)
    """Exercise to status."""
    says: tuple[str, ...] = ()
    """What the messages of the result must contain."""
    points: float = 4.0
    beside: float = 0.0
    """Points of what is right in `cross_entropy_loss`, and changes its arguments."""


REACHED_NOTHING = Outcome({"forward": "error"}, ("reached: nothing",))
OUTCOMES = {
    "patched_numpy": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "patched_pytest": Outcome({"forward": "forbidden", "cross_entropy_loss": "failed"}),
    "patched_json_and_struct": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "patched_builtins": Outcome({"forward": "failed", "cross_entropy_loss": "error"}),
    "patched_worker": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "lying_equality": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}, ("an object of type Right",)),
    "lying_arrays": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "exits_at_import": Outcome(says=("raised SystemExit", "ended itself with exit status 0")),
    "exits_in_a_call": Outcome(
        {"single_example_gradients": "error", "forward": "error", "cross_entropy_loss": "error"},
        ("ended itself with exit status 0", "raised SystemExit", "raised KeyboardInterrupt"),
    ),
    "exit_handlers": Outcome(),
    "loop_at_import": Outcome(says=("did not end within",)),
    "loop_in_a_call": Outcome({"forward": "timeout"}, ("did not return within",)),
    "hundred_gigabytes": Outcome({"forward": "error", "cross_entropy_loss": "error"}, ("MemoryError",)),
    "memory_step_by_step": Outcome({"forward": "error", "cross_entropy_loss": "error"}, ("raised MemoryError",)),
    "forks": REACHED_NOTHING,
    "threads": Outcome(),
    "signals": Outcome(
        {"forward": "error", "cross_entropy_loss": "error", "single_example_gradients": "error"},
        ("reached: nothing", "was killed by signal 40"),
    ),
    "stops_itself": Outcome({"forward": "timeout"}),
    "fake_messages": Outcome({"forward": "failed", "cross_entropy_loss": "error"}),
    "flood": Outcome({"forward": "error", "cross_entropy_loss": "error"}, ("sent something that cannot be read",)),
    "half_a_frame": Outcome({"forward": "timeout"}),
    "malformed_frames": Outcome({"forward": "error", "backward": "error"}, ("sent something that cannot be read",)),
    "hostile_replies": Outcome({"forward": "error"}),
    "frames_that_grow": Outcome(
        {"single_example_gradients": "error", "forward": "error", "cross_entropy_loss": "error"},
        ("an array without its bytes", "buffers are not described", "an impossible shape"),
    ),
    "desynchronised": Outcome(),
    "patched_channel": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "descriptors_in_flight": Outcome(
        {"single_example_gradients": "error", "forward": "error", "cross_entropy_loss": "error"},
        ("Operation not permitted", "Too many open files"),
    ),
    "walks_memory": REACHED_NOTHING,
    "looks_for_the_salt": REACHED_NOTHING,
    "reads_files": REACHED_NOTHING,
    "writes_files": REACHED_NOTHING,
    "fills_the_disk": Outcome({"single_example_gradients": "error"}, ("No space left on device",)),
    "slow_words": Outcome({}, ("raised E",)),
    "reserves_blocks": Outcome(
        {"single_example_gradients": "error", "forward": "error", "cross_entropy_loss": "error"},
        ("reached: nothing", "No space left on device"),
    ),
    "network": REACHED_NOTHING,
    "torch_at_import": Outcome(
        {"cross_entropy_loss": "forbidden", "forward": "error"}, ("imports scipy, which this lesson does not allow",)
    ),
    "torch_by_path": REACHED_NOTHING,
    "leases_and_modes": REACHED_NOTHING,
    "looks_outside": REACHED_NOTHING,
    "leaves_things_behind": REACHED_NOTHING,
    "loosens_its_limits": REACHED_NOTHING,
    "names_as_paths": Outcome(
        {"forward": "error", "cross_entropy_loss": "error"}, ("raised ../../results/class.json",)
    ),
    "more_system_calls": REACHED_NOTHING,
    "talks_by_addresses": REACHED_NOTHING,
    "talks_by_locks": REACHED_NOTHING,
    "thread_bomb": REACHED_NOTHING,
    "queues_signals": REACHED_NOTHING,
    "unlisted_calls": REACHED_NOTHING,
    "system_calls": Outcome({"forward": "error", "cross_entropy_loss": "error"}, ("reached: nothing",)),
    "escape_codes": Outcome({"forward": "error", "cross_entropy_loss": "failed"}),
    "handlers_and_traces": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "recursion": Outcome(
        {"single_example_gradients": "error", "forward": "error", "cross_entropy_loss": "error"}, ("RecursionError",)
    ),
    "strange_values": Outcome({"single_example_gradients": "failed", "cross_entropy_loss": "failed"}),
    "large_answers": Outcome({"forward": "error", "cross_entropy_loss": "error"}, ("at most 8.0 MiB can be sent",)),
    "hostile_exceptions": Outcome(
        {"single_example_gradients": "error", "forward": "error", "cross_entropy_loss": "error"},
        ("single_example_gradients raised Shouting",),
    ),
    "mutated_arguments": Outcome(
        {"cross_entropy_loss": "partial", "single_example_gradients": "failed"}, ("changed its argument",), beside=1.5
    ),
    "first_calls_only": Outcome({"saved_bytes": "partial"}, ("The visible cases pass",), points=2.67),
    "memorised": Outcome({"saved_bytes": "partial"}, ("The visible cases pass",), points=2.67),
    "tells_hidden_inputs": Outcome({"saved_bytes": "partial"}, ("The visible cases pass",), points=2.67),
}
UNREADABLE = {
    "malformed.ipynb": b'{"cells": [',
    "empty.ipynb": b"",
    "binary.ipynb": bytes(range(256)) * 10,
    "a_list.ipynb": b"[]",
    "strange_cells.ipynb": b'{"cells": [{"cell_type": "code", "source": {"a": 1}}]}',
    "nested.ipynb": b"[" * 10**6,
    "digits.ipynb": b'{"cells": ' + b"1" * 10**6 + b"}",
    "many_cells.ipynb": b'{"cells": [' + b'{"cell_type": "code", "source": "1"},' * 10**5 + b"0]}",
    "nul.ipynb": b"\0" * 1000,
}
"""Contents of files that are no submission, each said in one line."""
STUDENTS = {
    "\x1b[2J\x1b[31mred": "an escape sequence",
    "[bold red]markup[blink]": "the markup of the terminal library",
    "two\nlines\r\x07\x9b": "control characters",
    "--help": "an option",
    "ünïcødé 学生 \u202etxt": "other alphabets, and one written backwards",
    "$(id); `id` & '\"": "what a shell would run",
    "n" * 255: "as long as a name can be",
}


@dataclass
class Graded:
    """What one run of the command left."""

    folder: Path
    command: subprocess.CompletedProcess[str]
    results: dict[str, dict[str, Any]]
    connections: list[str]
    bystander_as_before: bool
    touched: dict[Path, tuple[Any, ...]]
    """Files and folders that changed, as they were before."""
    left_running: list[str]
    left_behind: list[str]
    """What others of the same user would find in the kernel."""
    undisturbed: dict[str, dict[str, Any]]
    """The results of the honest students in a class of their own."""


def backprop(*arguments: object, folder: Path, timeout: float = 500) -> subprocess.CompletedProcess[str]:
    """Run the command as an instructor does, with everything it might write in `folder`."""
    return subprocess.run(
        [str(BACKPROP), *map(str, arguments)],
        env={**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "BACKPROP_SALT": "of a class"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
    )


def visible_answers(exercise: str) -> dict[tuple[Any, ...], Any]:
    """The arguments and answers of the calls that the visible checks of an exercise make; plain numbers only."""
    program = f"""
from autograder.judging.checking.plugin import identify
from autograder.judging.asking.local_run import LocalRun
from autograder.collection import with_judge
from course.syllabus import find_lesson

def observe(judge):
    table, function = {{}}, judge.reference.implementations[{exercise!r}]
    def recorded(*arguments):
        return table.setdefault(arguments, function(*arguments))
    visible = [item for item in judge.items_of({exercise!r}) if identify(item).visible]
    judge.observe(visible, LocalRun({{{exercise!r}: recorded}}))
    return table

print(with_judge(find_lesson({LESSON!r}), observe))
"""
    ran = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    table: dict[tuple[Any, ...], Any] = eval(ran.stdout)
    return table


class Servers:
    """A server of each kind on this machine, and what connected to them."""

    def __init__(self, folder: Path) -> None:
        self.connections: list[str] = []
        self.unix = str(folder / "s")
        self.abstract = f"backprop-red-team-{uuid.uuid4().hex}"
        self._open: list[socket.socket] = []
        self.port = self._listen("tcp", socket.socket(socket.AF_INET), ("127.0.0.1", 0)).getsockname()[1]
        self._listen("unix", socket.socket(socket.AF_UNIX), self.unix)
        self._listen("abstract", socket.socket(socket.AF_UNIX), f"\0{self.abstract}")
        self._receive("udp", socket.socket(socket.AF_INET, socket.SOCK_DGRAM), ("127.0.0.1", self.port))
        self._receive("unix datagram", socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), f"{self.unix}.datagram")

    def _listen(self, name: str, server: socket.socket, address: Any) -> socket.socket:
        server.bind(address)
        server.listen()

        def accept() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return
                self.connections.append(name)

        threading.Thread(target=accept, daemon=True).start()
        self._open.append(server)
        return server

    def _receive(self, name: str, server: socket.socket, address: Any) -> None:
        server.bind(address)

        def receive() -> None:
            while server.recv(100):
                self.connections.append(name)

        threading.Thread(target=receive, daemon=True).start()
        self._open.append(server)


def hostile_sources(replacements: dict[str, str]) -> dict[str, str]:
    """Attack to source, with its honest part."""
    honest = (RED_TEAM / f"{HONEST_PART}.py").read_text(encoding="utf-8")
    sources = {}
    for file in RED_TEAM.glob("*.py"):
        source = file.read_text(encoding="utf-8")
        for name, value in replacements.items():
            source = source.replace(f"@{name}@", value)
        own_part = "def saved_bytes" in source
        sources[file.stem] = source if own_part else f"{source}\n\n# %%\n{honest}"
    del sources[HONEST_PART]
    return sources


def half_done() -> str:
    """The honest part alone, in a notebook."""
    source = (RED_TEAM / f"{HONEST_PART}.py").read_text(encoding="utf-8")
    return json.dumps({"cells": [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]})


def make_class(folder: Path, replacements: dict[str, str]) -> Path:
    """The class folder: attacks, files that are none, strange names, links, and honest work."""
    students = folder / "class"
    for name, source in hostile_sources(replacements).items():
        _write(students / name / f"{LESSON}.py", source.encode())
    for name, content in UNREADABLE.items():
        _write(students / name.partition(".")[0] / f"{LESSON}.ipynb", content)
    for name in STUDENTS:
        _write(students / name / f"{LESSON}.ipynb", half_done().encode())
    for name in HONEST[:3]:
        solution = (REPOSITORY / "solutions" / f"{LESSON}.py").read_bytes()
        _write(students / name / f"{LESSON}.py", solution + b"\n# as we have it\n")
    _write(students / HONEST[3] / f"{LESSON}.ipynb", half_done().encode())
    _make_oddities(students, folder)
    return students


def _make_oddities(students: Path, folder: Path) -> None:
    """Things in the places of files that are not files, or not this student's."""
    elsewhere = students / "honest_all" / f"{LESSON}.py"
    links = {"link_to_a_classmate": str(elsewhere), "link_to_nothing": "nowhere", "link_to_a_device": "/dev/zero"}
    links["link_to_itself"] = f"{LESSON}.py"
    for name, target in links.items():
        (students / name).mkdir()
        (students / name / f"{LESSON}.py").symlink_to(target)
    (students / "linked_folder").symlink_to(students / "honest_all")
    (students / "outside").symlink_to(folder / "outside")
    (students / "a_loop").symlink_to("a_loop")
    (students / "fifo").mkdir()
    os.mkfifo(students / "fifo" / f"{LESSON}.ipynb")
    (students / "folder" / f"{LESSON}.ipynb").mkdir(parents=True)
    (students / "large").mkdir()
    with (students / "large" / f"{LESSON}.ipynb").open("wb") as file:
        file.truncate(100 * 2**20)
    (students / "a_file").write_text("no folder")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("red")))
    for name in ("tmp", "home", "outside"):
        (folder / name).mkdir()
    (folder / "outside" / "secret").write_text("saved_bytes = lambda *sizes: 1")
    bystander = psutil.Popen(["sleep", "1000"], env={})
    servers = Servers(folder)
    replacements = {
        "CLASS": str(folder / "class"),
        "RESULTS": str(folder / "results"),
        "OUTSIDE": str(folder / "outside"),
        "REPOSITORY": str(REPOSITORY),
        "BYSTANDER": str(bystander.pid),
        "PORT": str(servers.port),
        "UNIX": servers.unix,
        "ABSTRACT": servers.abstract,
        "TABLE": repr(visible_answers("saved_bytes")),
    }
    students = make_class(folder, replacements)
    watched = [students, folder / "outside", folder / "outside" / "secret", folder / "home"]
    watched += [*students.glob("*honest*/*.py"), REPOSITORY / "solutions", REPOSITORY / "solutions" / f"{LESSON}.py"]
    before = {path: look(path) for path in watched}
    undisturbed = folder / "undisturbed"
    for name in HONEST:
        shutil.copytree(students / name, undisturbed / name)
    left_before = left_behind()
    try:
        limits = bystander.rlimit(psutil.RLIMIT_CPU), bystander.nice(), bystander.cpu_affinity()
        command = backprop("grade", students, "--out", folder / "results", "--jobs", 3, folder=folder)
        as_before = bystander.is_running() and limits == (
            bystander.rlimit(psutil.RLIMIT_CPU),
            bystander.nice(),
            bystander.cpu_affinity(),
        )
        time.sleep(0.5)
        left_running = processes_of(folder)
        results = results_in(folder / "results")
        touched = {path: value for path, value in before.items() if look(path) != value}
        new = sorted(left_behind() - left_before)
        backprop("grade", undisturbed, "--out", folder / "apart", folder=folder)
        apart = results_in(folder / "apart")
        yield Graded(folder, command, results, servers.connections, as_before, touched, left_running, new, apart)
    finally:
        bystander.kill()
        bystander.wait()
        shutil.rmtree(folder, ignore_errors=True)


def results_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Student to result."""
    files = folder.glob(f"*/{LESSON}.json")
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def exercises_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {exercise["name"]: exercise for exercise in result["exercises"]}


def texts(value: Any) -> Iterator[str]:
    """Every piece of text in a result, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)


def test_every_attack_has_an_outcome() -> None:
    assert {file.stem for file in RED_TEAM.glob("*.py")} - {HONEST_PART} == set(OUTCOMES)


@pytest.mark.parametrize("attack", OUTCOMES)
def test_an_attack_earns_its_honest_part_only(graded: Graded, attack: str) -> None:
    wanted, result = OUTCOMES[attack], graded.results[attack]
    exercises = exercises_of(result)
    honest = {"saved_bytes": round(wanted.points - 2, 2), "mse_loss": 2.0}
    if wanted.beside:
        honest["cross_entropy_loss"] = wanted.beside
    assert result["status"] == "graded"
    assert {name: e["points"] for name, e in exercises.items() if e["points"]} == honest, result["message"]
    assert result["points"] == wanted.points + wanted.beside
    assert {name: exercises[name]["status"] for name in wanted.statuses} == wanted.statuses
    told = " ".join([result["message"], *(exercise["message"] for exercise in exercises.values())])
    for text in wanted.says:
        assert text in told
    told = re.sub(r"That line is: .*", "", told)  # the attack's own source
    assert told.count("reached: ") == told.count("reached: nothing"), told


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_notebook_is_said_in_one_line(graded: Graded, name: str) -> None:
    result = graded.results[name.partition(".")[0]]
    assert (result["status"], result["points"], result["exercises"]) == ("unreadable", 0, [])
    assert result["message"].startswith(f"{LESSON}.ipynb: ")
    assert len(result["message"].splitlines()) == 1


@pytest.mark.parametrize(
    ("student", "says"),
    [
        ("link_to_a_classmate", "a link that leads out of its folder"),
        ("link_to_a_device", "a link that leads out of its folder"),
        ("link_to_nothing", "cannot be read"),
        ("link_to_itself", "cannot be read"),
        ("fifo", "not a regular file"),
        ("folder", "this is a folder"),
        ("large", "100 MiB"),
    ],
)
def test_what_is_not_a_file_of_the_student_is_not_read(graded: Graded, student: str, says: str) -> None:
    result = graded.results[student]
    assert (result["status"], result["points"]) == ("unreadable", 0)
    assert says in result["message"]


def test_links_in_the_place_of_folders_are_rows_and_not_followed(graded: Graded) -> None:
    links = {"linked_folder", "outside", "a_loop"}
    assert not {*links, "a_file"} & set(graded.results)
    rows = [line for line in graded.command.stderr.splitlines() if "a link, which is not followed" in line]
    assert {name for name in links if any(name in row for row in rows)} == links
    assert len(rows) == len(links)
    assert "a_file: not a student's folder" in graded.command.stderr


@pytest.mark.parametrize("student", STUDENTS, ids=STUDENTS.get)
def test_a_strange_name_is_a_name(graded: Graded, student: str) -> None:
    assert graded.results[student]["student"] == student
    assert graded.results[student]["points"] == 4


@pytest.mark.parametrize("student", HONEST)
def test_honest_classmates_get_what_they_earned(graded: Graded, student: str) -> None:
    result = graded.results[student]
    assert (result["status"], result["message"]) == ("graded", "")
    assert result["points"] == (4 if student == "mm_honest" else 23)


@pytest.mark.parametrize("student", HONEST)
def test_hostile_classmates_change_nothing_for_the_honest(graded: Graded, student: str) -> None:
    here, apart = (json.loads(json.dumps(results[student])) for results in (graded.results, graded.undisturbed))
    for result in (here, apart):
        for exercise in result["exercises"]:
            del exercise["seconds"]
    assert here == apart


def test_the_command_ends_as_always(graded: Graded) -> None:
    assert graded.command.returncode == 3, "links are not recognised"
    assert "Traceback" not in graded.command.stderr + graded.command.stdout
    students = [path for path in (graded.folder / "class").iterdir() if path.is_dir() and not path.is_symlink()]
    assert set(graded.results) == {path.name for path in students}
    summary = json.loads((graded.folder / "results" / "class.json").read_text(encoding="utf-8"))
    assert len(summary["submissions"]) == len(students)
    progress = [line for line in graded.command.stderr.splitlines() if not line.startswith("backprop: ")]
    assert 20 <= len(progress) <= len(students), "the grader's own lines alone"


def test_hidden_inputs_are_not_told(graded: Graded) -> None:
    assert "hidden: " not in json.dumps(graded.results["tells_hidden_inputs"])


def test_nothing_on_the_terminal_is_a_control_character(graded: Graded) -> None:
    for text in (graded.command.stdout, graded.command.stderr):
        assert not [c for c in text if not c.isprintable() and c != "\n"]


def test_results_are_short_and_printable(graded: Graded) -> None:
    for result in graded.results.values():
        assert len(json.dumps(result)) < 60_000
        assert len(result["message"].splitlines()) <= 1
        told = {key: value for key, value in result.items() if key != "student"}
        assert not [text for text in texts(told) if not text.replace("\n", "").isprintable()]


def test_nothing_outside_was_reached(graded: Graded) -> None:
    assert graded.connections == []
    assert graded.bystander_as_before
    assert graded.touched == {}


def test_nothing_is_left_behind(graded: Graded) -> None:
    assert graded.left_running == []
    assert graded.left_behind == []
    assert os.listdir(graded.folder / "tmp") == []
    assert os.listdir(graded.folder / "home") == []


def test_a_second_run_grades_nothing_again(graded: Graded) -> None:
    """Results and attacks are the same files as before, so every grade stays as it is."""
    again = backprop("grade", graded.folder / "class", "--out", graded.folder / "results", folder=graded.folder)
    assert again.returncode == 3
    assert f"{len(graded.results)} submissions are graded already" in again.stderr
    assert again.stdout == graded.command.stdout


def test_reports_are_printable(graded: Graded) -> None:
    for student in ("escape_codes", "hostile_exceptions", "hostile_replies", "strange_values", *list(STUDENTS)[:3]):
        shown = backprop("report", graded.folder / "results", f"--student={student}", folder=graded.folder)
        assert shown.returncode == 0
        assert not [c for c in shown.stdout + shown.stderr if not c.isprintable() and c != "\n"]


# Traps: files that are made to stop or to break the judge itself, before any of their code runs.

TRAPS = {
    "endless_link": "a link that leads out of its folder",
    "sparse": "10 MiB is the limit",
    "unclosed_marks": "",
    "many_cells": "2000 is the limit",
    "one_long_cell": "1,048,576 characters",
    "only_an_exit": "ended itself with exit status 0",
    os.fsdecode(b"not \xff UTF-8"): "",
}
"""Student to what the result says; empty for one that is graded as usual."""


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.CompletedProcess[str]]]:
    """A class of traps between two honest students."""
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("traps")))
    students = folder / "class"
    honest = (RED_TEAM / f"{HONEST_PART}.py").read_bytes()
    contents = {
        "a_honest": b"",
        "z_honest": b"",
        "sparse": b"",
        "unclosed_marks": b"# %% " + b"tags=[" * 50_000 + b"\n",
        "many_cells": b"# %%\nx = 1\n" * 100_000,
        "one_long_cell": b"1 / 0" + b"\n" * 5 * 10**6,
        "only_an_exit": b"import os; os._exit(0)\n",
        "class.json": b"",
        os.fsdecode(b"not \xff UTF-8"): b"",
    }
    for name, content in contents.items():
        rest = b"" if name == "only_an_exit" else honest
        _write(students / name / f"{LESSON}.py", content + rest)
    os.truncate(students / "sparse" / f"{LESSON}.py", 2**40)
    (students / "endless_link").mkdir()
    (students / "endless_link" / f"{LESSON}.py").symlink_to("/proc/self/pagemap")
    (students / "a_honest" / "\x1b[31mred\x9b\n.ipynb").touch()
    for name in ("tmp", "home"):
        (folder / name).mkdir()
    try:
        yield folder, backprop("grade", students, "--out", folder / "results", "--jobs", 2, folder=folder, timeout=90)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("student", TRAPS, ids=[os.fsencode(name).decode(errors="replace") for name in TRAPS])
def test_a_trap_costs_nobody_else_anything(
    trapped: tuple[Path, subprocess.CompletedProcess[str]], student: str
) -> None:
    folder, command = trapped
    assert (command.returncode, "Traceback" in command.stderr) == (3, False), "one file is not recognised"
    result = json.loads((folder / "results" / student / f"{LESSON}.json").read_text(encoding="utf-8"))
    assert TRAPS[student] in result["message"]
    assert (result["student"], result["points"]) == (student, 0 if TRAPS[student] else 4)
    for classmate in ("a_honest", "z_honest"):
        file = folder / "results" / classmate / f"{LESSON}.json"
        assert json.loads(file.read_text(encoding="utf-8"))["points"] == 4


def test_a_student_named_as_our_summary_loses_nothing(trapped: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    file = trapped[0] / "results" / "student class.json" / f"{LESSON}.json"
    assert json.loads(file.read_text(encoding="utf-8"))["points"] == 4


def test_hostile_names_are_escaped_on_the_terminal(trapped: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, command = trapped
    assert "\\x1b[31mred" in command.stderr
    assert not [c for c in command.stdout + command.stderr if not c.isprintable() and c != "\n"]


# What bounds a submission as a whole. The limits are shortened, the waiting is real.


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    started = start_worker(find_lesson(LESSON).environment, "sandbox")
    yield started
    started.stop()


@pytest.fixture
def run_of(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., SubmissionRun]]:
    """A run of the given cells."""
    runs = []

    def make(*cells: str, cell_seconds: float = 2.0) -> SubmissionRun:
        runs.append(
            SubmissionRun(
                SubmissionProcess(Submission.of_cells("slow", list(cells)), worker, cell_seconds=cell_seconds)
            )
        )
        return runs[-1]

    monkeypatch.setattr(submission_process, "LOAD_SECONDS", 3.0)
    monkeypatch.setattr(account, "SUBMISSION_SECONDS", 3.0)
    yield make
    for run in runs:
        run.close()


def test_calls_just_below_their_limit_meet_that_of_the_submission(run_of: Callable[..., SubmissionRun]) -> None:
    run = run_of("import time\ndef slow(seconds):\n    time.sleep(seconds)\ndef other(): ...")
    run.ask(request_of("slow", [0.9]), 60.0)
    with pytest.raises(TimedOut, match="slow did not return within the 3 seconds of the submission"):
        run.ask(request_of("slow", [10]), 60.0)
    with pytest.raises(TimedOut, match="has used its 3 seconds; other was not called"):
        run.ask(request_of("other", []), 60.0)


def test_a_worker_that_starts_slowly_takes_no_submission_s_time(
    run_of: Callable[..., SubmissionRun], worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, waits = worker.ready, iter([3.5])

    def slowly() -> None:
        time.sleep(next(waits, 0.0))
        ready()

    monkeypatch.setattr(worker, "ready", slowly)
    run = run_of("def f(): return 1")
    assert run.ask(request_of("f", []), 60.0)["value"] == 1


def test_cells_just_below_their_limit_meet_that_of_the_submission(run_of: Callable[..., SubmissionRun]) -> None:
    run = run_of(*["import time; time.sleep(0.9)"] * 1000)
    with pytest.raises(WorkerLost, match="did not run within 3 seconds"):
        run.process.load()


def test_crashes_after_slow_cells_meet_the_limit_too(run_of: Callable[..., SubmissionRun]) -> None:
    """Each crash loads the cells again; what was earned until then stays."""
    names = [f"f{number}" for number in range(10)]
    run = run_of("import time; time.sleep(0.9)", *(f"def {name}():\n    import os; os._exit(0)" for name in names))
    for name in names:
        with contextlib.suppress(Crashed, TimedOut):
            run.ask(request_of(name, []), 60.0)
    with pytest.raises(TimedOut, match="The cells did not run within 3 seconds"):
        run.ask(request_of("f9", []), 60.0)


def test_large_answers_are_counted(run_of: Callable[..., SubmissionRun], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging_run, "FUNCTION_BYTES", 10**6)
    run = run_of("import numpy as np\ndef f():\n    return np.zeros(10**5)\ndef g():\n    return 1")
    for _ in range(2):
        run.ask(request_of("f", []), 60.0)
    with pytest.raises(Crashed, match="was not called again"):
        run.ask(request_of("f", []), 60.0)
    assert run.ask(request_of("g", []), 60.0)["value"] == 1


def test_a_plain_process_leaves_no_children_either(tmp_path: Path) -> None:
    """Without a sandbox a submission can fork; what it detaches ends with it all the same."""
    source = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
"""
    honest = (RED_TEAM / f"{HONEST_PART}.py").read_text(encoding="utf-8")
    _write(tmp_path / "class" / "ann" / f"{LESSON}.py", f"{source}\n# %%\n{honest}".encode())
    for name in ("tmp", "home"):
        (tmp_path / name).mkdir()
    command = backprop("grade", "class", "--isolation", "process", folder=tmp_path)
    assert (command.returncode, "Traceback" in command.stderr) == (0, False)
    result = json.loads((tmp_path / "results" / "ann" / f"{LESSON}.json").read_text(encoding="utf-8"))
    assert (result["points"], result["isolation"]) == (4, "process")
    time.sleep(0.5)
    assert processes_of(tmp_path) == []
    assert os.listdir(tmp_path / "tmp") == []
