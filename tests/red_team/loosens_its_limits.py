"""Raises its limits, and changes locale, time zone, masks and signals for everyone. Only its own: 4 points."""

import contextlib
import ctypes
import locale
import os
import resource
import signal
import sys
import threading
import time

reached = []


def attempt(name, action):
    with contextlib.suppress(BaseException):
        action()
        reached.append(name)


LIMITS = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE")
for name in LIMITS:
    limit = getattr(resource, name)
    soft, hard = resource.getrlimit(limit)
    attempt(f"{name} up", lambda: resource.setrlimit(limit, (hard + 1, hard + 1)))
    attempt(f"{name} away", lambda: resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
    attempt(f"{name} of the worker", lambda: resource.prlimit(os.getppid(), limit, (1, 1)))
attempt("nice up", lambda: os.nice(-5))
attempt("real time", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt("all processors", lambda: os.sched_setaffinity(0, range(os.cpu_count())))
attempt("capabilities", lambda: os.setgroups([0]))
attempt("another user", lambda: os.setresuid(65534, 65534, 65534))
attempt("another file system", lambda: os.chroot("."))

# Its own to change, all of it.
os.umask(0)
os.environ.update(TZ="Pacific/Kiritimati", LC_ALL="tr_TR.UTF-8", PYTHONHASHSEED="1", OMP_NUM_THREADS="64")
time.tzset()
for name in locale.locale_alias:
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, locale.locale_alias[name])
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
for number in signal.Signals:
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
sys.setswitchinterval(1e-6)
sys.setrecursionlimit(10**6)
threading.stack_size(2**20)
ctypes.CDLL(None).fesetround(0xC00)  # rounds to zero from here on


def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
