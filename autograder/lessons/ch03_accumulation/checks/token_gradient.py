"""Checks of token_gradient."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import EXACT, exercise, expect, expect_close
from autograder.lessons.ch03_accumulation.checks.microbatch_gradient import (
    LAYER,
    LINEAR,
    Model,
    by_position,
    expect_as_they_are,
)
from autograder.lessons.ch03_accumulation.checks.tolerances import SINGLE


class TokenModel:
    """A model that is linear in its parameters, applied to each place of a text; it records the texts it was given."""

    calls: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    params: dict[str, np.ndarray] | None
    """As those of `Model`."""

    def __init__(self, rng, shapes, most, places, row):
        self.calls = []
        self.params = None
        self._most, self._each = most, (places, *row)
        self._model = Model(rng, shapes, most * places, row)

    def gradient(self, *arguments, **named):
        """The mean over the places that count of the gradient of ½(prediction − y)²; nan where there are none."""
        params, X, y, mask = by_position(("params", "X", "y", "mask"), arguments, named)
        expect_as_they_are(params, self.params)
        X, y, mask = np.asarray(X), np.asarray(y), np.asarray(mask)
        if len(X) > self._most or X.shape[1:] != self._each:
            raise ValueError(f"grad_fn takes texts of shape {self._each}, and there are {self._most}")
        if not y.shape == mask.shape == X.shape[:2]:
            raise ValueError(f"grad_fn got X for {X.shape[:2]} places, y for {y.shape} and mask for {mask.shape}")
        if mask.dtype != bool:
            raise ValueError("grad_fn takes the mask as it is, bools")
        self.calls.append((X, y, mask))
        return self._model.mean(params, X[mask], y[mask])


def problem(rng, shapes, mask, row=(3,), dtype=np.float64):
    """A model, its parameters, and texts with the places of `mask`."""
    mask = np.array(mask, dtype=bool)
    model = TokenModel(rng, shapes, *mask.shape, row)
    params = {name: np.asarray(rng.normal(size=shape), dtype=dtype) for name, shape in shapes.items()}
    return model, params, rng.normal(size=(*mask.shape, *row)).astype(dtype), rng.normal(size=mask.shape), mask


def lengths(*counts):
    """A mask of texts with so many tokens, padded at the end."""
    return [[place < count for place in range(max(counts))] for count in counts]


def check_tokens(learner, model, params, X, y, mask, batch_size, case, **tolerance):
    """Expect the mean gradient over all tokens, from calls with at most `batch_size` texts."""
    model.params = params
    got = learner.token_gradient(model.gradient, params, X, y, mask, batch_size)
    calls = list(model.calls)
    most = max((len(texts) for texts, _, _ in calls), default=0)
    expect(
        most <= batch_size,
        f"grad_fn was given {most} texts at once, and batch_size is {batch_size}: more do not fit into memory",
        case=case,
    )
    expect_close(got, model.gradient(params, X, y, mask), case=case, **tolerance)
    return calls


@exercise("token_gradient")
def test_equal_counts(learner, rng):
    """Every micro-batch has the same number of tokens, and no place is left out."""
    for case, mask, batch_size in [
        ("two texts of one token, one at a time", lengths(1, 1), 1),
        ("four texts of three tokens, two at a time", lengths(3, 3, 3, 3), 2),
    ]:
        check_tokens(learner, *problem(rng, LINEAR, mask), batch_size, case, **EXACT)


@exercise("token_gradient")
def test_different_counts(learner, rng):
    """Texts of different lengths, padded at the end."""
    for case, mask, batch_size in [
        ("texts of 1 and 3 tokens, one at a time", lengths(1, 3), 1),
        ("texts of 1, 1, 2 and 6 tokens, two at a time", lengths(1, 1, 2, 6), 2),
        ("texts of 2, 5 and 1 tokens, two at a time", lengths(2, 5, 1), 2),
        ("21 tokens in five texts, three at a time", lengths(9, 1, 1, 3, 7), 3),
    ]:
        check_tokens(learner, *problem(rng, LINEAR, mask), batch_size, case, **EXACT)


@exercise("token_gradient")
def test_scattered_masks(learner, rng):
    """Places that do not count lie in front, in the middle, at the end."""
    for case, mask, batch_size in [
        ("one place left out", [[True, True], [False, True]], 1),
        (
            "left out in front and in the middle",
            [[False, True, False, True], [True] * 4, [True, False, False, False]],
            2,
        ),
        ("one token in each but the last", [[False, False, True], [True, False, False], [True, True, True]], 1),
    ]:
        check_tokens(learner, *problem(rng, LINEAR, mask), batch_size, case, **EXACT)


@exercise("token_gradient")
def test_texts_without_tokens(learner, rng):
    """Texts without a token, alone in a micro-batch or beside others."""
    for case, mask, batch_size in [
        ("a text without a token beside one with two", lengths(2, 0, 1), 2),
        ("a micro-batch without a token", lengths(2, 0, 1), 1),
        ("a first and a last micro-batch without a token", lengths(0, 0, 3, 1, 0), 2),
        ("one token in all", lengths(0, 1, 0), 1),
    ]:
        check_tokens(learner, *problem(rng, LINEAR, mask), batch_size, case, **EXACT)


@exercise("token_gradient")
def test_sizes_of_token_batches(learner, rng):
    """One text in all, n at once, more than n."""
    for case, mask, batch_size in [
        ("one text of one token", lengths(1), 1),
        ("batch_size is n", lengths(1, 4, 2), 3),
        ("batch_size is larger than n", lengths(3, 1), 1000),
    ]:
        check_tokens(learner, *problem(rng, LINEAR, mask), batch_size, case, **EXACT)


@exercise("token_gradient")
def test_token_names_and_shapes(learner, rng):
    """Parameters of any names and shapes, places of any shape."""
    for case, shapes, row in [
        ("one parameter of shape ()", {"bias": ()}, (2,)),
        ("a matrix, a vector and a 0-d array", {"layer.0.weight": (2, 3), "layer.0.bias": (2,), "scale": ()}, (3,)),
        ("a parameter without entries", {"w": (2,), "empty": (0,)}, (2,)),
        ("places that are numbers", {"w": (3,)}, ()),
        ("places that are matrices, four axes", {"kernel": (2, 1, 2, 2), "γ": (1,)}, (2, 2)),
    ]:
        check_tokens(learner, *problem(rng, shapes, lengths(2, 4, 1), row), 2, case, **EXACT)


def _seen(X, y, mask):
    """Each text that has a token, with its targets and its mask."""
    return [text for text in zip(X.tolist(), y.tolist(), mask.tolist(), strict=True) if any(text[2])]


@exercise("token_gradient")
def test_calls_with_texts(learner, rng):
    """At most ceil(n / batch_size) calls, and each text with a token in one of them."""
    for counts, batch_size in [((1,), 1), ((3, 1, 2, 2), 2), ((1, 4, 0, 2, 2), 2), ((2, 1, 3), 9)]:
        model, params, X, y, mask = problem(rng, LINEAR, lengths(*counts))
        case = f"{len(counts)} texts of {', '.join(map(str, counts))} tokens, batch_size {batch_size}"
        calls = check_tokens(learner, model, params, X, y, mask, batch_size, case, **EXACT)
        most = math.ceil(len(counts) / batch_size)
        times = "once" if len(calls) == 1 else f"{len(calls)} times"
        expect(len(calls) <= most, f"grad_fn was called {times}; ceil(n / batch_size) is {most}", case=case)
        seen = sorted(text for call in calls for text in _seen(*call))
        right = sorted(_seen(X, y, mask))
        expect(seen == right, "grad_fn must see every text with a token once, with its own y and mask", case=case)


@exercise("token_gradient")
def test_tokens_in_float32(learner, rng):
    """Each gradient has the dtype of its parameter."""
    for case, counts, batch_size in [("float32", (2, 2, 2, 2), 2), ("float32, different counts", (1, 5, 2), 2)]:
        check_tokens(learner, *problem(rng, LAYER, lengths(*counts), dtype=np.float32), batch_size, case, **SINGLE)
    model, params, X, y, mask = problem(rng, LAYER, lengths(1, 5, 2))
    params["b"] = params["b"].astype(np.float32)
    check_tokens(learner, model, params, X, y, mask, 2, "one parameter in float32", **SINGLE)


@exercise("token_gradient")
def test_every_kind_of_input(learner, rng, kinds):
    """0, -0, denormal numbers, small entries beside large ones, each array in its own dtype, and views."""
    for kind in kinds:
        (w, b), X, y = kind.drawn["params"], kind.drawn["X"], kind.drawn["y"]
        mask = rng.random(y.shape) < 0.7
        mask[:1] = True
        model = TokenModel(rng, {"w": w.shape, "b": b.shape}, *y.shape, X.shape[2:])
        asked = learner.in_layout(kind.layout_of("", "params", "X", "y", "", ""))
        tolerance = kind.tolerance(model.gradient({"w": w, "b": b}, X, y, mask), (w, X, y))
        model.calls.clear()
        check_tokens(asked, model, {"w": w, "b": b}, X, y, mask, 2, kind.label, **tolerance)
