"""Checks that both losses share."""

from __future__ import annotations

from autograder.judging import expect_close

# the losses


def check_loss(got, expected, gradient, case, **tolerance):
    """Expect a loss, a number of any type, and its gradient, an array with the reference's dtype."""
    expect_close(got, (float(expected[0]), expected[1]), names=("loss", gradient), case=case, **tolerance)


def check_losses_of_kinds(learner, reference, kinds, name, gradient):
    """Expect a loss and its gradient for arguments of every kind."""
    for kind in kinds:
        arguments = kind.drawn.values()
        got, expected = (getattr(who, name)(*arguments) for who in (learner.in_layout(kind.layout), reference))
        check_loss(got, expected, gradient, kind.label, **kind.tolerance(expected, list(arguments)))
