"""The system call filter, interpreted line by line, so that arm64 can be tested too; other tests attack it for real."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest
from system_calls import NotSupportedSystemCall, syscalls

from autograder.isolation.allowed import ALLOWED as ALLOWED_CALLS
from autograder.isolation.allowed import (
    ARCHITECTURES,
    LACKING,
    REFUSED_AFTER_SETUP,
    REFUSED_ALWAYS,
    call_filter,
    refusing_filter,
)
from autograder.worker.seccomp import Line

MACHINES = sorted(ARCHITECTURES)
PROCESS, OTHER = 4711, 4712
ALLOWED = 0
THREAD, CHILD, NEW_USER = 0x003D0F00, 17, 0x10000000
"""Flags of `clone` with which the C library makes a thread and a process, and one for a new user namespace."""
CALLS: dict[tuple[str, *tuple[int, ...]], int] = {
    ("read", 3): ALLOWED,
    ("mmap", 0, 4096): ALLOWED,
    ("openat", -100, 0, os.O_RDONLY): ALLOWED,
    ("openat", -100, 0, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC): ALLOWED,
    ("openat", -100, 0, os.O_RDONLY | os.O_TRUNC): errno.EPERM,
    ("openat", -100, 0, os.O_RDONLY | os.O_TRUNC | os.O_CLOEXEC): errno.EPERM,
    ("openat", -100, 0, os.O_WRONLY | os.O_TRUNC): ALLOWED,  # Landlock says which
    ("openat", -100, 0, os.O_RDWR | os.O_TRUNC | os.O_CREAT): ALLOWED,
    ("openat", -100, 0, 3): errno.EPERM,
    ("openat", -100, 0, 3 | os.O_TRUNC): errno.EPERM,
    ("openat2", -100): errno.ENOSYS,
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
    ("tgkill", OTHER, OTHER, 6): errno.EPERM,
    ("tkill", PROCESS, 6): errno.EPERM,
    ("rt_sigqueueinfo", PROCESS, 40): errno.EPERM,  # thousands of them stay queued
    ("timer_create", 1): errno.EPERM,
    ("setitimer", 0): ALLOWED,  # one for each clock
    ("prctl", 15): ALLOWED,  # PR_SET_NAME
    ("prctl", 1): errno.EPERM,
    ("prctl", 4): errno.EPERM,  # PR_SET_DUMPABLE
    ("prctl", 36): errno.EPERM,  # PR_SET_CHILD_SUBREAPER
    ("prctl", 0x59616D61): errno.EPERM,
    ("prlimit64", 0, 7): ALLOWED,
    ("prlimit64", OTHER, 7): errno.EPERM,
    ("setresuid", 0, 0, 0): errno.EPERM,
    ("socket", 1, 1): errno.EPERM,
    ("socketpair", 1, 1 | os.O_NONBLOCK | os.O_CLOEXEC): ALLOWED,
    ("socketpair", 1, 2): errno.EPERM,
    ("socketpair", 2, 1): errno.EPERM,
    ("socketpair", 2, 2): errno.EPERM,
    ("getsockname", 3): ALLOWED,
    ("getsockopt", 3, 1, 3): ALLOWED,
    ("getsockopt", 3, 6, 3): errno.EPERM,
    **{(name, 3): errno.EPERM for name in ("bind", "listen", "accept", "accept4", "connect", "sendmsg", "recvmsg")},
    ("fcntl", 3, 2): ALLOWED,
    ("fcntl", 3, 1030): ALLOWED,
    **{("fcntl", 3, lock): errno.EPERM for lock in (5, 6, 7, 36, 37, 38)},  # F_GETLK … F_OFD_SETLKW
    ("fcntl", 3, 8): errno.EPERM,
    ("fcntl", 3, 1024): errno.EPERM,
    ("flock", 3, 2): errno.EPERM,
    ("ioctl", 3, 0x5401): ALLOWED,
    ("ioctl", 3, 0x5413): ALLOWED,
    ("ioctl", 3, 0x40087602): errno.EPERM,
    ("ioctl", 3, 0x40086602): errno.EPERM,
    ("futex", 0, 0x80): ALLOWED,
    ("futex", 0, 0x189): ALLOWED,  # to wait by a clock, in this process
    ("futex", 0, 0x86): errno.EPERM,  # FUTEX_LOCK_PI
    ("madvise", 0, 4096, 4): ALLOWED,
    ("madvise", 0, 4096, 12): errno.EPERM,  # MADV_MERGEABLE: what others have in memory would show in the time it takes
    ("fallocate", 3, 0): ALLOWED,
    ("fallocate", 3, 1): errno.EPERM,  # FALLOC_FL_KEEP_SIZE: blocks that no limit of file sizes counts
    **{(name, 0): errno.EPERM for name in ("statfs", "fstatfs", "sysinfo")},  # how full a thing is that others share
    ("memfd_create", 0): errno.EPERM,
    ("seccomp", 1): errno.EPERM,
    ("shmget", 1): errno.EPERM,
    ("pidfd_open", PROCESS): errno.EPERM,
    ("mknodat", -100): errno.EPERM,
    ("landlock_create_ruleset", 0): errno.EPERM,
}
"""The expected error for calls with arguments."""


def decided(machine: str, mark: int, number: int, *arguments: int, lines: list[Line] | None = None) -> int:
    """The errno that a machine's filter, or `lines`, returns for a call; 0 if it is allowed."""
    words = {0: number, 4: mark, **{16 + 8 * i: value & 0xFFFFFFFF for i, value in enumerate(arguments)}}
    lines, at, held = lines or call_filter(machine), 0, 0
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


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_not_listed_is_refused(machine: str) -> None:
    """System call numbers that the kernel has, may get, or never had."""
    architecture, mark = ARCHITECTURES[machine]
    listed = {*(allowed.name for allowed in ALLOWED_CALLS), *LACKING}
    known = {name: number for name in syscalls().names() if (number := number_of(name, architecture)) is not None}
    for name in known.keys() - listed:
        assert decided(machine, mark, known[name]) == errno.EPERM, name
    for number in set(range(1000)) - set(known.values()):
        assert decided(machine, mark, number) == errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_our_own_processes_are_refused_what_they_do_not_need(machine: str) -> None:
    architecture, mark = ARCHITECTURES[machine]
    for refused in (REFUSED_ALWAYS, REFUSED_AFTER_SETUP):
        lines = refusing_filter(refused, machine)
        for name in syscalls().names():
            if (number := number_of(name, architecture)) is not None:
                answer = errno.EPERM if name in refused else ALLOWED
                assert decided(machine, mark, number, lines=lines) == answer, name


def number_of(name: str, architecture: str) -> int | None:
    try:
        return int(syscalls().get(name, architecture))
    except NotSupportedSystemCall:
        return None


@pytest.mark.parametrize(
    ("architecture", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("arm64", "/usr/include/asm-generic/unistd.h")],
)
def test_the_numbers_are_those_of_the_kernel(architecture: str, header: str) -> None:
    if not Path(header).is_file():
        pytest.skip(f"the kernel's headers are not installed: there is no {header}")
    text = Path(header).read_text(encoding="utf-8")
    known = {name: int(number) for name, number in re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.M)}
    compared = 0
    for name in {allowed.name for allowed in ALLOWED_CALLS} & set(known):
        assert syscalls().get(name, architecture) == known[name], name
        compared += 1
    assert compared > 80
