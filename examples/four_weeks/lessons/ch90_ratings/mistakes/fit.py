"""Wrong answers to fit, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

G = "g = 2 * (y - ratings) / len(ratings)"
STEP = "users, films = users - lr * dusers, films - lr * dfilms"

fit_one_table_after_the_other = mistake(
    "fit",
    {STEP: "users = users - lr * dusers\nfilms = films - lr * predict_vjp(g, users, films, who, what)[1]"},
    says="The films' gradient is taken where the users have moved already. Take both first, then move both tables.",
)
fit_of_the_sum = mistake(
    "fit",
    {G: "g = 2 * (y - ratings)"},
    says="That is the gradient of the sum. The loss is the mean: divide by the number of ratings.",
)
fit_without_the_two = mistake(
    "fit",
    {G: "g = (y - ratings) / len(ratings)"},
    says="The square's derivative has a factor 2, which is missing.",
)
fit_uphill = mistake(
    "fit",
    {STEP: "users, films = users + lr * dusers, films + lr * dfilms"},
    says="You add the gradients, and the loss grows. Descent subtracts them.",
)
