"""Wrong answers to ColumnParallelLinear, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

COLUMN = "return torch.nn.functional.linear(SumOfGradients.apply(x, self.group), self.weight, self.bias)"
ROWS_OF_W = "self.weight = torch.nn.Parameter(weight[rows].clone())"
ITS_BIAS = "self.bias = None if bias is None else torch.nn.Parameter(bias[rows].clone())"

dx_in_part = mistake(
    "ColumnParallelLinear",
    {COLUMN: "return torch.nn.functional.linear(x, self.weight, self.bias)"},
    says="The gradient of x is this rank's part of a sum: x went into the outputs of all ranks. All-reduce it in "
    "backward.",
)
reduced_forward = mistake(
    "ColumnParallelLinear",
    {COLUMN: "y = torch.nn.functional.linear(x, self.weight, self.bias)\nself.group.all_reduce(y)\nreturn y"},
    says="The all-reduce is in the wrong direction: forward the ranks have different outputs, which do not add up. The "
    "gradient of x does, backward.",
)
input_reduced_forward = mistake(
    "ColumnParallelLinear",
    {COLUMN: "self.group.all_reduce(x)\nreturn torch.nn.functional.linear(x, self.weight, self.bias)"},
    says="x itself was all-reduced, forward: it is the same on all ranks, and becomes size times itself. It is its "
    "gradient that adds up, backward.",
)
gathered_outputs = mistake(
    "ColumnParallelLinear",
    {COLUMN: f"{COLUMN.replace('return', 'y =')}\nreturn torch.cat(self.group.all_gather(y), dim=-1)"},
    says="The outputs were gathered. Each rank keeps its own part, and nothing is sent forward.",
)
columns_cut = mistake(
    "ColumnParallelLinear",
    {
        "n_out = len(weight)": "n_out = weight.shape[1]",
        ROWS_OF_W: ROWS_OF_W.replace("weight[rows]", "weight[:, rows]"),
        ITS_BIAS: ITS_BIAS.replace("bias[rows]", "bias"),
        COLUMN: "part = self.weight.shape[1]\nx = x[..., self.group.rank * part : (self.group.rank + 1) * part]\n"
        + COLUMN,
    },
    says="W is cut along its inputs. Its columns are those of Wᵀ: here the outputs are shared, the rows of W.",
)
every_second_row = mistake(
    "ColumnParallelLinear",
    {"rows = slice(group.rank * part, (group.rank + 1) * part)": "rows = slice(group.rank, None, group.size)"},
    says="Each rank has every size-th output. It has a part of neighbours: rows rank·part to (rank + 1)·part.",
)
first_part_for_all = mistake(
    "ColumnParallelLinear",
    {"rows = slice(group.rank * part, (group.rank + 1) * part)": "rows = slice(0, part)"},
    says="Every rank has the first part of W. Rank r has the r-th.",
)
whole_bias = mistake(
    "ColumnParallelLinear",
    {
        ITS_BIAS: ITS_BIAS.replace("bias[rows]", "bias"),
        COLUMN: "part = len(self.weight)\n"
        "b = None if self.bias is None else self.bias[self.group.rank * part :][:part]\n"
        + COLUMN.replace("self.bias", "b"),
    },
    says="The bias is kept whole on every rank. It is cut as the outputs are.",
)
parameters_reduced_too = mistake(
    "ColumnParallelLinear",
    {COLUMN: COLUMN.replace("self.weight,", "SumOfGradients.apply(self.weight, self.group),")},
    says="The gradients of the weights were added up over the ranks. They are of different outputs: each rank has its "
    "own.",
)
hook_on_x_itself = mistake(
    "ColumnParallelLinear",
    {
        COLUMN: """\
def summed(g):
    g = g.clone()
    self.group.all_reduce(g)
    return g
if x.requires_grad:
    x.register_hook(summed)
return torch.nn.functional.linear(x, self.weight, self.bias)"""
    },
    says="The hook is on x itself, where all of its gradient comes by. What x gets from elsewhere is the same on all "
    "ranks, and becomes size times itself. Hook x.view_as(x), which only this layer uses, or write a Function.",
)
dx_averaged = mistake(
    "ColumnParallelLinear",
    {"return dx, None": "return dx / ctx.group.size, None"},
    says="The gradient of x was divided by the number of ranks. It is a sum over the outputs, not a mean.",
    where="SumOfGradients",
)
view_of_the_weight = mistake(
    "ColumnParallelLinear",
    {ROWS_OF_W: ROWS_OF_W.replace(".clone()", "")},
    says="The part is a view: it keeps the whole weight in memory, and training changes the caller's. Clone it.",
)
remainder_dropped = mistake(
    "ColumnParallelLinear",
    {"if n_out % group.size:": "if False:"},
    says="Where the outputs cannot be shared evenly, the last ones are lost without a word. Raise ValueError.",
)

weights_and_bias_reduced_too = mistake(
    "ColumnParallelLinear",
    {
        ITS_BIAS: f"{ITS_BIAS}\nfor parameter in self.parameters():\n"
        "    parameter.register_hook(lambda g: (group.all_reduce(g := g.clone()), g)[1])"
    },
    says="The gradients of weight and bias were added up over the ranks. They are of different outputs: each rank has "
    "its own.",
)
ranks_from_one = mistake(
    "ColumnParallelLinear",
    {
        "rows = slice(group.rank * part, (group.rank + 1) * part)": "rows = torch.arange((group.rank - 1) * part, "
        "group.rank * part) % n_out"
    },
    says="Ranks are counted from 1 here, so that rank 0 has the last part. They begin at 0.",
)
