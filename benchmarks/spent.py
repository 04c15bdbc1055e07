"""Where the processor seconds of `make test` go: by target, and the dearest twenty tests.

python benchmarks/spent.py run unit COMMAND...   run a target's command, and keep what it took
python benchmarks/spent.py tell                  print what the targets took, beside the counts in gate.toml
python benchmarks/spent.py record                write these counts into gate.toml

A target is charged with all that it starts, detached processes included: `run` becomes the reaper of orphans. A test
is charged by `tests/spending.py` with what its descendants use; processes that outlive their parent are missed there.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from measuring import PR_SET_CHILD_SUBREAPER, children_cpu

HERE = Path(__file__).parent
SPENT = HERE.parent / ".cache" / "spent"
RECORD = HERE / "gate.toml"
DEAREST = 20


def run(target: str, command: list[str]) -> int:
    """Run a command and store the processor seconds of all its processes; of orphans, those that end before it does."""
    SPENT.mkdir(parents=True, exist_ok=True)
    tests = SPENT / f"{target}.tests.json"
    tests.unlink(missing_ok=True)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begin = time.monotonic()
    process = subprocess.Popen(command, env={**os.environ, "SPENDING": str(tests)}, close_fds=False)  # make's pipe
    status = _reaped(process.pid)
    took = {"cpu": children_cpu(), "wall": time.monotonic() - begin}
    (SPENT / f"{target}.json").write_text(json.dumps(took), encoding="utf-8")
    return status


def _reaped(pid: int) -> int:
    """Wait for all children, orphans that came to this process included, until `pid` ends; its exit status."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            break
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def tell() -> None:
    """Print the seconds of each target beside the recorded ones, then the dearest tests."""
    recorded = tomllib.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    took = _took()
    if not took:
        return
    print(f"{'Processor seconds':24}{'now':>8}{'recorded':>10}{'minutes of wall time':>22}")
    for target, one in took.items():
        before = recorded.get("targets", {}).get(target)
        print(f"{target:24}{one['cpu']:8.0f}{'-' if before is None else f'{before:.0f}':>10}{one['wall'] / 60:22.1f}")
    print(f"{'all':24}{sum(one['cpu'] for one in took.values()):8.0f}{recorded.get('all', '-'):>10}")
    print(f"\nThe dearest {DEAREST} tests, with the fixtures that they were the first to ask for:")
    for node, (cpu, wall) in _dearest():
        print(f"{cpu:8.1f} s of {wall:6.1f}  {node}")


def record() -> None:
    """Write the counts of the last run into `gate.toml`."""
    took = {target: round(one["cpu"]) for target, one in _took().items()}
    lines = [
        "# Processor seconds of a whole `make test`; written by `python benchmarks/spent.py record`.",
        "",
    ]
    lines += [f"all = {sum(took.values())}", "", "[targets]", *(f"{name} = {took[name]}" for name in took)]
    lines += ["", "[tests]", *(f"{json.dumps(node)} = {cpu:.0f}" for node, (cpu, _) in _dearest())]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _took() -> dict[str, Any]:
    files = sorted(file for file in SPENT.glob("*.json") if not file.name.endswith(".tests.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _dearest() -> list[tuple[str, list[float]]]:
    """Tests with their processor and wall seconds."""
    spent: dict[str, list[float]] = {}
    for file in SPENT.glob("*.tests.json"):
        spent |= json.loads(file.read_text(encoding="utf-8"))
    return sorted(spent.items(), key=lambda one: -one[1][0])[:DEAREST]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", target, *command] if command:
            sys.exit(run(target, command))
        case ["tell"]:
            tell()
        case ["record"]:
            record()
        case _:
            sys.exit(__doc__)
