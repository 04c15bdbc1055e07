"""What is equal, what is said where it is not, and how the smallest failing case is shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.diagnosis.case import mismatch, render_case, summarise
from autograder.diagnosis.code import case_code
from autograder.values import told_apart

A = np.arange(6.0).reshape(2, 3)
READ_ONLY = np.broadcast_to(np.float64(2.0), (2, 3))
ESCAPES = "\x1b[31mred\x07\r\n\u202e"
nan, inf = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def verdict(got: Any, expected: Any, name: str = "dA", **more: Any) -> str | None:
    return mismatch(got, expected, name=name, rtol=1e-9, atol=1e-12, **more)


class Opaque:
    """Stands for an object that stayed with the submission."""

    type_name = "Cache\x1b"


OPAQUE = Opaque()

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
    (A, (A, A), "dA is a float64 array of shape (2, 3); expected a tuple of 2: a float64 array of shape (2, 3), a"),
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
    assert message.startswith(words)
    assert message.isprintable()


def test_a_number_with_too_few_digits_is_said_to_have_them() -> None:
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
    """ "parameters is wrong exactly in entries 2, 11 and 14" was said, and "the bytes is"."""
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
def test_a_kind_tells_no_value(value: Any) -> None:
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


def rendered(comparisons: list[tuple[str, Any, Any]], **arguments: Any) -> list[str]:
    text = render_case("f", list(arguments.items()), comparisons, case="a case")
    assert_fits(text)
    return text.split("\n")


def assert_fits(text: str) -> None:
    lines = text.split("\n")
    assert len(lines) <= 12
    assert all(len(line) <= 100 and line.isprintable() and line == line.rstrip() for line in lines)


class TestRendering:
    def test_matrices_stand_side_by_side(self) -> None:
        got = np.array([[1.5, -2, 0], [4, 5, 6.25]])
        expected = np.array([[1.5, 2, 0], [4, 5, 6.5]])
        assert rendered([("dA", got, expected), ("dB", A, A)], g=np.array([0.5, 12.25]), axis=-1) == [
            "f(g, axis), a case:",
            "  g    = np.array([0.50, 12.25])",
            "  axis = -1",
            "",
            "dA: expected                  got (* = wrong)",
            "    [[ 1.50   2.00     0]     [[ 1.50 *-2.00     0]",
            "     [ 4.00   5.00  6.50]]     [ 4.00   5.00 *6.25]]",
            "dB: right",
        ]

    def test_rows_stand_one_above_the_other(self) -> None:
        assert rendered([("dx", np.array([1.0, 2.5]), np.array([1.0, -0.25]))])[2:] == [
            "dx: expected  [ 1.00  -0.25]",
            "    got       [ 1.00  *2.50]",
        ]

    def test_numbers(self) -> None:
        assert rendered([("loss", np.array(0.7), 0.35), ("n", 3.0, 3), ("s", "a", "b")])[1:] == [
            "",
            "loss: expected  0.35",
            "      got       0.7",
            "",
            "n: expected  the integer 3",
            "   got       the number 3.0",
            "",
            "s: expected  'b'",
            "   got       'a'",
        ]

    def test_digits_show_the_difference(self) -> None:
        text = "\n".join(rendered([("dx", np.array([1.0, 2.0000001]), np.array([1.0, 2.0]))]))
        assert "2.0000000" in text
        assert "*2.0000001" in text

    def test_beside_a_whole_number_the_other_has_as_many_digits(self) -> None:
        """It was: 89410638380; 8.959e10 expected."""
        got = mismatch(89410638380, 89591876160.5, name="bytes", rtol=1e-9, atol=0.0)
        assert got is not None
        assert "89410638380" in got
        assert "89591876160.5" in got
        assert told_apart(3, 2.5e-7) == ("3", "2.5e-7")

    def test_shapes_that_differ(self) -> None:
        lines = rendered([("dA", A.T, A)])
        assert lines[2].split() == ["dA:", "expected", "float64", "(2,", "3)", "got", "float64", "(3,", "2)"]
        assert "*" not in "".join(lines)

    def test_dtypes_that_differ(self) -> None:
        assert "expected float64 (2, 3)" in rendered([("dA", A.astype(np.float32), A)])[2]

    def test_a_large_array_shows_its_first_differences(self) -> None:
        expected = np.zeros((64, 10))
        got = expected.copy()
        got[3:9, 2] = 0.5
        lines = rendered([("dx", got, expected)], x=expected)
        assert lines[1] == "  x = float64 (64, 10): 0 0 0 0 0 …"
        assert lines[3] == "dx: float64 (64, 10), 6 of 640 entries differ, by at most 0.5"
        assert lines[4:6] == ["  at      expected  got", "  [3, 2]         0  0.5"]
        assert lines[-1] == "  …"

    def test_what_is_no_array(self) -> None:
        lines = rendered([("dA", None, A)])
        assert lines[2].startswith("dA: expected  [[")
        assert lines[-1] == "    got       None"

    def test_dicts_and_tuples_by_their_parts(self) -> None:
        lines = rendered([("grads", {"W": A, "b": A[0] + 1}, {"W": A, "b": A[0]})], params={"W": A, "b": A[0]})
        assert "  params['b'] = np.array([0.0, 1.0, 2.0])" in lines
        assert "grads['W']: right" in lines
        assert any(line.startswith("grads['b']: expected") for line in lines)

    def test_untrusted_text_is_harmless(self) -> None:
        lines = rendered([("s", ESCAPES * 100, "x"), ("d", {ESCAPES: 1}, {"a": 1})], mode=ESCAPES * 1000)
        assert r"\x1b[31mred\x07" in lines[1]

    def test_without_a_call(self) -> None:
        text = render_case("", [], [("x", 1, 2)], case="")
        assert text == "x: expected  2\n   got       1"

    def test_much_is_cut(self) -> None:
        many = {f"a{i}": np.ones((4, 4)) for i in range(30)}
        lines = rendered([(f"d{i}", A + 1, A) for i in range(30)], **many)
        assert any(line.startswith("  … and ") for line in lines)
        assert lines[-1].startswith("… and ")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=80)
    | hnp.arrays(
        dtype=st.one_of(
            hnp.boolean_dtypes(),
            hnp.integer_dtypes(),
            hnp.unsigned_integer_dtypes(),
            hnp.floating_dtypes(),
            hnp.complex_number_dtypes(),
        ),
        shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7),
    ),
    lambda parts: (
        st.lists(parts, max_size=4)
        | st.lists(parts, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers() | st.booleans(), parts, max_size=4)
    ),
    max_leaves=6,
)


@settings(max_examples=80, deadline=None)
@given(VALUES, VALUES, st.booleans())
def test_any_value_is_compared_and_shown(got: Any, expected: Any, tensors: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = verdict(got, expected)
        assert message is None or message.isprintable()
        assert verdict(got, got) is None
        assert summarise(got).isprintable()
        text = render_case("f", [("x", got)], [("y", got, expected)], case="any", tensors=tensors)
    assert_fits(text)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_small_change_anywhere_is_seen(data: st.DataObject) -> None:
    finite = st.floats(-1e6, 1e6)
    expected = data.draw(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=5), elements=finite))
    index = tuple(data.draw(st.integers(0, length - 1)) for length in expected.shape)
    got = expected.copy()
    got[index] += 1e-3
    message = verdict(got, expected)
    assert message is not None
    assert message.startswith("dA differs in")
    assert_fits(render_case("f", [], [("dA", got, expected)], case=""))


def test_a_program_is_shown_in_lines() -> None:
    text = render_case("run", [("code", "y = a * b\ny.backward()")], [], case="a product")
    assert text == "run(code), a product:\n  code = y = a * b\n         y.backward()"


def test_a_program_in_steps_is_shown_whole() -> None:
    """A dict of them has been told by its keys, so that nobody saw the program that was answered wrong."""
    steps = [("z", "leaf"), ("k", "constant"), *[("f", "product", "z", "k")] * 3]
    shown = render_case("flow", [("programs", {"one": steps})], [], case="")
    assert_fits(shown)
    assert shown.splitlines()[1] == "  programs['one'] = [('z', 'leaf'), ('k', 'constant'), ('f', 'product', 'z', 'k'),"
    assert shown.count("product") == 3


def test_a_list_of_arrays_is_shown_with_its_numbers() -> None:
    """Gradients have been 'a list of 2: a float64 array of shape (2,), …', on both sides."""
    grads = [np.array([1.0, 2.0]), np.array([3.0])]
    got = [np.array([0.5, 2.0]), np.array([3.0])]
    text = render_case("clip", [("grads", grads)], [("clipped", got, grads)], case="two gradients")
    assert "grads[0] = np.array([1.0, 2.0])" in text
    assert "*0.5 " in text
    assert "clipped[1]: right" in text
    numbers = render_case("f", [("norms", [0.5, 2.0])], [("f", [1.0, 2.0], [1.0, 3.0])], case="")
    assert "norms = [0.5, 2.0]" in numbers
    assert "got       [1.0, 2.0]" in numbers


def test_a_list_of_pairs_is_shown_as_a_program_writes_it() -> None:
    """It was 'a list of 2: a tuple of 2, a tuple of 2', on both sides."""
    wanted, got = [(0, 2), (0, 4)], [(0, 2)]
    text = render_case("pairs", [], [("the pairs", got, wanted)], case="")
    assert "[(0, 2), (0, 4)]" in text
    assert "got       [(0, 2)]" in text
    assert verdict(got, wanted, "the pairs") == "the pairs are [(0, 2)]; expected a list of 2, each a tuple of 2"


def test_arrays_that_differ_in_dtype_alone_are_told_apart() -> None:
    """Batches of integers and of floats looked the same."""
    whole = np.arange(2)
    text = render_case("pairs", [("batches", [whole, whole.astype(float)])], [], case="")
    assert "batches[0] = np.array([0, 1])" in text
    assert "batches[1] = np.array([0.0, 1.0])" in text


def test_tuples_of_arrays_in_a_list_are_shown_with_their_numbers() -> None:
    """Batches (X, y) have been 'a list of 2: a tuple of 2, a tuple of 2'."""
    batches = [(np.array([1.5]), np.array([0])), (np.array([2.5]), np.array([1]))]
    text = render_case("pairs", [("batches", batches)], [], case="")
    assert "batches[0][0] = np.array([1.5])" in text
    assert "batches[1][1] = np.array([1])" in text


def test_more_arguments_than_lines() -> None:
    """One-line arrays cannot be shown in fewer lines: this ends, and says how many were left out."""
    arguments = [(f"a{i}", np.array([float(i)])) for i in range(20)]
    text = render_case("f", arguments, [("y", np.zeros(2), np.ones(2))], case="many")
    assert "more" in text
    assert len(text.splitlines()) <= 12


def _made_by(code: str) -> list[Any]:
    """What a program passes on that calls f."""
    passed: list[Any] = []
    exec(code, {"f": lambda *args, **kwargs: passed.extend((*args, *kwargs.values()))})
    return passed


@settings(max_examples=80, deadline=None)
@given(VALUES)
def test_a_case_as_code_is_the_case_to_its_last_digit(value: Any) -> None:
    code = case_code("f", [("x", value)], positional=1)
    if not code:  # too large, or text that is no name
        return
    (again,) = _made_by(code)
    assert mismatch(again, value, name="x", rtol=0.0, atol=0.0) is None
    assert type(again) is type(value)


def test_a_case_as_code_is_a_program() -> None:
    code = case_code("f", [("g", np.array([0.1, nan], np.float32)), ("axis", -1)], positional=1)
    assert code.splitlines() == [
        "import numpy as np",
        'g = np.array([0.1, float("nan")], dtype=np.float32)',
        "axis = -1",
        "f(g, axis=axis)",
    ]
    code = case_code("f", [("x", np.array([[1.5]])), ("e", np.zeros((0, 2), np.float32))], positional=2, tensors=True)
    assert code.splitlines()[:3] == [
        "import torch",
        "x = torch.tensor([[1.5]], dtype=torch.float64)",
        "e = torch.zeros((0, 2), dtype=torch.float32)",
    ]


@pytest.mark.parametrize("value", [np.zeros(401), print, OPAQUE, [OPAQUE], {"a": OPAQUE}])
def test_what_cannot_be_written_is_no_code(value: Any) -> None:
    assert case_code("f", [("x", value)], positional=1) == ""


def test_what_is_shown_of_an_argument_is_code() -> None:
    """It was NumPy's own way to print, which nobody can paste: `g = [0.5 1 nan]`."""
    x = np.array([[0.5, 1.0, nan], [2.0, -inf, 3.0]], np.float32)
    lines = render_case("f", [("x", x)], [], case="a matrix").splitlines()
    made: dict[str, Any] = {"np": np}
    exec("\n".join(["if True:", *lines[1:]]), made)
    assert mismatch(made["x"], x, name="x", rtol=0, atol=0) is None
    assert lines[1].lstrip().startswith("x = np.array([[")
    assert render_case("f", [("x", x)], [], case="", tensors=True).splitlines()[1].startswith("  x = torch.tensor([[")
