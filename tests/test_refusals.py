"""The system call filter, decided line by line: on the machine at hand it is attacked, here arm64 is looked at too."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest
from system_calls import syscalls

from autograder.isolation.refusals import ARCHITECTURES, REFUSALS, refused_calls

MACHINES = sorted(ARCHITECTURES)
PROCESS, OTHER = 4711, 4712
ALLOWED = 0
THREAD, CHILD, NEW_USER = 0x003D0F00, 17, 0x10000000
"""Flags of `clone`: as the C library makes a thread, a process, and one in a namespace of its own."""
CALLS = {
    ("read", 3): ALLOWED,
    ("mmap", 0, 4096): ALLOWED,
    ("openat", -100, 0, os.O_RDONLY): ALLOWED,
    ("openat", -100, 0, os.O_RDONLY | os.O_TRUNC): errno.EPERM,
    ("openat", -100, 0, os.O_RDONLY | os.O_TRUNC | os.O_CLOEXEC): errno.EPERM,
    ("openat", -100, 0, os.O_WRONLY | os.O_TRUNC): ALLOWED,  # Landlock says which
    ("openat", -100, 0, 3): errno.EPERM,
    ("openat", -100, 0, 3 | os.O_TRUNC): errno.EPERM,
    ("openat2", -100): errno.EPERM,
    ("clone", THREAD): ALLOWED,
    ("clone", THREAD & ~0x400): errno.EPERM,  # with files of its own
    ("clone", CHILD): errno.EPERM,
    ("clone", THREAD | NEW_USER): errno.EPERM,
    ("clone3", 0): errno.ENOSYS,
    ("execve", 0): errno.EPERM,
    ("kill", PROCESS, 9): ALLOWED,
    ("kill", OTHER, 9): errno.EPERM,
    ("kill", -1, 9): errno.EPERM,
    ("tgkill", PROCESS, OTHER, 6): ALLOWED,
    ("tkill", PROCESS, 6): errno.EPERM,
    ("prctl", 15): ALLOWED,  # PR_SET_NAME
    ("prctl", 1): errno.EPERM,
    ("prctl", 0x59616D61): errno.EPERM,
    ("prlimit64", 0, 7): ALLOWED,
    ("prlimit64", OTHER, 7): errno.EPERM,
    ("socket", 1, 1): errno.EPERM,
    ("socketpair", 1, 1 | os.O_NONBLOCK | os.O_CLOEXEC): ALLOWED,
    ("socketpair", 1, 2): errno.EPERM,
    ("fcntl", 3, 2): ALLOWED,
    ("socketpair", 2, 1): errno.EPERM,
    ("fcntl", 3, 8): errno.EPERM,
    ("fcntl", 3, 1024): errno.EPERM,
    ("ioctl", 3, 0x5401): ALLOWED,
    ("ioctl", 3, 0x5413): ALLOWED,
    ("ioctl", 3, 0x40087602): errno.EPERM,
    ("memfd_create", 0): errno.EPERM,
    ("ioctl", 3, 0x40086602): errno.EPERM,
    ("seccomp", 1): errno.EPERM,
    ("shmget", 1): errno.EPERM,
}
"""Calls with their arguments, and the error that they get."""


def decided(machine: str, mark: int, number: int, *arguments: int) -> int:
    """What the filter of a machine answers: an error's number, 0 for none."""
    words = {0: number, 4: mark, **{16 + 8 * i: value & 0xFFFFFFFF for i, value in enumerate(arguments)}}
    lines, at, held = refused_calls(machine), 0, 0
    while True:
        what, so, not_so, value = lines[at]
        value = PROCESS if value is None else value
        at += 1
        match what:
            case 0x20:
                held = words.get(value, 0)
            case 0x54:
                held &= value
            case 0x15:
                at += so if held == value else not_so
            case 0x35:
                at += so if held >= value else not_so
            case 0x06:
                return value & 0xFFFF if value != 0x7FFF0000 else ALLOWED
            case _:
                raise AssertionError(f"line {at - 1}")


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_call_is_decided_by_its_arguments(machine: str, call: tuple[str, *tuple[int, ...]]) -> None:
    architecture, mark = ARCHITECTURES[machine]
    name, *arguments = call
    assert decided(machine, mark, syscalls().get(name, architecture), *arguments) == CALLS[call]


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_by_other_numbers_are_refused(machine: str) -> None:
    architecture, mark = ARCHITECTURES[machine]
    read = syscalls().get("read", architecture)
    assert decided(machine, mark, read + 0x40000000) == errno.EPERM
    for other in {mark for _, mark in ARCHITECTURES.values()} - {mark} | {0x40000003, 0x40000028}:  # i386, arm
        assert decided(machine, other, read) == errno.EPERM


@pytest.mark.parametrize(
    ("architecture", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("arm64", "/usr/include/asm-generic/unistd.h")],
)
def test_the_numbers_are_those_of_the_kernel(architecture: str, header: str) -> None:
    if not Path(header).is_file():
        pytest.skip(f"there is no {header}")
    text = Path(header).read_text(encoding="utf-8")
    known = {name: int(number) for name, number in re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.M)}
    compared = 0
    for name in {refusal.name for refusal in REFUSALS} & set(known):
        assert syscalls().get(name, architecture) == known[name], name
        compared += 1
    assert compared > 80
