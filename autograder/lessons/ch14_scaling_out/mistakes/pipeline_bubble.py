"""Wrong answers to pipeline_bubble, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SHARE = "return (stages - 1) / (microbatches + stages - 1)"

of_the_work = mistake(
    "pipeline_bubble",
    {SHARE: "return (stages - 1) / microbatches"},
    says="This is the idle time divided by that of the work alone. The share of the whole time is asked: the idle time "
    "is in the denominator, too.",
)
one_is_divided = mistake(
    "pipeline_bubble",
    {SHARE: "return stages - 1 / (microbatches + stages - 1)"},
    says="Only the 1 is divided, as / comes before −. Put the numerator into parentheses: (stages − 1) / …",
)
all_stages_wait = mistake(
    "pipeline_bubble",
    {SHARE: "return stages / (microbatches + stages)"},
    says="A device waits for stages − 1 steps, not for as many as there are stages.",
)
one_step_too_many = mistake(
    "pipeline_bubble",
    {SHARE: "return (stages - 1) / (microbatches + stages)"},
    says="The whole takes microbatches + stages − 1 steps; the denominator is one too large.",
)
share_of_work = mistake(
    "pipeline_bubble",
    {SHARE: "return microbatches / (microbatches + stages - 1)"},
    says="This is the share in which a device works. The rest of it is asked.",
)
swapped = mistake(
    "pipeline_bubble",
    {SHARE: "return (microbatches - 1) / (microbatches + stages - 1)"},
    says="Stages and micro-batches are swapped: more micro-batches make the bubble smaller.",
)
forward_and_backward = mistake(
    "pipeline_bubble",
    {SHARE: "return 2 * (stages - 1) / (microbatches + stages - 1)"},
    says="The waiting of both passes is divided by the time of one of them. Both have the same share.",
)

one_microbatch = mistake(
    "pipeline_bubble",
    {SHARE: "return (stages - 1) / stages"},
    says="This is (p − 1)/p, the share with one micro-batch. m micro-batches take m + p − 1 steps.",
)
percent = mistake(
    "pipeline_bubble",
    {SHARE: "return 100 * (stages - 1) / (microbatches + stages - 1)"},
    says="This is in percent. The share is asked, between 0 and 1.",
)
