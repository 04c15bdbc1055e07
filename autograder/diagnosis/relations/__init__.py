"""Relates a wrong answer to the right one, in a sentence or two that a learner can act on.

A relation is reported only if it holds in every entry, up to rounding, and the arrays have enough distinct entries to
rule out coincidence. If nothing is certain, nothing is reported.
"""

from autograder.diagnosis.relations.one import explain
from autograder.diagnosis.relations.outputs import explain_outputs

__all__ = ["explain", "explain_outputs"]
