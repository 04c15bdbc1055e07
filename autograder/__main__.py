"""`python -P -m autograder`: the command `backprop`, for when its script is not on the path.

Without `-P`, Python runs the `autograder` of the current folder, which may have been handed in.
"""

from autograder.commands import run

run()
