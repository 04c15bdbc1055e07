"""Tells a submission beside it something by record locks on what both can open. All refused: 4 points."""

import contextlib
import fcntl
import os
import struct
import tabnanny

REQUESTS = {"POSIX": 6, "waiting POSIX": 7, "open file": 37, "waiting open file": 38, "who has": 5, "who has open": 36}
reached = []


def attempt(name, path, flags, lock):
    """On a descriptor of its own: one lock would wait for the other."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, flags)
        try:
            lock(descriptor)
            reached.append(f"{name} {path}")
        finally:
            os.close(descriptor)


for path in (os.devnull, os.path.realpath(tabnanny.__file__), "own"):
    for flags, kind in ((os.O_RDONLY, fcntl.F_RDLCK), (os.O_RDWR | os.O_CREAT, fcntl.F_WRLCK)):
        for name, request in REQUESTS.items():
            lock = struct.pack("hhqqi4x", kind, 0, 7, 1, 0)
            attempt(name, path, flags, lambda held: fcntl.fcntl(held, request, lock))
        attempt("lockf", path, flags, lambda held: os.lockf(held, os.F_TLOCK, 1))
        attempt("flock", path, flags, lambda held: fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB))


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
