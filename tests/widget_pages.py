"""Pages with widgets, built as the book is, and a browser that clicks and presses keys on them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser import program

SOURCE = Path(__file__).parents[1] / "book"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing on stderr."""


HANGS = 600.0
"""Seconds without a new page after which a browser counts as hung: a busy machine takes minutes for one."""


FORGET = "if (location.protocol !== 'about:') { localStorage.clear(); sessionStorage.clear(); }"


class Browser:
    """Chromium under its DevTools protocol, spoken over a pair of pipes: JSON messages that end with a zero byte."""

    def __init__(self, profile: Path, *flags: str) -> None:
        (its_in, our_out), (our_in, its_out) = os.pipe(), os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        line = [program(), *options, *flags, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        # Chromium reads from descriptor 3 and writes to 4; the shell puts the pipes there.
        shell = ["bash", "-c", f'exec 8<&{its_in} 9>&{its_out}; exec 3<&8 4>&9; exec "$@"', "bash", *line]
        self.process = subprocess.Popen(
            shell, pass_fds=(its_in, its_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(its_in)
        os.close(its_out)
        self.write, self.read = os.fdopen(our_out, "wb", buffering=0), os.fdopen(our_in, "rb", buffering=0)
        self.watchdog = threading.Timer(0, lambda: None)
        self.watch()
        self.buffer = b""
        self.session: str | None = None
        self.profile: str | None = None
        self.count = 0
        self.asked = ""
        self.events: list[dict[str, Any]] = []
        self.fresh()

    def fresh(self) -> None:
        """Become a reader who has been nowhere yet: with a tab, a process, storage and cache of its own."""
        self.session, former = None, self.profile
        self.profile = self.call("Target.createBrowserContext")["browserContextId"]
        tab = self.call("Target.createTarget", url="about:blank", browserContextId=self.profile)["targetId"]
        if former:
            self.call("Target.disposeBrowserContext", browserContextId=former)
        self.session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def watch(self) -> None:
        """From now on, a browser that says nothing does not hold up the tests."""
        self.watchdog.cancel()
        self.watchdog = threading.Timer(HANGS, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()

    def message(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            piece = self.read.read(65536)
            if not piece:
                raise EOFError(f"the browser has ended: {self.process.wait()}; last asked: {self.asked}")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return dict(json.loads(text))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self.count += 1
        request = {"id": self.count, "method": method, "params": params}
        self.asked = f"{method} {params}"[:500]
        if self.session:
            request["sessionId"] = self.session
        self.write.write(json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def _go(self, address: str) -> None:
        self.events.clear()
        loader = self.call("Page.navigate", url=address).get("loaderId")
        assert loader, f"this page is open, and only its hash is another: {address}"
        loaded = {"name": "load", "loaderId": loader}
        while not any(loaded.items() <= event.get("params", {}).items() for event in self.events):
            self.events.append(self.message())

    def open(
        self, address: str, width: int = 1200, theme: str = "light", script: bool = True, first: bool = False
    ) -> None:
        """Open a page and wait for its widgets; if it is the `first` page that a reader opens, with nothing stored.

        The load waited for is this page's own. Of two navigations in flight Chromium may forget one, and wait for ever.
        """
        self.watch()
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        if first:  # a page that is left may still write, and one whose hash alone is another is not opened again
            self._go("about:blank")
            forget = self.call("Page.addScriptToEvaluateOnNewDocument", source=FORGET)["identifier"]
        self._go(address)
        if first:
            self.call("Page.removeScriptToEvaluateOnNewDocument", identifier=forget)
        if script:
            ready = "[...document.querySelectorAll('.widget')].every((one) => one.querySelector('form'))"
            self.js(f"new Promise((done) => {{ const look = () => {ready} ? done() : setTimeout(look, 20); look(); }})")
            self.js(f"document.documentElement.dataset.theme = '{theme}'")

    def stay(self, address: str, width: int = 1200, theme: str = "light") -> None:
        """Go on in a page that is open, as former tests have left it; open it where it is not."""
        if self.js("location.href.split('#')[0]") != address:
            return self.open(address, width, theme)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.js(f"document.documentElement.dataset.theme = '{theme}'")
        return None

    def key(self, name: str, code: int) -> None:
        text = {"Enter": "\r", " ": " "}.get(name, "")
        for kind in ("keyDown", "keyUp"):
            press = {"key": name, "code": name, "windowsVirtualKeyCode": code}
            self.call(
                "Input.dispatchKeyEvent", type=kind, **press, **({"text": text} if kind == "keyDown" and text else {})
            )

    def click(self, selector: str) -> None:
        """Press the mouse on the middle of an element."""
        box = self.js(
            f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{ block: 'center' }});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def faults(self) -> list[str]:
        """What scripts threw, and addresses on other hosts, since the page was opened."""
        thrown = [event["params"] for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        asked = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        urls = [one["request"]["url"] for one in asked]
        return [str(one) for one in thrown] + [
            url for url in urls if urlsplit(url).hostname not in ("127.0.0.1", "", None)
        ]

    def close(self) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        self.write.close()
        self.read.close()


def page_of(*cells: str) -> str:
    """A page with these cells, which hide their code, and a place to lead to, `there`."""
    shown = "".join(f"\n```{{code-cell}} python3\n:tags: [remove-input]\n{cell.strip()}\n```\n" for cell in cells)
    return (
        f"---\nfile_format: mystnb\nkernelspec: {{name: python3}}\n---\n# Page\n\n<p id='there'>A place.</p>\n{shown}"
    )


def build_page(folder: Path, text: str) -> Path:
    """A book of one page."""
    return build_book(folder, {"index": text}) / "index.html"


def build_book(folder: Path, pages: dict[str, str]) -> Path:
    """The HTML of a book with these pages, by name, and the configuration of ours, warnings as errors."""
    pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")
    for name in ("_ext", "_static", "node_modules"):
        (folder / name).symlink_to(SOURCE / name)
    shutil.copy(SOURCE / "_config.yml", folder)
    shutil.copy(SOURCE / "references.bib", folder)
    root, *chapters = pages
    listed = "".join(f"- file: {name}\n" for name in chapters)
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: {root}\n{'chapters:' if listed else ''}\n{listed}")
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text)
    builder = str(Path(sys.executable).with_name("jupyter-book"))
    command = [builder, "build", "-W", "-n", "--keep-going", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder / "_build" / "html"


def contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colors written as rgb(r, g, b)."""

    def luminance(color: str) -> float:
        channels = [int(part) / 255 for part in color.removeprefix("rgb(").rstrip(")").split(",")]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def assert_it_fits(
    browser: Browser, width: int, widget: str, inks: dict[tuple[str, str], float], drawings: str = ".plot"
) -> None:
    """Nothing is wider than the screen or than what it lies in, and inks stand out from the page.

    `inks` maps a selector within `widget` and its property to WCAG's contrast that it needs at least.
    """
    assert browser.js("document.documentElement.scrollWidth") <= width
    drawn = f"[...document.querySelectorAll('{widget} {drawings}')]"
    assert browser.js(drawn + ".length") > 0
    assert browser.js(drawn + ".every((one) => one.clientWidth <= one.parentElement.clientWidth)")
    paper = browser.js("getComputedStyle(document.body).backgroundColor")
    for (selector, what), least in inks.items():
        ink = browser.js(f"getComputedStyle(document.querySelector('{widget} {selector}')).{what}")
        assert contrast(ink, paper) > least, (selector, ink, paper)


def assert_controls_fit(browser: Browser, widget: str) -> None:
    """No slider and no table is wider than what it lies in."""
    wide = f"[...document.querySelectorAll('{widget} :is(.slider, table)')]"
    assert browser.js(wide + ".every((one) => one.scrollWidth <= one.parentElement.clientWidth)")


def assert_a_figure_without_scripts(browser: Browser, site: str) -> None:
    """Where no script runs, the page leads to the figure that it names, `there`."""
    browser.open(site, script=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.js("document.querySelector('.widget noscript a').hash") == "#there"
