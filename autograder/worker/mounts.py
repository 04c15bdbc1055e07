"""Gives a worker a mount namespace that contains only the files that it may read.

Landlock refuses to open and list files, but not `stat`, which would reveal their existence, sizes and times.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_MNT_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_READ_ONLY, _NO_SUID = 1, 2
_ATTRIBUTES = struct.Struct("=QQQQ")


def leave_all_but(
    readable: list[str], writable: list[str], scratches: list[str], room: tuple[int, int], root: str
) -> bool:
    """Move this process permanently to a root file system with only these paths, each in its old place.

    Args:
        readable: files and folders, mounted read-only; missing ones are skipped.
        writable: files mounted with write access.
        scratches: folders, each replaced by an empty tmpfs. The kernel limits its size, counting deleted open files and
            reserved blocks, and processes outside cannot see its usage.
        room: bytes and inodes of each tmpfs.
        root: an empty folder to mount the new root on; other processes do not see the mount.

    Returns:
        Whether the kernel allowed it: root needs CAP_SYS_ADMIN, other users a user namespace, which a process with
        several threads cannot enter. If False, the process still sees its old file system.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    here = os.getcwd()
    try:
        _unshare(libc)
        _mount(libc, None, "/", None, _MS_REC | _MS_PRIVATE)
        _mount(libc, "none", root, "tmpfs", _MS_NOSUID | _MS_NODEV, b"mode=755")
        paths = _topmost([path for path in readable if os.path.exists(path) and path not in writable])
        for path in (*paths, *writable, *scratches):
            _make_place(path, root + path)
        for path in paths:
            _mount(libc, path, root + path, None, _MS_BIND | _MS_REC)
        read_only = _ATTRIBUTES.pack(_READ_ONLY | _NO_SUID, 0, 0, 0)
        _call(libc, _MOUNT_SETATTR, _AT_FDCWD, root.encode(), _AT_RECURSIVE, read_only, ctypes.c_size_t(len(read_only)))
        for path in writable:
            _mount(libc, path, root + path, None, _MS_BIND | _MS_REC)
        size, inodes = room
        options = f"mode=700,size={size},nr_inodes={inodes + 1}".encode()
        for path in scratches:
            _mount(libc, "none", root + path, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, options)
        os.chdir(root)
        _call(libc, _PIVOT_ROOT[platform.machine()], b".", b".")
    except OSError:
        os.chdir(here)
        return False
    _checked(libc.umount2(b".", _MNT_DETACH))  # the old root, mounted over the new one
    os.chdir(here)
    return True


def _unshare(libc: ctypes.CDLL) -> None:
    """Enter a new mount namespace and, if the kernel requires one, a user namespace with the same uid and gid."""
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWNS) == 0:
        return
    if user == 0:  # root limits threads by switching to unused uids, which a user namespace would lack
        raise PermissionError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    _checked(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _topmost(paths: list[str]) -> list[str]:
    """The paths that are not below another of the paths."""
    kept: list[str] = []
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if not kept or not path.startswith(f"{kept[-1]}/"):
            kept.append(path)
    return kept


def _make_place(path: str, place: str) -> None:
    """Create `place`, a folder or an empty file, to mount `path` on."""
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "a"):
            pass


def _mount(libc: ctypes.CDLL, source: str | None, target: str, kind: str | None, flags: int, data: bytes = b"") -> None:
    names = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    _checked(libc.mount(*names, ctypes.c_ulong(flags), data))


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> None:
    _checked(libc.syscall(ctypes.c_long(number), *arguments))


def _checked(answer: int) -> None:
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
