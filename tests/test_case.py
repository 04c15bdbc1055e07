"""Differences between two values are found and described in a line: `verdict`, `summarise`, `kind`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from values import ESCAPES, OPAQUE, A, inf, nan, verdict

from autograder.diagnosis.case import mismatch, summarise

pytestmark = pytest.mark.filterwarnings("error")


READ_ONLY = np.broadcast_to(np.float64(2.0), (2, 3))


EQUAL: list[tuple[Any, Any]] = [
    (A, A.copy()),
    (A.astype(">f8"), A),
    (np.asfortranarray(A), A),
    (np.full((2, 3), 2.0), READ_ONLY),
    (READ_ONLY, np.full((2, 3), 2.0)),
    (A * (1 + 1e-10), A),
    (np.array([nan, inf, -inf]), np.array([nan, inf, -inf])),
    (np.zeros((0, 3)), np.zeros((0, 3))),
    (np.array([1, 2]), np.array([1, 2])),
    (np.array([True]), np.array([True])),
    (np.array([2**63], np.uint64), np.array([2**63], np.uint64)),
    (np.array([1 + 1j]), np.array([1 + 1j])),
    (3.5, 3.5),
    (3, 3.0),
    (3, np.float64(3.0)),
    (np.float64(3.5), 3.5),
    (np.array(3.5), 3.5),
    (3.5, np.array(3.5)),
    (3.5, np.float32(3.5)),
    (np.float32(3.5), 3.5),
    (np.float32(3.5), np.array(3.5, np.float32)),
    (3.0, 3 + 0j),
    (3, 3),
    (np.int64(3), 3),
    (np.array(3, np.int32), 3),
    (3, np.array(3)),
    (True, True),
    (np.True_, True),
    (True, np.array(True)),
    (nan, nan),
    (inf, inf),
    ("reverse", "reverse"),
    (None, None),
    ((A, 2.0), (A, 2.0)),
    ([A, 2.0], (A, 2.0)),
    ((1, 2), [1, 2]),
    ((), ()),
    ({"W": A, "b": [1, 2]}, {"b": (1, 2), "W": A}),
    (OPAQUE, OPAQUE),
]

UNEQUAL: list[tuple[Any, Any, str]] = [
    # kind
    (None, A, "dA is None; expected a float64 array of shape (2, 3)"),
    (3.2, A, "dA is the number 3.2; expected a float64 array of shape (2, 3)"),
    (
        [1.0, 2.0],
        np.zeros(2),
        "dA is a list of 2: the number 1.0, the number 2.0; expected a float64 array of shape (2,)",
    ),
    ((A,), A, "dA is a tuple of 1: a float64 array of shape (2, 3); expected a float64 array of shape (2, 3)"),
    ("text", 1.0, "dA is the text 'text'; expected a number"),
    (A, None, "dA is a float64 array of shape (2, 3); expected None"),
    (A, (A, A), "dA is a float64 array of shape (2, 3); expected a tuple of 2, each a float64"),
    ((A, A, A), (A, A), "dA is a tuple of 3; a tuple of 2 expected"),
    (A, {"W": A}, "dA is a float64 array of shape (2, 3); expected a dict"),
    (lambda g: g, A, "dA is a function; expected a float64 array"),
    (OPAQUE, A, "dA is an object of type Cache\\x1b; expected"),
    (A, OPAQUE, "dA is a float64 array of shape (2, 3); expected an object"),
    (True, 1.0, "dA is True; expected a number"),
    (True, 1, "dA is True; expected an integer"),
    (1, True, "dA is the integer 1; expected a bool"),
    (1.0, True, "dA is the number 1.0; expected a bool"),
    (3.0, 3, "dA is the number 3.0; expected an integer"),
    (np.float64(3.0), 3, "dA is the float64 number 3; expected an integer"),
    (1 + 0j, 1.0, "dA is the complex number 1+0j; expected a number"),
    (1, "1", "dA is the integer 1; expected some text"),
    ([], ["x.a", "x.b"], "dA is an empty list; ['x.a', 'x.b'] expected"),
    (["x.a"], ["x.a", "x.b"], "dA is ['x.a']; ['x.a', 'x.b'] expected"),
    ([], [A, A], "dA is an empty list; a list of 2 expected"),
    (0, None, "dA is the integer 0; expected None"),
    # shape
    (A.T, A, "dA has shape (3, 2); (2, 3) expected"),
    (A[None], A, "dA has shape (1, 2, 3); (2, 3) expected"),
    (np.array(1.0), np.array([1.0]), "dA has shape (); (1,) expected"),
    (np.array([1.0]), 1.0, "dA has shape (1,); a single number expected"),
    (np.zeros((0, 3)), np.zeros((3, 0)), "dA has shape (0, 3); (3, 0) expected"),
    # dtype
    (A.astype(np.float32), A, "dA is float32; float64 expected"),
    (A.astype(int), A, "dA is int64; float64 expected"),
    (A > 0, A, "dA is bool; float64 expected"),
    (A + 0j, A, "dA is complex128; float64 expected"),
    (A.astype(object), A, "dA is object; float64 expected"),
    (np.array([1, 2]), np.array([1, 2], np.int32), "dA is int64; int32 expected"),
    (np.float64(1), np.float32(1), "dA is float64; float32 expected"),
    (np.array(1), np.array(1.0), "dA is int64; float64 expected"),
    # values
    (A + np.array([0, 0, 0.1]), A, "dA differs in 2 of 6 entries, by at most 0.1"),
    (A + 1, A, "dA differs in all 6 entries, by at most 1"),
    (np.array([1.043, 0]), np.zeros(2), "dA differs in 1 of 2 entries, by at most 1.1"),
    (np.array([9.94, 0]), np.zeros(2), "dA differs in 1 of 2 entries, by at most 10"),
    (np.array([2.314e-6]), np.zeros(1), "dA differs in every entry, by at most 2.4e-6"),
    (np.array([123456.5]), np.zeros(1), "dA differs in every entry, by at most 130000"),
    (np.array([0.1], np.float32), np.zeros(1, np.float32), "dA differs in every entry, by at most 0.1"),
    (np.array([[2.0]]), np.array([[1.0]]), "dA differs in every entry, by at most 1"),
    (np.array([True, False]), np.array([True, True]), "dA differs in 1 of 2 entries"),
    (np.array([2**63], np.uint64), np.array([2**63 + 1], np.uint64), "dA differs in every entry, by at most 0"),
    (np.where(A > 3, nan, A), A, "dA is nan in 2 of 6 entries"),
    (np.array([nan, inf, 1.0]), np.zeros(3), "dA is nan or inf in 2 of 3 entries"),
    (np.array([1.0, 2.0]), np.array([nan, 2.0]), "dA differs in 1 of 2 entries"),
    (np.array([1e308]), np.array([-1e308]), "dA differs in every entry"),
    (np.array([1e300]), np.array([inf]), "dA differs in every entry"),
    (np.array([-inf]), np.array([inf]), "dA differs in every entry"),
    (nan, 1.0, "dA is nan; 1 expected"),
    (1.0, nan, "dA is 1; nan expected"),
    (-inf, inf, "dA is -inf; inf expected"),
    (0.7, 0.35, "dA is 0.7; 0.35 expected"),
    (1 / 3, 0.3333, "dA is 0.33333; 0.3333 expected"),
    (262656.0, 265728.0, "dA is 262656; 265728 expected"),
    (1e9, 123456789.0, "dA is 1e9; 123456789 expected"),
    (4, 3, "dA is 4; 3 expected"),
    (2**200, 3, "dA is 2^200…; 3 expected"),
    (10**5000, 3.0, "dA is 2^16609…; 3 expected"),
    (10**5000, inf, "dA is 2^16609…; inf expected"),
    (-(10**5000), np.array(3), "dA is -2^16609…; 3 expected"),
    (2**53 + 1, 2**53, "dA is 9007199254740993; 9007199254740992 expected"),
    (False, True, "dA is False; True expected"),
    ("forward", "reverse", "dA is the text 'forward'; expected the text 'reverse'"),
    (ESCAPES, "x", r"dA is the text '\x1b[31mred\x07\r\n\u202e'; expected"),
    # parts
    ((A, A + 1), (A, A), "dA[1] differs in all 6 entries"),
    ((None, None), (A, A), "dA[0] is None"),
    ({"W": A}, {"W": A, "b": A}, "dA has no key 'b'"),
    ({"W": A, "b\n": A}, {"W": A}, r"dA has a key 'b\n' that is not expected"),
    ({1: A}, {True: A}, "dA has no key True"),
    ({"W": A.T}, {"W": A}, "dA['W'] has shape (3, 2)"),
]


@pytest.mark.parametrize(("got", "expected"), EQUAL, ids=range(len(EQUAL)))
def test_equal(got: Any, expected: Any) -> None:
    assert verdict(got, expected) is None


@pytest.mark.parametrize(("got", "expected", "words"), UNEQUAL, ids=range(len(UNEQUAL)))
def test_unequal(got: Any, expected: Any, words: str) -> None:
    message = verdict(got, expected)
    assert message is not None
    assert message == words if "at most" in words else message.startswith(words)
    assert message.isprintable()


def test_a_number_with_too_few_digits_is_called_imprecise() -> None:
    says = verdict(np.float32(0.1), 0.1)
    assert says == "dA is a float32 number, right to about 6 digits alone; a Python float expected"
    assert "0.2" in str(verdict(np.float32(0.2), 0.1))
    assert verdict(np.float64(0.1), 0.1) is None


def test_tolerances_are_those_of_allclose() -> None:
    assert mismatch(1.1, 1.0, name="x", rtol=0.1, atol=1e-12) is None
    assert mismatch(1.11, 1.0, name="x", rtol=0.1, atol=1e-12) is not None
    assert mismatch(1e-13, 0.0, name="x", rtol=0.1, atol=1e-12) is None
    assert mismatch(1e9, inf, name="x", rtol=0.1, atol=1.0) is not None


def test_a_gradient_is_explained_by_its_input() -> None:
    inputs = {"g": A, "A": A, "n": 3}
    assert verdict(A.T, A, inputs=inputs) == (
        "dA has shape (3, 2), but A has shape (2, 3), and a gradient has the shape of its input"
    )
    assert verdict(A.astype(np.float32), A, inputs=inputs) == (
        "dA is float32, but A is float64, and a gradient has the dtype of its input"
    )
    assert verdict(A.T, A, name="dB", inputs=inputs) == "dB has shape (3, 2); (2, 3) expected"
    assert verdict(A.T, A, name="dn", inputs=inputs) == "dn has shape (3, 2); (2, 3) expected"


def test_names_of_the_parts() -> None:
    assert verdict((A, A.T), (A, A), names=("dA", "dB")) == "dB has shape (3, 2); (2, 3) expected"
    assert verdict((A, A.T), (A, A), name="") == "the result[1] has shape (3, 2); (2, 3) expected"


def test_verbs_agree_with_their_names() -> None:
    """Formerly "parameters is wrong exactly in entries 2, 11 and 14", and "the bytes is"."""
    assert verdict(1.0, 2.0, "the bytes") == "the bytes are 1; 2 expected"
    assert verdict(1.0, 2.0, "the number of calls") == "the number of calls is 1; 2 expected"
    assert verdict(A, A + 1, "parameters") == "parameters differ in all 6 entries, by at most 1"
    assert verdict(A.T, A, "layers of the stack") == "layers of the stack have shape (3, 2); (2, 3) expected"
    assert [verdict(1.0, 2.0, name) for name in ("the loss", "dbias", "x.grads")] == [
        "the loss is 1; 2 expected",
        "dbias is 1; 2 expected",
        "x.grads is 1; 2 expected",
    ]


@pytest.mark.parametrize("value", [np.full(3, 0.71828), 0.71828, np.float64(0.71828), "0.71828", [0.71828], {0.5: 1}])
def test_a_kind_reveals_no_value(value: Any) -> None:
    assert not any(digits in summarise(value, show_numbers=False) for digits in ("718", "0.5"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (A, "a float64 array of shape (2, 3)"),
        (np.zeros(3, int), "an int64 array of shape (3,)"),
        (np.float32(3.25), "the float32 number 3.25"),
        (3.2, "the number 3.2"),
        (96.0, "the number 96.0"),
        (7, "the integer 7"),
        (True, "True"),
        (None, "None"),
        (1.5 - 2j, "the complex number 1.5-2j"),
        ("relu", "the text 'relu'"),
        ((A, None), "a tuple of 2: a float64 array of shape (2, 3), None"),
        ([[1, 2], 3], "[[1, 2], 3]"),
        ([(0, 2), (0, 4)], "[(0, 2), (0, 4)]"),
        ([(0, 2), (0, A)], "a list of 2, each a tuple of 2"),
        ([(0, A), [A]], "a list of 2: a tuple of 2, a list of 1"),
        ([(0, [1])], "a list of 1: a tuple of 2"),
        ([(i, 1000) for i in range(10)], "a list of 10, each a tuple of 2"),
        ((), "an empty tuple"),
        ({}, "an empty dict"),
        ({"W": A, 3: None}, "a dict with the keys 'W', 3"),
        (print, "a function"),
        (OPAQUE, "an object of type Cache\\x1b"),
    ],
)
def test_summarise(value: Any, words: str) -> None:
    assert summarise(value) == words


def test_summarise_is_short() -> None:
    for value in ("x" * 10**6, ["y" * 100] * 1000, {f"{i}" * 50: i for i in range(1000)}, -(10**5000), [10**5000]):
        assert len(summarise(value)) <= 240
