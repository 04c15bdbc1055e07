"""What is asked of both losses."""

from __future__ import annotations

from autograder.judging import expect_close

# the losses


def check_loss(got, expected, gradient, case, **tolerance):
    """A loss is a number of any kind; its gradient is an array of the reference's dtype."""
    expect_close(got, (float(expected[0]), expected[1]), names=("loss", gradient), case=case, **tolerance)
