"""Drives a real browser for tests, and records requests, console messages and the page."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--enable-logging=stderr",
    "--virtual-time-budget=4000",
    "--dump-dom",
]
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""In order of preference. Without windows, tests of two widgets took 41 s of CPU instead of 55."""
INSTALL = "this test needs Chromium: apt-get update && apt-get install --no-install-recommends -y chromium"


class Visit(NamedTuple):
    """One address opened in a fresh browser: the page after its scripts ran, its requests and the console messages."""

    dom: str
    requests: list[str]
    console: list[str]


def program() -> str:
    """The browser's path; fails a test that needs a browser if there is none."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    return found or pytest.fail(INSTALL)


def visit(address: str) -> Visit:
    """Open `address` and wait until the page is quiet. Requests are those made by pages, their own files included."""
    with tempfile.TemporaryDirectory() as profile:
        log = Path(profile, "net.json")
        command = [program(), *FLAGS, f"--user-data-dir={profile}", f"--log-net-log={log}", address]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
        record = json.loads(log.read_text(encoding="utf-8"))
    kind = record["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    started = [event.get("params", {}) for event in record["events"] if event["type"] == kind]
    requests = [one["url"] for one in started if "url" in one and one.get("initiator") != "not an origin"]
    return Visit(run.stdout, requests, re.findall(r'CONSOLE[^"]*"(.*)", source', run.stderr))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve `folder` with a plain file server; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write nothing to stderr."""
