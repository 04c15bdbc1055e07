"""Relations between several outputs, and arbitrary arrays: no exceptions, and at most two sentences."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np
import pytest
from gradients import DA, DB, MATMUL, TOLERANCE, A, Array, B, G, M, normal, said
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.diagnosis.relations import explain, explain_outputs
from autograder.diagnosis.relations.evidence import MAX_ENTRIES
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.relations import likeliest_relations
from autograder.judging.records.record import Call, Comparison

pytestmark = pytest.mark.filterwarnings("error")


def test_large_arrays_are_left_alone() -> None:
    huge = np.zeros((4, MAX_ENTRIES))
    assert said(huge - 1, huge) == []
    assert said(huge - 1, M, "dx", {"x": huge}) == []


class TestOutputs:
    def said(self, got: list[Array], expected: list[Array], names: list[str], **more: Any) -> list[str]:
        return explain_outputs(got, expected, names, **TOLERANCE, **more)

    def test_swapped(self) -> None:
        assert self.said([DB, DA], [DA, DB], ["dA", "dB"]) == ["dA and dB are swapped."]

    def test_the_same_output_on_every_rank(self) -> None:
        names = [f"{of} on rank {rank}" for rank in range(3) for of in ("db", "y")]
        db, y = normal(6), normal(4, 6, seed=1)
        found = self.said([db / 3, y] * 3, [db, y] * 3, names, inputs={"x": normal(9, 9, seed=2)})
        assert found[0] == (
            "Each rank's db is 3 times too small, and 3 is the number of ranks: "
            "is it divided by 3 where it must not be (a sum, not a mean)?"
        )

    def test_another_order(self) -> None:
        q, k, v = normal(3, 2), normal(3, 2, seed=1), normal(3, 2, seed=2)
        assert self.said([k, v, q], [q, k, v], ["dq", "dk", "dv"]) == [
            "dq, dk and dv are right, but returned in another order."
        ]
        assert self.said([k, q, -v], [q, k, v], ["dq", "dk", "dv"]) == [
            "dq and dk are swapped.",
            "dv has the wrong sign.",
        ]

    def test_one_in_anothers_place(self) -> None:
        assert self.said([DA, DA], [DA, DB], ["dA", "dB"]) == ["What is returned as dB is what is expected of dA."]

    def test_turned_signs_of_negatives_are_not_swapped(self) -> None:
        """Of an error's gradients, db is -dy: |error| for the error turns both signs."""
        assert not any("swapped" in said for said in self.said([-DA, DA], [DA, -DA], ["db", "dy"]))

    def test_equal_zeros_are_not_swapped(self) -> None:
        zero, one = np.zeros(3), normal(3)
        assert self.said([zero, one], [one, zero], ["da", "db"])[0] == "da and db are swapped."
        assert self.said([zero, zero], [one, zero], ["da", "db"])[-1] == "db is right; da is not."

    def test_right_for_some(self) -> None:
        assert self.said([DA, 2 * DB], [DA, DB], ["dA", "dB"]) == [
            "dB is 2 times too large.",
            "dA is right; dB is not.",
        ]

    def test_all_wrong_in_one_way(self) -> None:
        sentences = self.said([4 * DA, 4 * DB], [DA, DB], ["dA", "dB"], inputs=MATMUL)
        assert len(sentences) == 1
        assert sentences[0].startswith("Each of dA and dB is 4 times too large, and 4 is the number of rows of A")

    def test_unit_gradient_of_each(self) -> None:
        ones = np.ones_like(G)
        unit = [ones @ B.T, A.T @ ones]
        assert self.said(unit, [DA, DB], ["dA", "dB"], inputs=MATMUL, with_unit_g=lambda: unit) == [
            "Each of dA and dB is the answer for g = 1: the upstream gradient g does not enter."
        ]

    def test_one_output_and_none_wrong(self) -> None:
        assert self.said([-DA], [DA], ["dA"]) == ["dA has the wrong sign."]
        assert self.said([DA, DB], [DA, DB], ["dA", "dB"]) == []
        assert self.said([DA], [DA, DB], ["dA", "dB"]) == []

    def test_a_number_has_no_dtype(self) -> None:
        loss, gradient = np.asarray(0.5, np.float32), M.astype(np.float32)
        sentences = self.said([np.asarray(0.5), -gradient], [loss, gradient], ["loss", "dy"])
        assert sentences == ["dy has the wrong sign.", "loss is right; dy is not."]


SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(),
    hnp.unsigned_integer_dtypes(),
    hnp.floating_dtypes(),
    hnp.complex_number_dtypes(),
)
ANY_ARRAY = hnp.arrays(dtype=DTYPES, shape=SHAPES)


@st.composite
def two_arrays(draw: st.DrawFn) -> tuple[Array, Array]:
    """Two arrays, often of the same shape."""
    expected = draw(ANY_ARRAY)
    return draw(st.one_of(ANY_ARRAY, hnp.arrays(dtype=DTYPES, shape=st.just(expected.shape)))), expected


@settings(max_examples=80, deadline=None)
@given(two_arrays(), ANY_ARRAY, ANY_ARRAY, st.integers(-5, 5))
def test_never_raises_and_never_says_more_than_two(pair: tuple[Array, Array], x: Array, g: Array, axis: int) -> None:
    got, expected = pair
    inputs = {"g": g, "x": x, "axis": axis, "mode": "same", "params": {"W": x}, "none": None}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sentences = explain(got, expected, name="dx", inputs=inputs, with_unit_g=lambda: x, **TOLERANCE)
        explain_outputs([got, x], [expected, g], ["dx", "dg"], inputs=inputs, **TOLERANCE)
    assert len(sentences) <= 2
    assert all(isinstance(sentence, str) for sentence in sentences)


def test_other_outputs_need_not_show_the_relation_of_several_cases() -> None:
    """The total is n times too small in each case; what is drawn beside it is wrong in another way."""
    call = {n: Call("trace", (("x", normal(n, seed=n)),)) for n in (4, 5, 6)}
    totals = [
        Comparison(np.array(2.345678 / n), np.array(2.345678), ("the total",), "", call[n], 1e-9, 0.0, ("wrong",))
        for n in call
    ]
    drawn = Comparison(normal(40), normal(40, seed=1), ("drawn",), "", call[4], 1e-9, 0.0, ("wrong",))
    reference = cast(Reference, None)
    assert likeliest_relations([*totals, drawn], reference)[0].startswith("the total is 4 times too small, and 4 is")
    assert likeliest_relations([totals[0], drawn], reference) == []


def comparison(case: str, *outputs: tuple[Array, Array]) -> Comparison:
    got, expected = zip(*outputs, strict=True)
    call = Call("add_vjp", (("a", normal(9, seed=9)),))
    return Comparison(got, expected, ("da", "db")[: len(got)], case, call, 1e-9, 0.0, ("wrong",))


def test_which_outputs_are_right_is_said_only_if_the_shown_case_agrees() -> None:
    """Readers were told "w is right" above a case in which w is wrong."""
    x, y = normal(20, seed=3), normal(20, seed=4)
    large = comparison("gaps in memory", (x, x), (y + x, y))
    shown = comparison("a number", (x[:1] + 1, x[:1]), (y[:1] + 2, y[:1]))
    reference = cast(Reference, None)
    assert not any("right" in sentence for sentence in likeliest_relations([shown, large], reference))
    alike = comparison("a number", (x[:1], x[:1]), (y[:1] + 2, y[:1]))
    assert likeliest_relations([alike, large], reference) == ["da is right; db is not."]


def test_a_relation_of_all_cases_names_no_case_or_the_one_with_the_shortest_name() -> None:
    """The sentence began with an exotic case, though it was true of the simplest one as well."""
    cases = {"a row": 8, "a matrix": 12, "a of three axes; g backwards with gaps in memory": 20}
    some = [comparison(case, (-normal(n, seed=n), normal(n, seed=n))) for case, n in cases.items()]
    reference = cast(Reference, None)
    assert likeliest_relations(some, reference) == ["da has the wrong sign."]
    first = comparison("a row", (normal(1, seed=7), normal(1)))
    assert likeliest_relations([first, *some[1:]], reference) == ["On a matrix: da has the wrong sign."]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    hnp.array_shapes(max_dims=4, max_side=5),
    hnp.array_shapes(max_dims=4, max_side=5),
    st.booleans(),
)
def test_is_silent_on_unrelated_random_arrays(
    seed: int, shape: tuple[int, ...], other: tuple[int, ...], same_shape: bool
) -> None:
    rng = np.random.default_rng(seed)
    got, expected = rng.normal(size=shape if same_shape else other), rng.normal(size=shape)
    inputs = {"g": rng.normal(size=shape), "x": rng.normal(size=other), "ids": rng.integers(0, 5, size=4), "n": 3}
    unit = rng.normal(size=shape)
    assert said(got, expected, "dx", inputs, lambda: unit) == []
