"""Wrong answers to leave_one_out_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

REWARDS = "rewards = f(mu + sigma * eps)"
OTHERS = "others = (rewards.sum(axis=-1, keepdims=True) - rewards) / (eps.shape[-1] - 1)"
WEIGHT = "weight = (rewards - others) / sigma"
BOTH = "return weight * eps, weight * (eps**2 - 1)"


def _baseline(expression):
    """An edit: another baseline."""
    return {OTHERS: f"others = {expression}"}


def _weight(expression):
    """An edit: another factor of both scores."""
    return {WEIGHT: f"weight = {expression}"}


own_reward_in_the_baseline = mistake(
    "leave_one_out_gradient",
    _baseline("rewards.mean(axis=-1, keepdims=True)"),
    says="Your baseline is the mean over the whole row, the sample's own reward included. That shrinks every estimate "
    "by the factor 1 - 1/n. Leave the own reward out.",
)
others_divided_by_n = mistake(
    "leave_one_out_gradient",
    _baseline("(rewards.sum(axis=-1, keepdims=True) - rewards) / eps.shape[-1]"),
    says="You leave the sample's own reward out of the sum, but divide by n. There are n - 1 other samples.",
)
sum_of_the_others = mistake(
    "leave_one_out_gradient",
    _baseline("rewards.sum(axis=-1, keepdims=True) - rewards"),
    says="Your baseline is the sum of the other rewards. Take their mean.",
)
no_baseline = mistake(
    "leave_one_out_gradient",
    _baseline("0 * rewards"),
    says="No baseline is subtracted. Subtract the mean reward of the row's other samples.",
)
baseline_of_all_rows = mistake(
    "leave_one_out_gradient",
    _baseline("(rewards.sum() - rewards) / max(1, rewards.size - 1)"),
    says="Your baseline mixes the rows. Take the mean over the other samples of the same row, along the last axis.",
)
baseline_along_the_first_axis = mistake(
    "leave_one_out_gradient",
    _baseline("(rewards.sum(axis=0, keepdims=True) - rewards) / max(1, eps.shape[0] - 1)"),
    says="Your baseline is taken along the first axis. The samples of one row lie along the last.",
)
next_sample_as_baseline = mistake(
    "leave_one_out_gradient",
    _baseline("np.roll(rewards, 1, axis=-1)"),
    says="Your baseline is the reward of a single other sample. It is unbiased, but noisy: take the mean over all the "
    "others.",
)
baseline_added = mistake(
    "leave_one_out_gradient",
    _weight("(rewards + others) / sigma"),
    says="You add the baseline. Subtract it.",
)
baseline_minus_reward = mistake(
    "leave_one_out_gradient",
    _weight("(others - rewards) / sigma"),
    says="The sign is the wrong way round: subtract the baseline from the reward.",
)
weight_without_sigma = mistake(
    "leave_one_out_gradient",
    _weight("rewards - others"),
    says="Both scores are divided by sigma, and the division is missing.",
)
weight_by_the_variance = mistake(
    "leave_one_out_gradient",
    _weight("(rewards - others) / sigma**2"),
    says="You divide by sigma once too often: (x - mu) / sigma² contains x - mu = sigma · eps, and so one sigma less.",
)
weight_times_sigma = mistake(
    "leave_one_out_gradient",
    _weight("(rewards - others) * sigma"),
    says="You multiply by sigma. Both scores are divided by it.",
)
log_sigma_left_out = mistake(
    "leave_one_out_gradient",
    {BOTH: "return weight * eps, weight * eps**2"},
    says="d_sigma lacks a term: the density is also divided by sigma, so its logarithm contains -log(sigma).",
)
score_of_mu_for_both = mistake(
    "leave_one_out_gradient",
    {BOTH: "return weight * eps, weight * eps"},
    says="You use the score of mu for sigma, too. Differentiate the log density with respect to sigma.",
)
path_of_sigma = mistake(
    "leave_one_out_gradient",
    {BOTH: "return weight * eps, weight * eps * eps.mean(axis=-1, keepdims=True)"},
    says="d_sigma multiplies by a mean over the samples. Each reward belongs to the score of its own sample.",
)
sign_of_the_score_of_sigma = mistake(
    "leave_one_out_gradient",
    {BOTH: "return weight * eps, weight * (1 - eps**2)"},
    says="The sign of d_sigma is the wrong way round: a sample far from mu becomes more likely when sigma grows.",
)
both_in_the_other_order = mistake(
    "leave_one_out_gradient",
    {BOTH: "return weight * (eps**2 - 1), weight * eps"},
    says="The two arrays are in the wrong order: return (d_mu, d_sigma).",
)
gradient_of_log_sigma = mistake(
    "leave_one_out_gradient",
    {BOTH: "return weight * eps, weight * (eps**2 - 1) * sigma"},
    says="Your second array is the derivative with respect to log(sigma). Take the one with respect to sigma.",
)
baseline_of_estimates = mistake(
    "leave_one_out_gradient",
    {
        BOTH: "d_mu, d_sigma = rewards * eps / sigma, rewards * (eps**2 - 1) / sigma\n"
        "n = eps.shape[-1]\n"
        "return tuple(d - (d.sum(axis=-1, keepdims=True) - d) / (n - 1) for d in (d_mu, d_sigma))"
    },
    says="You subtract the mean of the other estimates, so what remains has mean 0. Subtract from the reward, before "
    "you multiply by the score.",
)
f_at_eps = mistake(
    "leave_one_out_gradient",
    {REWARDS: "rewards = f(eps)"},
    says="You call f with eps. Its argument is x = mu + sigma · eps.",
)
means_over_the_row = mistake(
    "leave_one_out_gradient",
    {BOTH: "d_mu, d_sigma = weight * eps, weight * (eps**2 - 1)\nreturn d_mu.mean(axis=-1), d_sigma.mean(axis=-1)"},
    says="These are means over the samples. Return one estimate for each sample.",
)
