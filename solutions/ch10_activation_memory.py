# %% [markdown]
# # Activation memory: predict it or run out
#
# What a training step keeps, counted rather than guessed: a GPT layer by formula, any program by a meter, an unseen
# layer by its derivatives, the states of Adam, a Llama block, and the largest batch that a card holds. You need no GPU.
# Read along in [the chapter](../book/ch10_activation_memory.md).
#
# In all of them `s` is the number of tokens of a sequence, `b` the number of sequences, and bytes are bytes: do
# not multiply by the bytes per number again, and a GB is not a GiB.

# %%
import weakref

import torch

# %% [markdown]
# ## `layer_activation_bytes`
#
# What one GPT layer keeps for backward, in bytes, by Korthikanti et al. 2022: 16-bit activations, dropout with masks of
# one byte per number, an MLP of width 4h. `h` is the hidden size, `a` the number of heads, all ints of 1 or more.
#
# - One device, unfused attention: s·b·h·(34 + 5as/h). This is **bytes**: the two bytes of a number are in it.
# - `flash=True`: the term 5as/h is not there; the fused attention keeps no s × s matrix. What it keeps besides its
#   inputs and its result is left out.
# - `tensor_parallel=t` devices: s·b·h·(10 + 24/t + 5as/(ht)) on each of them. The 10 are what every device keeps whole.
# - `sequence_parallel=True`: these are divided as well, s·b·h·(34/t + 5as/(ht)).
#
# Return a Python float.
# [Chapter section](../book/ch10_activation_memory.md#ch10-layer-activation-bytes)


# %% exercise="layer_activation_bytes"
def layer_activation_bytes(s, b, h, a, flash=True, tensor_parallel=1, sequence_parallel=False):
    """Bytes that one GPT layer keeps on each of `tensor_parallel` devices, a float."""
    ### BEGIN SOLUTION
    whole, shared = (0, 34) if sequence_parallel else (10, 24)
    square = 0 if flash else 5 * a * s / h
    return float(s * b * h * (whole + (shared + square) / tensor_parallel))
    ### END SOLUTION


# %% [markdown]
# ## `SavedTensorMeter`
#
# A context manager that counts what autograd saves for backward inside of its block:
#
#     with SavedTensorMeter() as meter:
#         loss = model(x)
#     meter.bytes
#
# `meter.bytes` is an int, the bytes saved so far: 0 at first, right within the block too, and the same after it.
#
# - **Whole storages** count: a view keeps all of the memory that it looks into (`tensor.untyped_storage().nbytes()`).
# - **Each once**, however many operations save it, and through whichever view. `data_ptr()` does not tell storages
#   apart: it is 0 for all fake tensors, and for those on the meta device, which have no numbers either.
#   `untyped_storage()._cdata` does, as long as the storage lives.
# - **No parameters**: an `nn.Parameter` and a view of one (`view._base`) do not count. All else that is saved counts,
#   also if it was made before the block.
# - What is saved after the block does not count, nor what is saved before it; the hooks are gone, also when the block
#   raises, and the exception goes on. Meters may be nested: with PyTorch's hooks only the innermost sees what is saved,
#   and when it has ended, the outer one goes on.
# - Gradients are as without a meter, for programs that do not write into what is saved (hooks switch off PyTorch's
#   check for such writes). And memory is let go as without a meter, while the meter is still there: keep no tensor and
#   no storage. (A `pack` hook that returns the result of an operation itself makes a circle with its graph: return
#   `tensor.detach()`.) Once memory has been let go, its address may come again: that is another storage, which counts.
#   `weakref.finalize(storage, function, argument)` calls the function when the storage is let go.
#
# `torch.autograd.graph.saved_tensors_hooks(pack, unpack)` is the tool.
# [Chapter section](../book/ch10_activation_memory.md#ch10-savedtensormeter)


# %% exercise="SavedTensorMeter"
class SavedTensorMeter:
    """Counts the bytes of the storages that autograd saves inside of its `with` block: `bytes`."""

    def __init__(self):
        ### BEGIN SOLUTION
        self.bytes = 0
        self._known = set()
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)
        ### END SOLUTION

    def __enter__(self):
        ### BEGIN SOLUTION
        self._hooks.__enter__()
        return self
        ### END SOLUTION

    def __exit__(self, *error):
        ### BEGIN SOLUTION
        self._hooks.__exit__(*error)

    def _pack(self, tensor):
        storage = tensor.untyped_storage()
        of_parameter = isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter)
        if not of_parameter and storage._cdata not in self._known:
            self.bytes += storage.nbytes()
            self._known.add(storage._cdata)
            weakref.finalize(storage, self._known.discard, storage._cdata)
        return tensor.detach()
        ### END SOLUTION


# %% [markdown]
# ## `predict_saved`
#
# What a layer that you have not met before keeps for backward, predicted from its steps.
# `program` is a list of steps in the order in which they run. A step is a tuple of names, `(result, operation, input)`
# or `(result, operation, first, second)`:
#
# | operation | what it does |
# | --- | --- |
# | `"add"`, `"mul"`, `"div"` | sum, product, quotient of two inputs, entry by entry |
# | `"matmul"` | the matrix product of two inputs |
# | `"scale"`, `"sum"` | a fixed number times the input; the sum of all its entries |
# | `"exp"`, `"sigmoid"`, `"tanh"`, `"softmax"`, `"relu"`, `"sqrt"` | the derivative is computed from the **result** |
# | `"silu"`, `"gelu"`, `"sin"`, `"square"`, `"log"` | the derivative is computed from the **input** |
# | `"view"` | another shape or a part of the input, in the input's memory |
# | `"detach"` | the input's memory again, and no gradient goes back |
#
# `sizes` is a dict with the number of entries of every tensor; all are float32. `trained` lists the inputs and the
# parameters that require a gradient, `parameters` lists all parameters, frozen ones included. A name stands for one
# tensor, and no parameter is detached.
#
# Return an int: the bytes that `SavedTensorMeter` would count.
#
# - For `mul`, `div` and `matmul`, write down the derivative by each input; for a / b, by a and by b. A derivative that
#   nobody asks for keeps nothing.
# - A result requires a gradient if an input of its step does, unless the step is a `detach`. A step whose inputs
#   require none keeps nothing.
# - Memory counts whole and once, through whichever name and however many steps need it. That of parameters does not
#   count.
# [Chapter section](../book/ch10_activation_memory.md#ch10-predict-saved)


# %% exercise="predict_saved"
def predict_saved(program, sizes, trained, parameters):
    """Bytes that the steps of a program keep for backward, an int."""
    ### BEGIN SOLUTION
    by_result = {"exp", "sigmoid", "tanh", "softmax", "relu", "sqrt"}
    by_input = {"silu", "gelu", "sin", "square", "log"}
    memory = {name: name for name in sizes}  # the name under which a tensor's memory was made
    asked, kept = set(trained), set()
    for result, operation, *inputs in program:
        wanted = [name in asked for name in inputs]
        if operation in ("view", "detach"):
            memory[result] = memory[inputs[0]]
        if operation == "detach" or not any(wanted):
            continue
        asked.add(result)
        needed = []
        if operation in by_result:
            needed = [result]
        elif operation in by_input:
            needed = inputs
        elif operation in ("mul", "matmul"):
            needed = [other for other, asks in zip(reversed(inputs), wanted, strict=True) if asks]
        elif operation == "div":
            needed = inputs if wanted[1] else inputs[1:]
        kept |= {memory[name] for name in needed}
    return 4 * sum(sizes[name] for name in kept - set(parameters))
    ### END SOLUTION


# %% [markdown]
# ## `training_state_bytes`
#
# What training with Adam keeps apart from activations, for `n_params` parameters: a weight of `param_bytes`, a gradient
# of `grad_bytes`, a master copy of `master_bytes`, and **two** moments of `moment_bytes` each. The numbers are ints; 0
# means that there is none.
#
# Return a dict of ints, the bytes of all parameters together: `params`, `grads`, `master`, `moments` (both), and
# `total`, their sum.
# [Chapter section](../book/ch10_activation_memory.md#ch10-training-state-bytes)


# %% exercise="training_state_bytes"
def training_state_bytes(n_params, param_bytes=2, grad_bytes=2, master_bytes=4, moment_bytes=4):
    """Bytes of weights, gradients, master copy, moments and all of it: a dict of ints."""
    ### BEGIN SOLUTION
    each = {"params": param_bytes, "grads": grad_bytes, "master": master_bytes, "moments": 2 * moment_bytes}
    each["total"] = sum(each.values())
    return {name: n_params * n_bytes for name, n_bytes in each.items()}
    ### END SOLUTION


# %% [markdown]
# ## `llama_block_bytes`
#
# What one block of a Llama keeps when forward is over, an int, in bytes: bfloat16, no dropout, no biases. The result of
# the block is the next one's input and counts there. `config` is an object whose attributes are ints: `config.hidden`
# (h), `.layers`, `.heads` (a), `.kv_heads`, `.ffn` (f), `.vocab`. A head has h/a dimensions, so keys and values are
# kv_heads · h/a wide.
#
# `recompute` says what is kept:
#
# - `"none"`: what backward needs, each array once. In 16 bits, `hidden` wide: x, the first norm's result, q, the
#   attention's result, x after attention, the second norm's result. k and v in their own width. Four arrays of width
#   f: gate, up, silu(gate), and silu(gate) · up (the SwiGLU is *not* fused). In float32: one number per token for each
#   of the two norms, which are fused, and one per token and head, the log-sum-exp of the fused attention. Rotary
#   positions keep nothing of their own.
# - `"full"`: the block's input alone.
# - `"selective"`: the input, and the fused attention's result with its log-sum-exp. The rest is recomputed.
#
# Any other `recompute` is a `ValueError`. Your number may be off by 1 %.
# [Chapter section](../book/ch10_activation_memory.md#ch10-llama-block-bytes)


# %% exercise="llama_block_bytes"
def llama_block_bytes(config, s, b, recompute):
    """Bytes that one Llama block keeps for b sequences of s tokens, an int."""
    ### BEGIN SOLUTION
    h, f = config.hidden, config.ffn
    kv = config.kv_heads * h // config.heads
    lse = 4 * config.heads
    a_token = {"none": 12 * h + 4 * kv + 8 * f + 8 + lse, "selective": 4 * h + lse, "full": 2 * h}
    if recompute not in a_token:
        raise ValueError(f"recompute is {recompute!r}, not one of {', '.join(a_token)}")
    return s * b * a_token[recompute]
    ### END SOLUTION


# %% [markdown]
# ## `expert_layer_bytes`
#
# What a layer with a mixture of experts keeps for backward, an int, in bytes. This is the layer:
#
#     def expert_layer(x, router, gate, up, down, k):
#         share, chosen = (x @ router).softmax(-1).topk(k)
#         y = torch.zeros_like(x)
#         for e in range(len(gate)):
#             row, place = (chosen == e).nonzero(as_tuple=True)
#             z = x[row]
#             out = (F.silu(z @ gate[e]) * (z @ up[e])) @ down[e]
#             y = y.index_put((row,), out * share[row, place, None], accumulate=True)
#         return y
#
# `x` is (n, h): n tokens. `router` is (h, experts): for each token, a softmax gives every expert a share, and `topk(k)`
# returns the k largest, and which experts these are. `gate` and `up` are (experts, h, f), `down` is (experts, f, h).
# Expert e works on the rows of `x` that chose it, and adds its result there, times its share. A token chooses k
# different experts.
#
# - x requires a gradient, and is the result of another layer. `router`, `gate`, `up` and `down` are `nn.Parameter`s:
#   the first requires a gradient if `router_trained`, the other three if `experts_trained`.
# - A number has `number_bytes` bytes, an index has 8.
# - `x[row]`, with indices, copies the rows, and keeps `row` for backward; so does `share[row, place, None]`, with both
#   of its indices. `row` and `place` lie in one storage, of 16 bytes for each row of `z`.
# - `topk` keeps `chosen`. `index_put` keeps `row`, and none of the values.
#
# Everything else follows from the three questions of the chapter. As everywhere, storages count whole and once,
# parameters do not count, and no step here keeps `y`. Sizes are those of real models too: predict, do not run.
# [Chapter section](../book/ch10_activation_memory.md#ch10-expert-layer-bytes)


# %% exercise="expert_layer_bytes"
def expert_layer_bytes(n, h, f, experts, k, router_trained=True, experts_trained=True, number_bytes=2):
    """Bytes that `expert_layer` keeps for n tokens, each with k of the experts, an int."""
    ### BEGIN SOLUTION
    routed = 3 * f + h + 1  # gate, up, silu(gate); out and its share, for each other
    if experts_trained:
        routed += h + f  # the inputs of the products: the copied rows, and silu(gate) * up
    a_token = experts + k * routed  # the softmax's result, of all experts
    if router_trained:
        a_token += h
    return n * (number_bytes * a_token + 8 * 3 * k)
    ### END SOLUTION


# %% [markdown]
# ## `largest_batch`
#
# How many sequences of `s` tokens one card of `gpu_bytes` (an int) can train on at once: an int, 0 if none fits.
# `config` and `recompute` are those of `llama_block_bytes`, which you may call. Two things share the card:
#
# - **States**: 16 bytes per parameter. The parameters are an embedding and a head of vocab × h each, a norm of h before
#   the head, and in each of the `layers` blocks two norms of h and seven matrices without biases: q and o (h × h), k
#   and v (h × kv_heads · h/a), gate, up and down (h × f).
# - **The peak of activations**, which is proportional to the batch. All blocks keep what `llama_block_bytes` says.
#   Add the larger of these two, not both. *At the loss*: three float32 arrays of s × vocab for each
#   sequence. *In a block's backward*: with recomputation all that one block keeps under `"none"`, less what it has kept
#   already; nothing without recomputation.
#
# Nothing else counts. No test has a `gpu_bytes` so close to a boundary (1 % of one sequence's peak) that rounding
# decides.
# [Chapter section](../book/ch10_activation_memory.md#ch10-largest-batch)


# %% exercise="largest_batch"
def largest_batch(config, s, gpu_bytes, recompute):
    """The largest number of sequences of s tokens for which states and activations have room in gpu_bytes, an int."""
    ### BEGIN SOLUTION
    h, f = config.hidden, config.ffn
    kv = config.kv_heads * h // config.heads
    layer = 2 * h * h + 2 * h * kv + 3 * h * f + 2 * h
    states = 16 * (2 * config.vocab * h + h + config.layers * layer)
    kept, whole = (llama_block_bytes(config, s, 1, how) for how in (recompute, "none"))
    peak = config.layers * kept + max(12 * s * config.vocab, whole - kept)
    return max(0, (gpu_bytes - states) // peak)
    ### END SOLUTION
