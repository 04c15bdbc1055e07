"""The trusted side: it asks a submission's functions for values, and decides what they are worth.

Checks import what they need from here.
"""

from autograder.judging.draws import EXACT, F32, F64, SINGLE, random
from autograder.judging.expect import exercise, expect, expect_close, expect_raises
from autograder.judging.measured import agree, compare, fine
from autograder.judging.reference import function_of, misconceptions_of

__all__ = [
    "EXACT",
    "F32",
    "F64",
    "SINGLE",
    "agree",
    "compare",
    "exercise",
    "expect",
    "expect_close",
    "expect_raises",
    "fine",
    "function_of",
    "misconceptions_of",
    "random",
]
