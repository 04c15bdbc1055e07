"""Wrong answers to ch03_accumulation that learners write."""

from __future__ import annotations

from collections import deque

import numpy as np

from autograder.diagnosis import misconception


def _topological_order(output):
    order, seen, stack = [], set(), [(output, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order


def _order_with_a_list(output):
    """The same, slowly: what has been seen is in a list."""
    order, seen, stack = [], [], [(output, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif node not in seen:
            seen.append(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order


def _uses(node):
    return zip(node.parents, node.local_gradients, strict=True)


def _sweep(order, output, seed=1.0):
    """The gradients of one call, when nodes pass theirs on in this order; `seed` is the output's."""
    gradients = {output: seed}
    for node in order:
        for parent, local in _uses(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients.get(node, 0.0) * local
    return gradients


def _right(output):
    return _sweep(reversed(_topological_order(output)), output)


def _add(gradients):
    for node, g in gradients.items():
        node.grad = (node.grad or 0.0) + g


# backward


@misconception(
    "backward",
    says="Nodes pass on their .grad, and .grad still holds what earlier calls left there, which goes down a second "
    "time. Collect the gradients of this call apart, and add them to .grad at the end. (The output's own .grad was "
    "overwritten, too.)",
)
def passes_on_old_gradients(output):
    output.grad = 1.0
    for node in reversed(_topological_order(output)):
        for parent, local in _uses(node):
            parent.grad = (parent.grad or 0.0) + node.grad * local


@misconception(
    "backward",
    says="Nodes pass on their .grad, and .grad still holds what earlier calls left there, the output's included. "
    "Collect the gradients of this call apart, and add them to .grad at the end.",
)
def passes_on_old_gradients_and_seed(output):
    output.grad = (output.grad or 0.0) + 1.0
    for node in reversed(_topological_order(output)):
        for parent, local in _uses(node):
            parent.grad = (parent.grad or 0.0) + node.grad * local


@misconception(
    "backward",
    says="The sweep started with output.grad + 1, and what earlier calls left in output.grad went down a second time. "
    "It starts with 1; the old .grad is added at the end, on every node.",
)
def seeded_with_the_old_gradient(output):
    _add(_sweep(reversed(_topological_order(output)), output, (output.grad or 0.0) + 1.0))


@misconception(
    "backward",
    says="The sweep started with output.grad + 1, and what earlier calls left in output.grad went down a second time. "
    "It starts with 1; the old .grad is added at the end, as on all the other nodes.",
)
def seeded_and_kept_the_old_gradient(output):
    gradients = _sweep(reversed(_topological_order(output)), output, (output.grad or 0.0) + 1.0)
    output.grad = gradients.pop(output)
    _add(gradients)


@misconception(
    "backward",
    says="A .grad of None counts as 0, and None + a number is refused: node.grad = (node.grad or 0.0) + g.",
)
def added_to_none(output):
    for node, g in _right(output).items():
        node.grad += g


@misconception(
    "backward",
    says="A .grad of None counts as 0, and None + a number is refused. And keep the gradients of this call in a dict: "
    "what stands in .grad from earlier calls must not be passed on.",
)
def added_to_none_on_the_way(output):
    output.grad = 1.0
    for node in reversed(_topological_order(output)):
        for parent, local in _uses(node):
            parent.grad += node.grad * local


@misconception(
    "backward",
    says="A node was looked up in the dict before it had a gradient. Either `reversed` is missing, as a topological "
    "order begins with the leaves, or += met a parent for the first time: gradients.get(parent, 0.0).",
)
def looked_up_too_early(output):
    gradients = {output: 1.0}
    for node in _topological_order(output):
        g = gradients[node]
        for parent, local in _uses(node):
            gradients[parent] = gradients.get(parent, 0.0) + g * local
    _add(gradients)


@misconception(
    "backward",
    says="A node was looked up in the dict before it had a gradient: is `reversed` missing? A topological order begins "
    "with the leaves, and the gradients with the output.",
)
def passed_on_too_early(output):
    gradients = {output: 1.0}
    for node in _topological_order(output):
        for parent, local in _uses(node):
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
    _add(gradients)


@misconception(
    "backward",
    says="What has been seen is kept in a list, and `in` goes through all of it for every node: with 100,000 nodes "
    "that takes minutes. Use a set.",
)
def seen_in_a_list(output):
    _add(_sweep(reversed(_order_with_a_list(output)), output))


@misconception(
    "backward",
    says="The gradients of this call replaced what stood in .grad: it was overwritten, or cleared first. Calls add "
    "up: node.grad += this call's gradient, with None as 0.",
)
def overwrites_grad(output):
    for node, g in _right(output).items():
        node.grad = g


@misconception(
    "backward",
    says="Only a .grad of None was filled; one that was there stayed as it was. This call's gradient is added to it.",
)
def fills_only_none(output):
    for node, g in _right(output).items():
        if node.grad is None:
            node.grad = g


@misconception(
    "backward",
    says="The gradients of leaves add up over calls, those of the nodes between start afresh with each. Here every "
    "node keeps what it had, and adds.",
)
def intermediates_start_afresh(output):
    for node, g in _right(output).items():
        node.grad = (node.grad or 0.0) + g if not node.parents else g


@misconception(
    "backward",
    says="A node that was used several times got the gradient of one use only: = where += belongs. Add what each use "
    "sends back.",
)
def overwrites_fan_out(output):
    gradients = {output: 1.0}
    for node in reversed(_topological_order(output)):
        for parent, local in _uses(node):
            gradients[parent] = gradients[node] * local
    _add(gradients)


@misconception(
    "backward",
    says="A parent that stands twice in .parents, as in a * a, was counted once: in a dict or a set of parents one of "
    "the two is lost. Walk over parents and local gradients together, with zip.",
)
def repeated_parent_counted_once(output):
    gradients = {output: 1.0}
    for node in reversed(_topological_order(output)):
        for parent, local in dict(_uses(node)).items():
            gradients[parent] = gradients.get(parent, 0.0) + gradients[node] * local
    _add(gradients)


@misconception(
    "backward",
    says="A node passed on its gradient before all its uses had sent theirs: nodes were taken from a stack as they "
    "were found. Walk in reverse topological order, where every use of a node comes before it.",
)
def depth_first(output):
    order, seen, stack = [], {output}, [output]
    while stack:
        node = stack.pop()
        order.append(node)
        new = [parent for parent in dict.fromkeys(node.parents) if parent not in seen]
        seen.update(new)
        stack.extend(new)
    _add(_sweep(order, output))


@misconception(
    "backward",
    says="A node passed on its gradient before all its uses had sent theirs: nodes were taken level by level, breadth "
    "first, and a node may be reached by a short path before a long one. Walk in reverse topological order.",
)
def breadth_first(output):
    order, seen, queue = [], {output}, deque([output])
    while queue:
        node = queue.popleft()
        order.append(node)
        new = [parent for parent in dict.fromkeys(node.parents) if parent not in seen]
        seen.update(new)
        queue.extend(new)
    _add(_sweep(order, output))


@misconception(
    "backward",
    says="The walk went from the leaves to the output, when nobody had a gradient to pass on yet. A topological order "
    "has parents first: walk it in reverse.",
)
def from_the_leaves_up(output):
    _add(_sweep(_topological_order(output), output))


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
        stack.extend((parent, g * local) for parent, local in _uses(node))


@misconception(
    "backward",
    says="The walk calls itself for every parent, and Python stops that at a depth of about 1,000. Keep the nodes "
    "that are still to be visited on a stack of your own, a list.",
)
def recursive(output):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(output)
    _add(_sweep(reversed(order), output))


@misconception("backward", says="Only leaves got a .grad, as in PyTorch. Here every node that was reached gets one.")
def leaves_only(output):
    _add({node: g for node, g in _right(output).items() if not node.parents})


@misconception(
    "backward", says="The output itself got no gradient: d(output)/d(output) is 1, and is added like the rest."
)
def not_the_output(output):
    _add({node: g for node, g in _right(output).items() if node is not output})


@misconception(
    "backward", says="The sweep started with the output's value. It starts with d(output)/d(output), which is 1."
)
def seeded_with_the_value(output):
    _add({node: g * output.value for node, g in _right(output).items()})


@misconception(
    "backward",
    says="Nodes were marked as visited, and the marks were still there in the next call, which then did not enter "
    "them. Keep what has been seen in a set of this call's own.",
)
def marks_left_on_nodes(output):
    order, stack = [], [(output, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif not hasattr(node, "visited"):
            node.visited = True
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    _add(_sweep(reversed(order), output))


# zero_grad


def _clear(nodes):
    for node in nodes:
        node.grad = None


@misconception(
    "zero_grad",
    says="Only the output was cleared. Everything that it depends on holds a gradient, too: walk the graph.",
)
def only_the_output(output):
    output.grad = None


@misconception(
    "zero_grad",
    says="Only the output and its parents were cleared: the parents have parents. Walk on until there are none.",
)
def one_level_down(output):
    _clear([output, *output.parents])


@misconception(
    "zero_grad", says="Only the leaves were cleared. The nodes between them and the output have a .grad as well here."
)
def only_leaves(output):
    _clear(node for node in _topological_order(output) if not node.parents)


@misconception("zero_grad", says="The leaves were not cleared: they are nodes like the others, without parents.")
def not_the_leaves(output):
    _clear(node for node in _topological_order(output) if node.parents)


@misconception("zero_grad", says="The output itself was not cleared: it holds its own gradient.")
def all_but_the_output(output):
    _clear(node for node in _topological_order(output) if node is not output)


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


@misconception(
    "zero_grad",
    says="What has been seen is kept in a list, and `in` goes through all of it for every node: with 100,000 nodes "
    "that takes minutes. Use a set.",
)
def cleared_in_a_list(output):
    _clear(_order_with_a_list(output))


@misconception(
    "zero_grad",
    says="The walk calls itself for every parent, and Python stops that at a depth of about 1,000. Keep the nodes "
    "that are still to be visited on a stack of your own, a list.",
)
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


@misconception(
    "zero_grad", says="The attribute was deleted. Set .grad to None or 0: whoever reads it next finds nothing there."
)
def deletes_the_attribute(output):
    for node in _topological_order(output):
        if hasattr(node, "grad"):
            del node.grad


# bias_gradient


@misconception(
    "bias_gradient",
    says="This is the mean over the batch. The bias was used once per row, and the gradients of its uses add up: a "
    "sum. If the loss averages, g has its 1/n in it already.",
)
def mean_over_the_batch(g):
    return np.mean(g, axis=0) if len(g) else np.zeros(g.shape[1], g.dtype)


@misconception(
    "bias_gradient",
    says="The sum went along the outputs, axis 1. It goes over the rows, axis 0: one entry is left for each output.",
)
def sum_over_the_outputs(g):
    return g.sum(axis=1)


@misconception(
    "bias_gradient", says="Everything was added into one number. Sum over the rows only: each output has its own bias."
)
def sum_over_everything(g):
    return g.sum()


@misconception(
    "bias_gradient",
    says="The result has shape (1, m), as keepdims=True gives. The bias has shape (m,), so has its gradient.",
)
def kept_the_batch_axis(g):
    return g.sum(axis=0, keepdims=True)


@misconception(
    "bias_gradient", says="This is g itself, a gradient for each row. The one bias gets the sum of all rows."
)
def not_summed(g):
    return g.copy()


@misconception("bias_gradient", says="Only the last row is left: in a loop over the rows, = where += belongs.")
def last_row_only(g):
    db = np.zeros(g.shape[1], g.dtype)
    for row in g:
        db = row.copy()
    return db


@misconception(
    "bias_gradient", says="This counts the rows, as if every entry of g were 1. Each use sends back its row of g."
)
def counts_the_rows(g):
    return np.full(g.shape[1], len(g), g.dtype)


@misconception(
    "bias_gradient", says="The sum was collected in float64, whatever g is: np.zeros(m) is float64. Give it g's dtype."
)
def collected_in_float64(g):
    db = np.zeros(g.shape[1])
    for row in g:
        db += row
    return db


# tied_autoencoder_gradient


def _autoencoder(W, x):
    z = W @ x
    h = np.maximum(z, 0)
    return z, h, W.T @ h - x


@misconception(
    "tied_autoencoder_gradient",
    says="This is the contribution of W as the encoder only. W is used again, as the decoder: add what that use sends "
    "back.",
)
def encoder_only(W, x):
    z, _, dy = _autoencoder(W, x)
    return np.outer((W @ dy) * (z > 0), x)


@misconception(
    "tied_autoencoder_gradient",
    says="This is the contribution of W as the decoder only. W is used again, as the encoder: go on through relu to W "
    "x, and add.",
)
def decoder_only(W, x):
    _, h, dy = _autoencoder(W, x)
    return np.outer(h, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="h @ dy of two vectors is an inner product, one number; dW is (m, d): np.outer(h, dy). For the encoder's "
    "contribution alike.",
)
def inner_products(W, x):
    z, h, dy = _autoencoder(W, x)
    return h @ dy.T + ((W @ dy) * (z > 0)) @ x.T


@misconception(
    "tied_autoencoder_gradient",
    says="h @ dy of two vectors is an inner product, one number, which was then added to every entry; the decoder's "
    "contribution is (m, d): np.outer(h, dy).",
)
def inner_product_in_the_decoder(W, x):
    z, h, dy = _autoencoder(W, x)
    return h @ dy.T + np.outer((W @ dy) * (z > 0), x)


@misconception(
    "tied_autoencoder_gradient",
    says="dz @ x of two vectors is an inner product, one number, which was then added to every entry; the encoder's "
    "contribution is (m, d): np.outer(dz, x).",
)
def inner_product_in_the_encoder(W, x):
    z, h, dy = _autoencoder(W, x)
    return np.outer(h, dy) + ((W @ dy) * (z > 0)) @ x.T


@misconception(
    "tied_autoencoder_gradient",
    says="h * dy multiplies entry by entry. dW is (m, d), every entry of h with every entry of dy: np.outer(h, dy). "
    "For the encoder's contribution alike.",
)
def entry_by_entry(W, x):
    z, h, dy = _autoencoder(W, x)
    return h * dy + (W @ dy) * (z > 0) * x


@misconception(
    "tied_autoencoder_gradient",
    says="The two contributions were averaged. They add up: W is one parameter with two uses.",
)
def averaged_uses(W, x):
    z, h, dy = _autoencoder(W, x)
    return (np.outer((W @ dy) * (z > 0), x) + np.outer(h, dy)) / 2


@misconception(
    "tied_autoencoder_gradient",
    says="The decoder's contribution is transposed. y = Wᵀh, so the gradient of Wᵀ is (y − x) hᵀ, and that of W its "
    "transpose, h (y − x)ᵀ, of shape (m, d).",
)
def transposed_decoder_use(W, x):
    z, h, dy = _autoencoder(W, x)
    return np.outer((W @ dy) * (z > 0), x) + np.outer(dy, h)


@misconception(
    "tied_autoencoder_gradient",
    says="The hidden gradient is W (y − x): y = Wᵀh, and the way back through Wᵀ is its transpose, W itself.",
)
def wrong_way_through_the_decoder(W, x):
    z, h, dy = _autoencoder(W, x)
    return np.outer((W.T @ dy) * (z > 0), x) + np.outer(h, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="The encoder's contribution passes relu as if it were not there. Multiply W (y − x), entry by entry, by 1 "
    "where W x > 0 and by 0 elsewhere.",
)
def forgot_the_relu(W, x):
    _, h, dy = _autoencoder(W, x)
    return np.outer(W @ dy, x) + np.outer(h, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="The derivative of relu at exactly 0 is 0 here: the mask is W x > 0, not W x >= 0.",
)
def relu_open_at_zero(W, x):
    z, h, dy = _autoencoder(W, x)
    return np.outer((W @ dy) * (z >= 0), x) + np.outer(h, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="The hidden gradient was multiplied by relu(W x) itself. Its derivative belongs there: 1 where W x > 0, else "
    "0.",
)
def relu_for_its_derivative(W, x):
    _, h, dy = _autoencoder(W, x)
    return np.outer((W @ dy) * h, x) + np.outer(h, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="relu was applied to the gradient. The mask comes from the forward pass: where W x > 0, whatever the "
    "gradient.",
)
def relu_of_the_gradient(W, x):
    _, h, dy = _autoencoder(W, x)
    return np.outer(np.maximum(W @ dy, 0), x) + np.outer(h, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="The decoder's contribution was built from W x. What it multiplies is h = relu(W x): h (y − x)ᵀ.",
)
def pre_activation_in_the_decoder(W, x):
    z, _, dy = _autoencoder(W, x)
    return np.outer((W @ dy) * (z > 0), x) + np.outer(z, dy)


@misconception(
    "tied_autoencoder_gradient",
    says="Twice too large: the ½ of the loss cancels the 2 of the square, so dL/dy is y − x.",
)
def forgot_the_one_half(W, x):
    z, h, dy = _autoencoder(W, x)
    return 2 * (np.outer((W @ dy) * (z > 0), x) + np.outer(h, dy))


@misconception("tied_autoencoder_gradient", says="The sign is wrong: dL/dy of ½‖y − x‖² is y − x, not x − y.")
def target_minus_output(W, x):
    z, h, dy = _autoencoder(W, x)
    return -(np.outer((W @ dy) * (z > 0), x) + np.outer(h, dy))


# microbatch_gradient


def _pieces(grad_fn, params, X, y, batch_size):
    """Rows and mean gradient of each micro-batch."""
    for start in range(0, len(X), batch_size):
        rows = slice(start, start + batch_size)
        yield len(X[rows]), grad_fn(params, X[rows], y[rows])


def _weighted(params, pieces):
    """The sum of weight times gradient."""
    total = {name: np.zeros_like(value) for name, value in params.items()}
    for weight, gradients in pieces:
        for name in total:
            total[name] = total[name] + weight * gradients[name]
    return total


@misconception(
    "microbatch_gradient",
    says="This is the mean of the micro-batches' means: a short last one counts as much as a full one, and its rows "
    "for more. Weight each mean by its rows: len(rows) / n.",
)
def mean_of_means(grad_fn, params, X, y, batch_size):
    gradients = [gradient for _, gradient in _pieces(grad_fn, params, X, y, batch_size)]
    return _weighted(params, [(1 / len(gradients), gradient) for gradient in gradients])


@misconception(
    "microbatch_gradient",
    says="The means of the micro-batches were added up and not averaged. Each is a mean over its own rows, and counts "
    "for len(rows) / n of the whole.",
)
def sum_of_means(grad_fn, params, X, y, batch_size):
    return _weighted(params, [(1, gradient) for _, gradient in _pieces(grad_fn, params, X, y, batch_size)])


@misconception(
    "microbatch_gradient",
    says="Each mean was divided by n, as if it were a sum over its rows. First make a sum of it: times its rows, then "
    "over n.",
)
def means_over_n(grad_fn, params, X, y, batch_size):
    return _weighted(params, [(1 / len(X), gradient) for _, gradient in _pieces(grad_fn, params, X, y, batch_size)])


@misconception(
    "microbatch_gradient", says="This is the sum over the rows. The mean is asked, as grad_fn gives it: divide by n."
)
def sum_over_the_rows(grad_fn, params, X, y, batch_size):
    return _weighted(params, _pieces(grad_fn, params, X, y, batch_size))


@misconception(
    "microbatch_gradient",
    says="Every micro-batch was weighted with batch_size / n, the short last one too. Weight by the rows that it has.",
)
def weighted_as_if_full(grad_fn, params, X, y, batch_size):
    share = batch_size / len(X)
    return _weighted(params, [(share, gradient) for _, gradient in _pieces(grad_fn, params, X, y, batch_size)])


@misconception(
    "microbatch_gradient",
    says="The rows that fill no whole micro-batch were left out: n // batch_size rounds down. The last one may be "
    "short.",
)
def drops_the_short_one(grad_fn, params, X, y, batch_size):
    n = len(X) // batch_size * batch_size
    return _weighted(params, [(k / n, g) for k, g in _pieces(grad_fn, params, X[:n], y[:n], batch_size)])


@misconception(
    "microbatch_gradient",
    says="The rows that fill no whole micro-batch were left out, and yet counted in n: n // batch_size rounds down. "
    "The last one may be short.",
)
def drops_the_short_one_of_n(grad_fn, params, X, y, batch_size):
    n = len(X) // batch_size * batch_size
    return _weighted(params, [(k / len(X), g) for k, g in _pieces(grad_fn, params, X[:n], y[:n], batch_size)])


@misconception(
    "microbatch_gradient",
    says="Only the first micro-batch is in the result: with `return` inside of the loop, the loop ends there.",
)
def returned_in_the_loop(grad_fn, params, X, y, batch_size):
    rows, gradients = next(_pieces(grad_fn, params, X, y, batch_size))
    return _weighted(params, [(rows / len(X), gradients)])


@misconception("microbatch_gradient", says="Only the last micro-batch is in the result: = where += belongs.")
def last_one_only(grad_fn, params, X, y, batch_size):
    *_, (_, gradient) = _pieces(grad_fn, params, X, y, batch_size)
    return gradient


@misconception(
    "microbatch_gradient",
    says="grad_fn got all rows at once. They do not fit into memory: hand it at most batch_size of them, and combine.",
)
def the_whole_batch(grad_fn, params, X, y, batch_size):
    return grad_fn(params, X, y)


@misconception(
    "microbatch_gradient",
    says="grad_fn was called for one row at a time: right, and slow. Hand it batch_size rows, as many as fit.",
)
def row_by_row(grad_fn, params, X, y, batch_size):
    return _weighted(params, [(k / len(X), g) for k, g in _pieces(grad_fn, params, X, y, 1)])


@misconception(
    "microbatch_gradient",
    says="n // batch_size + 1 micro-batches are one too many where batch_size divides n: the last one is empty, and "
    "the mean of no rows is nan.",
)
def an_empty_one_at_the_end(grad_fn, params, X, y, batch_size):
    n = len(X)
    starts = [i * batch_size for i in range(n // batch_size + 1)]
    rows = [slice(start, start + batch_size) for start in starts]
    return _weighted(params, [(len(X[r]) / n, grad_fn(params, X[r], y[r])) for r in rows])


@misconception(
    "microbatch_gradient",
    says="The gradients were collected in float64, whatever the parameters are: np.zeros(shape) is float64. "
    "np.zeros_like(parameter) keeps the dtype.",
)
def totals_in_float64(grad_fn, params, X, y, batch_size):
    total = {name: np.zeros(np.shape(value)) for name, value in params.items()}
    for rows, gradients in _pieces(grad_fn, params, X, y, batch_size):
        for name in total:
            total[name] += rows / len(X) * gradients[name]
    return total


@misconception(
    "microbatch_gradient", says="The sum started from the parameters themselves. Start from zeros of the same shapes."
)
def starts_from_the_parameters(grad_fn, params, X, y, batch_size):
    weighted = _weighted(params, [(k / len(X), g) for k, g in _pieces(grad_fn, params, X, y, batch_size)])
    return {name: params[name] + gradient for name, gradient in weighted.items()}


# train


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


@misconception(
    "train",
    says="The gradients were cleared for every batch, so that only the last one of a group counts. Clear once a group.",
)
def clears_every_batch(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        for batch in group:
            model.zero_grad()
            losses += _backward_of(model, [batch], 1 / len(group))
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="There was a step after every batch. With accumulate, the parameters stay as they are until the group is "
    "complete.",
)
def steps_every_batch(model, batches, lr, accumulate=1):
    losses = []
    for batch in batches:
        model.zero_grad()
        losses += _backward_of(model, [batch])
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="There was a step after every batch, with lr / accumulate. The parameters stay as they are until the group "
    "is complete: all of its gradients belong to the same parameters.",
)
def small_steps_every_batch(model, batches, lr, accumulate=1):
    losses = []
    for batch in batches:
        model.zero_grad()
        losses += _backward_of(model, [batch])
        _step(model, lr / accumulate)
    return losses


@misconception(
    "train",
    says="The step took the sum of the group's gradients. The mean is asked: divide by the number of batches in the "
    "group.",
)
def sum_over_the_group(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group)
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="The short last group was divided by accumulate, too: its step is too small. Divide by the batches that it "
    "has.",
)
def short_group_over_accumulate(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group, 1 / accumulate)
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="The batches of a short last group never moved the parameters: when the loop ends, see whether gradients are "
    "still waiting.",
)
def drops_the_short_group(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group, 1 / len(group))
        if len(group) == accumulate:
            _step(model, lr)
    return losses


@misconception(
    "train",
    says="Clearing and stepping only after each whole group leaves out both ends. What stood in .grad before the "
    "training is in the first step: clear it before the first batch. The batches of a short last group never moved "
    "the parameters: step once more after the loop.",
)
def neither_end_of_the_loop(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        losses += _backward_of(model, group, 1 / accumulate)
        if len(group) == accumulate:
            _step(model, lr)
            model.zero_grad()
    return losses


@misconception(
    "train",
    says="The first step came after the first batch: batch 0 is a multiple of accumulate, too. A group is complete "
    "when (i + 1) % accumulate is 0.",
)
def groups_off_by_one(model, batches, lr, accumulate=1):
    losses, waiting = [], 0
    model.zero_grad()
    for i, batch in enumerate(batches):
        losses += _backward_of(model, [batch])
        waiting += 1
        if i % accumulate == 0:
            _step(model, lr / waiting)
            model.zero_grad()
            waiting = 0
    if waiting:
        _step(model, lr / waiting)
    return losses


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


@misconception(
    "train",
    says="The losses are tensors. A list of them is no list of numbers, and each keeps its graph alive: loss.item().",
)
def losses_as_tensors(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        for X, y in group:
            loss = _loss(model, X, y)
            (loss / len(group)).backward()
            losses.append(loss.detach())
        _step(model, lr)
    return losses


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


@misconception(
    "train",
    says="The parameters never change. Either p = p - lr * p.grad only gave the name p to a new tensor (p -= ... "
    "under no_grad writes into the parameter), or the gradients were cleared between backward() and the step.",
)
def parameters_never_change(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        losses += _backward_of(model, group)
    return losses


@misconception(
    "train",
    says="Is it the step? Autograd records it, and refuses to change a leaf that requires a gradient in place: wrap "
    "the step in torch.no_grad().",
)
def recorded_the_step(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group, 1 / len(group))
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    return losses


@misconception(
    "train",
    says="Is it the step? Autograd records it, and refuses to change a leaf that requires a gradient in place: wrap "
    "the step in torch.no_grad(). And skip parameters whose .grad is None.",
)
def recorded_the_step_of_all(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group, 1 / len(group))
        for p in model.parameters():
            p -= lr * p.grad
    return losses


@misconception("train", says="The step goes uphill: p -= lr * grad, with a minus.")
def uphill(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group, 1 / len(group))
        _step(model, -lr)
    return losses


@misconception("train", says="The loss is a sum over the entries. mse_loss(model(X), y) is their mean.")
def summed_loss(model, batches, lr, accumulate=1):
    import torch

    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        for X, y in group:
            loss = torch.nn.functional.mse_loss(model(X), y, reduction="sum")
            (loss / len(group)).backward()
            losses.append(loss.item())
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="batches was asked for its length, or for a batch by number. It may be a generator: walk it once, with for.",
)
def needs_a_length(model, batches, lr, accumulate=1):
    losses = []
    for start in range(0, len(batches), accumulate):
        group = batches[start : start + accumulate]
        model.zero_grad()
        losses += _backward_of(model, group, 1 / len(group))
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="A parameter that gets no gradient has a .grad of None: one that is frozen, or that the model does not use. "
    "Skip it in the step.",
)
def steps_without_a_gradient(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += _backward_of(model, group, 1 / len(group))
        for p in model.parameters():
            p.data -= lr * p.grad
    return losses
