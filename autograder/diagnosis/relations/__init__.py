"""How a wrong answer relates to the right one, in a sentence or two that a learner can act on.

A relation is said only when it holds in every entry, up to rounding, and when the arrays have enough in them for
that to be no coincidence. Where nothing is certain, nothing is said.
"""

from autograder.diagnosis.relations.one import explain
from autograder.diagnosis.relations.outputs import explain_outputs

__all__ = ["explain", "explain_outputs"]
