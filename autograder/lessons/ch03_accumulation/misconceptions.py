"""Wrong answers to ch03_accumulation that learners write.

In capitals: what several of them say, and lines of the reference that several of them change.
"""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake

SEEN_IN_A_LIST = (
    "What has been seen is kept in a list, and `in` goes through all of it for every node: with 100,000 nodes "
    "that takes minutes. Use a set."
)
RECURSIVE = (
    "The walk calls itself for every parent, and Python stops that at a depth of about 1,000. Keep the nodes "
    "that are still to be visited on a stack of your own, a list."
)


# backward

IN_REVERSE = "for node in reversed(topological_order(output)):"
SENDS = "gradients[parent] = gradients.get(parent, 0.0) + g * local"
USES = "zip(node.parents, node.local_gradients, strict=True)"
ADDS = "node.grad = g if node.grad is None else node.grad + g"

SEEDED_WITH_THE_OLD = (
    "The sweep started with output.grad + 1, and what earlier calls left in output.grad went down a second time. "
    "It starts with 1; the old .grad is added at the end"
)
BEFORE_ALL_ITS_USES = "A node passed on its gradient before all its uses had sent theirs: nodes were taken"


def _in_grad_alone(seed, sends):
    """.grad is passed on, and there is no dict of this call's gradients."""
    return {
        "gradients = {output: 1.0}": seed,
        "g = gradients[node]": "g = node.grad",
        SENDS: sends,
        f"for node, g in gradients.items():\n    {ADDS}": "",
    }


def _as_they_are_found(taken):
    """Another order: a node is taken from those found, and its parents are put there."""
    walk = f"""
found, seen = [output], {{output}}
while found:
    node = found.{taken}
    new = [parent for parent in dict.fromkeys(node.parents) if parent not in seen]
    seen.update(new)
    found.extend(new)
"""
    return {IN_REVERSE: walk}


passes_on_old_gradients = mistake(
    "backward",
    _in_grad_alone("output.grad = 1.0", "parent.grad = (parent.grad or 0.0) + g * local"),
    says="Nodes pass on their .grad, and .grad still holds what earlier calls left there, which goes down a second "
    "time. Collect the gradients of this call apart, and add them to .grad at the end. (The output's own .grad was "
    "overwritten, too.)",
)

passes_on_old_gradients_and_seed = mistake(
    "backward",
    _in_grad_alone("output.grad = (output.grad or 0.0) + 1.0", "parent.grad = (parent.grad or 0.0) + g * local"),
    says="Nodes pass on their .grad, and .grad still holds what earlier calls left there, the output's included. "
    "Collect the gradients of this call apart, and add them to .grad at the end.",
)

seeded_with_the_old_gradient = mistake(
    "backward",
    {"gradients = {output: 1.0}": "gradients = {output: (output.grad or 0.0) + 1.0}"},
    says=f"{SEEDED_WITH_THE_OLD}, on every node.",
)

seeded_and_kept_the_old_gradient = mistake(
    "backward",
    {
        "gradients = {output: 1.0}": "gradients = {output: (output.grad or 0.0) + 1.0}",
        ADDS: "node.grad = g if node.grad is None or node is output else node.grad + g",
    },
    says=f"{SEEDED_WITH_THE_OLD}, as on all the other nodes.",
)

added_to_none = mistake(
    "backward",
    {ADDS: "node.grad += g"},
    says="A .grad of None counts as 0, and None + a number is refused: node.grad = (node.grad or 0.0) + g.",
)

added_to_none_on_the_way = mistake(
    "backward",
    _in_grad_alone("output.grad = 1.0", "parent.grad += g * local"),
    says="A .grad of None counts as 0, and None + a number is refused. And keep the gradients of this call in a dict: "
    "what stands in .grad from earlier calls must not be passed on.",
)

looked_up_too_early = mistake(
    "backward",
    {IN_REVERSE: "for node in topological_order(output):"},
    says="A node was looked up in the dict before it had a gradient. Either `reversed` is missing, as a topological "
    "order begins with the leaves, or += met a parent for the first time: gradients.get(parent, 0.0).",
)

passed_on_too_early = mistake(
    "backward",
    {
        IN_REVERSE: "for node in topological_order(output):",
        "g = gradients[node]": "",
        SENDS: "gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local",
    },
    says="A node was looked up in the dict before it had a gradient: is `reversed` missing? A topological order begins "
    "with the leaves, and the gradients with the output.",
)

seen_in_a_list = mistake(
    "backward",
    {
        "order, seen, stack = [], set(), [(output, False)]": "order, seen, stack = [], [], [(output, False)]",
        "seen.add(node)": "seen.append(node)",
    },
    says=SEEN_IN_A_LIST,
    where="topological_order",
)

overwrites_grad = mistake(
    "backward",
    {ADDS: "node.grad = g"},
    says="The gradients of this call replaced what stood in .grad: it was overwritten, or cleared first. Calls add "
    "up: node.grad += this call's gradient, with None as 0.",
)

fills_only_none = mistake(
    "backward",
    {ADDS: "if node.grad is None:\n    node.grad = g"},
    says="Only a .grad of None was filled; one that was there stayed as it was. This call's gradient is added to it.",
)

intermediates_start_afresh = mistake(
    "backward",
    {ADDS: "node.grad = g if node.grad is None or node.parents else node.grad + g"},
    says="The gradients of leaves add up over calls, those of the nodes between start afresh with each. Here every "
    "node keeps what it had, and adds.",
)

overwrites_fan_out = mistake(
    "backward",
    {SENDS: "gradients[parent] = g * local"},
    says="A node that was used several times got the gradient of one use only: = where += belongs. Add what each use "
    "sends back.",
)

repeated_parent_counted_once = mistake(
    "backward",
    {f"for parent, local in {USES}:": f"for parent, local in dict({USES}).items():"},
    says="A parent that stands twice in .parents, as in a * a, was counted once: in a dict or a set of parents one of "
    "the two is lost. Walk over parents and local gradients together, with zip.",
)

depth_first = mistake(
    "backward",
    _as_they_are_found("pop()"),
    says=f"{BEFORE_ALL_ITS_USES} from a stack as they were found. Walk in reverse topological order, where every use "
    "of a node comes before it.",
)

breadth_first = mistake(
    "backward",
    _as_they_are_found("pop(0)"),
    says=f"{BEFORE_ALL_ITS_USES} level by level, breadth first, and a node may be reached by a short path before a "
    "long one. Walk in reverse topological order.",
)

from_the_leaves_up = mistake(
    "backward",
    {IN_REVERSE: "for node in topological_order(output):", "g = gradients[node]": "g = gradients.get(node, 0.0)"},
    says="The walk went from the leaves to the output, when nobody had a gradient to pass on yet. A topological order "
    "has parents first: walk it in reverse.",
)


@misconception(
    "backward",
    says="Every path was walked on its own: the right sum, but the number of paths doubles with every node that is "
    "used twice. Come to each node once, and pass on the sum when it is complete.",
)
def path_by_path(output):
    stack = [(output, 1.0)]
    while stack:
        node, g = stack.pop()
        node.grad = (node.grad or 0.0) + g
        uses = zip(node.parents, node.local_gradients, strict=True)
        stack.extend((parent, g * local) for parent, local in uses)


@misconception("backward", replaces="topological_order", says=RECURSIVE)
def recursive(output):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(output)
    return order


leaves_only = mistake(
    "backward",
    {ADDS: f"if not node.parents:\n    {ADDS}"},
    says="Only leaves got a .grad, as in PyTorch. Here every node that was reached gets one.",
)

not_the_output = mistake(
    "backward",
    {ADDS: f"if node is not output:\n    {ADDS}"},
    says="The output itself got no gradient: d(output)/d(output) is 1, and is added like the rest.",
)

seeded_with_the_value = mistake(
    "backward",
    {"gradients = {output: 1.0}": "gradients = {output: output.value}"},
    says="The sweep started with the output's value. It starts with d(output)/d(output), which is 1.",
)

marks_left_on_nodes = mistake(
    "backward",
    {"elif node not in seen:": "elif not hasattr(node, 'visited'):", "seen.add(node)": "node.visited = True"},
    says="Nodes were marked as visited, and the marks were still there in the next call, which then did not enter "
    "them. Keep what has been seen in a set of this call's own.",
    where="topological_order",
)


@misconception(
    "backward",
    says="Each time a node is reached it passes on all of its .grad, so that what came first is counted again. Let a "
    "node wait until all contributions are there: reverse topological order, each node once.",
)
def passed_on_each_time(output):
    output.grad = 1.0 if output.grad is None else output.grad + 1.0
    stack, steps = [output], 0
    while stack:
        node = stack.pop()
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            parent.grad = (parent.grad or 0.0) + node.grad * local
            stack.append(parent)
            steps += 1
        if steps > 100_000:
            raise TimeoutError


# zero_grad

EVERY_NODE = "for node in topological_order(output):"

nothing_cleared = mistake(
    "zero_grad",
    {"node.grad = None": "node.grad"},
    says="Nothing was cleared: every node has the .grad that it had before. Set .grad to None or 0 on each.",
)

only_the_output = mistake(
    "zero_grad",
    {EVERY_NODE: "for node in [output]:"},
    says="Only the output was cleared. Everything that it depends on holds a gradient, too: walk the graph.",
)

one_level_down = mistake(
    "zero_grad",
    {EVERY_NODE: "for node in [output, *output.parents]:"},
    says="Only the output and its parents were cleared: the parents have parents. Walk on until there are none.",
)

only_leaves = mistake(
    "zero_grad",
    {"node.grad = None": "if not node.parents:\n    node.grad = None"},
    says="Only the leaves were cleared. The nodes between them and the output have a .grad as well here.",
)

not_the_leaves = mistake(
    "zero_grad",
    {"node.grad = None": "if node.parents:\n    node.grad = None"},
    says="The leaves were not cleared: they are nodes like the others, without parents.",
)

all_but_the_output = mistake(
    "zero_grad",
    {"node.grad = None": "if node is not output:\n    node.grad = None"},
    says="The output itself was not cleared: it holds its own gradient.",
)


@misconception(
    "zero_grad", says="Only the first parent of each node was followed. A node may have several: go to all of them."
)
def along_first_parents(output):
    node = output
    while node is not None:
        node.grad = None
        node = node.parents[0] if node.parents else None


@misconception(
    "zero_grad",
    says="The walk stopped at nodes whose .grad was None or 0 already, and what stands below them may not be. "
    "Remember what you have seen in a set, not in .grad.",
)
def stops_where_there_is_nothing(output):
    stack = [output]
    while stack:
        node = stack.pop()
        if node.grad:
            node.grad = None
            stack.extend(node.parents)


@misconception(
    "zero_grad",
    says="The walk stopped at nodes whose .grad was None already, and what stands below them may have one. Remember "
    "what you have seen in a set, not in .grad.",
)
def stops_at_none(output):
    stack = [output]
    while stack:
        node = stack.pop()
        if node.grad is not None:
            node.grad = None
            stack.extend(node.parents)


@misconception("zero_grad", says=SEEN_IN_A_LIST)
def cleared_in_a_list(output):
    stack, seen = [output], []
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.append(node)
            node.grad = None
            stack.extend(node.parents)


@misconception("zero_grad", says=RECURSIVE)
def recursive_clearing(output, seen=None):
    seen = set() if seen is None else seen
    if output not in seen:
        seen.add(output)
        output.grad = None
        for parent in output.parents:
            recursive_clearing(parent, seen)


@misconception(
    "zero_grad",
    says="Every path was walked on its own, and the number of paths doubles with every node that is used twice. "
    "Remember which nodes you have seen, and enter each once.",
)
def clearing_path_by_path(output):
    stack = [output]
    while stack:
        node = stack.pop()
        node.grad = None
        stack.extend(node.parents)


@misconception(
    "zero_grad",
    says="Nodes were marked as cleared, and the marks were still there in the next call, which then did nothing. Keep "
    "what has been seen in a set of this call's own.",
)
def clearing_marks_left(output):
    stack = [output]
    while stack:
        node = stack.pop()
        if not hasattr(node, "cleared"):
            node.cleared = True
            node.grad = None
            stack.extend(node.parents)


deletes_the_attribute = mistake(
    "zero_grad",
    {"node.grad = None": "del node.grad"},
    says="The attribute was deleted. Set .grad to None or 0: whoever reads it next finds nothing there.",
)


# bias_gradient

mean_over_the_batch = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.mean(axis=0) if len(g) else g.sum(axis=0)"},
    says="This is the mean over the batch. The bias was used once per row, and the gradients of its uses add up: a "
    "sum. If the loss averages, g has its 1/n in it already.",
)

sum_over_the_outputs = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum(axis=1)"},
    says="The sum went along the outputs, axis 1. It goes over the rows, axis 0: one entry is left for each output.",
)

sum_over_everything = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum()"},
    says="Everything was added into one number. Sum over the rows only: each output has its own bias.",
)

kept_the_batch_axis = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum(axis=0, keepdims=True)"},
    says="The result has shape (1, m), as keepdims=True gives. The bias has shape (m,), so has its gradient.",
)

not_summed = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.copy()"},
    says="This is g itself, a gradient for each row. The one bias gets the sum of all rows.",
)


@misconception("bias_gradient", says="Only the last row is left: in a loop over the rows, = where += belongs.")
def last_row_only(g):
    db = np.zeros(g.shape[1], g.dtype)
    for row in g:
        db = row.copy()
    return db


counts_the_rows = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return np.full(g.shape[1], len(g), g.dtype)"},
    says="This counts the rows, as if every entry of g were 1. Each use sends back its row of g.",
)

collected_in_float64 = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum(axis=0, dtype=np.float64)"},
    says="The sum was collected in float64, whatever g is: np.zeros(m) is float64. Give it g's dtype.",
)


# tied_autoencoder_gradient

BOTH_USES = "return np.outer(h, dy) + np.outer(dz, x)"


def _inner_product(u, v, of):
    return (
        f"{u} @ {v} of two vectors is an inner product, one number, which was then added to every entry; the {of}'s "
        f"contribution is (m, d): np.outer({u}, {v})."
    )


encoder_only = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(dz, x)"},
    says="This is the contribution of W as the encoder only. W is used again, as the decoder: add what that use sends "
    "back.",
)

decoder_only = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(h, dy)"},
    says="This is the contribution of W as the decoder only. W is used again, as the encoder: go on through relu to W "
    "x, and add.",
)

inner_products = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return h @ dy + dz @ x"},
    says="h @ dy of two vectors is an inner product, one number; dW is (m, d): np.outer(h, dy). For the encoder's "
    "contribution alike.",
)

inner_product_in_the_decoder = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return h @ dy + np.outer(dz, x)"},
    says=_inner_product("h", "dy", of="decoder"),
)

inner_product_in_the_encoder = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(h, dy) + dz @ x"},
    says=_inner_product("dz", "x", of="encoder"),
)

entry_by_entry = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return h * dy + dz * x"},
    says="h * dy multiplies entry by entry. dW is (m, d), every entry of h with every entry of dy: np.outer(h, dy). "
    "For the encoder's contribution alike.",
)

averaged_uses = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return (np.outer(h, dy) + np.outer(dz, x)) / 2"},
    says="The two contributions were averaged. They add up: W is one parameter with two uses.",
)

transposed_decoder_use = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(dy, h) + np.outer(dz, x)"},
    says="The decoder's contribution is transposed. y = Wᵀh, so the gradient of Wᵀ is (y − x) hᵀ, and that of W its "
    "transpose, h (y − x)ᵀ, of shape (m, d).",
)

wrong_way_through_the_decoder = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = (W.T @ dy) * (z > 0)"},
    says="The hidden gradient is W (y − x): y = Wᵀh, and the way back through Wᵀ is its transpose, W itself.",
)

forgot_the_relu = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = W @ dy"},
    says="The encoder's contribution passes relu as if it were not there. Multiply W (y − x), entry by entry, by 1 "
    "where W x > 0 and by 0 elsewhere.",
)

relu_open_at_zero = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = (W @ dy) * (z >= 0)"},
    says="The derivative of relu at exactly 0 is 0 here: the mask is W x > 0, not W x >= 0.",
)

relu_for_its_derivative = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = (W @ dy) * h"},
    says="The hidden gradient was multiplied by relu(W x) itself. Its derivative belongs there: 1 where W x > 0, else "
    "0.",
)

relu_of_the_gradient = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = np.maximum(W @ dy, 0)"},
    says="relu was applied to the gradient. The mask comes from the forward pass: where W x > 0, whatever the "
    "gradient.",
)

pre_activation_in_the_decoder = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(z, dy) + np.outer(dz, x)"},
    says="The decoder's contribution was built from W x. What it multiplies is h = relu(W x): h (y − x)ᵀ.",
)

forgot_the_one_half = mistake(
    "tied_autoencoder_gradient",
    {"dy = y - x": "dy = 2 * (y - x)"},
    says="Twice too large: the ½ of the loss cancels the 2 of the square, so dL/dy is y − x.",
)

target_minus_output = mistake(
    "tied_autoencoder_gradient",
    {"dy = y - x": "dy = x - y"},
    says="The sign is wrong: dL/dy of ½‖y − x‖² is y − x, not x − y.",
)


# microbatch_gradient

ZEROS = "total = {name: np.zeros_like(value) for name, value in params.items()}"
STARTS = "for start in range(0, n, batch_size):"
SUMS = "total[name] = total[name] + share * gradients[name]"

mean_of_means = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = 1 / len(range(0, n, batch_size))"},
    says="This is the mean of the micro-batches' means: a short last one counts as much as a full one, and its rows "
    "for more. Weight each mean by its rows: len(rows) / n.",
)

sum_of_means = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = 1"},
    says="The means of the micro-batches were added up and not averaged. Each is a mean over its own rows, and counts "
    "for len(rows) / n of the whole.",
)

means_over_n = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = 1 / n"},
    says="Each mean was divided by n, as if it were a sum over its rows. First make a sum of it: times its rows, then "
    "over n.",
)

sum_over_the_rows = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = len(X[rows])"},
    says="This is the sum over the rows. The mean is asked, as grad_fn gives it: divide by n.",
)

weighted_as_if_full = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = batch_size / n"},
    says="Every micro-batch was weighted with batch_size / n, the short last one too. Weight by the rows that it has.",
)

drops_the_short_one = mistake(
    "microbatch_gradient",
    {"n = len(X)": "n = len(X) // batch_size * batch_size"},
    says="The rows that fill no whole micro-batch were left out: n // batch_size rounds down. The last one may be "
    "short.",
)

drops_the_short_one_of_n = mistake(
    "microbatch_gradient",
    {STARTS: "for start in range(0, n // batch_size * batch_size, batch_size):"},
    says="The rows that fill no whole micro-batch were left out, and yet counted in n: n // batch_size rounds down. "
    "The last one may be short.",
)

returned_in_the_loop = mistake(
    "microbatch_gradient",
    {f"for name in total:\n    {SUMS}": f"for name in total:\n    {SUMS}\nreturn total"},
    says="Only the first micro-batch is in the result: with `return` inside of the loop, the loop ends there.",
)

last_one_only = mistake(
    "microbatch_gradient",
    {SUMS: "total[name] = gradients[name]"},
    says="Only the last micro-batch is in the result: = where += belongs.",
)


@misconception(
    "microbatch_gradient",
    says="grad_fn got all rows at once. They do not fit into memory: hand it at most batch_size of them, and combine.",
)
def the_whole_batch(grad_fn, params, X, y, batch_size):
    return grad_fn(params, X, y)


row_by_row = mistake(
    "microbatch_gradient",
    {STARTS: "for start in range(n):", "rows = slice(start, start + batch_size)": "rows = slice(start, start + 1)"},
    says="grad_fn was called for one row at a time: right, and slow. Hand it batch_size rows, as many as fit.",
)

an_empty_one_at_the_end = mistake(
    "microbatch_gradient",
    {STARTS: "for i in range(n // batch_size + 1):\n    start = i * batch_size"},
    says="n // batch_size + 1 micro-batches are one too many where batch_size divides n: the last one is empty, and "
    "the mean of no rows is nan.",
)

totals_in_float64 = mistake(
    "microbatch_gradient",
    {ZEROS: "total = {name: np.zeros(value.shape) for name, value in params.items()}"},
    says="The gradients are collected in float64, whatever the parameters are. np.zeros(shape) is float64, and so is "
    "what an np.float64 is multiplied with; np.zeros_like(parameter) and Python's own numbers keep the dtype.",
)

starts_from_the_parameters = mistake(
    "microbatch_gradient",
    {ZEROS: "total = dict(params)"},
    says="The sum started from the parameters themselves. Start from zeros of the same shapes.",
)


# train

MSE = "loss = torch.nn.functional.mse_loss(model(X), y)"
STEP_OF_A_GROUP = "if waiting == accumulate:\n    step(model, lr / waiting)"
STEP_OF_THE_REST = "if waiting:\n    step(model, lr / waiting)"
STEP = "for p in model.parameters():\n    if p.grad is not None:\n        p -= lr * p.grad"

RECORDED_THE_STEP = (
    "Is it the step? Autograd records it, and refuses to change a leaf that requires a gradient in place: wrap "
    "the step in torch.no_grad()."
)


def _loss(model, X, y):
    import torch

    return torch.nn.functional.mse_loss(model(X), y)


def _step(model, lr):
    """p -= lr * grad, without clearing."""
    import torch

    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad


def _groups(batches, accumulate):
    """Lists of at most `accumulate` batches."""
    group = []
    for batch in batches:
        group.append(batch)
        if len(group) == accumulate:
            yield group
            group = []
    if group:
        yield group


def _backward_of(model, group, scale=1.0):
    """Add the gradients of the group's losses, each times `scale`, to .grad; the losses."""
    losses = []
    for X, y in group:
        loss = _loss(model, X, y)
        (loss * scale).backward()
        losses.append(loss.item())
    return losses


@misconception(
    "train",
    says="The gradients were never cleared: each step takes those of all earlier groups once more. model.zero_grad() "
    "after each step.",
)
def never_clears(model, batches, lr, accumulate=1):
    losses = []
    model.zero_grad()
    for group in _groups(batches, accumulate):
        losses += _backward_of(model, group, 1 / len(group))
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="What stood in .grad before the training is in the first step: clear the gradients before the first batch, "
    "too.",
)
def clears_only_after_steps(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        losses += _backward_of(model, group, 1 / len(group))
        _step(model, lr)
        model.zero_grad()
    return losses


clears_every_batch = mistake(
    "train",
    {"loss.backward()": "model.zero_grad()\nloss.backward()"},
    says="The gradients were cleared for every batch, so that only the last one of a group counts. Clear once a group.",
)

steps_every_batch = mistake(
    "train",
    {"if waiting == accumulate:": "if waiting:"},
    says="There was a step after every batch. With accumulate, the parameters stay as they are until the group is "
    "complete.",
)

small_steps_every_batch = mistake(
    "train",
    {STEP_OF_A_GROUP: "if waiting:\n    step(model, lr / accumulate)"},
    says="There was a step after every batch, with lr / accumulate. The parameters stay as they are until the group "
    "is complete: all of its gradients belong to the same parameters.",
)

sum_over_the_group = mistake(
    "train",
    {
        STEP_OF_A_GROUP: "if waiting == accumulate:\n    step(model, lr)",
        STEP_OF_THE_REST: "if waiting:\n    step(model, lr)",
    },
    says="The step took the sum of the group's gradients. The mean is asked: divide by the number of batches in the "
    "group.",
)

short_group_over_accumulate = mistake(
    "train",
    {STEP_OF_THE_REST: "if waiting:\n    step(model, lr / accumulate)"},
    says="The short last group was divided by accumulate, too: its step is too small. Divide by the batches that it "
    "has.",
)

drops_the_short_group = mistake(
    "train",
    {STEP_OF_THE_REST: ""},
    says="The batches of a short last group never moved the parameters: when the loop ends, see whether gradients are "
    "still waiting.",
)

neither_end_of_the_loop = mistake(
    "train",
    {
        "model.zero_grad()": "",
        "loss.backward()": "(loss / accumulate).backward()",
        STEP_OF_A_GROUP: "if waiting == accumulate:\n    step(model, lr)",
        STEP_OF_THE_REST: "",
    },
    says="Clearing and stepping only after each whole group leaves out both ends. What stood in .grad before the "
    "training is in the first step: clear it before the first batch. The batches of a short last group never moved "
    "the parameters: step once more after the loop.",
)

groups_off_by_one = mistake(
    "train",
    {
        "for X, y in batches:": "for i, (X, y) in enumerate(batches):",
        "if waiting == accumulate:": "if i % accumulate == 0:",
    },
    says="The first step came after the first batch: batch 0 is a multiple of accumulate, too. A group is complete "
    "when (i + 1) % accumulate is 0.",
)


@misconception(
    "train",
    says="The losses that were returned had been divided for the backward pass. Return each batch's own loss, and "
    "keep the scaled one for backward().",
)
def scaled_losses(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += [loss / len(group) for loss in _backward_of(model, group, 1 / len(group))]
        _step(model, lr)
    return losses


@misconception("train", says="There is one loss for each step. One for each batch is asked.")
def one_loss_per_step(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses.append(sum(_backward_of(model, group, 1 / len(group))) / len(group))
        _step(model, lr)
    return losses


@misconception(
    "train", says="The losses were computed again after the step. Return those that came with the gradients, before it."
)
def losses_after_the_step(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        _backward_of(model, group, 1 / len(group))
        _step(model, lr)
        losses += [_loss(model, X, y).item() for X, y in group]
    return losses


losses_as_tensors = mistake(
    "train",
    {"losses.append(loss.item())": "losses.append(loss.detach())"},
    says="The losses are tensors. A list of them is no list of numbers, and each keeps its graph alive: loss.item().",
)


@misconception(
    "train", says="In the mean over a group, batches were weighted by their rows. Here every batch counts alike."
)
def weighted_by_rows(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        rows = sum(len(X) for X, _ in group)
        model.zero_grad()
        for X, y in group:
            losses += _backward_of(model, [(X, y)], len(X) / rows)
        _step(model, lr)
    return losses


parameters_never_change = mistake(
    "train",
    {"p -= lr * p.grad": "p = p - lr * p.grad"},
    says="The parameters never change. There is no step, or the gradients are cleared between backward() and the step, "
    "or p = p - lr * p.grad only gives the name p to a new tensor (p -= ... under no_grad writes into the parameter).",
    where="step",
)

recorded_the_step = mistake(
    "train",
    {f"with torch.no_grad():\n{STEP}": STEP},
    says=RECORDED_THE_STEP,
    where="step",
)

recorded_the_step_of_all = mistake(
    "train",
    {f"with torch.no_grad():\n{STEP}": "for p in model.parameters():\n    p -= lr * p.grad"},
    says=f"{RECORDED_THE_STEP} And skip parameters whose .grad is None.",
    where="step",
)

uphill = mistake(
    "train",
    {"p -= lr * p.grad": "p += lr * p.grad"},
    says="The step goes uphill: p -= lr * grad, with a minus.",
    where="step",
)

summed_loss = mistake(
    "train",
    {MSE: 'loss = torch.nn.functional.mse_loss(model(X), y, reduction="sum")'},
    says="The loss is a sum over the entries. mse_loss(model(X), y) is their mean.",
)

needs_a_length = mistake(
    "train",
    {"for X, y in batches:": "for i in range(len(batches)):\n    X, y = batches[i]"},
    says="batches was asked for its length, or for a batch by number. It may be a generator: walk it once, with for.",
)

steps_without_a_gradient = mistake(
    "train",
    {"if p.grad is not None:\n    p -= lr * p.grad": "p -= lr * p.grad"},
    says="A parameter that gets no gradient has a .grad of None: one that is frozen, or that the model does not use. "
    "Skip it in the step.",
    where="step",
)
