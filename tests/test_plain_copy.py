"""Copies of plain values are what crossing the wire gives, bit for bit, or are not made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_fuzz_wire import same
from test_wire import DATA

from autograder.judging.asking.plain_copy import MOST_BYTES, NotPlain, plain_copy
from autograder.worker import wire

NUMBERS = st.sampled_from([np.float32(0.1), np.float64(-0.0), np.int8(3), np.bool_(True), np.complex64(1j)])


@given(DATA | NUMBERS | st.lists(NUMBERS))
@example(np.ones((3, 4)).T)
@example(np.broadcast_to(np.float64(2.0), (3, 2))[::-1])
@example(np.arange(3, dtype=">i4"))
@example({"a": [np.array(2.0), (1, None)]})
def test_a_plain_copy_is_what_the_wire_gives(value: Any) -> None:
    try:
        copied = plain_copy(value)
    except NotPlain:
        return
    assert same(copied, wire.decode(wire.encode(value)))


def test_a_copy_shares_no_memory_and_can_be_written_to() -> None:
    array = np.broadcast_to(np.ones(3), (2, 3))
    first, second = plain_copy([array, array])
    first[0, 0] = 5.0
    assert second[0, 0] == array[0, 0] == 1.0


class OwnArray(np.ndarray):
    """A class of an answer's own."""


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(np.zeros(MOST_BYTES + 1, np.uint8), id="large"),
        pytest.param(2**40, id="a large integer"),
        pytest.param("é", id="other text"),
        pytest.param(np.zeros(2).view(OwnArray), id="a class derived from arrays"),
        pytest.param(np.array([None]), id="an array of objects"),
        pytest.param({1: 2.0}, id="a key that is no text"),
        pytest.param(len, id="a function"),
    ],
)
def test_other_values_are_left_to_the_wire(value: Any) -> None:
    with pytest.raises(NotPlain):
        plain_copy([value])
