"""Reaches for servers on this machine by every kind of socket. The kernel refuses to make one: 4 points."""

import errno
import socket

reached = []
HOST, PORT = "127.0.0.1", int("@PORT@")
MPTCP, FAST_OPEN = 262, 0x20000000


def attempt(name, action):
    try:
        action()
        reached.append(name)
    except OSError as error:
        if error.errno == errno.EINPROGRESS:
            reached.append(name)
    except BaseException:
        pass


def tcp(protocol):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as stream:
        stream.settimeout(2)
        stream.connect((HOST, PORT))


def fast_open():
    stream = socket.socket()
    stream.settimeout(2)
    stream.sendto(b"hello", FAST_OPEN, (HOST, PORT))


def unix(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as stream:
        stream.connect(address)
        stream.send(b"hello")


def listen(protocol):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as server:
        server.bind((HOST, 0))
        server.listen()


attempt("tcp", lambda: tcp(0))
attempt("mptcp", lambda: tcp(MPTCP))
attempt("fast open", fast_open)
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", (HOST, PORT)))
attempt("unix", lambda: unix("@UNIX@"))
attempt("unix datagram", lambda: unix("@UNIX@.datagram", socket.SOCK_DGRAM))
attempt("abstract", lambda: unix("\0@ABSTRACT@"))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))
attempt("listen", lambda: listen(0))
attempt("listen by mptcp", lambda: listen(MPTCP))


def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))
