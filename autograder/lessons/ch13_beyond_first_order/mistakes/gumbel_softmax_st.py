"""Wrong answers to gumbel_softmax_st, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SCORES = "scores = logits + gumbels"
SOFT = "soft = torch.softmax(scores / tau, dim=-1)"
HARD = "hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])"
RESULT = "return hard + (soft - soft.detach())  # the bracket is exactly 0; hard + soft − soft is not exactly hard"

soft_forward = mistake(
    "gumbel_softmax_st",
    {RESULT: "return soft"},
    says="The result is soft in the forward pass, too. Straight-through: one-hot forward, and only the gradient is "
    "that of the softmax.",
)
hard_without_gradient = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard.to(logits.dtype)"},
    says="argmax and one_hot have no gradient, so nothing reaches the logits. Add soft − soft.detach(), which is 0 and "
    "has the gradient of soft.",
)
hard_times_soft = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard * soft"},
    says="The choice was multiplied by its probability: neither one-hot nor the gradient of the softmax.",
)
identity_backward = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + (scores - scores.detach())"},
    says="The gradient goes through as if nothing had happened, straight to the logits. It is to be that of the "
    "softmax at temperature tau: soft − soft.detach().",
)
tau_after_softmax = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(scores, dim=-1) / tau"},
    says="tau divides what comes out of the softmax. It divides what goes in: softmax((logits + gumbels) / tau).",
)
tau_forgotten = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(scores, dim=-1)"},
    says="tau is not used: softmax((logits + gumbels) / tau).",
)
times_tau = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(scores * tau, dim=-1)"},
    says="The scores were multiplied by tau. Divided, a small tau makes the softmax sharp.",
)
noise_after_tau = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(logits / tau + gumbels, dim=-1)"},
    says="tau divides the logits alone. It divides logits and noise together: (logits + gumbels) / tau.",
)
noise_alone_by_tau = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(logits + gumbels / tau, dim=-1)"},
    says="tau divides the noise alone: a division comes before a sum. Parentheses: (logits + gumbels) / tau.",
)
noise_not_in_the_choice = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "logits.argmax")},
    says="The choice is the largest logit, the same one always. It is a draw only with the noise: the largest of "
    "logits + gumbels.",
)
nothing_subtracted = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + soft"},
    says="The softmax is added and not taken off again, so the result is not one-hot: hard + (soft − soft.detach()).",
)
noise_not_scaled_in_choice = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "(logits / tau + gumbels).argmax")},
    says="The choice depends on tau: tau divides the logits alone there. Choose the largest of logits + gumbels.",
)
without_noise = mistake(
    "gumbel_softmax_st",
    {SCORES: "scores = logits"},
    says="The noise is not used. The choice is a draw only because of it: logits + gumbels.",
)
noise_in_the_choice_only = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(logits / tau, dim=-1)"},
    says="The noise is in the choice and not in the softmax that gives the gradient. Both are of logits + gumbels.",
)
noise_subtracted = mistake(
    "gumbel_softmax_st",
    {SCORES: "scores = logits - gumbels"},
    says="The noise was subtracted. The Gumbel distribution is not symmetric: only logits + gumbels draws from the "
    "softmax.",
)
first_axis = mistake(
    "gumbel_softmax_st",
    {SOFT: SOFT.replace("dim=-1", "dim=0")},
    says="The softmax is along the first axis. The categories are along the last one: dim=-1.",
)
in_another_order = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + soft - soft.detach()"},
    says="hard + soft − soft is not exactly hard: the sum loses the last bits of soft. Take the difference first: "
    "hard + (soft − soft.detach()).",
)
NO_STOP = (
    "No gradient reaches the logits. What is returned needs the value of hard and the gradient of the softmax, as "
    "hard + (soft − soft.detach()) has."
)
no_stop_gradient = mistake("gumbel_softmax_st", {RESULT: "return hard + soft - soft"}, says=NO_STOP)
no_stop_gradient_in_the_bracket = mistake("gumbel_softmax_st", {RESULT: "return hard + (soft - soft)"}, says=NO_STOP)
no_stop_gradient_and_argmax_of_soft = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "soft.argmax"), RESULT: "return hard + soft - soft"},
    says=f"{NO_STOP} And take the argmax of logits + gumbels: with a large tau the softmax has equal entries.",
)
WRONG_ONE = "The gradient has the wrong sign: the soft that is added was detached. Detach the one that is subtracted."
subtracted_the_wrong_one = mistake("gumbel_softmax_st", {RESULT: "return hard + soft.detach() - soft"}, says=WRONG_ONE)
bracket_the_wrong_way = mistake("gumbel_softmax_st", {RESULT: "return hard + (soft.detach() - soft)"}, says=WRONG_ONE)
argmax_of_soft = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "soft.argmax")},
    says="The choice was taken from the softmax. With a large tau all its entries are the same number, and the first "
    "one is chosen. Take the argmax of logits + gumbels.",
)
largest_are_all_one = mistake(
    "gumbel_softmax_st",
    {HARD: "hard = (scores == scores.amax(dim=-1, keepdim=True)).to(logits.dtype)"},
    says="Where several scores are the largest, all of them are 1. One of them is chosen, the first: argmax and "
    "one_hot.",
)
threshold_at_half = mistake(
    "gumbel_softmax_st",
    {HARD: "hard = (soft > 0.5).to(logits.dtype)"},
    says="Chosen is what has more than half of the probability, and often that is nothing. The largest is chosen.",
)
hard_detached_all = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + (soft - soft).detach()"},
    says="The whole difference was detached, so nothing reaches the logits. Detach only the soft that is subtracted.",
)
draws_its_own = mistake(
    "gumbel_softmax_st",
    {SCORES: "scores = logits - torch.log(-torch.log(torch.rand_like(logits)))"},
    says="This draws noise of its own. The samples are given: gumbels.",
)


everything_along_the_first_axis = mistake(
    "gumbel_softmax_st",
    {
        SOFT: SOFT.replace("dim=-1", "dim=0"),
        HARD: "hard = torch.zeros_like(soft).scatter(0, scores.argmax(0, keepdim=True), 1.0)",
    },
    says="Softmax and choice go along the first axis. The categories are along the last one: dim=-1.",
)
