"""Saying what takes so long: nothing for two seconds, then what is done, whenever that is something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENCE = 2.0
"""Seconds that need no explanation."""
STEP = 0.5


@contextmanager
def said_if_slow(doing: Callable[[], str], say: Callable[[str], None], silence: float = SILENCE) -> Iterator[None]:
    """Call `say(doing())` from a thread when the work inside has taken `silence` seconds, and again where it changes.

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
