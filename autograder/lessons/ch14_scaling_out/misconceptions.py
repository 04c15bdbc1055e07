"""Wrong answers to ch14_scaling_out that learners write."""

from __future__ import annotations

from autograder.diagnosis import mistake

# all_reduce_gradients

SCALED = "parameter.grad *= n_local / n_rows.item()"
SENT = "group.all_reduce(parameter.grad)"
ROWS = "group.all_reduce(n_rows)"
EMPTY = """\
if n_local == 0 or parameter.grad is None:
    parameter.grad = torch.zeros_like(parameter)"""

mean_of_means = mistake(
    "all_reduce_gradients",
    {SCALED: "", SENT: f"{SENT}\nparameter.grad /= group.size"},
    says="This is the mean of the ranks' means: a row counts more on a rank with few rows than on one with "
    "many. Multiply by n_local divided by the number of all rows, then sum.",
)
sum_of_means = mistake(
    "all_reduce_gradients",
    {SCALED: ""},
    says="The ranks' gradients are added up, and nothing is scaled: the sum of means is no mean. Multiply by n_local "
    "first, and divide by the number of all rows.",
)
sum_over_rows = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local"},
    says="This is the gradient of the sum over all rows. The mean is asked: divide by the number of all rows.",
)
divided_by_size = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local / group.size"},
    says="The sum over all rows was divided by the number of ranks. Divide it by the number of all rows.",
)
divided_by_own_rows = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local", SENT: f"{SENT}\nparameter.grad /= max(n_local, 1)"},
    says="The sum was divided by this rank's own number of rows, so each rank has another gradient. Divide by that of "
    "all ranks: all_reduce(torch.tensor(n_local)).",
)
rows_times_size = mistake(
    "all_reduce_gradients",
    {ROWS: "n_rows *= group.size"},
    says="The number of all rows was taken for size times this rank's. The ranks have different numbers: all_reduce "
    "them.",
)
not_sent = mistake(
    "all_reduce_gradients",
    {SENT: ""},
    says="The gradients stay on their ranks: nothing was summed. group.all_reduce(grad) does.",
)
scaled_after_sending = mistake(
    "all_reduce_gradients",
    {f"{SCALED}\n{SENT}": f"{SENT}\n{SCALED}"},
    says="n_local was multiplied in after the all-reduce. Each rank's gradient has its own factor: scale it before.",
)
sum_overflows = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local", SENT: f"{SENT}\nparameter.grad /= n_rows"},
    says="The gradient times n_local is more than float16 holds, and inf divided by the number of rows is inf. "
    "Multiply by n_local / rows before the sum.",
)
nan_times_zero = mistake(
    "all_reduce_gradients",
    {EMPTY: EMPTY.replace("n_local == 0 or ", "")},
    says="A rank without rows may have nan, and 0 · nan is nan, which the sum brings to all. Put zeros there first.",
)
rank_leaves_out = mistake(
    "all_reduce_gradients",
    {EMPTY: "if parameter.grad is None:\n    continue"},
    says="A rank whose .grad is None leaves its calls out, and the others wait for it. Take part with zeros.",
)
empty_rank_returns = mistake(
    "all_reduce_gradients",
    {ROWS: f"{ROWS}\nif n_local == 0:\n    return"},
    says="A rank without rows returns at once, and the others wait for it. It takes part, with zeros.",
)
frozen_too = mistake(
    "all_reduce_gradients",
    {"if not parameter.requires_grad:\n    continue": ""},
    says="A parameter that requires no gradient has got one. Leave it out, on every rank.",
)
into_the_parameters = mistake(
    "all_reduce_gradients",
    {SENT: f"{SENT}\nparameter.data -= 0.1 * parameter.grad"},
    says="The parameters were changed as well. The step is somebody else's: only .grad is asked.",
)

means_by_all_rows = mistake(
    "all_reduce_gradients",
    {SCALED: ""},
    says="The ranks' means are added up without their weights and divided by all rows. Each gradient is a mean: "
    "multiply it by n_local first.",
)
graph_behind_zeros = mistake(
    "all_reduce_gradients",
    {EMPTY: EMPTY.replace("torch.zeros_like(parameter)", "0 * parameter")},
    says="0 * parameter has a graph, and so does the .grad. torch.zeros_like(parameter) has none.",
)

# bucketed_all_reduce

OPENS = "if not buckets or grad.dtype != buckets[-1][0].dtype or n_bytes > room:"
BYTES = "n_bytes = grad.numel() * grad.element_size()"
GRADS_CHANGED = (
    "The given tensors were written into: reduced in place (torch.cat copies, reshape(-1) and view(-1) need not), or "
    "the results were copied into them. grads are left as they are."
)
FLAT = "flat = torch.cat([grad.reshape(-1) for grad in bucket])"
PIECES = "reduced += [piece.reshape(grad.shape) for piece, grad in zip(pieces, bucket, strict=True)]"

one_by_one = mistake(
    "bucketed_all_reduce",
    {OPENS: "if True:"},
    says="Each tensor has a message of its own. Those that fit into bucket_bytes together share one.",
)
all_in_one = mistake(
    "bucketed_all_reduce",
    {OPENS: OPENS.replace(" or n_bytes > room", "")},
    says="All tensors of a dtype go into one message, whatever bucket_bytes says.",
)
entries_for_bytes = mistake(
    "bucketed_all_reduce",
    {BYTES: "n_bytes = grad.numel()"},
    says="Entries were counted, not bytes: numel() * element_size().",
)
four_bytes_each = mistake(
    "bucketed_all_reduce",
    {BYTES: "n_bytes = 4 * grad.numel()"},
    says="Every entry was taken for four bytes. element_size() says how many it has.",
)
not_quite_full = mistake(
    "bucketed_all_reduce",
    {OPENS: OPENS.replace("n_bytes > room", "n_bytes >= room")},
    says="A bucket may have bucket_bytes bytes exactly; here it is closed before the tensor that fills it.",
)
overfull = mistake(
    "bucketed_all_reduce",
    {OPENS: OPENS.replace("n_bytes > room", "room <= 0")},
    says="A bucket is closed only when it is full already: its last tensor is too much. Ask before it goes in.",
)
dtypes_mixed = mistake(
    "bucketed_all_reduce",
    {
        OPENS: OPENS.replace(" or grad.dtype != buckets[-1][0].dtype", ""),
        PIECES: PIECES.replace("piece.reshape(grad.shape)", "piece.reshape(grad.shape).to(grad.dtype)"),
    },
    says="Tensors of two dtypes share a message, and torch.cat has converted some. Another dtype opens a bucket.",
)
first_fit = mistake(
    "bucketed_all_reduce",
    {
        OPENS: """\
fitting = [b for b in buckets if b[0].dtype == grad.dtype
           and sum(t.numel() * t.element_size() for t in b) + n_bytes <= bucket_bytes]
if fitting:
    fitting[0].append(grad)
    continue
if True:"""
    },
    says="A tensor went into an earlier bucket that still had room. A bucket that was closed stays closed.",
)
reduced_in_place = mistake(
    "bucketed_all_reduce",
    {
        FLAT: "flat = bucket[0].view(-1) if len(bucket) == 1 and bucket[0].is_contiguous() else "
        "torch.cat([grad.reshape(-1) for grad in bucket])"
    },
    says=GRADS_CHANGED,
)
last_bucket_left = mistake(
    "bucketed_all_reduce",
    {"for bucket in buckets:": "for bucket in buckets[:-1]:"},
    says="The last bucket was not sent: no tensor comes that does not fit, so nothing closes it. Send it after the "
    "loop.",
)
flat_results = mistake(
    "bucketed_all_reduce",
    {PIECES: "reduced += pieces"},
    says="The results are flat. Each has the shape of its gradient.",
)
averaged_over_the_bucket = mistake(
    "bucketed_all_reduce",
    {"all_reduce(flat)": "all_reduce(flat)\nflat /= len(bucket)"},
    says="The sums were divided by the number of tensors in the bucket. They are only sent together.",
)
never_sent = mistake(
    "bucketed_all_reduce",
    {"all_reduce(flat)": ""},
    says="all_reduce was not called: these are the gradients as they came.",
)

result_of_all_reduce_taken = mistake(
    "bucketed_all_reduce",
    {"all_reduce(flat)": "flat = all_reduce(flat)"},
    says="What all_reduce returns was used, and that is None: it writes into the tensor that it is given.",
)
order_of_memory = mistake(
    "bucketed_all_reduce",
    {FLAT: "flat = torch.cat([grad.as_strided((grad.numel(),), (1,)) for grad in bucket])"},
    says="Entries were taken in the order of memory. Of a transposed gradient that is not row order, and the results "
    "are mixed up: reshape(-1).",
)
written_back = mistake(
    "bucketed_all_reduce",
    {
        "return reduced": "for grad, result in zip(grads, reduced, strict=True):\n    grad.copy_(result)\n"
        "return list(grads)"
    },
    says=GRADS_CHANGED,
)
empty_bucket_sent = mistake(
    "bucketed_all_reduce",
    {
        "buckets, room = [], 0": "buckets, room = [[]], bucket_bytes",
        OPENS: "if (buckets[-1] and grad.dtype != buckets[-1][0].dtype) or n_bytes > room:",
    },
    says="The first bucket is there before a tensor is, and is sent empty where none fits into it, or there is none. "
    "Open a bucket with its first tensor.",
)
first_fit_in_its_place = mistake(
    "bucketed_all_reduce",
    {
        "buckets, room = [], 0": "buckets, places = [], []",
        "for grad in grads:": "for n, grad in enumerate(grads):",
        OPENS: """\
for bucket, place in zip(buckets, places, strict=True):
    used = sum(t.numel() * t.element_size() for t in bucket)
    if bucket[0].dtype == grad.dtype and used + n_bytes <= bucket_bytes:
        bucket.append(grad)
        place.append(n)
        break
else:
    buckets.append([grad])
    places.append([n])
if False:""",
        "room = bucket_bytes": "pass",
        "buckets[-1].append(grad)": "",
        "room -= n_bytes": "",
        "reduced = []": "reduced = {}",
        "for bucket in buckets:": "for bucket, place in zip(buckets, places, strict=True):",
        PIECES: "reduced |= {n: piece.reshape(grad.shape) for n, piece, grad in zip(place, pieces, bucket, "
        "strict=True)}",
        "return reduced": "return [reduced[n] for n in range(len(grads))]",
    },
    says="A tensor went into an earlier bucket that still had room. A bucket that was closed stays closed.",
)

# ColumnParallelLinear

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

# RowParallelLinear

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

# chunked_attention

SCALE = "scale = q.shape[-1] ** -0.5"
MAX = "before, largest = largest, torch.maximum(largest, scores.amax(dim=-1, keepdim=True))"
EXP = "p, rescale = torch.exp(scores - largest), torch.exp(before - largest)"
TOTAL = "total = rescale * total + p.sum(dim=-1, keepdim=True)"
OUT = "out = rescale * out + p @ values"
DIVIDED = "out = out / total"
LSE = "lse = (largest + torch.log(total)).squeeze(-1)"
RETURN = "return (out, lse) if return_lse else out"
BLOCKS = "for start in range(0, k.shape[-2], block):"
WHOLE_ROWS = (
    "More is made at a time than n_q × block numbers: the matrix of scores, whole rows of it where the queries are cut "
    "into blocks, all keys scaled at once, or what each block gave, kept until the end. Cut keys and values into "
    "blocks, and let each block go."
)

nothing_rescaled = mistake(
    "chunked_attention",
    {TOTAL: TOTAL.replace("rescale * ", ""), OUT: OUT.replace("rescale * ", "")},
    says="What was added up before is not rescaled when a block brings a larger score: it still has exp(−old largest) "
    "as a factor. Multiply both sums by exp(old − new).",
)
sum_not_rescaled = mistake(
    "chunked_attention",
    {TOTAL: TOTAL.replace("rescale * ", "")},
    says="The sum of exponentials is not rescaled when a block brings a larger score. Multiply it by exp(old − new), "
    "as the sum of values.",
)
values_not_rescaled = mistake(
    "chunked_attention",
    {OUT: OUT.replace("rescale * ", "")},
    says="The sum of values is not rescaled when a block brings a larger score. Multiply it by exp(old − new), as the "
    "sum of exponentials.",
)
rescaled_the_other_way = mistake(
    "chunked_attention",
    {EXP: EXP.replace("torch.exp(before - largest)", "torch.nan_to_num(torch.exp(largest - before), posinf=0.0)")},
    says="The old sums are multiplied by exp(new − old), which is 1 or more. They had exp(−old) in them and must have "
    "exp(−new): the factor is exp(old − new).",
)
maximum_of_the_block = mistake(
    "chunked_attention",
    {MAX: "before, largest = largest, scores.amax(dim=-1, keepdim=True)"},
    says="Each block's own maximum takes the place of the largest so far, even where it is smaller: exponentials "
    "overflow. Take the maximum of both.",
)
largest_begins_at_zero = mistake(
    "chunked_attention",
    {"largest = torch.full_like(q[..., :1], -torch.inf)": "largest = torch.zeros_like(q[..., :1])"},
    says="The largest score so far begins at 0. Where all scores of a row are far below it, their exponentials and "
    "their sum are 0. Begin at −inf.",
)
without_maximum = mistake(
    "chunked_attention",
    {EXP: "p, rescale = torch.exp(scores), 1.0", LSE: "lse = torch.log(total).squeeze(-1)"},
    says="exp of large scores overflows. Subtract each row's largest so far.",
)
lse_without_maximum = mistake(
    "chunked_attention",
    {LSE: "lse = torch.log(total).squeeze(-1)"},
    says="lse lacks the largest score: the sum is one of exp(score − largest). log Σ exp(score) = largest + log of it.",
)
sum_without_logarithm = mistake(
    "chunked_attention",
    {LSE: "lse = (largest + total).squeeze(-1)"},
    says="lse has the sum of exponentials in it, not its logarithm.",
)
not_divided = mistake(
    "chunked_attention",
    {DIVIDED: ""},
    says="out is not divided by the sum of exponentials.",
)
softmax_of_each_block = mistake(
    "chunked_attention",
    {
        OUT: "out = out + torch.softmax(scores, dim=-1) @ values",
        DIVIDED: "out = out / -(-k.shape[-2] // block)",
    },
    says="Each block has a softmax of its own, and the results are averaged. The sum in the denominator goes over all "
    "keys: keep it, and divide at the end.",
)
no_scale = mistake(
    "chunked_attention",
    {SCALE: "scale = 1.0"},
    says="The scores are not divided by √d.",
)
scale_of_values = mistake(
    "chunked_attention",
    {SCALE: "scale = v.shape[-1] ** -0.5"},
    says="The scores were divided by √d_v. d is the width of q and k.",
)
scaled_by_d = mistake(
    "chunked_attention",
    {SCALE: "scale = 1 / q.shape[-1]"},
    says="The scores were divided by d. Divide by √d.",
)
last_block_lost = mistake(
    "chunked_attention",
    {BLOCKS: "for start in range(0, max(k.shape[-2] // block, 1) * block, block):"},
    says="A last block that is shorter is left out. range(0, n_k, block) reaches it, and slices end where k ends.",
)
all_at_once = mistake(
    "chunked_attention",
    {BLOCKS: "block = k.shape[-2]\nfor start in range(0, k.shape[-2], block):"},
    says=WHOLE_ROWS,
)
queries_in_blocks = mistake(
    "chunked_attention",
    {
        BLOCKS: """\
parts = []
for start in range(0, q.shape[-2], block):
    scores = scale * q[..., start : start + block, :] @ k.mT
    parts.append((torch.softmax(scores, dim=-1) @ v, torch.logsumexp(scores, dim=-1)))
out, lse = torch.cat([part for part, _ in parts], dim=-2), torch.cat([part for _, part in parts], dim=-1)
return (out, lse) if return_lse else out
for start in ():"""
    },
    says=WHOLE_ROWS,
)
lse_with_an_axis = mistake(
    "chunked_attention",
    {LSE: LSE.replace(".squeeze(-1)", "")},
    says="lse has one axis too many. Its shape is (…, n_q).",
)
out_alone = mistake(
    "chunked_attention",
    {RETURN: "return out"},
    says="With return_lse=True lse is missing: return the pair, out and lse.",
)
always_a_pair = mistake(
    "chunked_attention",
    {RETURN: "return out, lse"},
    says="The pair comes without return_lse=True, too. Only out is asked for then.",
)

keys_turned_whole = mistake(
    "chunked_attention",
    {"scores = scale * q @ keys.mT": "scores = scale * q @ keys.T"},
    says=".T turns all axes round, the leading ones too. The last two are to change places: keys.mT.",
)
output_divided = mistake(
    "chunked_attention",
    {OUT: "out = (out / rescale).nan_to_num(nan=0.0, posinf=0.0) + p @ values"},
    says="The sum of values is divided by exp(old − new). It is multiplied by that, as the sum of exponentials is.",
)

# chunked_attention_vjp

D = "D = (g * out).sum(dim=-1, keepdim=True)"
P = "p = torch.exp(scale * q @ keys.mT - lse.unsqueeze(-1))"
DS = "ds = scale * p * (g @ values.mT - D)"
DV = "dv[..., here, :] = p.mT @ g"
DK = "dk[..., here, :] = ds.mT @ q"
DQ = "dq += ds @ keys"

without_d = mistake(
    "chunked_attention_vjp",
    {DS: DS.replace(" - D", "")},
    says="dS is P ∘ dP only: this is as if the softmax did not divide by its sum. Subtract D from dP.",
)
d_of_the_block = mistake(
    "chunked_attention_vjp",
    {DS: "dp = g @ values.mT\nds = scale * p * (dp - (p * dp).sum(dim=-1, keepdim=True))"},
    says="D was summed over this block alone. It goes over all keys of the row: Σ of g ∘ out over d_v.",
)
d_without_out = mistake(
    "chunked_attention_vjp",
    {D: "D = g.sum(dim=-1, keepdim=True)"},
    says="D is the sum of g alone. It is Σ of g ∘ out.",
)
d_over_queries = mistake(
    "chunked_attention_vjp",
    {D: "D = (g * out).sum(dim=-2, keepdim=True).sum(dim=-1, keepdim=True)"},
    says="D was summed over the queries as well. Each row has its own.",
)
p_without_lse = mistake(
    "chunked_attention_vjp",
    {P: "scores = scale * q @ keys.mT\np = torch.softmax(scores, dim=-1)"},
    says="The probabilities were computed as a softmax of the block alone. Their sum goes over all keys: "
    "exp(scores − lse).",
)
p_not_normalised = mistake(
    "chunked_attention_vjp",
    {P: "scores = scale * q @ keys.mT\np = torch.exp(scores - scores.amax(dim=-1, keepdim=True))"},
    says="The probabilities are not divided by the sum of exponentials. exp(scores − lse) has it in it.",
)
p_overflows = mistake(
    "chunked_attention_vjp",
    {P: "p = torch.exp(scale * q @ keys.mT) / torch.exp(lse.unsqueeze(-1))"},
    says="exp of large scores overflows. Subtract first: exp(scores − lse).",
)
dq_overwritten = mistake(
    "chunked_attention_vjp",
    {DQ: "dq = ds @ keys"},
    says="dq is that of the last block. Every block adds to it: +=.",
)
dk_added_to_all = mistake(
    "chunked_attention_vjp",
    {DV: "dv[..., :values.shape[-2], :] += p.mT @ g", DK: "dk[..., :keys.shape[-2], :] += ds.mT @ q"},
    says="Every block's gradients of keys and values were added into the first rows. Each block has rows of its own.",
)
scores_without_scale = mistake(
    "chunked_attention_vjp",
    {P: P.replace("scale * ", "")},
    says="The scores were computed again without 1/√d, so the probabilities are others.",
)
gradient_without_scale = mistake(
    "chunked_attention_vjp",
    {DS: DS.replace("scale * ", "")},
    says="dq and dk lack the factor 1/√d.",
)
no_scale_at_all = mistake(
    "chunked_attention_vjp",
    {P: P.replace("scale * ", ""), DS: DS.replace("scale * ", "")},
    says="1/√d is missing throughout: in the scores, whose probabilities are others without it, and in dq and dk.",
)
scale_twice = mistake(
    "chunked_attention_vjp",
    {DS: DS.replace("scale *", "scale * scale *")},
    says="dq and dk have the factor 1/√d twice.",
)
scale_in_dv = mistake(
    "chunked_attention_vjp",
    {DV: DV.replace("p.mT", "scale * p.mT")},
    says="dv has the factor 1/√d, which belongs to the scores.",
)
dv_from_ds = mistake(
    "chunked_attention_vjp",
    {DV: DV.replace("p.mT @ g", "p.mT @ out")},
    says="dv was computed from out. The values were multiplied by P, so dv = Pᵀ g.",
)
last_block_without_gradient = mistake(
    "chunked_attention_vjp",
    {BLOCKS: "for start in range(0, max(k.shape[-2] // block, 1) * block, block):"},
    says="A last block that is shorter is left out: its keys and values have a gradient of 0. range(0, n_k, block) "
    "reaches it.",
)
matrix_made = mistake(
    "chunked_attention_vjp",
    {BLOCKS: "block = k.shape[-2]\nfor start in range(0, k.shape[-2], block):"},
    says=WHOLE_ROWS,
)
order_of_arguments = mistake(
    "chunked_attention_vjp",
    {"return dq, dk, dv": "return dv, dk, dq"},
    says="The gradients are in another order: dq, dk, dv.",
)

d_after_the_product = mistake(
    "chunked_attention_vjp",
    {DS: "ds = scale * (p * (g @ values.mT) - D)"},
    says="D is subtracted after the product. It stands in the brackets: P ∘ (dP − D).",
)
dv_from_dp = mistake(
    "chunked_attention_vjp",
    {DV: "dv[..., here, :] = (g @ values.mT).mT @ g"},
    says="dv was computed with dP. The values were multiplied by P, so dv = Pᵀ g.",
)
keys_and_queries_swapped = mistake(
    "chunked_attention_vjp",
    {"return dq, dk, dv": "return dk, dq, dv"},
    says="dq and dk have changed places: the order is that of the arguments, dq, dk, dv.",
)

# zero_bytes_per_rank

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
# zero_step

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

# pipeline_bubble

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
