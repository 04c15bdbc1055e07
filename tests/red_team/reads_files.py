"""Reads the solutions, the checks, other submissions, results and /proc, and would use what it finds. All refused."""

import contextlib
import glob
import os

reached = []
REPOSITORY = "@REPOSITORY@"
CLASS = "@CLASS@"
PATHS = [
    f"{REPOSITORY}/solutions/ch07_mlp_backprop.py",
    f"{REPOSITORY}/autograder/lessons/ch07_mlp_backprop/checks/forward.py",
    f"{REPOSITORY}/autograder/lessons/digits_heldout.npz",
    f"{REPOSITORY}/autograder/lessons/ch07_mlp_backprop/mistakes/forward.py",
    f"{REPOSITORY}/pyproject.toml",
    f"{CLASS}/honest_all/ch07_mlp_backprop.py",
    "@RESULTS@/students/honest_all/ch07_mlp_backprop.json",
    "@OUTSIDE@/secret",
    "../1/answers",
    "/etc/passwd",
    os.path.expanduser("~/.bashrc"),
    "/dev/mem",
    "/dev/tty",
]
for process in ("self", os.getppid(), "@BYSTANDER@", 1):
    PATHS += [f"/proc/{process}/{file}" for file in ("environ", "mem", "maps", "cmdline")]
for path in PATHS:
    for reach in (path, os.path.relpath(path), f"/proc/self/root{path}", f"/proc/self/cwd/{os.path.relpath(path)}"):
        try:
            with open(reach, "rb") as file:
                reached.append(f"{path} {len(file.read(100))}")
                exec(file.read())
        except BaseException:
            pass
    with contextlib.suppress(OSError):
        os.symlink(path, f"link{len(os.listdir())}")
        os.link(path, f"hard{len(os.listdir())}")
        reached.append(f"linked {path}")
for folder in (CLASS, REPOSITORY, "@RESULTS@", "..", "/", "/tmp", "/proc", "/home", "/root"):
    with contextlib.suppress(OSError):
        reached += [f"{folder} {len(os.listdir(folder))}", *glob.glob(f"{folder}/*")]
for link in os.listdir():
    with contextlib.suppress(OSError), open(link) as file:
        reached.append(f"{link} {len(file.read())}")
reached += [name for name in os.environ if "SALT" in name or "SECRET" in name]


# %%
if "forward" not in globals():

    def forward(params, X, activation="relu"):
        raise RuntimeError("reached: " + (", ".join(reached)[:200] or "nothing"))
