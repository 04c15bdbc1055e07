"""Wrong answers to peak_activations, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

PEAK = "return segments + -(-n_layers // segments)"

rounded_down = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers // segments"},
    says="The length of the longest segment was rounded down: 10 layers in 4 segments are 3, 3, 2 and 2. The longest "
    "has ⌈n_layers / segments⌉ layers.",
)
the_larger_of_the_two = mistake(
    "peak_activations",
    {PEAK: "return max(segments, -(-n_layers // segments))"},
    says="This is the larger of the two. Both are there at once: the inputs of all segments, and the layers of the "
    "segment that runs again. Add them.",
)
rounded_to_the_nearest = mistake(
    "peak_activations",
    {PEAK: "return segments + round(n_layers / segments)"},
    says="n_layers / segments was rounded to the nearest. The longest segment has ⌈n_layers / segments⌉ layers, "
    "rounded up.",
)
one_more_than_rounded_down = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers // segments + 1"},
    says="One layer too many in the longest segment: n // segments + 1 is too large where the segments come out even. "
    "⌈n / segments⌉ is -(-n // segments), or math.ceil.",
)
stack_input_counted_twice = mistake(
    "peak_activations",
    {PEAK: "return segments + -(-n_layers // segments) + 1"},
    says="One too many is counted: the stack's input is the input of the first segment, and is counted there.",
)
first_input_not_counted = mistake(
    "peak_activations",
    {PEAK: "return segments - 1 + -(-n_layers // segments)"},
    says="One too few: the first segment keeps its input, too. There are as many kept inputs as segments.",
)
last_of_a_segment_not_counted = mistake(
    "peak_activations",
    {PEAK: "return segments + (n_layers - 1) // segments if segments < n_layers else segments"},
    says="One too few: all the layers of the longest segment count, its last one included.",
)
kept_alone = mistake(
    "peak_activations",
    {PEAK: "return segments"},
    says="This is what is kept from the forward pass. The peak comes in the backward pass, when a segment is run "
    "again: its layers are held as well.",
)
longest_segment_alone = mistake(
    "peak_activations",
    {PEAK: "return -(-n_layers // segments)"},
    says="These are the activations of the longest segment alone. The inputs of all segments are held at the same "
    "time.",
)
multiplied = mistake(
    "peak_activations",
    {PEAK: "return segments * -(-n_layers // segments)"},
    says="The two terms were multiplied. The kept inputs and one segment's activations are held together: add them.",
)
all_segments_at_once = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers"},
    says="Every segment's activations were added up. Segments are run again one at a time, and let go after each: only "
    "the longest one counts.",
)
rule_of_thumb = mistake(
    "peak_activations",
    {PEAK: "return math.ceil(2 * math.sqrt(n_layers))"},
    says="This is the rule of thumb 2 √n_layers, the peak with about √n_layers segments. Use the number of segments "
    "that is given.",
)
rest_in_the_last_segment = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers // segments + n_layers % segments"},
    says="All the layers left over went into the last segment. Lengths differ by at most one: 11 layers in 4 segments "
    "are 3, 3, 3 and 2.",
)
a_float = mistake(
    "peak_activations",
    {PEAK: "return float(segments + -(-n_layers // segments))"},
    says="This is a float. A number of activations is an int: n_layers / segments is a float, and np.ceil gives one, "
    "too; math.ceil gives an int.",
)
not_rounded = mistake(
    "peak_activations",
    {PEAK: "return segments + n_layers / segments"},
    says="This is a float that was not even rounded: a segment has whole layers. Round n_layers / segments up.",
)
