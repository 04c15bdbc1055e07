"""Hypothesis strategies for data of all kinds, and frames made of it."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.worker import wire

settings.register_profile(
    "fuzz",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
fuzz = settings(settings.get_profile("fuzz"))


# What the wire carries.
DTYPES = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="?")
    | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?")
    | hnp.complex_number_dtypes(endianness="?")
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)).flatmap(
    lambda array: st.sampled_from([array, np.asfortranarray(array), array.T, array[::-1] if array.ndim else array])
)
INTEGERS = st.integers() | st.sampled_from([0, 1, -1, 2**61 - 1, 2**63, -(2**64), 10**400, 2**4095])
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats() | st.text(max_size=10)
KEYS = st.text(max_size=6) | st.integers(1 - wire.MAX_KEY, wire.MAX_KEY - 1)
DATA = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def frame(body: Any, sizes: Any = (), tail: bytes = b"") -> bytes:
    """A frame with a correct prefix and any header."""
    header = json.dumps([body, list(sizes) if isinstance(sizes, tuple) else sizes], separators=(",", ":")).encode()
    return struct.pack("<II", len(header), len(header) + len(tail)) + header + tail


JSON = st.recursive(
    st.none()
    | st.booleans()
    | INTEGERS
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["array", "tensor", "dict", "tuple", "list", "handle", "<f8", "|b1", ">c32", "<f16", "bool"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["tag", "of"]) | st.text(max_size=3), inner, max_size=3)
        | st.fixed_dictionaries(
            {
                "tag": st.sampled_from(["array", "tensor", "dict", "tuple", "list", "handle"]) | inner,
                "of": st.lists(inner, max_size=4)
                | st.tuples(
                    st.sampled_from(["<f8", ">i2", "|b1", "<c8", "float32", "bool", "|V8", "<M8"]),
                    st.lists(st.integers(-1, 4) | INTEGERS, max_size=3),
                    st.integers(-1, 3),
                )
                | inner,
            }
        )
    ),
    max_leaves=15,
)
