"""Asks for sizes and times of what it cannot open, and goes there. There is nothing: 4 points."""

import contextlib
import glob
import os

reached = []
PATHS = [
    "@REPOSITORY@/solutions",
    "@REPOSITORY@/solutions/ch07_mlp_backprop.py",
    "@REPOSITORY@/autograder/lessons/ch07_mlp_backprop/checks/forward.py",
    "@REPOSITORY@/pyproject.toml",
    "@CLASS@/honest_all",
    "@CLASS@/honest_all/ch07_mlp_backprop.py",
    "@RESULTS@",
    "@OUTSIDE@/secret",
    "/etc/passwd",
    "/etc/hostname",
    "/proc/self/status",
    "/proc/@BYSTANDER@",
    "/sys/kernel",
    "/var/log",
    "/bin",
    "/home",
]
ASK = {
    "stat": os.stat,
    "lstat": os.lstat,
    "access": lambda path: os.access(path, os.F_OK) or 1 / 0,
    "readlink": os.readlink,
    "statvfs": os.statvfs,
    "chdir": os.chdir,
    "hold": lambda path: os.open(path, os.O_PATH),
    "glob": lambda path: glob.glob(path)[0],
}
start = os.getcwd()
for path in PATHS:
    for name, ask in ASK.items():
        for way in (path, "/proc/self/root" + path, os.path.relpath(path, start)):
            with contextlib.suppress(OSError, IndexError, ZeroDivisionError):
                ask(way)
                reached.append(f"{name} {path}")
            os.chdir(start)
with contextlib.suppress(OSError):
    held = os.open(".", os.O_PATH)
    for _ in range(30):
        held = os.open("..", os.O_PATH | os.O_DIRECTORY, dir_fd=held)
    for path in PATHS:
        with contextlib.suppress(OSError):
            os.stat(path[1:], dir_fd=held)
            reached.append(f"stat from above {path}")


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
