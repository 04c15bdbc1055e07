"""Binds a socket pair's ends to abstract names, which all submissions share, and listens there. Refused: 4 points."""

import array
import contextlib
import os
import socket

reached = []


def attempt(name, action):
    with contextlib.suppress(OSError):
        action()
        reached.append(name)


ours, _ = socket.socketpair()
for name in ("", "\0backprop-red-team", "\0@ABSTRACT@", "address"):
    end = socket.socketpair()[0]
    attempt(f"bind {name[1:]}", lambda: end.bind(name))
    attempt(f"listen {name[1:]}", end.listen)
    attempt(f"accept {name[1:]}", lambda: (end.settimeout(0.05), end.accept()))
    attempt(f"connect {name[1:]}", lambda: socket.socketpair()[0].connect(name))
    attempt(f"send to {name[1:]}", lambda: socket.socketpair()[0].sendmsg([b"hello"], [], 0, name))
attempt("an option", lambda: ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1))
rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [ours.fileno()]))]
attempt("a descriptor", lambda: ours.sendmsg([b"x"], rights))
attempt("its own file", lambda: os.stat("address"))


# %%
def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached)[:250] or "nothing"))
