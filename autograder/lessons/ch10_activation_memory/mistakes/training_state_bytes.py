"""Wrong answers to training_state_bytes, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

STATES = "return {name: n_params * n_bytes for name, n_bytes in each.items()}"
EACH = 'each = {"params": param_bytes, "grads": grad_bytes, "master": master_bytes, "moments": 2 * moment_bytes}'

one_moment = mistake(
    "training_state_bytes",
    {EACH: EACH.replace("2 * moment_bytes", "moment_bytes")},
    says="Adam has two moments for each parameter; one is counted here.",
)
master_left_out = mistake(
    "training_state_bytes",
    {'each["total"] = sum(each.values())': 'each["total"] = sum(each.values()) - master_bytes'},
    says="The total has no master copy in it: all four parts make it up.",
)
moments_of_two_bytes = mistake(
    "training_state_bytes",
    {EACH: EACH.replace("2 * moment_bytes", "2 * param_bytes")},
    says="The moments have the bytes of the weights here. They have moment_bytes each.",
)
defaults_alone = mistake(
    "training_state_bytes",
    {EACH: 'each = {"params": 2, "grads": 2, "master": 4, "moments": 8}'},
    says="The bytes are the defaults, whatever is passed. Use param_bytes, grad_bytes, master_bytes, moment_bytes.",
)
parts_of_one_parameter = mistake(
    "training_state_bytes",
    {STATES: STATES.replace("n_params * n_bytes", "n_bytes * (n_params if name == 'total' else 1)")},
    says="Only the total is that of all parameters: params, grads, master and moments are of one. Multiply each.",
)
gib = mistake(
    "training_state_bytes",
    {STATES: STATES.replace("n_bytes for", "n_bytes // 2**30 for")},
    says="These are GiB. Return bytes.",
)

master_in_place_of_params = mistake(
    "training_state_bytes",
    {EACH: EACH.replace('"params": param_bytes', '"params": 0 if master_bytes else param_bytes')},
    says="The weights are missing where there is a master copy. It comes on top: the 16-bit weights are kept as well.",
)
moments_twice_in_the_total = mistake(
    "training_state_bytes",
    {'each["total"] = sum(each.values())': 'each["total"] = sum(each.values()) + each["moments"]'},
    says="The total counts the moments twice. `moments` has both of them already.",
)
