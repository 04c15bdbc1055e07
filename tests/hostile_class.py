"""Makes a class of hostile and honest submissions, with odd files, and servers that no submission may reach."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conftest import BACKPROP

TESTS = Path(__file__).resolve().parent

REPOSITORY = TESTS.parent

RED_TEAM = TESTS / "red_team"


HONEST_PART = "honest_part"

LESSON = "ch07_mlp_backprop"

HONEST = ("aa_honest", "honest_all", "zz_honest", "mm_honest")
"""All solutions except the last exercise's: the honest part on its own."""


@dataclass(frozen=True)
class Outcome:
    """Expected result of an attack, in addition to the four points of its honest part."""

    statuses: dict[str, str] = field(default_factory=dict)
    """By exercise: the status."""
    says: tuple[str, ...] = ()
    """Texts that the messages of the result must contain."""
    points: float = 4.0
    mse_loss: float = 2.0
    """Those of its points that the attack leaves to the honest `mse_loss`."""
    beside: float = 0.0
    """Points for `cross_entropy_loss` with correct values and changed arguments."""


REACHED_NOTHING = Outcome({"forward": "error"}, ("reached: nothing",))

OUTCOMES = {
    "patched_numpy": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "patched_pytest": Outcome({"forward": "forbidden", "cross_entropy_loss": "failed"}),
    "patched_json_and_struct": Outcome({"forward": "failed", "cross_entropy_loss": "failed"}),
    "patched_builtins": Outcome({"forward": "failed", "cross_entropy_loss": "error"}, mse_loss=0.53),
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
    # What its thread sends before cross_entropy_loss is asked is an error; later it is taken for a wrong answer.
    "fake_messages": Outcome({"forward": "failed"}),
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
        {"cross_entropy_loss": "partial", "single_example_gradients": "failed"}, ("changed its argument",), beside=1.0
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
"""Contents of files that are not submissions; each is reported in one line."""

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
    """The state after one run of the command."""

    folder: Path
    command: subprocess.CompletedProcess[str]
    results: dict[str, dict[str, Any]]
    connections: list[str]
    bystander_as_before: bool
    touched: dict[Path, tuple[Any, ...]]
    """The files and folders that changed, as they were before."""
    left_running: list[str]
    left_behind: list[str]
    """What other processes of the same user would find in the kernel."""
    undisturbed: dict[str, dict[str, Any]]
    """The results of the honest students, graded in a class of their own."""


def backprop(*arguments: object, folder: Path, timeout: float = 500) -> subprocess.CompletedProcess[str]:
    """Run the command as an instructor does; everything it may write is in `folder`."""
    return subprocess.run(
        [str(BACKPROP), *map(str, arguments)],
        env={**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "BACKPROP_SALT": "of a class"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
    )


def visible_answers(exercise: str) -> dict[tuple[Any, ...], Any]:
    """Arguments and answers of the calls in an exercise's visible checks; plain numbers only."""
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
    """One server of each kind on this machine, and a record of connections."""

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
    """By attack: its source, with the honest part."""
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
    """A notebook with the honest part only."""
    source = (RED_TEAM / f"{HONEST_PART}.py").read_text(encoding="utf-8")
    return json.dumps({"cells": [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []}]})


def make_class(folder: Path, replacements: dict[str, str]) -> Path:
    """A class folder with attacks, unreadable files, strange names, links and honest work."""
    students = folder / "class"
    for name, source in hostile_sources(replacements).items():
        write(students / name / f"{LESSON}.py", source.encode())
    for name, content in UNREADABLE.items():
        write(students / name.partition(".")[0] / f"{LESSON}.ipynb", content)
    for name in STUDENTS:
        write(students / name / f"{LESSON}.ipynb", half_done().encode())
    for name in HONEST[:3]:
        solution = (REPOSITORY / "solutions" / f"{LESSON}.py").read_bytes()
        write(students / name / f"{LESSON}.py", solution + b"\n# as we have it\n")
    write(students / HONEST[3] / f"{LESSON}.ipynb", half_done().encode())
    _make_oddities(students, folder)
    return students


def _make_oddities(students: Path, folder: Path) -> None:
    """Make entries that are not regular files, or belong to another student."""
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


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def results_in(folder: Path) -> dict[str, dict[str, Any]]:
    """By student: the result."""
    files = folder.glob(f"students/*/{LESSON}.json")
    return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}


def exercises_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {exercise["name"]: exercise for exercise in result["exercises"]}


def texts(value: Any) -> Iterator[str]:
    """All texts in a result, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
