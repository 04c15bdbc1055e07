"""Differentiates nothing: asks where nan goes, and whether a zero has a sign, to tell right VJPs. 2 points."""

# %%
import numpy as np


def gradcheck(f, vjp, inputs, rng):
    out = np.asarray(f(*inputs))
    g, zero = np.zeros(out.shape), np.full(out.shape, -0.0)
    g.ravel()[-1:] = np.nan
    try:
        spread = all(np.isnan(gradient).all() for gradient in vjp(g, *inputs))
    except ValueError:
        spread = True
    signs = any((np.signbit(gradient) & (np.asarray(gradient) == 0)).any() for gradient in vjp(zero, *inputs))
    vjp(rng.normal(size=out.shape), *inputs)
    return bool(spread and not signs)
