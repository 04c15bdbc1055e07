"""When two calls count as the same call."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.judging.records.keys import key_of
from autograder.worker import wire


def test_keys_distinguish_data_as_the_wire_does() -> None:
    different = [
        *(1, 1.0, True, 0.0, -0.0, "1", None, (1,), [1], {"a": 1}, {"a": 2}),
        *(np.zeros(2), np.zeros(2, np.float32), np.zeros((2, 1)), -np.zeros(2), np.float64(1.0), np.float32(1.0)),
    ]
    keys = [key_of(value) for value in different]
    assert len(set(keys)) == len(keys)
    assert key_of(float("nan")) == key_of(float("nan"))
    assert key_of(np.asfortranarray(np.eye(3))) == key_of(np.eye(3))
    for value in (print, object(), np.array([None])):
        with pytest.raises(wire.WireError):
            key_of(value)
