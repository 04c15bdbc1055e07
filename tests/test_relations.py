"""Relations between wrong and right answers: found for mistakes that people make, not found in random differences."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gradients import DA, DB, MATMUL, A, Array, B, G, M, normal, said

from autograder.diagnosis.relations import explain

pytestmark = pytest.mark.filterwarnings("error")


X = normal(4, 5, seed=1)
X[1, 2] = X[3, 0] = 0

GX = normal(4, 5, seed=2)
UNARY = {"g": GX, "x": X}
DRELU = GX * (X > 0)

LOGITS, TARGETS, GL = normal(6, 3), np.array([0, 1, 2, 2, 1, 0]), np.float64(0.7123451)
CROSS_ENTROPY = {"g": GL, "logits": LOGITS, "targets": TARGETS}
P = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
Y = np.eye(3)[TARGETS]
DLOGITS = GL * (P - Y) / 6

BIAS = {"g": normal(5, 3), "a": normal(5, 3, seed=3), "b": normal(3)}
GB, MA, MB = BIAS["g"], BIAS["a"], BIAS["b"]

TIED = np.array([[1.0, 3, 3], [4, 2, 1], [0, 5, 1]])
GT = normal(3)
AT_MAX = TIED.max(axis=1, keepdims=True) == TIED
DMAX = GT[:, None] * AT_MAX / AT_MAX.sum(axis=1, keepdims=True)
FIRST_MAX = np.zeros((3, 3))
FIRST_MAX[np.arange(3), TIED.argmax(axis=1)] = GT


IDS, TABLE, GE = np.array([[1, 2], [2, 5]]), normal(6, 3, seed=4), normal(2, 2, 3)
EMBEDDING = {"g": GE, "table": TABLE, "ids": IDS}
DTABLE, OVERWRITTEN = np.zeros((6, 3)), np.zeros((6, 3))
np.add.at(DTABLE, IDS, GE)
OVERWRITTEN[IDS] = GE


CENTRED = GX - GX.mean(axis=1, keepdims=True)
GAMMA = normal(5, seed=5)
EXTREME = np.array([-1000.0, -1, 0, 2, 1000])
BIG = {"g": normal(2, 4, 5, 3), "a": normal(2, 4, 5, 3, seed=1), "b": normal(4, 1, 3)}
DBIG = BIG["g"].sum(axis=(0, 2))[:, None, :]
IMAGE, WEIGHTS = normal(2, 3, 5, 5), normal(3, 2, 3, 3)
QUERY = {"g": normal(2, 4, 3, seed=6), "q": normal(2, 4, 3), "k": normal(2, 6, 3)}


LOSS = np.float64(0.7312345)
LAYERNORM_OF_THREE = np.array([[0.31231, -0.81171, 0.4994]])
LOWER = np.tril(np.ones((4, 4)))


def changed(array: Array, index: Any, factor: float) -> Array:
    copy = array.copy()
    copy[index] *= factor
    return copy


def bordered(array: Array) -> Array:
    copy = np.zeros_like(array)
    copy[..., 1:-1, 1:-1] = array[..., 1:-1, 1:-1]
    return copy


WHOLE: dict[str, tuple[Any, Any, str, dict[str, Any], str]] = {
    # mistake: (got, expected, name, inputs, what is said)
    "sign": (-DA, DA, "dA", MATMUL, "dA has the wrong sign."),
    "y - p": (-DLOGITS, DLOGITS, "dlogits", CROSS_ENTROPY, "wrong sign"),
    "twice": (2 * DA, DA, "dA", MATMUL, "2 times too large."),
    "half": (DA / 2, DA, "dA", MATMUL, "2 times too small."),
    "minus twice": (-2 * DA, DA, "dA", MATMUL, "has the wrong sign, and is 2 times too large."),
    "no 1/n": (
        6 * DLOGITS,
        DLOGITS,
        "dlogits",
        CROSS_ENTROPY,
        r"6 times too large, and 6 is the number of rows of logits",
    ),
    "1/size for 1/n": (
        DLOGITS / 3,
        DLOGITS,
        "dlogits",
        CROSS_ENTROPY,
        "3 times too small, and 3 is the number of columns",
    ),
    "mean for sum": (
        GB.mean(0),
        GB.sum(0),
        "db",
        BIAS,
        "5 times too small, and 5 is the number of rows of a.*a sum, not",
    ),
    "1/n and sign": (-DLOGITS * 6, DLOGITS, "dlogits", CROSS_ENTROPY, "wrong sign, and is 6 times too large"),
    "constant gradient": (
        np.full((3, 4), LOSS / 12),
        np.full((3, 4), LOSS),
        "dx",
        {"x": M.reshape(3, 8)[:, :4]},
        "12 times",
    ),
    "loss summed": (8 * LOSS, LOSS, "loss", {"y": normal(8, 2)}, "8 times too large, and 8 is the number of rows of y"),
    "two rows": (
        2 * DA[:2],
        DA[:2],
        "dA",
        {"A": A[:2]},
        "2 is the number of rows of A: is a division by 2 missing, or",
    ),
    "a stride": (M * 5, M, "dx", {"stride": 5}, "5 is the value of stride"),
    "no scale": (
        QUERY["q"] * 3**0.5,
        QUERY["q"],
        "dq",
        {"k": QUERY["k"]},
        "√3 times too large, .* the last axis of k.*1/√3 mi",
    ),
    "scaled twice": (M / 2, 1 * M, "dq", {"q": normal(2, 4)}, "2 times too small"),
    "scale twice": (M / 3**0.5, M, "dq", {"q": normal(7, 3)}, "√3 times too small.*scaled by 1/√3 once too often"),
    "n - 1": (M * 6 / 5, M, "dx", {"x": M}, r"6/5 times what is expected, and 6 is the number of rows of x.*by 5"),
    "n for m": (M * 6 / 4, M, "dx", {"x": M}, r"divided by 4 instead of 6"),
    "ddof": (M * (5 / 6) ** 0.5, M, "dx", {"x": M}, r"√\(5/6\) times.*a variance divided by n − 1"),
    "any constant": (0.37 * M, M, "dx", {}, "dx is 0.37 times what is expected, in every entry."),
    "abs": (abs(M), M, "dx", {}, "lost its signs"),
    "offset": (M + 0.5, M, "dx", {}, "dx is 0.5 too large in every entry"),
    "transposed": (DA.T, DA, "dA", MATMUL, "dA is transposed."),
    "transposed square": (M[:4].T, M[:4], "dA", {}, "dA is transposed."),
    "transposed, sign": (-DA.T, DA, "dA", MATMUL, "dA is transposed, and then it has the wrong sign."),
    "reshape": (DA.T.reshape(4, 3), DA, "dA", MATMUL, "a reshape stands where a transpose belongs"),
    "last two axes": (IMAGE.swapaxes(2, 3), IMAGE, "dk", {}, "transposed in its last two axes"),
    "heads": (QUERY["q"].transpose(1, 0, 2), QUERY["q"], "dq", {}, r"axes come in the order \(1, 0, 2\)"),
    "flipped kernel": (WEIGHTS[..., ::-1, ::-1], WEIGHTS, "dw", {}, "reversed along axes 2 and 3"),
    "reversed": (M[::-1], M, "dx", {}, "reversed along axis 0"),
    "off by one": (np.roll(M, 1, 0), M, "dx", {}, "shifted along axis 0: every entry stands 1 place on"),
    "other places": (M[[1, 0, 3, 2, 5, 4]], M, "dx", {}, "right numbers, in the wrong places"),
    "keepdims": (GB.sum(0, keepdims=True), GB.sum(0), "db", BIAS, r"the shape is \(1, 3\), not \(3,\): drop the axis"),
    "squeezed": (
        GB[:1, :1].sum(0).squeeze(),
        GB[:1, :1].sum(0),
        "db",
        {"g": GB[:1, :1]},
        r"not \(1,\): keep .* squeeze\(\)",
    ),
    "no keepdims": (DBIG[:, 0], DBIG, "db", BIG, r"only the shape is \(4, 3\), not \(4, 1, 3\): keep the axis"),
    "loss (1,)": (
        np.array([LOSS]),
        LOSS,
        "loss",
        {},
        r"The values of loss are right; only the shape is \(1,\), not \(\)",
    ),
    "flattened": (M.ravel(), M, "dx", {}, r"right and in order; only the shape is \(24,\), not \(6, 4\)"),
    "not summed": (
        GB * MA,
        (GB * MA).sum(0),
        "db",
        BIAS,
        r"not summed over axis 0: .*\(b, of shape \(3,\), was broadcast",
    ),
    "partly summed": (BIG["g"].sum(0), DBIG, "db", BIG, "not summed over axis 1: .*the sum over axis 1 is what"),
    "losses": (M[:, 0], M[:, 0].mean(), "loss", {}, "loss is not averaged over axis 0"),
    "summed too far": (GB.sum(), GB.sum(0), "db", BIAS, r"db is summed over axis 0, and must not be"),
    "wrong axis": (GB.sum(1), GB.sum(0), "db", BIAS, "db is g summed over axis 1; it must be summed over axis 0"),
    "wrong axis, square": (G[:, :4].sum(1), G[:, :4].sum(0), "db", {"g": G[:, :4]}, "g summed over axis 1; it must be"),
    "sum spread": (np.broadcast_to(M.sum(0), M.shape), M, "dx", {}, "dx is summed over axis 0, and must not be"),
    "mean spread": (np.broadcast_to(M.mean(0), M.shape), M, "dx", {}, "dx is averaged over axis 0, and must not be"),
    "not spread": (
        GT[:, None],
        np.repeat(GT[:, None], 4, 1),
        "dx",
        {},
        r"not spread over axis 1: .*\(3, 1\), not \(3, 4\)",
    ),
    "g returned": (G, DB, "dB", MATMUL, "dB is g itself, unchanged."),
    "input returned": (TABLE, DTABLE, "dtable", EMBEDDING, "dtable is table itself, unchanged."),
    "no factor b": (GB, GB * MB, "da", BIAS, "da is g itself, unchanged."),
    "factor twice": (GB * MB**2, GB * MB, "da", BIAS, "multiplied by b once too often"),
    "other factor": (GB * MA, GB * MB, "da", BIAS, "da has the factor a where b belongs."),
    "no skip path": (M, M + normal(6, 4, seed=7), "dx", {"g": normal(6, 4, seed=7)}, "A term g is missing"),
    "term too many": (DTABLE + TABLE, DTABLE, "dtable", EMBEDDING, "a term table too many"),
    "not centred": (GX + 0, CENTRED, "dx", {}, "right up to one number for each row, .*such as a mean"),
    "not centred, columns": (M, M - M.mean(0), "dx", {}, "right up to one number for each column"),
    "no 1/std": (M * normal(6, 1), M, "dx", {}, "right up to one factor for each row"),
    "no 1/std, 3-D": (IMAGE[0] * normal(3, 5, 1), IMAGE[0], "dx", {}, "one factor for each vector along axis 2"),
    "zeros": (0 * DA, DA, "dA", MATMUL, "dA is 0 in every entry"),
    "nan": (DA * np.nan, DA, "dA", MATMUL, "dA is nan in every entry"),
    "float32": (
        M.astype(np.float32),
        M,
        "dx",
        {},
        "dx has the digits of its dtype, float32; float64 is asked, which has more.",
    ),
    "complex": (M + 0j, M, "dx", {}, "only the dtype is complex128, not float64"),
    "integers": (np.arange(6), np.arange(6.0), "dx", {}, "only the dtype is int64, not float64"),
    "differences": (M * (1 + 1e-6 * normal(6, 4, seed=8)), M, "dx", {}, "right to about 5 digits"),
}

PARTIAL: dict[str, tuple[Any, Any, str, dict[str, Any], str]] = {
    "relu at 0": (
        GX * (X >= 0),
        DRELU,
        "dx",
        UNARY,
        r"where x is 0 \(2 of 20 entries\); there 0 is expected, and it is g",
    ),
    "half at 0": (GX * ((X > 0) + 0.5 * (X == 0)), DRELU, "dx", UNARY, "where x is 0 .* it is 0.5 times g"),
    "no mask": (GX + np.where(X > 0, 0, 1), DRELU, "dx", UNARY, "wrong exactly where x is 0 or negative"),
    "leaky": (GX * np.where(X > 0, 1, 0.01), DRELU, "dx", UNARY, "where x is 0 or negative .* 0.01 times g"),
    "relu of g": (np.maximum(GX, 0) * (X > 0), DRELU, "dx", UNARY, "where g is negative and something other than 0"),
    "mask only": ((X > 0) * normal(4, 5, seed=9), DRELU, "dx", UNARY, "zeros in the right places; every other"),
    "p, not p - y": (GL * P / 6, DLOGITS, "dlogits", CROSS_ENTROPY, "at the entry that targets names.*same amount"),
    "ties": (GT[:, None] * AT_MAX, DMAX, "dx", {"g": GT, "x": TIED}, "of x along axis 1 is tied"),
    "first of a tie": (FIRST_MAX, DMAX, "dx", {"g": GT, "x": TIED}, "the maximum of x along axis 1 is tied"),
    "repeated ids": (OVERWRITTEN, DTABLE, "dtable", EMBEDDING, "in the rows that ids names more than once"),
    "unused ids": (DTABLE + (DTABLE == 0), DTABLE, "dtable", EMBEDDING, "in the rows that ids does not name"),
    "rows": (changed(M, [2, 4], 2), M, "dx", {}, r"in rows 2 and 4 of 6 .*; there it is 2 times too large"),
    "first row": (changed(M, slice(1, None), -1), M, "dx", {}, "in every row but the first .*has the wrong sign"),
    "last column": (changed(M, (slice(None), -1), 0), M, "dx", {}, "in the last column .*; there it is 0"),
    "batch": (changed(IMAGE, slice(1, None), 0), IMAGE, "dx", {}, "in the last slice along axis 0"),
    "border": (bordered(IMAGE), IMAGE, "dx", {}, "in the first and the last row and the first and the last column"),
    "diagonal": (M[:4] * (1 - np.eye(4)), M[:4], "dx", {}, "wrong exactly on the diagonal"),
    "only diagonal": (M[:4] * np.eye(4), M[:4], "dx", {}, "wrong exactly off the diagonal"),
    "no causal mask": (M[:4] + 1 - LOWER, M[:4] * LOWER, "ds", {}, "wrong exactly above the diagonal"),
    "one entry": (changed(M, (2, 1), 7), M, "dx", {}, r"wrong exactly at \[2,1\] \(1 of 24"),
    "last entry": (changed(M[:, 0], -1, 7), M[:, 0], "db", {}, "wrong exactly in the last entry"),
    "overflow": (
        np.where(EXTREME < -99, np.nan, GAMMA),
        GAMMA,
        "dx",
        {"x": EXTREME},
        "nan in 1 of 5 entries, exactly where −x is 1000",
    ),
    "0/0": (np.where(X == 0, np.nan, GX), GX, "dx", UNARY, "nan in 2 of 20 entries, exactly where x is 0; every"),
    "inf row": (changed(M, 2, np.inf), M, "dx", {}, "inf in 4 of 24 entries, exactly in row 2"),
}


@pytest.mark.parametrize("mistake", [*WHOLE, *PARTIAL])
def test_finds(mistake: str) -> None:
    got, expected, name, inputs, words = (WHOLE | PARTIAL)[mistake]
    sentences = said(got, expected, name, inputs)
    assert sentences
    assert re.search(words, sentences[0]), sentences
    assert len(sentences) <= 2
    assert all(sentence[-1] in ".?" and "?." not in sentence for sentence in sentences)


def test_what_is_almost_an_input_is_not_called_unchanged() -> None:
    """x masked by the sign of g used to be called x itself, because where g is negative x was within tolerance of 0."""
    x = np.array([1.0851, -8.5e-10, 2.0371, 0.4102, -1.2703])
    masked = np.where(x == -8.5e-10, 0.0, x)
    assert not any("itself" in sentence for sentence in said(masked, np.array([3.0, 1, 4, 1, 5]), "dx", {"x": x}))
    assert said(x.astype(np.float32), np.array([3.0, 1, 4, 1, 5]), "dx", {"x": x}) == ["dx is x itself, unchanged."]


def test_a_second_sentence_adds_to_the_first() -> None:
    assert said(GX, DRELU, "dx", UNARY) == [
        "dx is g itself, unchanged.",
        "dx is wrong exactly where x is 0 or negative (7 of 20 entries); there 0 is expected.",
    ]
    assert said(GB, GB * MB, "da", BIAS)[1] == "The factor b is missing: da times b is what is expected."
    assert "not summed over axis 0" in said(GB, GB.sum(0), "db", BIAS)[1]


class TestUnitGradient:
    says = "dx is the answer for g = 1: the upstream gradient g does not enter."

    def test_g_ignored(self) -> None:
        unit = np.ones_like(G) @ B.T
        assert said(unit, DA, "dx", MATMUL, lambda: unit) == [self.says]

    def test_mask_of_ones(self) -> None:
        assert said((X > 0) * 1.0, DRELU, "dx", UNARY, lambda: (X > 0) * 1.0) == [self.says]

    def test_ones(self) -> None:
        expected = np.repeat(GT[:, None], 4, 1)
        assert said(np.ones((3, 4)), expected, "dx", {"g": GT}, lambda: np.ones((3, 4))) == [self.says]

    def test_softmax_of_ones_is_noise(self) -> None:
        noise = 1e-17 * normal(4, 5)
        assert said(noise, GX, "dx", UNARY, lambda: noise[::-1]) == [
            "dx is 0 up to rounding, as it would be for g = 1: does the upstream gradient g enter?"
        ]

    def test_one_that_raises_or_does_not_fit_is_ignored(self) -> None:
        def fails() -> Array:
            raise ValueError("no such g")

        for unit in (fails, lambda: None, lambda: np.ones(3), lambda: "no"):
            assert said(-DA, DA, "dA", MATMUL, unit) == ["dA has the wrong sign."]


COINCIDENCES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "one entry": (np.array([6.0]), np.array([2.0]), {}),
    "one entry, a size": (np.array([[6.0]]), np.array([[2.0]]), {"x": np.ones((3, 1))}),
    "one entry, sign": (np.float64(-1.0), np.float64(1.0), {}),
    "one entry, any constant": (np.float64(0.813), np.float64(LOSS), {}),
    "zeros of another shape": (np.zeros((3, 2)), np.zeros((2, 3)), {}),
    "zeros not summed": (np.zeros((4, 3)), np.zeros(3), {}),
    "zeros expected": (normal(3, 2), np.zeros((3, 2)), {}),
    "zeros as input": (np.zeros((2, 3)), np.zeros((3, 2)), {"x": np.zeros((2, 3))}),
    "constants": (np.full((3, 2), 6.0), np.full((3, 2), 2.0), {"x": np.ones((3, 2))}),
    "constant of another shape": (np.ones((3, 2)), np.ones((2, 3)), {}),
    "one-hot rows": (np.eye(3)[[0, 2, 1]], np.eye(3), {}),
    "small integers": (np.array([2.0, 1.0]), np.array([1.0, 2.0]), {}),
    "factor per row of two": (normal(3, 2), np.array([[1.0, -1], [2, -2], [3, -3]]), {}),
    "unrelated": (normal(5, 4, seed=11), normal(5, 4, seed=12), {"g": normal(5, 4), "x": normal(4), "n": 3}),
    "unrelated vector": (normal(3, seed=11), normal(3, seed=12), {"g": normal(3)}),
    "unrelated shapes": (normal(5, 4, seed=11), normal(4, seed=12), {"g": normal(5, 4)}),
    "2 times, at a special input": (
        np.array([-0.2292]),
        np.array([-0.1146]),
        {"g": np.array([-0.4584]), "x": np.zeros(1)},
    ),
    "sign of a pair": (np.array([0.83261, -0.83261]), np.array([-0.83261, 0.83261]), {}),
    "three that add up to 0": (LAYERNORM_OF_THREE * -10.18, LAYERNORM_OF_THREE, {}),
    "rows of three": (P - P.mean(1, keepdims=True), (P - P.mean(1, keepdims=True)) * normal(6, 1), {}),
    "one of two": (np.array([[0.1674, 0.8326]]), np.array([[-0.8326, 0.8326]]), {"targets": np.array([0])}),
    "a sum that picks": (GT[None], np.array([0 * GT, GT]), {}),
    "softmax needs more": (P * LOGITS, P * (LOGITS - (LOGITS * P).sum(1, keepdims=True)), {"g": LOGITS}),
    "equal": (M, M, {"x": M}),
    "within tolerance": (M * (1 + 1e-12), M, {"x": M}),
    "nan expected": (normal(3, 2), np.full((3, 2), np.nan), {}),
    "empty": (np.zeros((0, 3)), np.zeros((3, 0)), {}),
    "complex": (M + 1j, M, {}),
}


@pytest.mark.parametrize("chance", COINCIDENCES)
def test_is_silent(chance: str) -> None:
    got, expected, inputs = COINCIDENCES[chance]
    assert said(got, expected, "dx", inputs) == []


def test_symmetric_matrix_with_a_wrong_entry_is_not_transposed() -> None:
    symmetric = M.T @ M
    assert "transposed" not in "".join(said(2 * symmetric, symmetric))
    assert said(changed(symmetric, (0, 1), 2), symmetric) == ["dx is wrong exactly at [0,1] (1 of 16 entries)."]


def test_a_huge_entry_hides_nothing() -> None:
    huge = 1e15 * np.eye(4)
    assert said(M[:4].T + huge, normal(4, 4) + huge) == ["dx is wrong exactly off the diagonal (12 of 16 entries)."]


def test_antisymmetric_matrix_says_both() -> None:
    skew = M[:4] - M[:4].T
    assert said(-skew, skew) == ["dx has the wrong sign.", "dx is transposed."]


def test_signs_of_an_input_are_no_reason_for_one_wrong_entry_of_few() -> None:
    expected = M[:2, :3]
    for x in (expected, -expected):
        words = "".join(said(np.where(x < 0, 1, expected), expected, "dx", {"x": x}))
        assert "negative" not in words
        assert "positive" not in words


def test_float32_and_other_dtypes() -> None:
    for dtype in (np.float32, np.float16, ">f8", np.longdouble):
        sentences = explain(
            (3 * M).astype(dtype), M.astype(dtype), name="dx", rtol=1e-2, atol=1e-3, inputs={"x": M[:3].astype(dtype)}
        )
        assert "3 times too large" in sentences[0]


def test_a_loose_check_makes_no_loose_relations() -> None:
    got = M.T + 0.01 * normal(4, 6, seed=3)
    assert explain(got, M, name="dx", rtol=0.1, atol=0.1) == []
