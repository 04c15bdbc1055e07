# %% [markdown]
# # Film ratings
#
# The project: a recommender learns from ratings what people like, and predicts how they would rate other films. NumPy
# only. Arrays are of float64, but for `who` and `what`, which are integers, and stay unchanged.

# %%
import numpy as np

# %% [markdown]
# ## `predict_vjp`
#
# A person is a row of `users` and a film a row of `films`; a rating is predicted as the product of the two. Of `n`
# ratings, `y[k] = users[who[k]] · films[what[k]]`. A person may rate many films, and a film may be rated by many.
# Return `(dusers, dfilms)`.


# %% exercise="predict_vjp"
def predict_vjp(g, users, films, who, what):
    """(dusers (u, d), dfilms (f, d)) of y (n,), for the indices who (n,) and what (n,)."""
    ### BEGIN SOLUTION
    dusers, dfilms = np.zeros_like(users), np.zeros_like(films)
    np.add.at(dusers, who, g[:, None] * films[what])
    np.add.at(dfilms, what, g[:, None] * users[who])
    return dusers, dfilms
    ### END SOLUTION


# %% [markdown]
# ## `fit`
#
# Take `steps` steps of gradient descent on the mean of `(y − ratings)²` over all ratings. A step subtracts `lr` times
# the gradient from both tables, with both gradients taken at the tables before that step. Return `(users, films)`, the
# tables after the last step.


# %% exercise="fit"
def fit(users, films, who, what, ratings, lr, steps):
    """(users (u, d), films (f, d)), learned from ratings (n,)."""
    ### BEGIN SOLUTION
    for _ in range(steps):
        y = np.sum(users[who] * films[what], axis=1)
        g = 2 * (y - ratings) / len(ratings)
        dusers, dfilms = predict_vjp(g, users, films, who, what)
        users, films = users - lr * dusers, films - lr * dfilms
    return users, films
    ### END SOLUTION
