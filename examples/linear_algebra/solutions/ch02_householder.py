# %% [markdown]
# # Householder's QR
#
# Reflections make a matrix triangular, one column after the other, and lose no digit on the way. NumPy only, without
# `numpy.linalg.qr`. Arguments are arrays of float64 and stay unchanged.

# %%
import numpy as np

# %% [markdown]
# ## `reflector`
#
# The reflection `I − 2 v vᵀ`, where `v` has the length 1, maps `x` to `alpha e1`: all entries but the first become 0.
# Of the two numbers that `alpha` could be, take the one whose sign is against that of `x[0]`, and the negative one
# where `x[0]` is 0. `x` is not 0, and has one entry at least. Return `(v, alpha)`.


# %% exercise="reflector"
def reflector(x):
    """(v, alpha) of x (n,): a unit vector (n,) and a number."""
    ### BEGIN SOLUTION
    alpha = -np.copysign(np.linalg.norm(x), x[0] + 0.0)
    v = x.copy()
    v[0] -= alpha
    return v / np.linalg.norm(v), alpha
    ### END SOLUTION


# %% [markdown]
# ## `reflect`
#
# Each column of `A` is mapped by `I − 2 v vᵀ`, where `v` has the length 1.


# %% exercise="reflect"
def reflect(v, A):
    """A (m, n) with its columns reflected by v (m,), as a new array (m, n)."""
    ### BEGIN SOLUTION
    return A - 2 * np.outer(v, v @ A)
    ### END SOLUTION


# %% [markdown]
# ## `qr`
#
# `A = Q R`, where `Q` is orthogonal and `R` is 0 below its diagonal, exactly. `A` has at least as many rows as columns,
# and independent columns; step `k` uses `reflector` on column `k`, so that the signs are those of its `alpha`, in the
# last row of a square matrix, too. Return `(Q, R)`.


# %% exercise="qr"
def qr(A):
    """(Q, R) of A (m, n): arrays (m, m) and (m, n)."""
    ### BEGIN SOLUTION
    m, n = A.shape
    Q, R = np.eye(m), A.copy()
    for k in range(n):
        v, _ = reflector(R[k:, k])
        R[k:] = reflect(v, R[k:])
        Q[:, k:] = reflect(v, Q[:, k:].T).T
    return Q, np.triu(R)
    ### END SOLUTION
