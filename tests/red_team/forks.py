"""Forks, spawns and detaches children that would outlive it. The sandbox refuses every one: 4 points."""

import os
import subprocess
import sys
import time

reached = []


def attempt(name, action):
    try:
        action()
        reached.append(name)
    except BaseException:
        pass


def fork():
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)


def detach():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)


def bomb():
    for _ in range(1000):
        fork()


sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
attempt("fork", fork)
attempt("detach", detach)
attempt("bomb", bomb)
attempt("forkpty", os.forkpty)
attempt("subprocess", lambda: subprocess.Popen(sleep, start_new_session=True))
attempt("posix_spawn", lambda: os.posix_spawn(sys.executable, sleep, {}))
attempt("system", lambda: 1 / (os.system("sleep 600 &") == 0))


def forward(params, X, activation="relu"):
    attempt("fork in a call", fork)
    attempt("bomb in a call", bomb)
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))
