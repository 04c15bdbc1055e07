"""The wire between judge and worker: data arrives bit for bit, and any bytes are data or a wire error."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from typing import Any

import numpy as np
import pytest
from fuzzed import DATA, JSON, frame, fuzz
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.worker import wire
from autograder.worker.channel import Channel, ChannelClosed

pytestmark = pytest.mark.slow


def same(a: Any, b: Any) -> bool:
    """Bitwise equality: -0.0 differs from 0.0, True from 1, and dtypes from each other; nan equals nan."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.dtype.str == b.dtype.str and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(map(same, a, b)) and all(map(same, a.values(), b.values()))
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    return bool(a == b)


@fuzz
@given(DATA)
@example([-0.0, float("nan"), float("-inf"), 10**400, -(2**4095), True, 1])
@example({-7: 1, "a": {"": np.zeros((0, 3), order="F")}})
@example(np.arange(6, dtype=">i2").reshape(2, 3, order="F"))
def test_data_arrives_bit_for_bit(value: Any) -> None:
    assert same(wire.decode(wire.encode(value)), value)


def read(data: bytes) -> Any:
    """The data in a frame; None if it is refused."""
    with contextlib.suppress(wire.WireError):
        return wire.decode(data)
    return None


@fuzz
@given(DATA, st.data())
def test_a_frame_with_flipped_bytes_is_data_or_a_wire_error(value: Any, draw: st.DataObject) -> None:
    mutated = bytearray(wire.encode(value))
    for _ in range(draw.draw(st.integers(1, 4))):
        place = draw.draw(st.integers(0, len(mutated) - 1))
        mutated[place] = draw.draw(st.integers(0, 255) | st.sampled_from(list(b'0123456789"[]{},:-.eENIf')))
    read(bytes(mutated))
    cut = draw.draw(st.integers(0, len(mutated)))
    read(bytes(mutated[:cut]))
    read(struct.pack("<II", *(2 * [max(0, cut - wire.PREFIX_SIZE)])) + bytes(mutated[wire.PREFIX_SIZE : cut]))


@fuzz
@given(JSON, JSON | st.lists(st.integers(0, 16), max_size=3), st.binary(max_size=32))
@example({"tag": "array", "of": ["|b1", [2], 0]}, [2], b"\x02\xff")
def test_any_header_over_any_body_is_data_or_a_wire_error(body: Any, sizes: Any, tail: bytes) -> None:
    value = read(frame(body, sizes, tail))
    if isinstance(value, np.ndarray) and value.dtype == bool:
        assert set(value.tobytes()) <= {0, 1}


@pytest.mark.parametrize(
    "header",
    [
        b"[" + b"1" * 10**6 + b",[]]",
        b"[Infinity,[NaN]]",
        b"[1e999,[1e999]]",
        b'["' + b"\\ud800" * 1000 + b'",[]]',
        "[null,[]]".encode("utf-16"),
        b"[null,[]]\0",
        b'[{"tag":"list","of":[],"tag":"dict"},[]]',
        b"[" * 10**6,
        b'[{"tag":"dict","of":[[{"tag":"array","of":["<f8",[],0]},1]]},[8]]' + b"\0" * 8,
    ],
    ids=range(9),
)
def test_odd_headers_are_data_or_a_wire_error(header: bytes) -> None:
    read(struct.pack("<II", len(header), len(header)) + header)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (frame({"tag": "list", "of": [{"tag": "array", "of": ["|u1", [9], 0]}] * 2}, [9], bytes(9)), "its bytes"),
        (frame(None, [0] * (wire.REQUEST.items + 1)), "not described"),
        (frame({"tag": "array", "of": ["<f8", [0, 2**20, 2**20], 0]}, [0]), "impossible shape"),
    ],
    ids=["many arrays of the same bytes", "a million empty buffers", "no entries, and a shape that fills the memory"],
)
def test_a_small_frame_takes_little_memory(data: bytes, says: str) -> None:
    """Each of these used to cost the judge gigabytes: at once, or when it sums over an axis of the data."""
    with pytest.raises(wire.WireError, match=says):
        wire.decode(data)


@settings(fuzz, max_examples=60)
@given(st.lists(DATA | st.binary(max_size=40), max_size=4), st.lists(st.integers(1, 60), min_size=1), st.binary())
def test_frames_arrive_whole_however_they_are_split(messages: list[Any], pieces: list[int], rest: bytes) -> None:
    """Over a real socket, in pieces of any size, with noise at the end: whole frames, then an error of the channel."""
    frames = [wire.encode(list(value) if isinstance(value, bytes) else value) for value in messages]
    stream = b"".join(frames) + rest
    ours, theirs = socket.socketpair()

    def write() -> None:
        start = 0
        with theirs, contextlib.suppress(OSError):
            for number in range(len(stream)):
                end = start + pieces[number % len(pieces)]
                theirs.sendall(stream[start:end])
                if (start := end) >= len(stream):
                    break

    writer = threading.Thread(target=write)
    writer.start()
    channel = Channel(ours)
    try:
        assert [channel.receive(10.0) for _ in frames] == frames
        assert next(error for _ in rest + b"." if (error := refusal(channel)))
    finally:
        channel.close()
        writer.join()


def refusal(channel: Channel) -> Exception | None:
    """Why there is no further frame; None if there is one."""
    try:
        channel.receive(10.0)
    except (ChannelClosed, wire.WireError) as error:
        return error
    return None
