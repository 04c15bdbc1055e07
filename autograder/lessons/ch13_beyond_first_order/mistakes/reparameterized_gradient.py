"""Wrong answers to reparameterized_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

PATH = "return df(mu + sigma * eps)"


def _path(expression):
    """An edit: another estimate."""
    return {PATH: f"return {expression}"}


path_times_sigma = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) * sigma"),
    says="A factor sigma too many: that is dx/deps. dx/dmu is 1.",
)
path_times_eps = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) * eps"),
    says="A factor eps too many: that is dx/dsigma, and the result d/dsigma E[f(x)]. dx/dmu is 1.",
)
path_divided_by_sigma = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) / sigma"),
    says="The division by sigma belongs to the score function. Here the chain rule has dx/dmu = 1.",
)
path_with_score = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) * eps / sigma"),
    says="This multiplies df with the score: it estimates the second derivative, d²/dmu² E[f(x)]. dx/dmu is 1, and "
    "there is no other factor.",
)
df_of_eps = mistake(
    "reparameterized_gradient",
    _path("df(eps)"),
    says="df was asked at eps. Its argument is x = mu + sigma · eps.",
)
df_at_the_mean = mistake(
    "reparameterized_gradient",
    _path("df(mu + 0 * eps)"),
    says="df was asked at mu, the same for each sample. Ask it at x = mu + sigma · eps.",
)
path_mean = mistake(
    "reparameterized_gradient",
    _path("np.full_like(eps, np.mean(df(mu + sigma * eps)))"),
    says="This is the mean over the samples. One estimate for each sample is asked.",
)
path_of_one_number = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps).mean()"),
    says="This is one number, the mean over the samples. An estimate for each sample is asked.",
)
path_of_variance = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma**2 * eps)"),
    says="x was made with sigma². sigma is the standard deviation: x = mu + sigma · eps.",
)
