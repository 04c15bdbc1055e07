"""The reference of zero_grad against something independent."""

from __future__ import annotations

from hypothesis import given, settings

from autograder.judging import exercise
from autograder.lessons.ch03_accumulation.oracles.graphs import graphs


def reachable(output):
    """Every node below `output`, by brute force."""
    found = {output}
    while more := {parent for node in found for parent in node.parents} - found:
        found |= more
    return found


@exercise("zero_grad")
def test_zero_grad_by_brute_force(reference):
    """Random graphs: cleared is what can be reached, and nothing else."""
    run = reference.implementations["zero_grad"]

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(graphs())
    def check(drawn):
        nodes, _, outputs = drawn
        for node in nodes:
            node.grad = 1.0
        run(nodes[outputs[0]])
        below = reachable(nodes[outputs[0]])
        assert [not node.grad for node in nodes] == [node in below for node in nodes]

    check()
