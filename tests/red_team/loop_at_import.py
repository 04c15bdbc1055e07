"""Loops for ever in one cell, whatever is raised at it. That cell is left out; the rest is graded: 4 points."""

# %%
import time

while True:
    try:
        while True:
            time.sleep(1)
    except BaseException:
        pass
