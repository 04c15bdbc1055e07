"""`python -m autograder`: the command `backprop`, for when its script is not on the path."""

from autograder.commands import run

run()
