"""Progress messages for slow work: none for two seconds, then the current step whenever it changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENCE = 2.0
"""Seconds without a message."""
STEP = 0.5


class Progress:
    """What a judge is doing now, for a progress message."""

    def __init__(self) -> None:
        self.text = ""
        self.heard: Callable[[str], object] | None = None
        """Called with each new text, where no thread can poll `text`."""

    def say(self, text: str) -> None:
        self.text = text
        if self.heard is not None:
            self.heard(text)


@contextmanager
def said_if_slow(doing: Callable[[], str], say: Callable[[str], None], silence: float = SILENCE) -> Iterator[None]:
    """Call `say(doing())` from a thread after `silence` seconds of the work inside, and whenever the text changes.

    Nothing is said once the work has ended.
    """
    over = threading.Event()

    def watch() -> None:
        said, wait = "", silence
        while not over.wait(wait):
            text, wait = doing(), STEP
            if text and text != said:
                say(text)
                said = text

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
