"""`python -P -m autograder`: the command `backprop`, where its script is not on the path.

Without `-P`, Python runs the `autograder` of the folder that you are in, a hand-in's, say, and nothing of ours.
"""

from autograder.commands import run

run()
