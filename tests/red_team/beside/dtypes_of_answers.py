"""Asks a VJP at complex inputs and looks at the dtype that comes back, which told right from wrong. No points."""

import numpy as np


def gradcheck(f, vjp, inputs, rng):
    try:
        answers = vjp(np.ones(np.shape(f(*inputs))) + 0j, *(x + 0j for x in inputs))
    except Exception:
        return False
    return all(np.asarray(answer).dtype == np.float64 for answer in answers)
