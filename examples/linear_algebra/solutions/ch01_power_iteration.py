# %% [markdown]
# # The power iteration
#
# Multiply a vector by a matrix, again and again, and it turns towards the eigenvector whose eigenvalue is largest in
# size. NumPy only, without its eigenvalue routines. Arguments are arrays of float64 and stay unchanged; matrices are
# square, and vectors are not 0.

# %%
import numpy as np

# %% [markdown]
# ## `rayleigh_quotient`
#
# The number `c` for which `c x` is closest to `A x`. Where `x` is an eigenvector, that is its eigenvalue, whatever the
# length of `x`.


# %% exercise="rayleigh_quotient"
def rayleigh_quotient(A, x):
    """The Rayleigh quotient of x (n,) for A (n, n), a number."""
    ### BEGIN SOLUTION
    return x @ (A @ x) / (x @ x)
    ### END SOLUTION


# %% [markdown]
# ## `power_iteration`
#
# Give `x` the length 1; then, `steps` times, multiply it by `A` and give it the length 1 again. Return the Rayleigh
# quotient of the last vector, and that vector. A thousand steps are as good as ten: nothing overflows.


# %% exercise="power_iteration"
def power_iteration(A, x, steps):
    """(value, vector) after `steps` steps from x (n,), a number and an array (n,) of length 1."""
    ### BEGIN SOLUTION
    x = x / np.linalg.norm(x)
    for _ in range(steps):
        x = A @ x
        x = x / np.linalg.norm(x)
    return x @ (A @ x), x
    ### END SOLUTION


# %% [markdown]
# ## `deflate`
#
# `A` is symmetric, and `vector` an eigenvector of any length with the eigenvalue `value`. Return the matrix that has 0
# in the place of this eigenvalue, and all other eigenvalues and eigenvectors of `A`: the power iteration then finds the
# next.


# %% exercise="deflate"
def deflate(A, value, vector):
    """A (n, n) without the eigenvalue `value` of `vector` (n,), as a new array (n, n)."""
    ### BEGIN SOLUTION
    v = vector / np.linalg.norm(vector)
    return A - value * np.outer(v, v)
    ### END SOLUTION
