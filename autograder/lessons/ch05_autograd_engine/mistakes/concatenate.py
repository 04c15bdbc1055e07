"""Wrong answers to concatenate, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

STARTS = "edges, start = [], 0"
SIZE = "stop = start + tensor.shape[axis]"
PLACE = "place = (slice(None),) * (axis % data.ndim) + (slice(start, stop),)"
EDGE = "edges.append((tensor, lambda g, place=place: g[place]))"
ADVANCE = "start = stop"
RECORDED = "return record(data, *edges)"
LOOP = "for tensor in tensors:"

place_looked_up_late = mistake(
    "concatenate",
    {EDGE: "edges.append((tensor, lambda g: g[place]))"},
    says="Every operand gets the part of g that belongs to the last one: a function made in a loop looks the loop's "
    "names up when it is called, and then the loop is over. Bind the place when you make the function.",
)
cut_into_equal_parts = mistake(
    "concatenate",
    {
        SIZE: "number = len(edges)",
        PLACE: "equal = data.shape[axis] // len(tensors)",
        EDGE: "edges.append((tensor, lambda g, number=number: "
        "g.take(range(number * equal, (number + 1) * equal), axis=axis)))",
        ADVANCE: "",
    },
    says="g is cut into equal parts. Operands may differ in size along the axis: each gets as much as it put in.",
)
all_of_g = mistake(
    "concatenate",
    {EDGE: "edges.append((tensor, lambda g: g))"},
    says="Every operand gets all of g, in the shape of the result. It gets the part of g where its own entries are.",
)
constants_left_out = mistake(
    "concatenate",
    {LOOP: "for tensor in (one for one in tensors if one.requires_grad):"},
    says="The places are counted over the operands that require a gradient. Those that require none are in the result, "
    "too, and take up their places.",
)
always_along_the_first_axis = mistake(
    "concatenate",
    {PLACE: "place = slice(start, stop)"},
    says="g is cut along its first axis, whatever the axis is. Cut it along the axis that was joined.",
)
negative_axes_not_counted = mistake(
    "concatenate",
    {PLACE: "place = (slice(None),) * axis + (slice(start, stop),)"},
    says="With a negative axis, g is cut along its first axis: (slice(None),) * -1 is an empty tuple. Take "
    "axis % ndim first.",
)
first_place_for_all = mistake(
    "concatenate",
    {
        SIZE: "start = sum(one.shape[axis] for one in tensors[: tensors.index(tensor)])",
        PLACE: "place = (slice(None),) * (axis % data.ndim) + (slice(start, start + tensor.shape[axis]),)",
        ADVANCE: "",
    },
    says="A tensor that occurs twice gets the part of g at its first place twice. Each time it occurs, it has a place "
    "of its own.",
)
last_place_for_all = mistake(
    "concatenate",
    {
        STARTS: "places, start = {}, 0",
        EDGE: "places[tensor] = place",
        RECORDED: "return record(data, *((one, lambda g, at=at: g[at]) for one, at in places.items()))",
    },
    says="A tensor that occurs twice gets the part of g at its last place only. Record one edge for each time it "
    "occurs: the parts add up.",
)
joined_without_edges = mistake(
    "concatenate",
    {RECORDED: "return Tensor(data)"},
    says="The result has no edges, so no gradient comes back: make it with `record`.",
)
not_moved_on = mistake(
    "concatenate",
    {ADVANCE: ""},
    says="Every operand's place begins at 0. It begins where the operand before it ends.",
)
