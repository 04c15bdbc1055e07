"""Progress messages for slow work: none for two seconds, then the current step whenever it changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENCE = 2.0
"""Seconds without a message."""
STEP = 0.5


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
