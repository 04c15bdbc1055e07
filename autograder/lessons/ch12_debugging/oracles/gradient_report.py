"""The reference of gradient_report against something independent."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.oracles.trainings import of


def status_by_hand(norms):
    """The statuses, computed from norms as exact rational numbers; None, nan and inf stay as they are."""
    finite = sorted(norm for norm in norms if isinstance(norm, Fraction) and norm > 0)
    n = len(finite)
    median = (finite[(n - 1) // 2] + finite[n // 2]) / 2 if n else None
    for norm in norms:
        if norm is None:
            yield "none"
        elif not isinstance(norm, Fraction):
            yield "nonfinite"
        elif norm == 0:
            yield "zero"
        else:
            yield "exploding" if norm > 1000 * median else "ok"


@exercise("gradient_report")
def test_report_against_exact_numbers(reference, rng):
    """Gradients with one entry each, whose norm is that entry exactly."""
    for _ in range(50):
        model = torch.nn.Module()
        norms = []
        for i in range(int(rng.integers(1, 8))):
            kind = int(rng.integers(7))
            parameter = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
            value = [None, 0.0, math.nan, math.inf, *(2.0 ** float(rng.integers(-12, 13)) for _ in range(3))][kind]
            if value is not None:
                parameter.grad = torch.zeros(3, dtype=torch.float64)
                parameter.grad[int(rng.integers(3))] = value
            norms.append(Fraction(value) if value is not None and math.isfinite(value) else value)
            model.register_parameter(f"p{i}", parameter)
        report = of(reference, "gradient_report")(model)
        assert [entry["name"] for entry in report] == [f"p{i}" for i in range(len(norms))]
        assert [entry["status"] for entry in report] == list(status_by_hand(norms))
        for entry, norm in zip(report, norms, strict=True):
            same = entry["norm"] is None if norm is None else np.array_equal(entry["norm"], float(norm), equal_nan=True)
            assert same


@exercise("gradient_report")
def test_norms_against_numpy(reference, rng):
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
    model(torch.tensor(rng.normal(size=(4, 5)), dtype=torch.float32)).square().sum().backward()
    for entry, parameter in zip(of(reference, "gradient_report")(model), model.parameters(), strict=True):
        expected = math.sqrt(math.fsum(float(g) ** 2 for g in parameter.grad.flatten().tolist()))
        assert math.isclose(entry["norm"], expected, rel_tol=1e-12)
