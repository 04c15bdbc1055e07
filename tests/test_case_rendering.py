"""How the smallest failing case is shown, and the program that reproduces it exactly."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from values import ESCAPES, OPAQUE, A, inf, nan, verdict

from autograder.diagnosis.case import mismatch, render_case, summarise
from autograder.diagnosis.code import case_code
from autograder.values import told_apart

pytestmark = pytest.mark.filterwarnings("error")


def rendered(comparisons: list[tuple[str, Any, Any]], **arguments: Any) -> list[str]:
    text = render_case("f", list(arguments.items()), comparisons, case="a case")
    assert_fits(text)
    return text.split("\n")


def assert_fits(text: str) -> None:
    lines = text.split("\n")
    assert len(lines) <= 12
    assert all(len(line) <= 100 and line.isprintable() and line == line.rstrip() for line in lines)


class TestRendering:
    def test_a_case_of_code_is_shown_in_one_line(self) -> None:
        """Formerly they were separated by a literal backslash and n."""
        first = render_case("f", [("a", 1)], [], case="b = a + a\ny = b + b").splitlines()[0]
        assert first.endswith("b = a + a; y = b + b:")

    def test_a_right_entry_that_rounding_made_is_0(self) -> None:
        """Another machine rounds otherwise, and a page said another thing than a terminal."""
        for noise in (-2.776e-17, 0.0):
            lines = rendered([("dx", np.array([noise, 3.0]), np.array([0.0, 2.0]))])
            assert lines[-2:] == ["dx: expected  [ 0  2]", "    got       [ 0 *3]"]

    def test_a_right_entry_shows_no_difference(self) -> None:
        """A slope that was wrong by 2e-5 was marked, and beside it one by 1e-5 that is within the tolerance was not."""
        expected, got = np.array([3.153942, 7.389056]), np.array([3.153948, 7.389093])
        text = render_case("f", [], [("gradient", got, expected)], case="", rtol=3e-6)
        assert text.split("\n")[-2:] == [
            "gradient: expected  [ 3.15394  7.38906]",
            "          got       [ 3.15394 *7.38909]",
        ]

    def test_matrices_are_shown_side_by_side(self) -> None:
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

    def test_rows_are_shown_above_each_other(self) -> None:
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

    def test_numbers_beside_each_other_have_equally_many_digits(self) -> None:
        """Formerly: 89410638380; 8.959e10 expected."""
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

    def test_values_that_are_not_arrays(self) -> None:
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

    def test_long_cases_are_cut(self) -> None:
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
    """Formerly a dict of programs was described by its keys, so nobody saw the program with the wrong answer."""
    steps = [("z", "leaf"), ("k", "constant"), *[("f", "product", "z", "k")] * 3]
    shown = render_case("flow", [("programs", {"one": steps})], [], case="")
    assert_fits(shown)
    assert shown.splitlines()[1] == "  programs['one'] = [('z', 'leaf'), ('k', 'constant'), ('f', 'product', 'z', 'k'),"
    assert shown.count("product") == 3


def test_a_list_of_arrays_is_shown_with_its_numbers() -> None:
    """Formerly gradients were 'a list of 2: a float64 array of shape (2,), …', on both sides."""
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
    """Formerly 'a list of 2: a tuple of 2, a tuple of 2', on both sides."""
    wanted, got = [(0, 2), (0, 4)], [(0, 2)]
    text = render_case("pairs", [], [("the pairs", got, wanted)], case="")
    assert "[(0, 2), (0, 4)]" in text
    assert "got       [(0, 2)]" in text
    assert verdict(got, wanted, "the pairs") == "the pairs are [(0, 2)]; expected a list of 2, each a tuple of 2"


def test_arrays_that_differ_only_in_dtype_are_distinguished() -> None:
    """Formerly batches of integers and of floats looked the same."""
    whole = np.arange(2)
    text = render_case("pairs", [("batches", [whole, whole.astype(float)])], [], case="")
    assert "batches[0] = np.array([0, 1])" in text
    assert "batches[1] = np.array([0.0, 1.0])" in text


def test_tuples_of_arrays_in_a_list_are_shown_with_their_numbers() -> None:
    """Formerly batches (X, y) were 'a list of 2: a tuple of 2, a tuple of 2'."""
    batches = [(np.array([1.5]), np.array([0])), (np.array([2.5]), np.array([1]))]
    text = render_case("pairs", [("batches", batches)], [], case="")
    assert "batches[0][0] = np.array([1.5])" in text
    assert "batches[1][1] = np.array([1])" in text


def test_more_arguments_than_lines() -> None:
    """One-line arrays cannot get shorter, so some are left out and counted."""
    arguments = [(f"a{i}", np.array([float(i)])) for i in range(20)]
    text = render_case("f", arguments, [("y", np.zeros(2), np.ones(2))], case="many")
    assert "more" in text
    assert len(text.splitlines()) <= 12


def _made_by(code: str) -> list[Any]:
    """The arguments that a program passes to f."""
    passed: list[Any] = []
    exec(code, {"f": lambda *args, **kwargs: passed.extend((*args, *kwargs.values()))})
    return passed


@settings(max_examples=80, deadline=None)
@given(VALUES)
def test_a_case_as_code_is_exact(value: Any) -> None:
    code = case_code("f", [("x", value)], positional=1)
    if not code:  # too large, or contains text that is not a name
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
def test_values_without_a_literal_have_no_code(value: Any) -> None:
    assert case_code("f", [("x", value)], positional=1) == ""


def test_arguments_are_shown_as_code() -> None:
    """Formerly NumPy's own format, which is not valid Python: `g = [0.5 1 nan]`."""
    x = np.array([[0.5, 1.0, nan], [2.0, -inf, 3.0]], np.float32)
    lines = render_case("f", [("x", x)], [], case="a matrix").splitlines()
    made: dict[str, Any] = {"np": np}
    exec("\n".join(["if True:", *lines[1:]]), made)
    assert mismatch(made["x"], x, name="x", rtol=0, atol=0) is None
    assert lines[1].lstrip().startswith("x = np.array([[")
    assert render_case("f", [("x", x)], [], case="", tensors=True).splitlines()[1].startswith("  x = torch.tensor([[")
