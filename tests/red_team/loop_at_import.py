"""Loops for ever in one cell, whatever is raised at it. That cell is left out; the rest is graded: 4 points."""

# %%
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
