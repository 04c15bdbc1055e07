"""Wrong answers to zero_bytes_per_rank, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ADAM = "weights, gradients, states = 2, 2, 12"
ALL = "return float(n_params * (weights + gradients + states))"
BY_STAGES = """\
if stage >= 1:
    states /= ranks
if stage >= 2:
    gradients /= ranks
if stage >= 3:
    weights /= ranks"""

weights_first = mistake(
    "zero_bytes_per_rank",
    {BY_STAGES: BY_STAGES.replace("states", "w").replace("weights", "states").replace("w /=", "weights /=")},
    says="The weights are divided first here. Stage 1 divides the optimizer's states, stage 3 the weights as well.",
)
gradients_first = mistake(
    "zero_bytes_per_rank",
    {BY_STAGES: BY_STAGES.replace("states", "w").replace("gradients", "states").replace("w /=", "gradients /=")},
    says="Stage 1 divides the gradients here. It divides the optimizer's states; stage 2 the gradients as well.",
)
each_stage_one_thing = mistake(
    "zero_bytes_per_rank",
    {BY_STAGES: BY_STAGES.replace(">=", "==")},
    says="Each stage divides one thing only. It divides what the stages before it do as well.",
)
everything_at_once = mistake(
    "zero_bytes_per_rank",
    {BY_STAGES: BY_STAGES.replace(">= 2", ">= 1").replace(">= 3", ">= 1")},
    says="All is divided from stage 1 on. That is stage 3.",
)
states_of_eight = mistake(
    "zero_bytes_per_rank",
    {ADAM: "weights, gradients, states = 2, 2, 8"},
    says="The optimizer's states were taken for 8 bytes, the two moments. The master copy of the weights has 4 more.",
)
single_precision = mistake(
    "zero_bytes_per_rank",
    {ADAM: "weights, gradients, states = 4, 4, 8"},
    says="This is float32 throughout, 4 + 4 + 8: also 16 bytes, divided another way. Mixed precision has 2 + 2 + 12.",
)
rounded = mistake(
    "zero_bytes_per_rank",
    {BY_STAGES: BY_STAGES.replace("/=", "//=")},
    says="The bytes of one parameter were divided and rounded down. Shares need not be whole.",
)
weights_of_all_alone = mistake(
    "zero_bytes_per_rank",
    {ALL: "return float(n_params * weights + gradients + states)"},
    says="n_params multiplies the weights alone. Add up what a parameter takes in parentheses, then multiply.",
)
whole_bytes = mistake(
    "zero_bytes_per_rank",
    {ALL: "return n_params * (weights + gradients + states) // 1"},
    says="The result is rounded to whole bytes, or it is an int. A float is asked, as it is.",
)
any_stage = mistake(
    "zero_bytes_per_rank",
    {"if stage not in (0, 1, 2, 3):": "if False:"},
    says="An unknown stage is taken for another one. Raise ValueError.",
)

master_copy_stays = mistake(
    "zero_bytes_per_rank",
    {ADAM: "weights, gradients, states = 6, 2, 8"},
    says="The master copy stays whole until stage 3 here. It is one of the optimizer's states, 12 bytes with both "
    "moments: stage 1 divides it.",
)
gradients_of_four = mistake(
    "zero_bytes_per_rank",
    {
        "if stage >= 2:\n    gradients /= ranks": "if stage == 2:\n    gradients = 6 / ranks\n"
        "if stage == 3:\n    gradients /= ranks"
    },
    says="Stage 2 has 2 + 18/N here, with gradients in float32. They have 2 bytes: 2 + 14/N.",
)
gradients_whole_in_stage_2 = mistake(
    "zero_bytes_per_rank",
    {"if stage >= 2:": "if stage >= 3:"},
    says="In stage 2 the gradients are whole on every rank. Stage 2 divides them: 2 + 14/N.",
)
