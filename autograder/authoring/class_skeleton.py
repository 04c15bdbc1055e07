"""Templates for a new exercise that is a class: only a scenario, in the submission's process, can use its objects."""

from __future__ import annotations

CELLS = '''\
# %% [markdown]
# ## `{name}`
#
# WRITE ME: the contract: what it keeps, what its methods take and return, shapes and dtypes.
{link}

# %% exercise="{name}"
class {name}:
    """WRITE ME: what it is, in a line."""

    def __init__(self):
        ### BEGIN SOLUTION
        raise NotImplementedError("WRITE ME: the reference")
        ### END SOLUTION

    def update(self, x):  # WRITE ME: its methods
        """WRITE ME: what it changes and returns, in a line."""
        ### BEGIN SOLUTION
        raise NotImplementedError("WRITE ME: the reference")
        ### END SOLUTION


'''
SCENARIOS = '''\
"""{name} at work: this runs beside a submission, because only values leave its process, and no objects."""

from __future__ import annotations

from typing import Any


def {scenario}(submission: Any, values: Any) -> list[Any]:
    """WRITE ME: what is called, and what it returns: numbers, texts, arrays, or lists of them."""
    made = submission.{name}()
    return [made.update(value) for value in values]
'''
CHECKS = '''\
"""Checks of {name}."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect_close


@exercise("{name}")
def test_smallest_case(learner, reference, rng):
    """WRITE ME: what this check asks. Smallest case first, numbers from rng; then float32 and degenerate shapes."""
    values = rng.normal(size=3)
    case = f"three updates, with {{values.round(2).tolist()}}"
    expect_close(learner.scenario.{scenario}(values), reference.scenario.{scenario}(values), case=case, **EXACT)
'''
ORACLES = '''\
"""The reference of {name} against something independent."""

from __future__ import annotations

from autograder.judging import exercise


@exercise("{name}")
def test_{lower}(reference, rng):
    made = reference.implementations["{name}"]()
    raise NotImplementedError("WRITE ME: compare it with PyTorch, or with brute force")
'''
