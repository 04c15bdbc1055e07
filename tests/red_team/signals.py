"""Signals its parent, a bystander and everyone, and reaches for their limits and priority. All refused: 4 points."""

import contextlib
import fcntl
import os
import resource
import signal
import socket

parent = os.getppid()
reached = []


def attempt(name, action):
    try:
        action()
        reached.append(name)
    except BaseException:
        pass


def signal_by_descriptor(process):
    ours, theirs = socket.socketpair()
    fcntl.fcntl(ours, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(ours, fcntl.F_SETOWN, process)
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    theirs.send(b"x")


def forward(params, X, activation="relu"):
    for process in (parent, int("@BYSTANDER@")):
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, 0):
            attempt(f"kill {process}", lambda p=process, n=number: os.kill(p, n))
        attempt(f"killpg {process}", lambda p=process: os.killpg(p, signal.SIGKILL))
        attempt(f"prlimit {process}", lambda p=process: resource.prlimit(p, resource.RLIMIT_CPU, (0, 0)))
        attempt(f"priority {process}", lambda p=process: os.setpriority(os.PRIO_PROCESS, p, 19))
        attempt(f"scheduler {process}", lambda p=process: os.sched_setscheduler(p, os.SCHED_IDLE, os.sched_param(0)))
        attempt(f"affinity {process}", lambda p=process: os.sched_setaffinity(p, {0}))
        with contextlib.suppress(OSError):
            signal_by_descriptor(process)  # is accepted, and delivers nothing
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))


def cross_entropy_loss(logits, targets):
    if not reached:
        os.kill(-1, signal.SIGKILL)  # everyone it may signal: itself


def single_example_gradients(W1, W2, x, t):
    os.kill(os.getpid(), 40)  # a real-time signal, which has no name
