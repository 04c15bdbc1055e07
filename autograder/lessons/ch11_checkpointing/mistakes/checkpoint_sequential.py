"""Wrong answers to checkpoint_sequential, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ENDS = "ends = [len(layers) * i // segments for i in range(segments + 1)]"
SEGMENT = "run = torch.nn.Sequential(*layers[start:end])"
CHECKPOINTED = "x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)"

the_plain_loop = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: "x = run(x)"},
    says="Nothing is checkpointed: the loop keeps what every layer computes.",
)
last_segment_as_it_is = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: f"if end == len(layers):\n    return run(x)\n{CHECKPOINTED}"},
    says="The last segment is not checkpointed (PyTorch's own checkpoint_sequential leaves it out, too). Here every "
    "segment is.",
)
first_segment_as_it_is = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: f"if start == 0:\n    x = run(x)\nelse:\n    {CHECKPOINTED}"},
    says="The first segment is not checkpointed. Every segment is to be.",
)
rest_to_the_last = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [*(len(layers) // segments * i for i in range(segments)), len(layers)]"},
    says="All that n // segments leaves over went to the last segment, which may then be far longer than the others. "
    "Let segment i end at n (i + 1) // segments.",
)
rounded_up = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [*range(0, len(layers), -(-len(layers) // segments)), len(layers)]"},
    says="Segments of ⌈n / segments⌉ layers are too few segments, or the last one is too short: 7 layers in 3 segments "
    "are 3, 2 and 2, not 3, 3 and 1.",
)
rest_left_out = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [len(layers) // segments * i for i in range(segments + 1)]"},
    says="The layers that n // segments leaves over do not run at all. The last segment ends with the last layer.",
)
segments_as_a_length = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [*range(0, len(layers), segments), len(layers)]"},
    says="`segments` was taken for the length of a segment. It is how many there are.",
)
each_layer_alone = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = range(len(layers) + 1)"},
    says="Each layer has a checkpoint of its own, whatever `segments` is: every layer's input is kept.",
)
one_segment_for_all = mistake(
    "checkpoint_sequential",
    {ENDS: "ends = [0, len(layers)]"},
    says="All layers are one segment: the backward pass holds everything at once, as if there were no checkpoint.",
)
bound_too_late = mistake(
    "checkpoint_sequential",
    {
        f"{SEGMENT}\n{CHECKPOINTED}": """\
def run(x):
    for layer in layers[start:end]:
        x = layer(x)
    return x

x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=True)"""
    },
    says="The function looks up where its segment starts and ends when it is called. In the backward pass the loop is "
    "over, and every segment runs the last one's layers. Bind the values: functools.partial, or default arguments.",
)
the_reentrant_one = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: "x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=True)"},
    says="The first segment's parameters get no gradient where x requires none. With use_reentrant=True they do not, "
    "nor with a checkpoint of your own whose inputs require none. With use_reentrant=False they do.",
)
random_state_not_kept = mistake(
    "checkpoint_sequential",
    {CHECKPOINTED: CHECKPOINTED.replace("use_reentrant", "preserve_rng_state=False, use_reentrant")},
    says="The random state is not kept, so dropout draws another mask in the backward pass. Leave preserve_rng_state "
    "on.",
)
