"""Fixtures for tests of pages: file servers for pages of widgets and for the built book, and a browser."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import served
from filelock import FileLock
from live_pages import Reader, Server, plain_server
from widget_pages import Browser, Quiet, build_book

ROOT = Path(__file__).parents[2]
HELD = """
const post = Worker.prototype.postMessage;
window.held = null;
window.release = () => { held.forEach((send) => send()); held = null; };
Worker.prototype.postMessage = function (message, ...more) {
  const send = () => post.call(this, message, ...more);
  held && message.do === "check" ? held.push(send) : send();
};
true
"""


@pytest.fixture(scope="session")
def widget_book(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One book with a page for each module that defines one's text; the first process to need it builds it."""
    modules = dict.fromkeys(item.module for item in request.session.items if isinstance(item, pytest.Function))
    texts = {module.__name__: module.PAGE_TEXT for module in modules if hasattr(module, "PAGE_TEXT")}
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "widget-book"
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            under_way = tmp_path_factory.mktemp("widget-book")
            build_book(under_way, {"index": "# Pages of tests\n", **texts})
            under_way.rename(folder)
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def page(request: pytest.FixtureRequest, widget_book: Path) -> Path:
    """The module's own page."""
    return widget_book / f"{request.module.__name__}.html"


@pytest.fixture(scope="module")
def site(page: Path) -> Iterator[str]:
    """The address of the page on a plain file server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(page.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/{page.name}"
    server.shutdown()


@pytest.fixture(scope="session")
def started() -> Iterator[list[Browser]]:
    """All browsers of this process, the one that runs last."""
    running: list[Browser] = []
    yield running
    for browser in running:
        browser.close()


@pytest.fixture(scope="module")
def browsers(started: list[Browser], tmp_path_factory: pytest.TempPathFactory) -> list[Browser]:
    """The browser of this process, which has been nowhere when a module begins."""
    if started and started[-1].process.poll() is None:
        started[-1].watch()
        started[-1].fresh()
    else:
        started.append(Browser(tmp_path_factory.mktemp("profile")))
    return started


@pytest.fixture
def chromium(browsers: list[Browser], tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """The process's browser; a new one if it crashed in an earlier test, so that only that test fails."""
    if browsers[-1].process.poll() is not None:
        browsers.append(Browser(tmp_path_factory.mktemp("profile")))
    return browsers[-1]


@pytest.fixture(scope="session")
def built_book() -> Path:
    """The built book: $BOOK_HTML, else what `make book` has built."""
    built = Path(os.environ.get("BOOK_HTML", ROOT / "book" / "_build" / "html"))
    if "BOOK_HTML" not in os.environ:
        subprocess.run(["make", "--silent", "book"], cwd=ROOT, check=True)
    return built.resolve()


@pytest.fixture(scope="module")
def book_site(built_book: Path) -> Iterator[str]:
    """The address of the built book on a plain file server."""
    with served(built_book) as address:
        yield address


@pytest.fixture(scope="session")
def live_book() -> Path:
    """The built book, with Python in its pages."""
    built = Path(os.environ.get("BOOK_HTML", ROOT / "book" / "_build" / "html"))
    if not (built / "_static" / "page" / "manifest.json").is_file():
        assert not os.environ.get("CI"), "CI builds pages with Python, or fails"
        pytest.skip("no Pyodide or no NumPy wheel could be had where the book was built: its pages are without Python")
    return built


@pytest.fixture(scope="session")
def server(live_book: Path) -> Iterator[Server]:
    with plain_server(live_book) as running:
        yield running


@pytest.fixture(scope="session")
def readers() -> Iterator[list[Reader]]:
    """All readers that this process has started; the last one still runs."""
    running: list[Reader] = []
    yield running
    for reader in running:
        reader.close()


@pytest.fixture(scope="module")
def reader(readers: list[Reader], server: Server, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A reader who has stored nothing when a module begins, and whose cache may have Python from other modules."""
    if readers and readers[-1].process.poll() is None:
        readers[-1].open(f"{readers[-1].address}/index.html", first=True)
    else:
        readers.append(Reader(tmp_path_factory.mktemp("profile"), server))
    return readers[-1]


@pytest.fixture
def emptied(reader: Reader) -> Iterator[None]:
    """Clear the browser's storage after the test."""
    yield
    reader.js("localStorage.clear()")


@pytest.fixture
def hold_checks() -> str:
    """A script that holds back the checks that the page sends to Python, from `held = []` until `release()`."""
    return HELD
