"""Wrong answers to zero_step, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

MEAN = "mine = group.reduce_scatter(pieces(grads, group.size)) / group.size"
SQUARES = "group.all_reduce(squares)"
CLIP = "if norm > max_norm:\n    mine *= max_norm / norm"
MOMENTUM = "momentum.mul_(beta).add_(mine)"
OWN = "own = pieces(params, group.size)[group.rank]"
GATHERED = "flat = torch.cat(group.all_gather(own - lr * momentum))"
COPIED = "parameter.copy_(flat[start : start + parameter.numel()].view_as(parameter))"
NORM = "norm = squares.sqrt()"
PADDED = "return torch.nn.functional.pad(flat, (0, size * length - len(flat))).split(length)"

sum_for_the_mean = mistake(
    "zero_step",
    {MEAN: MEAN.replace(" / group.size", "")},
    says="The ranks' gradients are added up and not divided. Each is a mean over a rank's rows: divide by group.size.",
)
own_gradients_alone = mistake(
    "zero_step",
    {MEAN: "mine = pieces(grads, group.size)[group.rank]"},
    says="Each rank takes its piece of its own gradient, so the other ranks' rows do not count: reduce_scatter.",
)
norm_of_the_piece = mistake(
    "zero_step",
    {SQUARES: ""},
    says="Each rank clips by the norm of its own piece, so the pieces are scaled differently. The norm is that of the "
    "whole gradient: all_reduce the sum of squares.",
)
norms_added = mistake(
    "zero_step",
    {SQUARES: "squares = squares.sqrt()\ngroup.all_reduce(squares)", NORM: "norm = squares"},
    says="The norms of the pieces were added up. Their squares add up: all_reduce these, then take the root.",
)
norm_of_the_own_gradient = mistake(
    "zero_step",
    {"squares = mine.square().sum()": "squares = sum(grad.square().sum() for grad in grads) / group.size"},
    says="The norm is that of each rank's own gradient, before the mean. Clip the mean gradient: reduce_scatter has "
    "left its pieces.",
)
never_clipped = mistake(
    "zero_step",
    {CLIP: ""},
    says="Nothing is clipped: where the norm is more than max_norm, g is multiplied by max_norm / norm.",
)
always_scaled = mistake(
    "zero_step",
    {CLIP: "mine *= max_norm / (norm + 1e-30)"},
    says="The gradient is scaled to max_norm even where its norm is smaller. Clip only where the norm is more.",
)
momentum_clipped = mistake(
    "zero_step",
    {
        MEAN: f"momentum.mul_(beta).add_({MEAN.removeprefix('mine = ')})\nmine = momentum",
        MOMENTUM: "",
    },
    says="The momentum was clipped. It is the gradient that is, before it goes into the momentum.",
)
momentum_forgotten = mistake(
    "zero_step",
    {MOMENTUM: "momentum = mine"},
    says="The optimizer's state is not kept: momentum stays as it was. Change the tensor that you are given, in place.",
)
first_piece_for_all = mistake(
    "zero_step",
    {OWN: OWN.replace("[group.rank]", "[0]")},
    says="Every rank updates the first piece of the parameters. Rank r has the r-th.",
)
not_gathered = mistake(
    "zero_step",
    {
        GATHERED: "parts = list(pieces(params, group.size))\nparts[group.rank] = own - lr * momentum\n"
        "flat = torch.cat(parts)"
    },
    says="Each rank has updated its own piece and keeps the others as they were: the ranks drift apart. all_gather the "
    "new pieces.",
)
all_reduced = mistake(
    "zero_step",
    {
        MEAN: "flat = torch.cat(pieces(grads, group.size))\ngroup.all_reduce(flat)\n"
        "mine = list(flat.chunk(group.size))[group.rank] / group.size"
    },
    says="The whole gradient was all-reduced. Each rank needs the sum for its own piece alone: a reduce_scatter, half "
    "the bytes.",
)
left_over_lost = mistake(
    "zero_step",
    {
        "length = -(-len(flat) // size)": "length = len(flat) // size or 1",
        PADDED: "return list(flat.split(length))[:size]",
    },
    says="Where the parameters do not divide evenly, the last ones are in no piece. Round the length up, and fill up "
    "with zeros.",
    where="pieces",
)
filled_up_in_front = mistake(
    "zero_step",
    {PADDED: PADDED.replace("(0, size * length - len(flat))", "(size * length - len(flat), 0)")},
    says="The zeros were put before the numbers. They fill up the end.",
    where="pieces",
)
new_tensors = mistake(
    "zero_step",
    {COPIED: "parameter = flat[start : start + parameter.numel()].view_as(parameter)"},
    says="The new values are in tensors of their own, and params are as they were. Copy them in, parameter.copy_(…).",
)
