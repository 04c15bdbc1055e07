"""Checks of hessian_trace."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from autograder.judging import EXACT, F64, agree, exercise, expect, expect_close, random
from autograder.judging.checking.kinds import LARGEST
from autograder.lessons.ch13_beyond_first_order.checks.hessian_products import drawn, scaled
from autograder.lessons.ch13_beyond_first_order.checks.kinds_of_tensors import KINDS
from autograder.values import summarise
from autograder.wording import counted, enumeration

SIGNS = 48
"""How many signs of a probe one estimate tells: a sum of their powers of two is a float64 without rounding."""


def seed(rng) -> int:
    return int(rng.integers(2**31))


def agree_on_trace(learner, reference, rng, function, shape, samples, case, dtype=F64, kind="constant", **tolerance):
    """Compare a trace that does not depend on the probes' signs, because the Hessian is diagonal."""
    a, p, x = drawn(rng, shape, dtype)
    arguments = function, a, p, x, samples, seed(rng), kind
    agree("trace", learner, reference, *arguments, case=case, **{**EXACT, **tolerance})


def symmetric(rng, n):
    """A Hessian with off-diagonal entries of about 1, 3 and 9 for three rows, so that each choice of signs differs."""
    H = np.diag(rng.uniform(-2, 2, size=n))
    for size, (i, j) in zip(3.0 ** np.arange(n * n), itertools.combinations(range(n), 2), strict=False):
        H[i, j] = H[j, i] = size * rng.uniform(0.9, 1.1)
    return H


@exercise("hessian_trace")
def test_diagonal_hessians(learner, reference, rng):
    """Where H is diagonal every probe of ±1 gives the trace itself: any other probes, or another mean, do not."""
    for shape in [(1,), (4,), (2, 3), ()]:
        for samples in (1, 3):
            case = f"H is diagonal, x has shape {shape}, {samples} sample{'s' * (samples > 1)}"
            agree_on_trace(learner, reference, rng, "diagonal", shape, samples, case)


@exercise("hessian_trace")
def test_trace_of_zeros(learner, reference, rng):
    """A linear f and a constant one: 0.0."""
    for function in ("linear", "constant", "parameters alone", "diagonal"):
        agree_on_trace(learner, reference, rng, function, (3,), 2, f"f is {function}")


@exercise("hessian_trace")
def test_probes(learner, reference, rng):
    """Each of 200 estimates from one probe is one of the four that signs can give, and each of the four is frequent.

    Each choice of signs has probability ¼: 50 of 200 on average. By Hoeffding's inequality a count is off by more than
    45 with a probability of at most 2 exp(−2 · 45² / 200) = 3.2e-9. Four counts: a right answer is refused with a
    probability below 1.3e-8. Of another shape of x a few tell whether its probes are signs, too.
    """
    for shape, calls in [((3,), 200), ((1, 3), 20)]:
        H, x = symmetric(rng, 3), random(rng, shape)
        case = f"{calls} estimates from one sample each, x has shape {shape}"
        got = learner.scenario.traces(H, x, 1, calls, seed(rng))
        signs = [np.array([1, *rest]) for rest in itertools.product([1, -1], repeat=2)]
        possible = np.array([z @ H @ z for z in signs])
        if not numbers(got, case):
            continue
        nearest = np.abs(np.asarray(got)[:, None] - possible).argmin(axis=1)
        expect_close(
            np.asarray(got, dtype=F64), possible[nearest], names=("the array of estimates",), case=case, **EXACT
        )
        counts = np.bincount(nearest, minlength=4)
        expect(
            calls < 200 or bool((np.abs(counts - calls / 4) <= 45).all()),
            "Of 200 probes some choices of signs come up too often and others too seldom: every entry of a probe is 1 "
            f"or −1 with probability ½, whatever the other entries are. (By choice: {enumeration(counts)}.)",
            case=case,
        )


def numbers(got: list[Any], case: str) -> bool:
    """Expect Python floats, not tensors; return whether all estimates are."""
    wrong = [value for value in got if not isinstance(value, float)]
    kind = "a tensor" if wrong and isinstance(wrong[0], np.ndarray) else summarise(wrong[0]) if wrong else ""
    expect(not wrong, f"hessian_trace returned {kind}; a Python float expected", case=case)
    return not wrong


@exercise("hessian_trace")
def test_mean_over_the_samples(learner, reference, rng):
    """Each sample has a probe of its own: the mean of 199 is near the trace, and one of the 200 that signs can give.

    For two entries each sample is tr H ± 2b. A right answer is off by more than 0.48 of 2b with a probability below
    2 exp(−0.48² · 199 / 2) = 3e-10 (Hoeffding). 199 is a prime number: the mean of fewer probes, or of some that count
    several times, is none of the 200, unless all of them have the same sign.
    """
    for shape, samples in [((2,), 199), ((2, 1), 19), ((2,), 5)]:
        H, x = symmetric(rng, 2), random(rng, shape)
        case = f"{samples} samples, x has shape {shape}"
        (got,) = learner.scenario.traces(H, x, samples, 1, seed(rng))
        if not numbers([got], case):
            continue
        trace, spread = H.trace(), 2 * H[0, 1]
        k = np.clip(round(((got - trace) / spread + 1) / 2 * samples), 0, samples) if math.isfinite(got) else 0
        expect_close(got, float(trace + spread * (2 * k / samples - 1)), case=case, rtol=1e-9, atol=1e-9)
        expect(
            samples < 199 or bool(abs(got - trace) <= 0.48 * abs(spread)),
            "The mean of many samples is far from the trace: does each sample have a new probe, with signs that do not "
            "depend on one another?",
            case=case,
        )


@exercise("hessian_trace")
def test_bias(learner, reference, rng):
    """Where all entries of H are a, an estimate is a times the square of the probe's sum: n a on average, the trace.

    n = 40 · 39 signs add up to an even number. By Hoeffding's inequality its square is above 42 n with a probability of
    at most 2 exp(−42 / 2) = 1.5e-9, and it is 0 with one of √(2 / πn) = 0.02. Six estimates: a right answer is refused
    with a probability below 6 · 1.5e-9 + 0.02⁶ < 1e-8. Signs that are 1 with a probability of 2/3 make the estimate
    174 n a on average. More entries would see less, and keep those waiting who take one product for each.
    """
    shape, calls, entry = (40, 39), 6, float(rng.uniform(0.5, 2.0))
    n = math.prod(shape)
    case = f"{calls} estimates from one sample each, all entries of H are the same, x has shape {shape}"
    got = learner.scenario.traces_of_one_entry(shape, entry, calls, seed(rng))
    if not numbers(got, case):
        return
    sums = 2 * np.round(np.sqrt(np.maximum(np.nan_to_num(np.asarray(got) / entry), 0)) / 2)
    expect_close(np.asarray(got, dtype=F64), entry * sums**2, names=("the array of estimates",), case=case, **EXACT)
    expect(
        bool(sums.max() > 0 and (sums**2 <= 42 * n).all()),
        "The estimates are far from the trace. Is each sign 1 or −1 with probability ½, and is each drawn by itself, "
        "in every row and every column?",
        case=case,
    )


@exercise("hessian_trace", promise="instrumented")
def test_generator_alone(learner, reference, rng):
    """The same state gives the same estimate, a second call another one; the global random state stays.

    Two right estimates from different numbers are equal with a probability of 2⁻³⁹.
    """
    for samples in (1, 3):
        H = random(rng, (40, 40))
        arguments = H + H.T, random(rng, 40), samples, seed(rng)
        agree("randomness", learner, reference, *arguments, case=f"{samples} sample{'s' * (samples > 1)}, repeated")
    agree_on_trace(learner, reference, rng, "diagonal", (2,), 1, "beside that: H is diagonal")


@exercise("hessian_trace")
def test_every_kind_of_tensor(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; leaves, results; at 0."""
    for kind in kinds:
        x = scaled(kind.drawn["x"], kind.options.get("times", 1))
        arguments = drawn(rng, x.shape, x.dtype)[0], x, seed(rng), kind.states
        tolerance = kind.tolerance((), [LARGEST**3])
        agree("trace_in_states", learner, reference, *arguments, case=f"H is diagonal, {kind.label}", **tolerance)


@exercise("hessian_trace", promise="instrumented")
def test_x_and_parameters_afterwards(learner, reference, rng):
    """Values, requires_grad and .grad of x and of a parameter that f uses."""
    for kind in ("constant", "leaf", "middle", "strided"):
        arguments = *drawn(rng, (2, 2)), 2, seed(rng), kind
        agree("beside_trace", learner, reference, *arguments, case=f"x is {KINDS[kind]}, afterwards")


@exercise("hessian_trace")
def test_probes_do_not_repeat(learner, reference, rng):
    """No probe counts twice, and no sign comes back some entries later.

    For two entries an estimate is tr H + 2b (2k / samples − 1), where k probes have equal signs. If each probe counts
    twice, k is always even; of right answers' 40 values all are even or all odd with a probability of 2⁻³⁹. Then the
    signs of one probe are read, 48 in a number, and compared with those `lag` entries further on. The mean of m ≥ 320
    products of independent signs is above 0.4 with a probability of at most exp(−0.4² m / 2) = 8e-12 (Hoeffding), for
    each of 640 lags.
    """
    for samples in (2, 6):
        H, x = symmetric(rng, 2), random(rng, (2,))
        case = f"40 estimates from {samples} samples each, x has shape (2,)"
        got = learner.scenario.traces(H, x, samples, 40, seed(rng))
        if not numbers(got, case):
            continue
        shares = ((np.nan_to_num(np.asarray(got)) - H.trace()) / (2 * H[0, 1]) + 1) / 2
        k = np.clip(np.round(shares * samples), 0, samples)
        possible = H.trace() + 2 * H[0, 1] * (2 * k / samples - 1)
        expect_close(np.asarray(got, dtype=F64), possible, names=("the array of estimates",), case=case, **EXACT)
        expect(
            len(set(k % 2)) == 2,
            f"The number of probes with two equal signs is {('even', 'odd')[int(k[0] % 2)]} in each of the 40 "
            "estimates. With a new probe for each sample it is even or odd equally often.",
            case=case,
        )

    blocks, case = 20, "1 sample, the signs of one probe are read from several Hessians"
    got = learner.scenario.signs_in_blocks(SIGNS, blocks, seed(rng))
    if not numbers(got, case):
        return
    most = 2**SIGNS - 1
    read = np.array([2 * int(np.clip((value / 2 + most) // 2, 0, most)) - most for value in np.nan_to_num(got)])
    expect_close(np.asarray(got, dtype=F64), 2.0 * read, names=("the array of estimates",), case=case, **EXACT)
    signs = np.concatenate([2 * ((number + most) // 2 >> np.arange(SIGNS) & 1) - 1 for number in read])
    alike = [abs(float(np.mean(signs[lag:] * signs[:-lag]))) for lag in range(1, 2 * len(signs) // 3)]
    lag = int(np.argmax(alike)) + 1
    expect(
        max(alike) <= 0.4,
        f"The signs of a probe depend on those {counted(lag, 'entry', 'entries')} before: draw each by itself.",
        case=case,
    )
