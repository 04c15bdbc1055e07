"""Wrong answers to best_segments, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

BEST = "return min(range(1, n_layers + 1), key=lambda segments: segments + -(-n_layers // segments))"

the_peak_itself = mistake(
    "best_segments",
    {BEST: "return min(segments + -(-n_layers // segments) for segments in range(1, n_layers + 1))"},
    says="This is the least peak itself. Return the number of segments that has it.",
)
only_divisors = mistake(
    "best_segments",
    {
        BEST: """\
divisors = [segments for segments in range(1, n_layers + 1) if n_layers % segments == 0]
return min(divisors, key=lambda segments: segments + n_layers // segments)"""
    },
    says="Only divisors of n_layers were tried. Segments need not be equally long: 7 layers in 3 segments are 3, "
    "2 and 2.",
)
position_in_the_list = mistake(
    "best_segments",
    {
        BEST: """\
peaks = [segments + -(-n_layers // segments) for segments in range(1, n_layers + 1)]
return peaks.index(min(peaks))"""
    },
    says="This is the position of the best number in a list that begins with 1 segment: add 1.",
)
range_too_short = mistake(
    "best_segments",
    {BEST: "return min(range(1, n_layers), key=lambda segments: segments + -(-n_layers // segments))"},
    says="range(1, n_layers) ends before n_layers: with 1 layer there is nothing to try. range(1, n_layers + 1).",
)
square_root_not_rounded = mistake(
    "best_segments",
    {BEST: "return math.sqrt(n_layers)"},
    says="This is √n_layers, a float. Segments are whole: round it. Down, up or to the nearest has the least peak all "
    "the same.",
)
a_rounded_float = mistake(
    "best_segments",
    {BEST: "return float(math.isqrt(n_layers))"},
    says="A float. A number of segments is an int: int(…), or math.isqrt for the root.",
)
twice_the_root = mistake(
    "best_segments",
    {BEST: "return min(math.ceil(2 * math.sqrt(n_layers)), n_layers)"},
    says="This is the whole of 2 √n_layers, which is the least peak. The number of segments is half of it.",
)
half_of_the_layers = mistake(
    "best_segments",
    {BEST: "return max(1, n_layers // 2)"},
    says="Half as many segments as layers: two layers each. Their inputs alone are n/2; about √n_layers is best.",
)
a_segment_each = mistake(
    "best_segments",
    {BEST: "return n_layers"},
    says="A segment for each layer keeps every activation. That recomputes most and, with unit costs, saves nothing: "
    "the peak is n_layers + 1.",
)
one_segment = mistake(
    "best_segments",
    {BEST: "return 1"},
    says="One segment runs the whole stack again and holds all of it: the peak is n_layers + 1.",
)
tried_with_rounding_down = mistake(
    "best_segments",
    {BEST: "return min(range(n_layers, 0, -1), key=lambda segments: segments + n_layers // segments)"},
    says="The length of the longest segment was rounded down while trying, so numbers that seem to be best are not. "
    "It is ⌈n_layers / segments⌉.",
)
logarithm = mistake(
    "best_segments",
    {BEST: "return max(1, round(math.log2(n_layers)))"},
    says="The logarithm of n_layers. It is the least of segments + n_layers / segments, which is at √n_layers.",
)
power_of_two = mistake(
    "best_segments",
    {BEST: "return 2 ** round(math.log2(math.sqrt(n_layers)))"},
    says="The nearest power of two is not always a best number: try the others as well.",
)
all_of_the_best = mistake(
    "best_segments",
    {
        BEST: """\
least = math.ceil(2 * math.sqrt(n_layers))
return [segments for segments in range(1, n_layers + 1) if segments + -(-n_layers // segments) == least]"""
    },
    says="These are all the best numbers, or several. Return one of them, an int.",
)
number_and_peak = mistake(
    "best_segments",
    {BEST: "segments = math.isqrt(n_layers)\nreturn segments, segments + -(-n_layers // segments)"},
    says="The number and its peak, in a tuple. Return the number alone.",
)
one_more_than_the_root = mistake(
    "best_segments",
    {BEST: "return min(math.isqrt(n_layers - 1) + 2, n_layers)"},
    says="One more than the root, rounded up: that is one too many for many numbers of layers, 4 among them.",
)
