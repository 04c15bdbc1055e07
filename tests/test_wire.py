"""The wire format: data arrives unchanged, and invalid frames are refused."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.worker import wire

SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20)
ARRAYS = hnp.arrays(
    dtype=hnp.floating_dtypes() | hnp.integer_dtypes() | hnp.boolean_dtypes() | hnp.complex_number_dtypes(),
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
)
DATA = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers(0, 9), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


@given(DATA)
def test_data_arrives_as_it_was_sent(value: Any) -> None:
    sendable = wire.encode(value)
    assert same(wire.decode(sendable), wire.decode(wire.encode(wire.decode(sendable))))
    if not (isinstance(value, str) and not value.isascii()):
        assert same(wire.decode(sendable), value)


@given(st.binary(max_size=300))
def test_any_bytes_are_data_or_a_wire_error(noise: bytes) -> None:
    for frame in (noise, struct.pack("<II", len(noise), len(noise)) + noise):
        with contextlib.suppress(wire.WireError):
            wire.decode(frame)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["array", "dict", "<f8", "|O", "tuple"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.fixed_dictionaries(
            {"tag": st.sampled_from(["array", "tensor", "dict", "tuple", "list", "handle", "x"]) | inner, "of": inner}
        )
    ),
    max_leaves=15,
)


@given(JSON, st.lists(st.integers(-1, 20), max_size=3), st.binary(max_size=20))
def test_a_well_formed_header_of_nonsense_is_data_or_a_wire_error(body: Any, sizes: list[int], tail: bytes) -> None:
    header = json.dumps([body, sizes]).encode()
    with contextlib.suppress(wire.WireError):
        wire.decode(struct.pack("<II", len(header), len(header) + len(tail)) + header + tail)


def test_numpy_scalars_views_and_orders_become_plain_arrays() -> None:
    assert wire.decode(wire.encode(np.float32(2.5))).dtype == np.float32
    view = np.broadcast_to(np.arange(3.0), (2, 3))
    arrived = wire.decode(wire.encode((view, np.asfortranarray(view), view.T[::-1])))
    np.testing.assert_array_equal(arrived[1], view)
    np.testing.assert_array_equal(arrived[2], view.T[::-1])
    assert arrived[0].flags.writeable


class Lying(np.ndarray):
    """An array that claims to equal everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


def test_an_array_subclass_loses_its_class_on_the_way() -> None:
    arrived = wire.decode(wire.encode(np.arange(3.0).view(Lying)))
    assert type(arrived) is np.ndarray


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.broadcast_to(1.0, (10**6, 10**6)), "MiB"),
        (2**5000, "4096 bits"),
        ([0] * (wire.REQUEST.items + 1), "values"),
        ({i: i for i in range(wire.MAX_KEYS + 1)}, "keys"),
        (object(), "object"),
        (np.array([object()]), "ndarray"),
        (np.zeros(2, dtype=[("a", float)]), "ndarray"),
    ],
)
def test_what_cannot_be_sent_is_said_in_words(value: Any, why: str) -> None:
    with pytest.raises(wire.WireError, match=why):
        wire.encode(value)


def test_depth_is_bounded_on_both_sides() -> None:
    value: list[Any] = []
    for _ in range(wire.MAX_DEPTH + 1):
        value = [value]
    with pytest.raises(wire.WireError, match="deep"):
        wire.encode(value)
    body = '{"tag":"list","of":[' * 100_000
    header = f"[{body}".encode()
    with pytest.raises(wire.WireError):
        wire.decode(struct.pack("<II", len(header), len(header)) + header)


def colliding(count: int, key: str) -> bytes:
    """A frame with a dict of this many keys, which may have equal hashes."""
    pairs = ",".join(f"[{key.format(i, 2**61 * i + i)},0]" for i in range(count))
    header = f'[{{"tag":"dict","of":[{pairs}]}},[]]'.encode()
    return struct.pack("<II", len(header), len(header)) + header


@pytest.mark.parametrize("key", ['{{"tag":"tuple","of":[{0}]}}', "{1}", "{0}.5", "true", "null"])
def test_keys_are_text_or_small_whole_numbers(key: str) -> None:
    """Other keys can be chosen to collide: a thousand of them took minutes to read."""
    with pytest.raises(wire.WireError, match="keys are neither text nor small whole numbers"):
        wire.decode(colliding(1000, key))
    assert len(wire.decode(colliding(1000, "{0}"))) == 1000


@pytest.mark.parametrize("key", [(1, 2), 2**31, 1.5, None, True, b"x"])
def test_a_key_that_cannot_be_sent_is_said(key: Any) -> None:
    with pytest.raises(wire.WireError, match="and keys are text or small whole numbers"):
        wire.encode({key: 1})


def test_answers_may_hold_less_than_requests() -> None:
    """Each value takes time to read and compare, so that a submission could keep its judge busy for minutes."""
    values, array = [0.5] * 20_000, np.zeros(2 * 2**20)
    assert wire.decode(wire.encode([values, array]))[0] == values
    for value in (values, array):
        with pytest.raises(wire.WireError):
            wire.encode(value, bounds=wire.ANSWER)
        with pytest.raises(wire.WireError):
            wire.decode(wire.encode(value), bounds=wire.ANSWER)


@pytest.mark.parametrize("most", [wire.REQUEST, wire.ANSWER])
def test_a_prefix_that_announces_too_much_is_refused_before_anything_is_read(most: wire.Bounds) -> None:
    for header, total in ((0, most.frame + 1), (most.header + 1, most.header + 1), (9, 8)):
        with pytest.raises(wire.WireError):
            wire.frame_size(struct.pack("<II", header, total), most)


def test_objects_travel_as_references_both_ways() -> None:
    kept = object()
    frame = wire.encode({"cache": kept}, lambda value: ("handle", [7, "object"]))
    assert wire.decode(frame, lambda tag, args: wire.Handle(*args)) == {"cache": wire.Handle(7, "object")}
    with pytest.raises(wire.WireError):
        wire.decode(frame)


@pytest.mark.parametrize(
    ("dtype", "shape", "size"),
    [
        *[(name, [2], 2) for name in ("quint8", "qint8", "bits8", "int4", "bool8", "nn", "Tensor")],
        ("complex32", [1], 4),
        ("float32", [0, *[2**26] * 3], 0),
        ("float32", [2], 4),
    ],
)
def test_tensors_that_cannot_be_are_a_wire_error(dtype: str, shape: list[int], size: int) -> None:
    pytest.importorskip("torch")
    header = json.dumps([{"tag": "tensor", "of": [dtype, shape, 0]}, [size]]).encode()
    frame = struct.pack("<II", len(header), len(header) + size) + header + b"\xff" * size
    with pytest.raises(wire.WireError, match="tensor"):
        wire.decode(frame)


def test_tensors_arrive_whatever_their_view() -> None:
    torch = pytest.importorskip("torch")
    z = torch.tensor([[1.0 + 2.0j, 3.0 - 1.0j]])
    views = (z.conj(), z.conj().imag, z.T, z[:, :0], z.real[:, :1])
    for tensor in (*views, torch.ones(2, dtype=torch.bfloat16), torch.tensor(True)):
        arrived = wire.decode(wire.encode(tensor))
        assert arrived.dtype == tensor.dtype
        assert torch.equal(arrived, tensor.resolve_conj().resolve_neg())


def test_zeros_that_forward_mode_has_not_written_out_arrive() -> None:
    """A linear function's second derivative, computed with a tangent, is a zero tensor without memory."""
    torch = pytest.importorskip("torch")
    slope = lambda x: torch.func.jvp(lambda x: 3 * x.sum(), (x,), (torch.ones(2),))[1]  # noqa: E731
    zeros = torch.func.grad(slope)(torch.ones(2))
    assert zeros._is_zerotensor()
    assert torch.equal(wire.decode(wire.encode(zeros)), torch.zeros(2))
