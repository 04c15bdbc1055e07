"""The built book in a real browser: no request to another host, no script errors, and it fits a narrow screen.

Chromium records what it asks for (`--log-net-log`). A request that a page causes has the page's origin as initiator;
the browser's own traffic has none.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
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
INSTALL = "the browser test needs Chromium: apt-get update && apt-get install --no-install-recommends -y chromium"
PHONE = 360
"""Width in CSS pixels of a small phone. Headless Chromium opens no window that narrow, so pages are put in a frame."""

MEASURE = """onload = () => {
  for (const frame of document.querySelectorAll("iframe"))
    frame.title = frame.contentDocument.documentElement.scrollWidth;
}"""


class Visit(NamedTuple):
    """One address opened in a fresh browser: the page after its scripts ran, its requests and its script errors."""

    dom: str
    requests: list[str]
    errors: list[str]


def visit(address: str) -> Visit:
    """Open `address` and wait until the page is quiet."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.fail(INSTALL)
    with tempfile.TemporaryDirectory() as profile:
        log = Path(profile, "net.json")
        command = [browser, *FLAGS, f"--user-data-dir={profile}", f"--log-net-log={log}", address]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        record = json.loads(log.read_text(encoding="utf-8"))
    kind = record["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    started = [event.get("params", {}) for event in record["events"] if event["type"] == kind]
    requests = [one["url"] for one in started if "url" in one and one.get("initiator") != "not an origin"]
    return Visit(run.stdout, requests, re.findall(r'CONSOLE.*"(Uncaught.*)"', run.stderr))


def elsewhere(requests: list[str]) -> list[str]:
    return [url for url in requests if urlsplit(url).hostname not in ("127.0.0.1", None)]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the built book (BOOK_HTML, or what `make book` builds), to which tests may add pages."""
    built = os.environ.get("BOOK_HTML", ROOT / "book" / "_build" / "html")
    if "BOOK_HTML" not in os.environ:
        subprocess.run(["make", "--silent", "book"], cwd=ROOT, check=True)
    return Path(shutil.copytree(built, tmp_path_factory.mktemp("book") / "html"))


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """The address of a plain file server of the book."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def frames(folder: Path, site: str) -> tuple[Visit, dict[str, int]]:
    """Every page in a frame as wide as a phone: the visit, and the width that each page takes."""
    names = [page.name for page in sorted(folder.glob("*.html"))]
    page = "".join(f'<iframe width="{PHONE}" height="700" src="{name}"></iframe>' for name in names)
    (folder / "frames.html").write_text(f"{page}<script>{MEASURE}</script>")
    seen = visit(f"{site}/frames.html")
    (folder / "frames.html").unlink()
    widths = {name: int(width) for name, width in re.findall(r'src="(\S+)" title="(\d+)"', seen.dom)}
    assert list(widths) == names
    return seen, widths


def test_pages_stand_alone_and_fit_a_phone(folder: Path, site: str) -> None:
    """No page asks another host or fails in a script, and none is wider than the screen: what is wide scrolls."""
    seen, widths = frames(folder, site)
    assert any("katex.min.css" in url for url in seen.requests)
    assert elsewhere(seen.requests) == []
    assert seen.errors == []
    assert {name: width for name, width in widths.items() if width > PHONE} == {}


def test_a_page_that_does_not_is_seen(folder: Path, site: str) -> None:
    picture, script = "http://pictures.example/a.png", "https://data.example/b"
    page = folder / "bad.html"
    wrong = f'<script>fetch("{script}"); nothing.here()</script>'
    page.write_text(f'<img src="{picture}"><p style="width: 900px">wide</p>{wrong}')
    seen, widths = frames(folder, site)
    page.unlink()
    assert sorted(elsewhere(seen.requests)) == [picture, script]
    assert len([error for error in seen.errors if "nothing" in error]) == 1
    assert widths["bad.html"] > PHONE


def test_search_finds(site: str) -> None:
    seen = visit(f"{site}/search.html?q=broadcasting")
    assert 'href="ch06_vjps.html' in seen.dom.split('id="search-results"')[1]
    assert elsewhere(seen.requests) == []


def test_pages_open_from_the_disk(folder: Path) -> None:
    seen = visit((folder / "index.html").as_uri())
    assert elsewhere(seen.requests) == []
    assert seen.errors == []
    assert "fig-index-loss" in seen.dom
