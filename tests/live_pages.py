"""A book page that runs Python, and a simulated reader who types, clicks and reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from widget_pages import Browser, Quiet

ONLY_HERE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
PATIENCE = 90.0
"""Seconds allowed for what takes a few on an idle machine."""
CTRL = 2


class Server(ThreadingHTTPServer):
    """A plain file server that can go offline for a while."""

    gone = False

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(_Noting, directory=str(folder)))
        self.asked: list[str] = []
        """Requested paths, including workers' files."""

    def verify_request(self, request: Any, client_address: Any) -> bool:
        return not self.gone


class _Noting(Quiet):
    server: Server

    def send_head(self) -> Any:
        self.server.asked.append(self.path)
        return super().send_head()


@contextmanager
def plain_server(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()


class Reader(Browser):
    """A browser on a page with exercises and live code."""

    def __init__(self, profile: Path, server: Server) -> None:
        super().__init__(profile, ONLY_HERE)
        self.call("Log.enable")
        self.address = f"http://127.0.0.1:{server.server_address[1]}"

    def visit(self, page: str, width: int = 1200, theme: str = "light", first: bool = False) -> None:
        self.open(f"{self.address}/{page}", width, theme, first=first)
        self.until("document.documentElement.dataset.cells === 'ready'")

    def remain(self, page: str, width: int = 1200, theme: str = "light") -> None:
        """`stay` in a page, with the Python that runs there."""
        self.stay(f"{self.address}/{page}", width, theme)
        self.until("document.documentElement.dataset.cells === 'ready'")

    def without_a_spare(self) -> None:
        """Have the page keep no second Python ready, as on a small device, where a test does not need it."""
        self.js("Object.defineProperty(navigator, 'deviceMemory', { value: 2 }); true")

    def until(self, condition: str, seconds: float = PATIENCE) -> None:
        """Wait until a condition holds in the page."""
        end, pause = time.monotonic() + seconds, 0.02
        while not self.js(condition):
            assert time.monotonic() < end, condition
            time.sleep(pause)
            pause = min(0.2, pause * 1.5)

    def exercise(self, name: str, inside: str = "") -> str:
        return f'.exercise[data-exercise="{name}"] {inside}'.strip()

    def text(self, selector: str) -> str:
        return str(self.js(f"document.querySelector({selector!r})?.innerText ?? ''"))

    def press(self, selector: str, words: str) -> None:
        """Press the visible button with this text."""
        found = f"[...document.querySelectorAll({selector + ' button'!r})]"
        button = f"{found}.find((one) => !one.hidden && one.textContent === {words!r})"
        self.until(f"Boolean({button})")
        self.js(f"{button}.click()")

    def fill(self, selector: str, code: str) -> None:
        """Open the editor in an element, and replace its contents."""
        if not self.js(f"Boolean(document.querySelector({selector + ' .cm-content'!r}))"):
            if selector.startswith(".exercise"):
                self.js(f"document.querySelector({selector + ' pre'!r}).click()")
            else:  # readers click on the page's code only to copy it
                self.press(selector, "Edit")
            self.until(f"Boolean(document.querySelector({selector + ' .cm-content'!r}))")
        self.js(f"document.querySelector({selector + ' .cm-content'!r}).focus()")
        self.chord("a", CTRL, "selectAll")
        self.call("Input.insertText", text=code)

    def type(self, text: str) -> None:
        """Press a key for each character, as fingers do: `fill` inserts like a paste, which no shortcut sees."""
        for letter in text:
            press = {"key": letter, "text": letter, "windowsVirtualKeyCode": 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", **press)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def chord(self, key: str, modifiers: int = 0, command: str = "", code: int = 0) -> None:
        """Press a key with modifiers: 2 is Ctrl, 8 is Shift."""
        press = {"key": key, "windowsVirtualKeyCode": code or ord(key.upper()[0]), "modifiers": modifiers}
        more = {"commands": [command]} if command else {}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **press, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", **press)

    def checked(self, name: str) -> str:
        """Press Check; returns the text of the card."""
        self.press(self.exercise(name), "Check")
        card = self.exercise(name, ".exercise-card")
        self.until(f"document.querySelector({card!r}).innerText")
        return self.text(card)

    def focused(self) -> str:
        return str(self.js("document.activeElement.className + ' ' + document.activeElement.textContent.slice(0, 40)"))

    def complaints(self) -> list[str]:
        """Console errors and warnings, and requests to other hosts."""
        said = [event["params"]["entry"] for event in self.events if event.get("method") == "Log.entryAdded"]
        return [one["text"] for one in said if one["level"] == "error"] + self.faults()
