"""The clinic's runs: each fault is detected by some test and not by others, and the text follows the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

import pytest

torch = pytest.importorskip("torch")

from course.experiments import clinic  # noqa: E402
from course.experiments.clinic import FAULTS, PATIENTS, TESTS, curve, fewest, outcome, suspects, trained  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_every_fault_is_a_patient_and_each_but_one_is_a_line() -> None:
    assert sorted(PATIENTS) == sorted(FAULTS)
    for key, fault in FAULTS.items():
        assert (fault.program == clinic.Program()) == (key == "none") == (not fault.line)
        assert bool(fault.should) == bool(fault.line)


CURVES = {
    "stays near ln 10": {"labels", "zeros", "copy"},
    "falls, but slowly": {"softmax", "detached", "slow"},
    "rises far above its start": {"stale", "fast"},
    "starts far above ln 10": {"wide"},
    "falls to near 0": {"batch", "none"},
}


def test_curves_look_alike() -> None:
    found: dict[str, set[str]] = {}
    for key in FAULTS:
        found.setdefault(curve(key).reading, set()).add(key)
    assert found == CURVES
    assert trained("batch").losses[-1] < trained("none").losses[-1]
    assert trained("batch").right < 0.8 < 0.9 < trained("none").right


SEES = {
    "initial": {"wide"},
    "overfit": {"zeros", "copy", "softmax", "detached", "slow", "fast"},
    "norms": {"zeros", "detached"},
    "slopes": {"softmax", "detached", "stale"},
    "moved": {"zeros", "copy", "detached", "fast"},
    "repeats": {"batch"},
    "shuffled": {"labels", "zeros", "copy", "stale", "fast", "batch"},
}
"""Tests whose outcome differs from the healthy program's."""


@pytest.mark.parametrize("test", TESTS)
def test_each_test_detects_exactly_its_faults(test: str) -> None:
    healthy = outcome(test, "none").reading
    assert {key for key in FAULTS if outcome(test, key).reading != healthy} == SEES[test]


def test_a_few_tests_name_every_fault() -> None:
    for key in FAULTS:
        for tests in fewest(key):
            assert suspects(key, tests) == [key]
            for fewer in combinations(tests, max(0, len(tests) - 1)):
                assert not tests or suspects(key, fewer) != [key]
    assert {key: len(fewest(key)[0]) for key in FAULTS if len(fewest(key)[0]) != 1} == {"softmax": 2, "wide": 0}


def test_readings_follow_from_the_printed_numbers() -> None:
    for key in FAULTS:
        numbers = [float(line.split()[-1]) for line in outcome("overfit", key).printed.splitlines()]
        assert (outcome("overfit", key).reading == "by heart") == (numbers[-1] < 0.1)
        claimed, nudged = (float(line.split()[-1]) for line in outcome("slopes", key).printed.splitlines())
        assert (outcome("slopes", key).reading == "agree") == math.isclose(claimed, nudged, rel_tol=2e-3)
        untrained = float(outcome("initial", key).printed.split()[1])
        assert (outcome("initial", key).reading == "ln 10") == (abs(untrained - math.log(10)) < 0.1)
        usual, other = (float(line.split()[-1]) for line in outcome("shuffled", key).printed.splitlines())
        assert (outcome("shuffled", key).reading == "worse") == (other > usual + 0.2)
