"""`python -m autograder`: the command `backprop`, where its script is not on the path."""

from autograder.commands import run

run()
