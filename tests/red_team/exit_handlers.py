"""Registers work for the end of its process: files, messages, an endless loop. Nothing of it runs: 4 points."""

import atexit
import contextlib
import os
import threading
import time
import weakref


def last_words():
    for descriptor in range(64):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\x02\0\0\0\x02\0\0\0{}")
    while True:
        time.sleep(1)


class Dying:
    __del__ = staticmethod(last_words)


atexit.register(last_words)
weakref.finalize(atexit, last_words)
threading._register_atexit(last_words)
dying = Dying()
dying.itself = dying
