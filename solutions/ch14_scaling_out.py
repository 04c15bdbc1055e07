# %% [markdown]
# # Scaling out
#
# One model, several processes: the sum of their gradients, a layer cut in two, attention without its square, and what
# each rank has to keep. PyTorch, no GPU.
# Read along in [the chapter](../book/ch14_scaling_out.md).
#
# Some exercises are given a process group, `group`: one rank's view of the processes that compute together. It is a
# small object of this course, a thin wrapper around `torch.distributed`, whose own functions fill tensors that you
# give them instead of returning new ones:
#
# - `group.rank`, `group.size`: which rank this is, from 0, and how many there are;
# - `group.all_reduce(tensor)` replaces `tensor`, in place, by the sum of all ranks' tensors; it returns nothing;
# - `group.all_gather(tensor)` returns the list of all ranks' tensors, in the order of the ranks;
# - `group.reduce_scatter(tensors)` takes a list with one tensor for each rank, and returns the sum of those that are
#   meant for this one.
#
# Every rank must make the same calls in the same order, with tensors of the same shapes and dtypes: if one rank leaves
# a call out, the others wait. Autograd does not see these calls.
#
# Your code runs as each of the ranks. A check runs them side by side in threads, and counts what they send; the demo
# cells run them in real processes.

# %%
import torch

# %% [markdown]
# ## `all_reduce_gradients`
#
# Data parallelism: each rank has the same model and rows of its own. It has called `backward()` on the **mean** loss
# of its `n_local` rows. Now every parameter's `.grad` is to become the gradient of the mean loss over all rows of all
# ranks, on every rank: what one process with all rows would have. Return nothing.
#
# - The ranks have different numbers of rows. At least one rank has some.
# - A rank may have none: `n_local` is 0. It has to take part all the same, and its `.grad` says nothing: it is `None`
#   where backward was not called, and may be `nan` where it was, because the mean of no losses is 0/0.
# - A `.grad` of `None` counts as zeros. So every parameter that requires a gradient has one afterwards. A parameter
#   that requires none keeps its `.grad` of `None`.
# - The parameters are left as they are. A `.grad` has the dtype of its parameter, and no graph.
# - A parameter may be float16. Its gradient times the number of rows may be more than float16 holds (65,504), while the
#   mean that is asked is not: give each rank its weight in the mean *before* you sum.
#
# How many messages you send is up to you, but all that a rank knows of the others comes through them: two groups may
# run at the same time.
# [Chapter section](../book/ch14_scaling_out.md#ch14-all-reduce-gradients)


# %% exercise="all_reduce_gradients"
def all_reduce_gradients(model, group, n_local):
    """Make every .grad of the model that of the mean loss over the rows of all ranks."""
    ### BEGIN SOLUTION
    n_rows = torch.tensor(n_local)
    group.all_reduce(n_rows)
    for parameter in model.parameters():
        if not parameter.requires_grad:
            continue
        if n_local == 0 or parameter.grad is None:  # an empty mean may have left nan, and 0 · nan is nan
            parameter.grad = torch.zeros_like(parameter)
        parameter.grad *= n_local / n_rows.item()  # before the sum: n_local · grad may overflow in 16 bits
        group.all_reduce(parameter.grad)
    ### END SOLUTION


# %% [markdown]
# Your function in two real processes, which talk over gloo: three rows on one, one row on the other. Both must have
# what one process has for all four rows. (On Linux. Elsewhere `in_threads`, from the same module, runs it as well.)

# %% tags=["demo"]
# A demo: no check runs it.
from course.process_groups import GroupError, in_processes

model, rows = torch.nn.Linear(2, 1), torch.tensor([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0], [2.0, 5.0]])


def one_step(group):
    mine = rows[:3] if group.rank == 0 else rows[3:]
    model(mine).square().mean().backward()
    all_reduce_gradients(model, group, len(mine))
    return model.weight.grad


if __name__ == "__main__":  # this notebook itself, and nobody who imports it
    print("one process:  ", *torch.autograd.grad(model(rows).square().mean(), model.weight))
    try:
        for rank, gradient in enumerate(in_processes(one_step, 2)):
            print(f"rank {rank} of two:", gradient)
    except GroupError as error:
        if "your code here" not in str(error):
            raise
        print(error)

# %% [markdown]
# ## `bucketed_all_reduce`
#
# A message costs time of its own, whatever its size, so small gradients travel together. `grads` is a list of tensors
# of any shapes and floating dtypes, each with at least one entry. `all_reduce(tensor)` is a function that reduces a
# tensor in place and returns nothing, as `group.all_reduce` does.
#
# Go through `grads` in order and fill buckets:
#
# - a tensor goes into the open bucket if it has the bucket's dtype, and all that is in there has at most `bucket_bytes`
#   bytes then; else that bucket is closed, for good, and the tensor opens the next one;
# - so a tensor of more than `bucket_bytes` bytes has a bucket to itself. It is not cut.
#
# For each bucket call `all_reduce` **once**, in the order of the buckets, with one flat tensor (one axis) of all of its
# entries: tensor after tensor, each in row order. Return the list of the reduced tensors, in the order, shapes and
# dtypes of `grads`. `grads` themselves are left as they are. No tensors, no message.
#
# In a check each message is reduced in a way of its own, so that the results tell which tensors went together.
# [Chapter section](../book/ch14_scaling_out.md#ch14-bucketed-all-reduce)


# %% exercise="bucketed_all_reduce"
def bucketed_all_reduce(grads, bucket_bytes, all_reduce):
    """The reduced tensors, a list like `grads`, by one flat message for each bucket of at most bucket_bytes."""
    ### BEGIN SOLUTION
    buckets, room = [], 0
    for grad in grads:
        n_bytes = grad.numel() * grad.element_size()
        if not buckets or grad.dtype != buckets[-1][0].dtype or n_bytes > room:
            buckets.append([])
            room = bucket_bytes
        buckets[-1].append(grad)
        room -= n_bytes
    reduced = []
    for bucket in buckets:
        flat = torch.cat([grad.reshape(-1) for grad in bucket])
        all_reduce(flat)
        pieces = flat.split([grad.numel() for grad in bucket])
        reduced += [piece.reshape(grad.shape) for piece, grad in zip(pieces, bucket, strict=True)]
    return reduced
    ### END SOLUTION


# %% [markdown]
# ## `ColumnParallelLinear`
#
# Tensor parallelism: one layer, y = x Wᵀ + b, cut over the ranks. This is a `torch.nn.Module`, made on every rank from
# the whole `weight` W `(n_out, n_in)`, and the whole `bias` `(n_out,)` or `None`.
#
# - Rank r keeps the r-th part of the **outputs**: `layer.weight` `(n_out / size, n_in)` and `layer.bias`
#   `(n_out / size,)` (or `None`), two `torch.nn.Parameter`s. They are copies: a view would keep the whole matrix in
#   memory. Keep nothing else of `weight`. An `n_out` that is no multiple of `group.size` is a `ValueError`.
# - `layer(x)`: x `(…, n_in)` is whole, and the same on all ranks. The result is this rank's part of y,
#   `(…, n_out / size)`. Nothing is sent.
# - Backward: each rank has the gradient of its own part of y, and the gradient of x adds up over them. So **one
#   all-reduce**, of the size of x, gives every rank the whole gradient of x. Nothing else is sent: the gradients of the
#   parameters are those of the part.
# - x may be used elsewhere, too. The gradient that comes back from there is whole already, and not part of the sum. If
#   x requires no gradient, like data, only the parameters have one.
#
# `weight`, `bias`, x and the gradient that arrives are left as they are. The sum is that of the messages: a check
# changes what each rank sends on its way. In Megatron-LM's words the input goes through *f*: the identity forward, an
# all-reduce backward.
# [Chapter section](../book/ch14_scaling_out.md#ch14-columnparallellinear)


# %% exercise="ColumnParallelLinear"
class ColumnParallelLinear(torch.nn.Module):
    """This rank's part of the outputs of x Wᵀ + b, for a whole x; made from the whole weight and bias."""

    def __init__(self, weight, bias, group):
        super().__init__()
        ### BEGIN SOLUTION
        n_out = len(weight)
        if n_out % group.size:
            raise ValueError(f"{n_out} outputs cannot be shared by {group.size} ranks")
        part = n_out // group.size
        rows = slice(group.rank * part, (group.rank + 1) * part)
        self.group = group
        self.weight = torch.nn.Parameter(weight[rows].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias[rows].clone())
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return torch.nn.functional.linear(SumOfGradients.apply(x, self.group), self.weight, self.bias)
        ### END SOLUTION


# %% tags=["solution"]
class SumOfGradients(torch.autograd.Function):
    """Megatron's f: the identity forward, an all-reduce of the gradient backward."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx, g):
        dx = g.clone()  # all_reduce writes into it, and g is not ours
        ctx.group.all_reduce(dx)
        return dx, None


# %% [markdown]
# ## `RowParallelLinear`
#
# The other cut of y = x Wᵀ + b: rank r keeps the r-th part of the **inputs**. Made from the whole `weight`
# `(n_out, n_in)` and `bias` `(n_out,)` or `None`, as above.
#
# - `layer.weight` is `(n_out, n_in / size)`, a copy again; `layer.bias` is whole, `(n_out,)`, or `None`. An `n_in`
#   that is no multiple of `group.size` is a `ValueError`.
# - `layer(x)`: x `(…, n_in / size)` is this rank's part, as a `ColumnParallelLinear` leaves it. The parts of the
#   product add up: **one all-reduce**, of the size of y, gives every rank the whole y, `(…, n_out)`, which has the
#   bias in it once.
# - Backward sends nothing: the gradient of y that arrives is whole, and the same on every rank.
#
# The rules for the arguments are those of `ColumnParallelLinear`. In Megatron-LM's words the product goes through *g*:
# an all-reduce forward, the identity backward. Then `row(relu(column(x)))` is an MLP with one message in each
# direction.
# [Chapter section](../book/ch14_scaling_out.md#ch14-rowparallellinear)


# %% exercise="RowParallelLinear"
class RowParallelLinear(torch.nn.Module):
    """The whole x Wᵀ + b, for this rank's part of x; made from the whole weight and bias."""

    def __init__(self, weight, bias, group):
        super().__init__()
        ### BEGIN SOLUTION
        n_in = weight.shape[1]
        if n_in % group.size:
            raise ValueError(f"{n_in} inputs cannot be shared by {group.size} ranks")
        part = n_in // group.size
        columns = slice(group.rank * part, (group.rank + 1) * part)
        self.group = group
        self.weight = torch.nn.Parameter(weight[:, columns].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.clone())
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        y = SumOfParts.apply(torch.nn.functional.linear(x, self.weight), self.group)
        return y if self.bias is None else y + self.bias
        ### END SOLUTION


# %% tags=["solution"]
class SumOfParts(torch.autograd.Function):
    """Megatron's g: an all-reduce forward, the identity backward."""

    @staticmethod
    def forward(ctx, y, group):
        y = y.clone()
        group.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g, None


# %% [markdown]
# The two of them as one MLP, in two real processes: the result, and the gradient of x.

# %% tags=["demo"]
# A demo: no check runs it.
W1, b1, W2, b2 = torch.ones(6, 3).cumsum(0) / 6, torch.arange(6) / 6, torch.ones(2, 6).cumsum(1) / 6, torch.zeros(2)


def cut_in_two(group):
    x = torch.tensor([[0.1, 0.2, -0.3]], requires_grad=True)
    hidden = ColumnParallelLinear(W1, b1, group)(x).tanh()
    y = RowParallelLinear(W2, b2, group)(hidden)
    y.sum().backward()
    return y.detach(), x.grad, [str(call) for call in group.calls]


if __name__ == "__main__":
    x = torch.tensor([[0.1, 0.2, -0.3]], requires_grad=True)
    y = (x @ W1.T + b1).tanh() @ W2.T + b2
    print("one process:  ", y.detach(), *torch.autograd.grad(y.sum(), x))
    try:
        for rank, (y, dx, sent) in enumerate(in_processes(cut_in_two, 2)):
            print(f"rank {rank} of two:", y, dx, "sent:", *sent)
    except GroupError as error:
        if "your code here" not in str(error):
            raise
        print(error)

# %% [markdown]
# ## `chunked_attention`
#
# out = softmax(q kᵀ / √d) v, without the matrix of scores: the way of FlashAttention, in PyTorch. q is `(…, n_q, d)`, k
# `(…, n_k, d)`, v `(…, n_k, d_v)`, tensors with the same leading axes, which may be none; no mask. Return `out`
# `(…, n_q, d_v)`; with `return_lse=True` two tensors, `out` and `lse` `(…, n_q)`, the logarithm of each row's sum of
# exponentials, log Σⱼ exp(qᵢ·kⱼ / √d), which backward needs. Both have the dtype of q.
#
# - Go through keys and values in blocks of `block` rows; the last block may be shorter. Three things sum up the blocks
#   so far for each query: the largest score, the sum of exponentials, and the sum of exponentials times values. If a
#   block brings a larger score, rescale the two sums. (Two passes over the blocks, the first for the largest scores,
#   are accepted as well.)
# - Scores of ±1000 and more must work: the results are finite and right.
# - **Memory.** The numbers that you have made and that are alive at one time stay below n_q · n_k / 4, the results
#   included. This is checked with 256 queries and 1,024 keys, and with one query and 4,096 keys, where not even one
#   row of scores fits, nor a copy of k. `block` is 32, d is 4 and d_v is 6.
# - Nothing requires a gradient. The arguments are left as they are.
#
# **Points count only where the memory is kept, and the keys come in blocks.** Not allowed:
# `torch.nn.functional.scaled_dot_product_attention`.
# [Chapter section](../book/ch14_scaling_out.md#ch14-chunked-attention)


# %% exercise="chunked_attention"
def chunked_attention(q, k, v, block, return_lse=False):
    """softmax(q kᵀ / √d) v, with keys and values in blocks; and, if asked, the log-sum-exp of each row of scores."""
    ### BEGIN SOLUTION
    scale = q.shape[-1] ** -0.5
    largest = torch.full_like(q[..., :1], -torch.inf)
    total = torch.zeros_like(largest)
    out = q.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, k.shape[-2], block):
        keys, values = (of[..., start : start + block, :] for of in (k, v))
        scores = scale * q @ keys.mT
        before, largest = largest, torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        p, rescale = torch.exp(scores - largest), torch.exp(before - largest)
        total = rescale * total + p.sum(dim=-1, keepdim=True)
        out = rescale * out + p @ values
    out = out / total
    lse = (largest + torch.log(total)).squeeze(-1)
    return (out, lse) if return_lse else out
    ### END SOLUTION


# %% [markdown]
# ## `chunked_attention_vjp`
#
# The gradients of q, k and v, in that order, for the upstream gradient `g` of `out`, `(…, n_q, d_v)`; `lse` has none.
# The probabilities were not kept: with `lse` you can recompute any block of them, P = exp(q kᵀ / √d − lse). With S the
# scores:
#
#     dv = Pᵀ g        dP = g vᵀ        dS = P ∘ (dP − D), where Dᵢ = Σⱼ Pᵢⱼ dPᵢⱼ
#     dq = dS k / √d   dk = dSᵀ q / √d
#
# Dᵢ is a sum over all keys. But it also equals Σ of g ∘ out over d_v, which you have.
#
# `out` and `lse` are those of `chunked_attention` with `return_lse=True`. Work in blocks of `block` keys here, too; the
# memory of `chunked_attention` is allowed, n_q · n_k / 4 with at least 256 queries and 1,024 keys, the three results
# included; here d and d_v are 2. The arguments are left as they are. The results have the shapes and dtypes of q, k
# and v.
#
# **Points count only where the memory is kept, and the keys come in blocks.** Autograd is not allowed.
# [Chapter section](../book/ch14_scaling_out.md#ch14-chunked-attention-vjp)


# %% exercise="chunked_attention_vjp"
def chunked_attention_vjp(g, q, k, v, out, lse, block):
    """The gradients of q, k and v, with the probabilities computed again block by block."""
    ### BEGIN SOLUTION
    scale = q.shape[-1] ** -0.5
    D = (g * out).sum(dim=-1, keepdim=True)
    dq, dk, dv = (torch.zeros_like(of) for of in (q, k, v))
    for start in range(0, k.shape[-2], block):
        here = slice(start, start + block)
        keys, values = k[..., here, :], v[..., here, :]
        p = torch.exp(scale * q @ keys.mT - lse.unsqueeze(-1))
        ds = scale * p * (g @ values.mT - D)
        dv[..., here, :] = p.mT @ g
        dk[..., here, :] = ds.mT @ q
        dq += ds @ keys
    return dq, dk, dv
    ### END SOLUTION


# %% [markdown]
# ## `zero_bytes_per_rank`
#
# What a model of `n_params` parameters keeps on each of `ranks` devices for training with Adam in mixed precision,
# activations aside: 2 bytes per parameter for the weights, 2 for the gradients, and 12 for the optimizer's states (a
# master copy and two moments in float32). ZeRO (Rajbhandari et al. 2020) divides them evenly among the ranks, more of
# them in each `stage`:
#
# - 0: nothing is divided, as in plain data parallelism;
# - 1: the optimizer's states are;
# - 2: these and the gradients;
# - 3: all three.
#
# Return bytes, a float: the shares need not be whole. Any other `stage` is a `ValueError`.
# [Chapter section](../book/ch14_scaling_out.md#ch14-zero-bytes-per-rank)


# %% exercise="zero_bytes_per_rank"
def zero_bytes_per_rank(n_params, ranks, stage):
    """Bytes of weights, gradients and Adam's states that each rank keeps in a stage of ZeRO, a float."""
    ### BEGIN SOLUTION
    if stage not in (0, 1, 2, 3):
        raise ValueError(f"stage is {stage!r}, not one of 0, 1, 2, 3")
    weights, gradients, states = 2, 2, 12
    if stage >= 1:
        states /= ranks
    if stage >= 2:
        gradients /= ranks
    if stage >= 3:
        weights /= ranks
    return float(n_params * (weights + gradients + states))
    ### END SOLUTION


# %% [markdown]
# ## `zero_step`
#
# One training step as ZeRO stage 1 does it: every rank has the whole parameters and gradients, and only its own piece
# of the optimizer's state. The optimizer is SGD with momentum, and the gradient is clipped.
#
# - `params` is a list of tensors, the same on every rank; `grads` a list like it, the gradients of the **mean loss of
#   this rank's rows**. All ranks have equally many rows.
# - Take all parameters as one flat vector, tensor after tensor, each in row order, and cut it into `group.size` pieces
#   of equal length, as short as possible: rank r has the r-th. Where the numbers do not suffice, zeros fill up the end.
# - `momentum` is this rank's piece of the optimizer's state, a flat tensor of that length: zeros before the first step.
#
# Change `params` and `momentum` in place and return nothing. Afterwards they are what one process with all rows has:
#
#     g = the gradient of the mean loss over the rows of all ranks
#     if the norm of all of g, over all parameters, is more than max_norm: g is scaled down to that norm
#     momentum = beta · momentum + g
#     params = params − lr · momentum
#
# - **What is sent**: one `reduce_scatter`, one `all_reduce` of a single number, one `all_gather`. Nothing else. So no
#   rank has the whole g, and each updates its own piece of the parameters and sends that. In a check what each rank
#   sends is changed on its way, and the momentum is that of earlier steps.
# - `params` may be `torch.nn.Parameter`s, and have any strides; after the step they have no graph. `grads` are left as
#   they are. All are of one dtype, float32 or float64. `lr`, `beta` and `max_norm` are floats, `max_norm > 0`, and
#   infinite where nothing is to be clipped.
#
# [Chapter section](../book/ch14_scaling_out.md#ch14-zero-step)


# %% exercise="zero_step"
def zero_step(params, grads, momentum, group, lr, beta, max_norm):
    """One clipped step of SGD with momentum, whose state is cut over the ranks; params and momentum change in place."""
    ### BEGIN SOLUTION
    with torch.no_grad():
        mine = group.reduce_scatter(pieces(grads, group.size)) / group.size
        squares = mine.square().sum()  # of this piece; the squares add up over the ranks, the norms do not
        group.all_reduce(squares)
        norm = squares.sqrt()
        if norm > max_norm:
            mine *= max_norm / norm
        momentum.mul_(beta).add_(mine)
        own = pieces(params, group.size)[group.rank]
        flat = torch.cat(group.all_gather(own - lr * momentum))
        start = 0
        for parameter in params:
            parameter.copy_(flat[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
    ### END SOLUTION


# %% tags=["solution"]
def pieces(tensors, size):
    """All entries as one flat vector, in `size` pieces of equal length, filled up with zeros."""
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
    length = -(-len(flat) // size)
    return torch.nn.functional.pad(flat, (0, size * length - len(flat))).split(length)


# %% [markdown]
# ## `pipeline_bubble`
#
# A model is cut into `stages` stages, one to a device, and a batch into `microbatches` that follow each other through
# them. All stages take equally long. First all forward passes go through, then all backward passes (GPipe; with the
# order *one forward, one backward* the numbers are the same). A device waits until the first micro-batch has come to
# it, and after its last one has left.
#
# Return the share of the **whole** time, from the first start to the last end, in which a device is idle, a float from
# 0 to 1. (Some papers divide by the time that the work alone takes; that is a larger number, and not asked.)
# [Chapter section](../book/ch14_scaling_out.md#ch14-pipeline-bubble)


# %% exercise="pipeline_bubble"
def pipeline_bubble(stages, microbatches):
    """The share of the schedule's whole time in which a device is idle, a float."""
    ### BEGIN SOLUTION
    return (stages - 1) / (microbatches + stages - 1)
    ### END SOLUTION
