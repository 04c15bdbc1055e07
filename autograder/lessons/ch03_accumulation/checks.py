"""Checks of ch03_accumulation: gradients that add up, in a graph of numbers, in arrays and in a training loop."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import EXACT, exercise, expect, expect_close

# Right answers that add in another order (Kahn's order, einsum, array_split, torch.optim) were within 4e-4 of EXACT and
# 3e-2 of SINGLE over 120 salts.
SINGLE = {"rtol": 1e-4, "atol": 1e-5}


def number(rng):
    """A random number of either sign, not 0, 1 or 2, short enough to read."""
    return round(float(rng.choice([-1, 1]) * rng.uniform(1.1, 1.9)), 2)


def random_graph(rng, leaves, size):
    """Leaves, nodes that are sums or multiples of earlier ones, and the name of a node that depends on all of them."""
    graph = {f"a{i}": number(rng) for i in range(leaves)}
    for i in range(size):
        near, old = rng.choice(list(graph)[-3:]), rng.choice(list(graph))  # paths of many lengths
        graph[f"b{i}"] = f"{near} + {old}" if rng.integers(2) else f"{near} * a{rng.integers(leaves)}"
    used = {name for formula in graph.values() if isinstance(formula, str) for name in formula.split()}
    output, *others = [name for name in reversed(graph) if name not in used]
    for i, name in enumerate(others):
        graph[f"c{i}"] = f"{output} + {name}"
        output = f"c{i}"
    return graph, output


def text(values):
    """`"a = 3.0; b = a * a"`: a graph, or what stands in .grad, as feedback shows it."""
    return "; ".join(f"{name} = {value}" for name, value in values.items())


# backward


def check_gradients(learner, reference, graph, outputs, before=None, case=""):
    """`.grad` of every node after backward of each of `outputs`."""
    arguments = (text(graph), outputs, text(before or {}))
    got = learner.scenario.gradients(*arguments)
    expect_close(got, reference.scenario.gradients(*arguments), case=case, **EXACT)


@exercise("backward")
def test_one_operation(learner, reference, rng):
    """The output's own gradient is 1; a sum passes it on as it is, a product times the other factor."""
    a, c = number(rng), number(rng)
    for case, graph, output in [
        ("the output is a leaf", {"a": a}, "a"),
        ("one power", {"a": a, "b": "a ** 3"}, "b"),
        ("one sum", {"a": a, "c": c, "b": "a + c"}, "b"),
        ("one product", {"a": a, "c": c, "b": "a * c"}, "b"),
        ("a chain", {"a": a, "b": "a ** 2", "c": "b ** 3"}, "c"),
    ]:
        check_gradients(learner, reference, graph, [output], case=case)


@exercise("backward")
def test_fan_out(learner, reference, rng):
    """A node that was used several times gets the sum over its uses, a parent listed twice included."""
    a, c = number(rng), number(rng)
    for case, graph, output in [
        ("a sum of a node with itself", {"a": a, "b": "a + a"}, "b"),
        ("a product of a node with itself", {"a": a, "b": "a * a"}, "b"),
        ("two uses", {"a": a, "c": c, "b": "a * c", "d": "b + a"}, "d"),
        ("three uses", {"a": a, "b": "a ** 2", "c": "a * b", "d": "c + a"}, "d"),
        ("two paths that meet again", {"a": a, "b": "a ** 2", "c": "a ** 3", "d": "b * c"}, "d"),
    ]:
        check_gradients(learner, reference, graph, [output], case=case)


@exercise("backward")
def test_sum_before_passing_on(learner, reference, rng):
    """A node passes its gradient on when all its uses have sent theirs: a short and a long path to the same node."""
    a, c = number(rng), number(rng)
    check_gradients(learner, reference, {"a": a, "b": "a + a", "c": "b + b"}, ["c"], case="two doublings")
    for case, graph in [
        ("a node used early and late", {"a": a, "b": "a ** 2", "c": "b ** 3", "d": "b * c"}),
        ("a node used late and early", {"a": a, "b": "a ** 2", "c": "b ** 3", "d": "c * b"}),
        ("a long way and a short one", {"a": a, "s": c, "b": "a * s", "c": "b + s", "e": "c ** 2", "d": "b * e"}),
        ("a short way and a long one", {"a": a, "s": c, "b": "a * s", "c": "b + s", "e": "c ** 2", "d": "e * b"}),
    ]:
        check_gradients(learner, reference, graph, ["d"], case=case)
    for leaves, size in [(2, 6), (3, 10)]:
        graph, output = random_graph(rng, leaves, size)
        check_gradients(learner, reference, graph, [output], case="a larger graph")


@exercise("backward")
def test_second_call(learner, reference, rng):
    """Another call adds the same again, on every node, and no more than that."""
    a, c = number(rng), number(rng)
    for case, graph, outputs in [
        ("a chain, two calls", {"a": 3.0, "b": "a * a", "c": "b + b"}, ["c"] * 2),  # the sums that the contract shows
        ("one operation, two calls", {"a": a, "c": c, "b": "a * c"}, ["b"] * 2),
        ("one node, two calls", {"a": a}, ["a"] * 2),
        ("a chain, three calls", {"a": a, "b": "a * a", "c": "b + b"}, ["c"] * 3),
        ("paths that meet, two calls", {"a": a, "b": "a ** 2", "c": "a * b", "d": "b * c"}, ["d"] * 2),
    ]:
        check_gradients(learner, reference, graph, outputs, case=case)


@exercise("backward")
def test_two_outputs(learner, reference, rng):
    """Calls for two outputs that share nodes leave the sum of both gradients."""
    a, c = number(rng), number(rng)
    shared = {"a": a, "c": c, "b": "a * c", "one": "b ** 2", "two": "b + a"}
    for case, graph, outputs in [
        ("outputs that share a leaf", {"a": a, "one": "a ** 2", "two": "a ** 3"}, ["one", "two"]),
        ("outputs that share a node", shared, ["one", "two"]),
        ("the same in the other order", shared, ["two", "one"]),
        ("an output, then a node below it", {"a": a, "b": "a ** 2", "d": "b ** 3"}, ["d", "b"]),
        ("a node, then an output above it", {"a": a, "b": "a ** 2", "d": "b ** 3"}, ["b", "d"]),
    ]:
        check_gradients(learner, reference, graph, outputs, case=case)


@exercise("backward")
def test_what_stood_in_grad(learner, reference, rng):
    """A `.grad` that was there before stays in the sum, and is not passed on."""
    graph = {"a": number(rng), "c": number(rng), "b": "a * c", "d": "b ** 2"}
    for case, names in [
        ("every node has a .grad already", list(graph)),  # first: here even None + a number is not met
        ("a leaf has a .grad already", ["a"]),
        ("a node in the middle has a .grad already", ["b"]),
        ("the output has a .grad already", ["d"]),
    ]:
        check_gradients(learner, reference, graph, ["d"], {name: number(rng) for name in names}, case=case)


@exercise("backward")
def test_zeros_and_bystanders(learner, reference, rng):
    """A node that is reached has a number, even 0; one that is not reached keeps what it has."""
    a, c = number(rng), number(rng)
    for case, graph, before in [
        ("a factor of 0", {"a": a, "zero": 0.0, "d": "a * zero"}, {}),
        ("a factor of 0 further up", {"a": a, "zero": 0.0, "b": "a ** 2", "d": "b * zero"}, {}),
        ("two uses that cancel", {"a": a, "minus": -1.0, "b": "a * minus", "d": "a + b"}, {}),
        ("a node that is not used", {"a": a, "c": c, "d": "a ** 2", "e": "a * c"}, {}),
        ("one that is not used, with a .grad", {"a": a, "c": c, "d": "a ** 2", "e": "a * c"}, {"e": a, "c": c}),
    ]:
        check_gradients(learner, reference, graph, ["d"], before, case=case)


@exercise("backward")
def test_long_chain(learner, reference):
    """20,000 nodes in a row: no recursion, which Python ends after 1,000."""
    for length in (3, 20_000):
        factors = np.where(np.arange(length) % 3 == 0, -1.0, 1.0)
        factors[-2:] = [1.5, 0.5]
        got, case = learner.scenario.chain_gradients(factors), f"a chain of {length:,} nodes"
        expect_close(got, reference.scenario.chain_gradients(factors), names=(".grad",), case=case, **EXACT)


@exercise("backward")
def test_many_paths(learner, reference, rng):
    """The number of paths doubles with each of 60 rungs, the work does not."""
    for rungs in (1, 3, 60):
        weights = rng.uniform(0.3, 0.7, size=(rungs, 2, 2))  # of one sign: nothing cancels
        got, case = learner.scenario.ladder_gradients(weights), f"a ladder of {rungs} rungs"
        expect_close(got, reference.scenario.ladder_gradients(weights), names=(".grad",), case=case, **EXACT)


# zero_grad


def check_zeroed(learner, reference, rng, graph, output, before, times=1, case=""):
    """`.grad` of every node after zero_grad of `output`, None as 0, and of a leaf beside the graph, which keeps its."""
    graph, before = ({"beside": number(rng), **of} for of in (graph, before))
    arguments = (text(graph), output, text(before), times)
    got = learner.scenario.zeroed(*arguments)
    expect_close(got, reference.scenario.zeroed(*arguments), case=case, **EXACT)


@exercise("zero_grad")
def test_every_node(learner, reference, rng):
    """The output, the leaves and all that is between."""
    a, c = number(rng), number(rng)
    graphs = [
        ("one node", {"a": a}, "a"),
        ("one operation", {"a": a, "c": c, "b": "a * c"}, "b"),
        ("a chain", {"a": a, "b": "a ** 2", "d": "b ** 3", "e": "d ** 2"}, "e"),
        ("shared nodes", {"a": a, "c": c, "b": "a * c", "d": "a + b", "e": "d * b"}, "e"),
        ("a larger graph", *random_graph(rng, 3, 8)),
    ]
    for case, graph, output in graphs:
        check_zeroed(learner, reference, rng, graph, output, {name: number(rng) for name in graph}, case=case)


@exercise("zero_grad", promise="instrumented")
def test_none_among_them(learner, reference, rng):
    """A node whose .grad is None, or 0, may stand above one whose .grad is not."""
    graph = {"a": number(rng), "c": number(rng), "b": "a ** 2", "d": "b * c", "e": "d ** 2"}
    for case, names in [
        ("only the leaves have a .grad", ["a", "c"]),
        ("the output has none", ["a", "b", "c", "d"]),
        ("one in the middle has none", ["a", "c", "d", "e"]),
    ]:
        check_zeroed(learner, reference, rng, graph, "e", {name: number(rng) for name in names}, case=case)
    zeros = {name: 0.0 if name in "bd" else number(rng) for name in graph}
    check_zeroed(learner, reference, rng, graph, "e", zeros, case="some are 0 already")


@exercise("zero_grad")
def test_bystanders_keep_theirs(learner, reference, rng):
    """What the output does not depend on is left alone: other leaves, and nodes above the output."""
    a, c = number(rng), number(rng)
    for case, graph in [
        ("another leaf", {"a": a, "c": c, "d": "a ** 2"}),
        ("nodes above the output", {"a": a, "c": c, "d": "a ** 2", "e": "d ** 2", "f": "e * c"}),
        ("another output of the same leaf", {"a": a, "d": "a ** 2", "e": "a ** 3"}),
    ]:
        check_zeroed(learner, reference, rng, graph, "d", {name: number(rng) for name in graph}, case=case)


@exercise("zero_grad", promise="instrumented")
def test_again(learner, reference, rng):
    """The same graph can be cleared again."""
    a, c = number(rng), number(rng)
    for case, graph, output in [
        ("one node, cleared twice", {"a": a}, "a"),
        ("a chain, cleared twice", {"a": a, "b": "a ** 2", "d": "b ** 3"}, "d"),
        ("shared nodes, cleared twice", {"a": a, "c": c, "b": "a * c", "d": "a * b"}, "d"),
    ]:
        check_zeroed(learner, reference, rng, graph, output, {name: number(rng) for name in graph}, times=2, case=case)


@exercise("zero_grad")
def test_clear_a_long_chain(learner, reference):
    """20,000 nodes in a row: no recursion, which Python ends after 1,000."""
    for length in (3, 20_000):
        factors = np.ones(length)
        got, case = learner.scenario.chain_zeroed(factors), f"a chain of {length:,} nodes"
        expect_close(got, reference.scenario.chain_zeroed(factors), names=(".grad",), case=case, **EXACT)


@exercise("zero_grad")
def test_clear_many_paths(learner, reference):
    """The number of paths doubles with each of 60 rungs, the work does not."""
    for rungs in (1, 60):
        weights = np.ones((rungs, 2, 2))
        got, case = learner.scenario.ladder_zeroed(weights), f"a ladder of {rungs} rungs"
        expect_close(got, reference.scenario.ladder_zeroed(weights), names=(".grad",), case=case, **EXACT)


# bias_gradient


def check_bias(learner, reference, g, case, **tolerance):
    expect_close(learner.bias_gradient(g), reference.bias_gradient(g), names=("db",), case=case, **tolerance)


@exercise("bias_gradient")
def test_sum_over_the_batch(learner, reference, rng):
    """One entry per output, summed over the rows."""
    for case, shape in {
        "one number": (1, 1),
        "two rows": (2, 3),
        "a batch": (5, 2),
        "as many rows as outputs": (3, 3),
        "one output": (4, 1),
        "a large batch": (200, 4),
    }.items():
        check_bias(learner, reference, rng.normal(size=shape), case, **EXACT)


@exercise("bias_gradient")
def test_small_batches(learner, reference, rng):
    """A batch of one row, the same row several times, rows of zeros."""
    row = rng.normal(size=(1, 3))
    for case, g in {
        "one row": row,
        "the same row twice": np.repeat(row, 2, axis=0),
        "the same row five times": np.repeat(row, 5, axis=0),
        "a row of zeros": np.concatenate([row, np.zeros((1, 3))]),
        "rows that cancel": np.concatenate([row, -row]),
    }.items():
        check_bias(learner, reference, g, case, **EXACT)


@exercise("bias_gradient")
def test_empty_batch(learner, reference, rng):
    """Nothing was used, so the gradient is zeros; and one row more."""
    for case, shape in {"an empty batch": (0, 3), "an empty batch, one output": (0, 1), "one row": (1, 3)}.items():
        check_bias(learner, reference, rng.normal(size=shape), case, **EXACT)


@exercise("bias_gradient")
def test_bias_in_float32(learner, reference, rng):
    """float32 stays float32."""
    for case, shape in {"float32, one row": (1, 2), "float32": (4, 3), "float32, an empty batch": (0, 2)}.items():
        check_bias(learner, reference, rng.normal(size=shape).astype(np.float32), case, **SINGLE)


# tied_autoencoder_gradient


def check_tied(learner, reference, W, x, case, **tolerance):
    got, expected = learner.tied_autoencoder_gradient(W, x), reference.tied_autoencoder_gradient(W, x)
    expect_close(got, expected, names=("dW",), case=case, **tolerance)


def inputs_away_from_zero(rng, d):
    return rng.choice([-1.0, 1.0], size=d) * rng.uniform(0.5, 1.5, size=d)


def active_weights(rng, m, x):
    """Random weights whose units are all active on x, none of them barely."""
    W = rng.normal(size=(m, len(x)))
    return W * np.sign(W @ x)[:, None] + 0.3 * x / (x @ x)


@exercise("tied_autoencoder_gradient")
def test_both_uses(learner, reference, rng):
    """Every unit is active: the contribution of the encoder and that of the decoder, added."""
    for case, (m, d) in {  # not first 1 by 1, where an inner product is right but for its shape
        "two units, two inputs": (2, 2),
        "one number": (1, 1),
        "one unit": (1, 3),
        "one input": (3, 1),
        "fewer units than inputs": (2, 4),
        "more units than inputs": (4, 2),
    }.items():
        x = inputs_away_from_zero(rng, d)
        check_tied(learner, reference, active_weights(rng, m, x), x, case, **EXACT)


@exercise("tied_autoencoder_gradient")
def test_square_tied_weights(learner, reference, rng):
    """A square W, where a missing transpose changes no shape."""
    for size in (2, 3):
        x = inputs_away_from_zero(rng, size)
        check_tied(learner, reference, active_weights(rng, size, x), x, "a square W", **EXACT)
        check_tied(learner, reference, rng.normal(size=(size, size)), rng.normal(size=size), "a square W", **EXACT)


@exercise("tied_autoencoder_gradient")
def test_units_that_are_off(learner, reference, rng):
    """A unit whose pre-activation is negative, or exactly 0, sends nothing back through relu."""
    x = np.array([rng.uniform(0.5, 1.5), 0.0])  # W x is the first column of W, times x[0]
    for case, signs in [
        ("an active unit and one at exactly 0", [1, 0]),
        ("an active unit and a negative one", [1, -1]),
        ("active, zero and negative units", [1, 0, -1, 1]),
        ("no unit active but one", [-1, 0, 1]),
    ]:
        W = np.stack([np.array(signs) * rng.uniform(0.5, 1.5, size=len(signs)), rng.normal(size=len(signs))], axis=1)
        check_tied(learner, reference, W, x, case, **EXACT)


@exercise("tied_autoencoder_gradient")
def test_random_weights(learner, reference, rng):
    """Random weights and inputs, small and large."""
    for case, (m, d), scale in [("random", (3, 2), 1), ("a wide layer", (7, 5), 1), ("large numbers", (4, 3), 30)]:
        W, x = rng.normal(size=(m, d)), scale * rng.normal(size=d)
        W[0] *= np.sign(W[0] @ x)  # one unit at least is active
        check_tied(learner, reference, W, x, case, **EXACT)


@exercise("tied_autoencoder_gradient")
def test_tied_in_float32(learner, reference, rng):
    """The gradient has the dtype of W."""
    for m, d in [(1, 2), (3, 4)]:
        x = inputs_away_from_zero(rng, d)
        W = active_weights(rng, m, x)
        check_tied(learner, reference, W.astype(np.float32), x.astype(np.float32), "float32", **SINGLE)


# microbatch_gradient


class Model:
    """A model that is linear in its parameters, of any names and shapes; `gradient` remembers what it was given."""

    calls: list[tuple[np.ndarray, np.ndarray]]

    def __init__(self, rng, shapes, n, row):
        inputs = math.prod(row)
        self.features = {name: rng.normal(size=(*shape, inputs)) for name, shape in shapes.items()}
        self.calls = []
        self._most, self._row = n, row

    def gradient(self, params, X, y):
        """The mean over the rows of the gradient of ½(prediction − y)²; nan for no rows."""
        X, y = np.asarray(X), np.asarray(y)
        if len(X) != len(y):
            raise ValueError(f"grad_fn got {len(X)} rows of X and {len(y)} of y")
        if len(X) > self._most or X.shape[1:] != self._row:  # nothing larger is computed here
            raise ValueError(f"grad_fn takes rows of X, of shape {self._row}, and there are {self._most}")
        if any(np.shape(params[name]) != feature.shape[:-1] for name, feature in self.features.items()):
            raise ValueError("grad_fn takes params as they are")
        self.calls.append((X, y))
        rows = X.reshape(len(X), math.prod(X.shape[1:]))
        felt = {name: np.tensordot(rows, feature, (1, -1)) for name, feature in self.features.items()}
        errors = -_sum_rows(y)
        for name, value in felt.items():
            errors = errors + _sum_rows(value * params[name])
        with np.errstate(all="ignore"):
            means = {name: np.tensordot(errors, felt[name], 1) / np.float64(len(X)) for name in felt}
        return {name: np.asarray(mean).astype(np.asarray(params[name]).dtype) for name, mean in means.items()}


def _sum_rows(array):
    return array.sum(axis=tuple(range(1, array.ndim)))


def problem(rng, shapes, n, row=(3,), dtype=np.float64):
    """A model, its parameters, and n rows."""
    model = Model(rng, shapes, n, row)
    params = {name: np.asarray(rng.normal(size=shape), dtype=dtype) for name, shape in shapes.items()}
    return model, params, rng.normal(size=(n, *row)).astype(dtype), rng.normal(size=n).astype(dtype)


LINEAR: dict[str, tuple[int, ...]] = {"w": (3,), "b": ()}
LAYER: dict[str, tuple[int, ...]] = {"w": (2, 3), "b": (2,), "scale": ()}


def check_microbatches(learner, model, params, X, y, batch_size, case, **tolerance):
    """The gradient of all rows at once, from calls with at most `batch_size` of them."""
    got = learner.microbatch_gradient(model.gradient, params, X, y, batch_size)
    calls = list(model.calls)
    most = max((len(rows) for rows, _ in calls), default=0)
    expect(
        most <= batch_size,
        f"grad_fn was given {most} rows at once, and batch_size is {batch_size}: more do not fit into memory",
        case=case,
    )
    expect_close(got, model.gradient(params, X, y), case=case, **tolerance)
    return calls


@exercise("microbatch_gradient")
def test_equal_batches(learner, rng):
    """`batch_size` divides n."""
    for case, n, batch_size in [("two rows, one at a time", 2, 1), ("two micro-batches", 6, 3), ("four", 8, 2)]:
        check_microbatches(learner, *problem(rng, LINEAR, n), batch_size, case, **EXACT)


@exercise("microbatch_gradient")
def test_short_last_batch(learner, rng):
    """The last micro-batch has fewer rows, and counts for less."""
    for case, n, batch_size in [
        ("two rows and one row", 3, 2),
        ("three, three and one", 7, 3),
        ("five and four", 9, 5),
        ("a last one of one row in 21", 21, 4),
    ]:
        check_microbatches(learner, *problem(rng, LINEAR, n), batch_size, case, **EXACT)


@exercise("microbatch_gradient")
def test_extreme_batch_sizes(learner, rng):
    """One row in all, n at once, more than n, one at a time."""
    for case, n, batch_size in [
        ("one row in all", 1, 1),
        ("batch_size is n", 4, 4),
        ("batch_size is larger than n", 4, 7),
        ("batch_size is far larger than n", 3, 1000),
        ("one row at a time", 5, 1),
    ]:
        check_microbatches(learner, *problem(rng, LINEAR, n), batch_size, case, **EXACT)


@exercise("microbatch_gradient")
def test_names_and_shapes(learner, rng):
    """Parameters of any names and shapes, rows of any shape."""
    for case, shapes, row in [
        ("one parameter of shape ()", {"bias": ()}, (2,)),
        ("a matrix, a vector and a 0-d array", {"layer.0.weight": (2, 3), "layer.0.bias": (2,), "scale": ()}, (3,)),
        ("a parameter without entries", {"w": (2,), "empty": (0,)}, (2,)),
        ("four axes, images as rows", {"kernel": (2, 1, 2, 2), "γ": (1,)}, (2, 2)),
        ("rows that are numbers", {"w": (3,)}, ()),
    ]:
        check_microbatches(learner, *problem(rng, shapes, 5, row), 2, case, **EXACT)
    model, params, X, y = problem(rng, LINEAR, 5)
    check_microbatches(learner, model, params, X, y[:, None], 3, "y of shape (n, 1)", **EXACT)


def _pairs(X, y):
    """Each row with its target."""
    return list(zip(X.tolist(), y.tolist(), strict=True))


@exercise("microbatch_gradient")
def test_calls(learner, rng):
    """ceil(n / batch_size) calls, and each row in one of them, with its own y."""
    for n, batch_size in [(1, 1), (4, 2), (5, 2), (7, 3), (6, 6), (5, 9)]:
        model, params, X, y = problem(rng, LINEAR, n)
        case = f"{n} rows, batch_size {batch_size}"
        calls = check_microbatches(learner, model, params, X, y, batch_size, case, **EXACT)
        needed = -(-n // batch_size)
        times = "once" if len(calls) == 1 else f"{len(calls)} times"
        expect(len(calls) == needed, f"grad_fn was called {times}; ceil(n / batch_size) is {needed}", case=case)
        seen = sorted(pair for rows, targets in calls for pair in _pairs(rows, targets))
        right = sorted(_pairs(X, y))
        expect(seen == right, "grad_fn must see every row exactly once, each with its own y", case=case)


@exercise("microbatch_gradient")
def test_microbatches_in_float32(learner, rng):
    """Each gradient has the dtype of its parameter."""
    for case, n, batch_size in [("float32", 4, 2), ("float32, a short last one", 7, 3)]:
        check_microbatches(learner, *problem(rng, LAYER, n, dtype=np.float32), batch_size, case, **SINGLE)
    model, params, X, y = problem(rng, LAYER, 5)
    params["b"] = params["b"].astype(np.float32)
    check_microbatches(learner, model, params, X, y, 2, "one parameter in float32", **SINGLE)


# train


def check_fit(learner, reference, rng, kind, rows, accumulate="left out", lr=0.1, how="fit", case=""):
    """The losses, and every parameter after the last step."""
    arguments = (kind, rows, lr, accumulate, int(rng.integers(2**31)))
    got = getattr(learner.scenario, how)(*arguments)
    expect_close(got, getattr(reference.scenario, how)(*arguments), case=case, **EXACT)


@exercise("train")
def test_one_step_for_each_batch(learner, reference, rng):
    """p -= lr * grad after every batch, each time with the gradient of that batch alone."""
    check_fit(learner, reference, rng, "linear", [2], case="one batch")
    check_fit(learner, reference, rng, "linear", [1, 1], case="two batches of one row")
    check_fit(learner, reference, rng, "linear", [3, 3, 3], case="three batches")
    check_fit(learner, reference, rng, "two layers", [4, 2, 3, 4], lr=0.05, case="two layers")
    check_fit(learner, reference, rng, "linear", [2, 2], accumulate=1, lr=0.3, case="accumulate=1")


@exercise("train")
def test_whole_groups(learner, reference, rng):
    """One step for a group of batches, with the mean of their gradients."""
    check_fit(learner, reference, rng, "linear", [2, 2], 2, case="one group of two")
    check_fit(learner, reference, rng, "linear", [2, 2, 2, 2], 2, case="two groups of two")
    check_fit(learner, reference, rng, "two layers", [3] * 9, 3, case="three groups of three")


@exercise("train")
def test_short_last_group(learner, reference, rng):
    """The last group steps with the mean over the batches that it has."""
    check_fit(learner, reference, rng, "linear", [2, 2, 2], 2, case="a group of two and one of one")
    check_fit(learner, reference, rng, "two layers", [3] * 8, 3, case="groups of three, three and two")
    check_fit(learner, reference, rng, "linear", [2, 2], 5, case="fewer batches than accumulate")


@exercise("train")
def test_batches_of_unequal_size(learner, reference, rng):
    """In the mean over a group every batch counts alike, however many rows it has."""
    check_fit(learner, reference, rng, "linear", [1, 5], 2, case="one row and five rows in a group")
    check_fit(learner, reference, rng, "two layers", [4, 1, 6, 2, 3], 2, case="batches of many sizes")


@exercise("train")
def test_stale_gradients(learner, reference, rng):
    """What stood in .grad before has no effect."""
    for kind, rows, accumulate, case in [
        ("linear", [2], "left out", "one batch, a .grad was there"),
        ("linear", [2, 2, 2], 2, "groups of two, a .grad was there"),
        ("a frozen layer", [2, 2], "left out", "a .grad was there, on a frozen layer too"),
        ("an unused layer", [2, 2], 2, "a .grad was there, on an unused layer too"),
    ]:
        check_fit(learner, reference, rng, kind, rows, accumulate, how="fit_with_stale_grads", case=case)


@exercise("train")
def test_frozen_and_unused(learner, reference, rng):
    """Parameters that get no gradient stay; one that is used twice has the sum of both uses."""
    for kind in ("a frozen layer", "an unused layer", "a tied layer"):
        check_fit(learner, reference, rng, kind, [2, 2], case=kind)
        check_fit(learner, reference, rng, kind, [2, 2, 2], 2, case=f"{kind}, groups of two")


@exercise("train")
def test_any_iterable(learner, reference, rng):
    """A generator of batches: walked once, without a length."""
    for accumulate in ("left out", 2, 3):
        case = f"batches from a generator, accumulate {accumulate}"
        check_fit(learner, reference, rng, "linear", [2] * 4, accumulate, how="fit_from_generator", case=case)


@exercise("train")
def test_losses(learner, reference, rng):
    """Python floats, one per batch; none without batches."""
    check_fit(learner, reference, rng, "linear", [], case="no batch at all")
    for case, rows in [("one batch", [2]), ("three batches", [1, 3, 2])]:
        seed = int(rng.integers(2**31))
        kinds = learner.scenario.kinds_of_losses(rows, seed)
        right = all(kind == "float" for kind in kinds)
        expect(right, "a loss that train returned is no Python float; loss.item() is one", case=case)
        expect(len(kinds) == len(rows), "train must return one loss for each batch", case=case)
