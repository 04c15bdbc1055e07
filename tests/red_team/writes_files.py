"""Writes, renames, removes and re-dates what is not its own: results, the class, the course. All refused."""

import os
import shutil

reached = []
TARGETS = [  # all in a temporary folder, should a wall have a hole
    "@RESULTS@/students/honest_all/ch07_mlp_backprop.json",
    "@RESULTS@/class.json",
    "@CLASS@/honest_all/ch07_mlp_backprop.py",
    "@CLASS@/honest_all",
    "@CLASS@",
    "@OUTSIDE@/secret",
    "../../python",
]
COURSE = ["@REPOSITORY@/solutions/ch07_mlp_backprop.py", "@REPOSITORY@/autograder/worker/wire.py", os.__file__]


def attempt(name, action):
    try:
        action()
        reached.append(name)
    except BaseException:
        pass


def write(path, flags):
    os.close(os.open(path, flags, 0o644))


for path in TARGETS:
    attempt(f"append {path}", lambda p=path: write(p, os.O_WRONLY | os.O_APPEND))
    attempt(f"truncate {path}", lambda p=path: os.truncate(p, 0))
    attempt(f"create beside {path}", lambda p=path: write(f"{p}.new", os.O_WRONLY | os.O_CREAT))
    attempt(f"make a folder beside {path}", lambda p=path: os.mkdir(f"{p}.folder"))
    attempt(f"rename {path}", lambda p=path: os.rename(p, f"{p}.old"))
    attempt(f"take {path}", lambda p=path: os.rename(p, "taken"))
    attempt(f"remove {path}", lambda p=path: os.unlink(p))
    attempt(f"remove all of {path}", lambda p=path: shutil.rmtree(p))
    attempt(f"mode of {path}", lambda p=path: os.chmod(p, 0o777))
    attempt(f"owner of {path}", lambda p=path: os.chown(p, os.getuid(), os.getgid()))
    attempt(f"owner of the link {path}", lambda p=path: os.lchown(p, os.getuid(), os.getgid()))
    attempt(f"times of {path}", lambda p=path: os.utime(p, (0, 0)))
    attempt(f"attributes of {path}", lambda p=path: os.setxattr(p, "user.points", b"23"))
for path in COURSE:
    attempt(f"open {path}", lambda p=path: write(p, os.O_WRONLY | os.O_APPEND))
for path in ("/tmp/owned", "~/.config/owned", "~root/.bashrc", "/dev/shm/owned", "/var/tmp/owned", "../owned"):
    if os.path.expanduser(path).startswith(os.getcwd()):
        continue
    attempt(f"create {path}", lambda p=path: write(os.path.expanduser(p), os.O_WRONLY | os.O_CREAT))
attempt("device", lambda: os.mknod("memory", 0o20600, os.makedev(1, 1)))
attempt("chroot", lambda: os.chroot("."))


def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
