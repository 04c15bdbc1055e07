"""Wrong answers to RowParallelLinear, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

PRODUCT = "y = SumOfParts.apply(torch.nn.functional.linear(x, self.weight), self.group)"
COLUMNS_OF_W = "self.weight = torch.nn.Parameter(weight[:, columns].clone())"
WHOLE_BIAS = "self.bias = None if bias is None else torch.nn.Parameter(bias.clone())"
CLONED = "y = y.clone()"
WITH_BIAS = "return y if self.bias is None else y + self.bias"

bias_on_every_rank = mistake(
    "RowParallelLinear",
    {
        PRODUCT: "y = SumOfParts.apply(torch.nn.functional.linear(x, self.weight, self.bias), self.group)",
        WITH_BIAS: "return y",
    },
    says="Every rank adds the bias before the sum, so y has it as many times as there are ranks. Add it afterwards.",
)
not_reduced = mistake(
    "RowParallelLinear",
    {PRODUCT: "y = torch.nn.functional.linear(x, self.weight)"},
    says="y is this rank's part of a sum over the inputs. All-reduce it forward.",
)
reduced_backward_too = mistake(
    "RowParallelLinear",
    {
        CLONED: f"ctx.group = group\n{CLONED}",
        "return g, None": "g = g.clone()\nctx.group.all_reduce(g)\nreturn g, None",
    },
    says="The gradient was added up over the ranks as well. It arrives whole, and the same on each: the sum is size "
    "times too large. Backward is the identity.",
    where="SumOfParts",
)
reduced_backward_in_place = mistake(
    "RowParallelLinear",
    {CLONED: f"ctx.group = group\n{CLONED}", "return g, None": "ctx.group.all_reduce(g)\nreturn g, None"},
    says="The gradient was added up over the ranks as well, and in place. It arrives whole, and the same on each: "
    "backward is the identity.",
    where="SumOfParts",
)
reduced_backward_instead = mistake(
    "RowParallelLinear",
    {PRODUCT: PRODUCT.replace("SumOfParts", "SumOfGradients")},
    says="The all-reduce is in the wrong direction: y has to be summed forward, and backward needs nothing.",
)
graph_lost = mistake(
    "RowParallelLinear",
    {PRODUCT: "y = sum(self.group.all_gather(torch.nn.functional.linear(x, self.weight)))"},
    says="The sum is right and has lost its graph: autograd does not see a collective. Put it into the forward of a "
    "torch.autograd.Function whose backward returns g.",
)
returns_nothing = mistake(
    "RowParallelLinear",
    {
        PRODUCT: "y = torch.nn.functional.linear(x, self.weight)\ny = self.group.all_reduce(y)",
        WITH_BIAS: "return y",
    },
    says="The result of all_reduce was returned, and it has none: it writes into the tensor that it is given.",
)
mean_of_parts = mistake(
    "RowParallelLinear",
    {PRODUCT: f"{PRODUCT} / self.group.size"},
    says="The sum was divided by the number of ranks. A product is the sum of its parts, not their mean.",
)
rows_cut = mistake(
    "RowParallelLinear",
    {
        "n_in = weight.shape[1]": "n_in = len(weight)",
        COLUMNS_OF_W: COLUMNS_OF_W.replace("weight[:, columns]", "weight[columns]"),
    },
    says="W is cut along its outputs, as in the other layer. Here the inputs are shared: the columns of W.",
)
bias_in_part = mistake(
    "RowParallelLinear",
    {
        WHOLE_BIAS: "part = len(weight) // group.size\n" + WHOLE_BIAS.replace("bias.clone", "bias[:part].clone"),
        WITH_BIAS: "if self.bias is None:\n    return y\nlast = y.shape[-1] - len(self.bias)\n"
        "return y + torch.nn.functional.pad(self.bias, (0, last))",
    },
    says="The bias was cut. The outputs are whole here, and so is the bias.",
)
bias_forgotten = mistake(
    "RowParallelLinear",
    {WITH_BIAS: "return y"},
    says="The bias is forgotten: add it, once, after the sum.",
)
bias_of_rank_0_alone = mistake(
    "RowParallelLinear",
    {
        PRODUCT: "b = self.bias if self.group.rank == 0 else None\n"
        "y = SumOfParts.apply(torch.nn.functional.linear(x, self.weight, b), self.group)",
        WITH_BIAS: "return y",
    },
    says="Rank 0 alone adds the bias before the sum: y is right, but the other ranks' bias has no gradient, and they "
    "drift apart. Add it after the sum, on every rank.",
)
view_of_the_whole_weight = mistake(
    "RowParallelLinear",
    {COLUMNS_OF_W: COLUMNS_OF_W.replace(".clone()", "")},
    says="The part is a view: it keeps the whole weight in memory, and training changes the caller's. Clone it.",
)
last_inputs_dropped = mistake(
    "RowParallelLinear",
    {"if n_in % group.size:": "if False:"},
    says="Where the inputs cannot be shared evenly, the last ones are lost without a word. Raise ValueError.",
)

gradient_by_size = mistake(
    "RowParallelLinear",
    {PRODUCT: f"{PRODUCT}\nif y.requires_grad:\n    y.register_hook(lambda g: g / self.group.size)"},
    says="Backward divides the gradient by the number of ranks. It arrives whole on each, and each has its own part of "
    "x: pass it on as it is.",
)
x_cut_again = mistake(
    "RowParallelLinear",
    {
        PRODUCT: "part = self.weight.shape[1]\n"
        "x = x[..., self.group.rank * part : (self.group.rank + 1) * part]\n" + PRODUCT,
    },
    says="x is cut once more. Each rank is given its own part of x already.",
)
