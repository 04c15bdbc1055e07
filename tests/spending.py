"""Counts the processor seconds of each test and of the processes that it starts, in pytest hooks for `conftest.py`.

A test is charged with the processor seconds that this process and its descendants have used since the test before it,
so the first to ask for a fixture pays for it. Orphans, which are no descendants any more, are missed. If the variable
SPENDING is set, it names the file for the counts: `benchmarks/spent.py` sets it, and prints the dearest.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

KEY = "processor_seconds"


def used() -> float:
    """User and system seconds of this process, of its descendants, and of the dead ones that somebody waited for."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system + _of_living_descendants()


def _of_living_descendants() -> float:
    """0 where there is no /proc, and where this process has no child: then none is looked for."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (AttributeError, ChildProcessError):
        return 0.0
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has ended since
            continue
        children[int(fields[1])].append(int(folder.name))
        ticks[int(folder.name)] = sum(map(int, fields[11:15]))  # its own, and its children's that it waited for
    found, waiting = 0, children[os.getpid()]
    while waiting:
        pid = waiting.pop()
        found += ticks[pid]
        waiting += children[pid]
    return found / os.sysconf("SC_CLK_TCK")


_charged = used()


def charge(item: pytest.Item) -> None:
    """Charge a test that has ended; pytest-xdist sends a report's properties on to the process that prints."""
    global _charged
    before, _charged = _charged, used()
    item.user_properties.append((KEY, max(0.0, _charged - before)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if file := os.environ.get("SPENDING"):
        spent: dict[str, list[float]] = {}
        for reports in terminalreporter.stats.values():
            for report in reports:
                if getattr(report, "when", None):  # set-up, call and teardown, not a warning
                    charged = sum(value for key, value in report.user_properties if key == KEY)
                    cpu, wall = spent.get(report.nodeid, (0.0, 0.0))
                    spent[report.nodeid] = [cpu + charged, wall + report.duration]
        Path(file).write_text(json.dumps(spent), encoding="utf-8")
