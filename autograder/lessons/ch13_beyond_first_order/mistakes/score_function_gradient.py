"""Wrong answers to score_function_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SCORE = "return f(mu + sigma * eps) * eps / sigma"


def _score(expression):
    """An edit: another estimate."""
    return {SCORE: f"return {expression}"}


times_sigma = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps * sigma"),
    says="The score is eps / sigma, not eps · sigma: a narrow density changes more when its mean moves.",
)
divided_by_variance = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps / sigma**2"),
    says="Divided by sigma once too often: (x − mu) / sigma² has one sigma in x − mu = sigma · eps already.",
)
x_minus_mu_not_divided = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps"),
    says="The score is (x − mu) / sigma² = eps / sigma. The division by sigma is missing.",
)
wrong_sign = mistake(
    "score_function_gradient",
    _score("-f(mu + sigma * eps) * eps / sigma"),
    says="The sign is the wrong way round: −(x − mu)² / (2 sigma²) grows with mu where x > mu.",
)
score_alone = mistake(
    "score_function_gradient",
    _score("eps / sigma"),
    says="This is the score alone, whose mean is 0. Multiply by f(x).",
)
f_of_eps = mistake(
    "score_function_gradient",
    _score("f(eps) * eps / sigma"),
    says="f was asked at eps. Its argument is x = mu + sigma · eps.",
)
f_at_the_mean = mistake(
    "score_function_gradient",
    _score("f(mu + 0 * eps) * eps / sigma"),
    says="f was asked at mu. That makes a mean of 0: ask it at x = mu + sigma · eps.",
)
baseline_of_the_batch = mistake(
    "score_function_gradient",
    {SCORE: "y = f(mu + sigma * eps)\nreturn (y - y.mean()) * eps / sigma"},
    says="The batch's mean was subtracted as a baseline. It contains the sample itself, which makes the estimate "
    "biased, by a factor of 1 − 1/n. No baseline is asked.",
)
mean_over_samples = mistake(
    "score_function_gradient",
    _score("np.full_like(eps, np.mean(f(mu + sigma * eps) * eps / sigma))"),
    says="This is the mean over the samples. One estimate for each sample is asked.",
)
log_density_itself = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * -(eps**2) / 2"),
    says="f(x) is multiplied by the log density itself. The score is its derivative with respect to mu, eps / sigma.",
)
score_by_x = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * (mu + sigma * eps) / sigma**2"),
    says="The score is (x − mu) / sigma², and the − mu is missing.",
)
score_of_sigma = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * (eps**2 - 1) / sigma"),
    says="(eps² − 1) / sigma is the score by sigma. By mu it is eps / sigma.",
)
variance_as_deviation = mistake(
    "score_function_gradient",
    _score("f(mu + sigma**2 * eps) * eps / sigma"),
    says="x was made with sigma². sigma is the standard deviation: x = mu + sigma · eps.",
)

one_number_for_all = mistake(
    "score_function_gradient",
    _score("(f(mu + sigma * eps) * eps / sigma).mean()"),
    says="This is one number, the mean over the samples. An estimate for each sample is asked.",
)
density_for_its_logarithm = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps / sigma * np.exp(-(eps**2) / 2) / (sigma * np.sqrt(2 * np.pi))"),
    says="This is the derivative of the density. The score is that of its logarithm, eps / sigma: the density itself "
    "comes in by drawing.",
)
mean_of_the_scores = mistake(
    "score_function_gradient",
    _score("(f(mu + sigma * eps) * (eps / sigma).mean()).astype(eps.dtype)"),
    says="Every sample is multiplied by the mean of the scores. Each f(x) belongs to the score of its own sample.",
)
sample_without_sigma = mistake(
    "score_function_gradient",
    {SCORE: "return f(mu + eps) * eps / sigma**2"},
    says="The sample lacks sigma: x = mu + sigma · eps.",
)
