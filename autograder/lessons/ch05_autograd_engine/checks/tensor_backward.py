"""Checks of Tensor.backward."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise, expect, expect_close, expect_raises
from autograder.lessons.ch05_autograd_engine.checks.code_cells import Arrays, check_program, normal, run
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind


@exercise("Tensor.backward")
def test_one_operation(learner, reference, rng):
    """The gradients of both leaves, given that of the result."""
    for shape in [(1,), (3,), (2, 2), ()]:
        leaves, given = normal(rng, "a", "b", shape=shape), normal(rng, "g", shape=shape)
        check_program(learner, reference, "y = a * b\ny.backward(g)", leaves, ["a.grad", "b.grad"], given)
    leaves = {"x": rng.normal(size=(2, 3)), "W": rng.normal(size=(3, 2))}
    given = {"g": rng.normal(size=(2, 2))}
    check_program(learner, reference, "y = x @ W\ny.backward(g=g)", leaves, ["x.grad", "W.grad"], given)


@exercise("Tensor.backward")
def test_complete_before_it_flows(learner, reference, rng):
    """A tensor's gradient is the sum over all that was computed from it, and goes on only when it is complete."""
    for code in (
        "y = a + a",
        "b = a + a\ny = b + b",
        "b = a * a\ny = b * a",
        "b = a * a\ny = a * b",
        "b = a.tanh()\nc = b.tanh()\ny = b * c",
        "b = a.tanh()\nc = b.tanh()\ny = c * b",
        "b = a * a\nc = b.tanh()\nd = c.tanh()\ny = (d * b) * (b * d)",
        "b = a * a\nc = b.tanh()\nd = c.tanh()\ny = (b * d) * b",
        "b = a * a\nc = b * a\nd = c * b\ny = d * c + b * a",
    ):
        check_program(
            learner, reference, f"{code}\ny.backward(g)", normal(rng, "a"), ["a.grad"], normal(rng, "g"), case=code
        )


@exercise("Tensor.backward")
def test_adds_to_grad(learner, reference, rng):
    """Several backward passes add up in `grad`, until somebody resets it."""
    leaves, given = normal(rng, "a", "b"), normal(rng, "g", "h", "start")
    for case, code in {
        "two results": "(a * b).backward(g)\n(a + b).backward(h)",
        "a grad that was there": "a.grad = start.copy()\n(a * b).backward(g)",
        "reset to None": "(a * b).backward(g)\na.grad = None\n(a + b).backward(h)",
    }.items():
        check_program(learner, reference, code, leaves, ["a.grad", "b.grad"], given, case=case)


@exercise("Tensor.backward")
def test_leaf_as_root(learner, reference, rng):
    """The gradient of a leaf with respect to itself is g, which is added like any other."""
    for code in ("a.backward(g)", "a.backward(g)\na.backward(h)", "(a * a).backward(g)\na.backward(h)"):
        check_program(learner, reference, code, normal(rng, "a"), ["a.grad"], normal(rng, "g", "h"), case=code)


@exercise("Tensor.backward")
def test_nothing_left_in_the_graph(learner, reference, rng):
    """A backward pass finds nothing of an earlier one: not from the same result, nor from another above one tensor."""
    graph = "b = a * a\nc = b * a\ny = c.tanh()\n"
    ladder = "b = a * a\ny = b.tanh()\nz = b * a\n"
    for case, code in {
        "one result, twice": f"{graph}y.backward(g, retain_graph=True)\ny.backward(g)",
        "one result, three times": graph + "y.backward(g, retain_graph=True)\n" * 2 + "y.backward(h)",
        "two results of one tensor": f"{ladder}y.backward(g, retain_graph=True)\nz.backward(h)",
        "a tensor and its result": f"{ladder}b.backward(g, retain_graph=True)\nz.backward(h)",
    }.items():
        check_program(learner, reference, code, normal(rng, "a"), ["a.grad"], normal(rng, "g", "h"), case=case)


@exercise("Tensor.backward")
def test_only_leaves_keep_grad(learner, reference, rng):
    """Results, the root among them, and tensors that require no gradient keep None."""
    ask = ["a.grad", "h.grad", "y.grad", "c.grad", "unused.grad"]
    for code in (
        "c = Tensor(d)\nh = a * c\ny = h.tanh()\ny.backward(g)",
        "c = Tensor(d)\nh = c * a\ny = h + c\ny.backward(g)",
    ):
        check_program(
            learner, reference, code, normal(rng, "a", "unused"), ask, normal(rng, "d", "g"), case="which grads are set"
        )


@exercise("Tensor.backward")
def test_grads_of_their_own(learner, reference, rng):
    """A grad shares memory with nothing: writing into it changes nothing else."""
    pairs = ["a.grad, b.grad", "a.grad, g", "b.grad, g", "a.grad, a.data", "a.grad, b.data"]
    shared = ["a.grad", "b.grad", *(f"np.shares_memory({pair})" for pair in pairs), "a.grad.flags.writeable"]
    passes = {
        "a sum": "y = a + b\ny.backward(g)",
        "a difference": "y = a - b\ny.backward(g)",
        "the sum of all entries": "y = (a + b).sum()\ny.backward()",
        "a vjp that returns data": "y = record((a.data * b.data).sum(), (a, lambda g: b.data), (b, lambda g: a.data))\n"
        "y.backward()",
        "a leaf": "a.backward(g)\nb.backward(g)",
    }
    if learner.scenario.has_its_own_tape():
        del passes["a vjp that returns data"]
    for case, code in passes.items():
        check_program(learner, reference, code, normal(rng, "a", "b"), shared, normal(rng, "g"), case=case)
    for case, code in passes.items():
        code += "\na.grad *= 0"
        ask = ["b.grad", "g", "a.data", "b.data"]
        check_program(
            learner, reference, code, normal(rng, "a", "b"), ask, normal(rng, "g"), case=f"{case}, then a.grad *= 0"
        )


@exercise("Tensor.backward")
def test_sums_make_new_arrays(learner, reference, rng):
    """Adding two gradients changes neither of them: g, and what another edge was given, stay."""
    for code in (
        "y = a + a\ny.backward(g)",
        "b = a + c\ny = b + a\ny.backward(g)",
        "y = (a + c) + (a - c)\ny.backward(g)",
    ):
        ask = ["g", "a.grad", "c.grad"]
        check_program(
            learner, reference, code, normal(rng, "a", "c"), ask, normal(rng, "g"), case=code.split("\ny.b")[0]
        )


@exercise("Tensor.backward")
def test_one_number_needs_no_g(learner, reference, rng):
    """A root that holds one number, in whatever shape, has g = 1; any other root without g is a ValueError."""
    for expression in ("(a * a).sum()", "(a * a).sum(axis=0, keepdims=True)", "a[0:1].reshape(1, 1) * 3"):
        code = f"y = {expression}\ny.backward()"
        check_program(learner, reference, code, normal(rng, "a"), ["a.grad"], case=f"y = {expression}")
    for shape in [(2,), (2, 1), (0,)]:
        leaves = normal(rng, "a", shape=shape)
        case = f"y of shape {shape} without g"
        expect_raises(ValueError, run, learner, "y = a * a\ny.backward()", leaves, ["a.grad"], case=case)


@exercise("Tensor.backward", promise="instrumented")
def test_shape_of_g(learner, reference, rng):
    """A g of another shape is a ValueError, also where NumPy would broadcast it."""
    check_program(learner, reference, "(a * a).backward(g)", normal(rng, "a"), ["a.grad"], normal(rng, "g"))
    for of_y, of_g in [((2,), (3,)), ((2,), ()), ((2,), (1, 2)), ((2, 1), (2,)), ((2, 3), (3,)), ((3,), (1,))]:
        leaves, given = normal(rng, "a", shape=of_y), normal(rng, "g", shape=of_g)
        case = f"y of shape {of_y}, g of shape {of_g}"
        expect_raises(ValueError, run, learner, "y = a * a\ny.backward(g)", leaves, ["a.grad"], given, case=case)


@exercise("Tensor.backward", promise="instrumented")
def test_nothing_to_differentiate(learner, reference, rng):
    """A root that requires no gradient is a RuntimeError."""
    check_program(learner, reference, "(a * a).sum().backward()", normal(rng, "a"), ["a.grad"])
    for code in ("y = Tensor(c)", "y = Tensor(c) * 2", "y = Tensor(a.data).sum()"):
        leaves, given = normal(rng, "a", shape=(1,)), normal(rng, "c", shape=(1,))
        expect_raises(RuntimeError, run, learner, f"{code}\ny.backward()", leaves, ["y.grad"], given, case=code)


FREED = {
    "a second pass": "y = (a * a).tanh()\ny.backward(g)\ny.backward(g)",
    "one operation": "y = a * a\ny.backward(g)\ny.backward(g)",
    "a sum, which kept nothing": "y = a + a\ny.backward(g)\ny.backward(g)",
    "the second of two results of b": "b = a * a\ny, z = b * 2, b.tanh()\ny.backward(g)\nz.backward(g)",
    "a result computed from what was freed": "b = a * a\n(b * 2).backward(g)\n(b * 3).backward(g)",
    "kept once, then freed": "y = (a * a).tanh()\ny.backward(g, retain_graph=True)\ny.backward(g)\ny.backward(g)",
}


@exercise("Tensor.backward", promise="instrumented")
def test_freed_graph(learner, reference, rng):
    """A pass that meets a freed result is a RuntimeError, and its message says how to prevent it."""
    retained = "y = (a * a).tanh()\ny.backward(g, retain_graph=True)\ny.backward(g)"
    check_program(learner, reference, retained, normal(rng, "a"), ["a.grad"], normal(rng, "g"), case="retained")
    for case, code in FREED.items():
        leaves, given = normal(rng, "a"), normal(rng, "g")
        expect_raises(RuntimeError, run, learner, code, leaves, ["a.grad"], given, case=case)
        *before, last = code.split("\n")
        code = "\n".join([*before, "try:", f"    {last}", "    said = None", "except RuntimeError as error:"])
        said = run(learner, f"{code}\n    said = str(error)", leaves, ["said"], given).get("said")
        if said is not None:  # else the expectation above has failed
            expect("retain_graph" in str(said), "The RuntimeError's message does not name retain_graph.", case=case)


@exercise("Tensor.backward")
def test_freed_graph_leaves_leaves(learner, reference, rng):
    """Leaves are not freed: a new graph of them works, and so does the walk through a leaf that was a root."""
    for code in (
        "(a * a).backward(g)\n(a * a).backward(g)",
        "a.backward(g)\n(a * a).backward(g)",
        "y = (a * a).tanh()\ny.backward(g)\ny = (a * a).tanh()\ny.backward(g)",
    ):
        check_program(learner, reference, code, normal(rng, "a"), ["a.grad"], normal(rng, "g"), case="the leaf again")


@exercise("Tensor.backward")
def test_edges_after_a_pass(learner, reference, rng):
    """The edges of results become None, unless the graph is retained; leaves keep ()."""
    if learner.scenario.has_its_own_tape():
        code = "h = a * b\ny = h.tanh()\ny.backward(g, retain_graph=True)\ny.backward(g)"
        check_program(learner, reference, code, normal(rng, "a", "b"), ["a.grad"], normal(rng, "g"), case="two passes")
        return
    for case, last in {
        "after the pass": "y.backward(g)",
        "retained": "y.backward(g, retain_graph=True)",
        "retained, then freed": "y.backward(g, retain_graph=True)\ny.backward(g)",
    }.items():
        names = ["y.edges", "h.edges", "a.edges", "b.edges"]
        ask = [f"{name} and len({name})" for name in names]  # how many, where there are any: None and () stay
        names, ask = [*names, "a.grad"], [*ask, "a.grad"]
        code = f"h = a * b\ny = h.tanh()\n{last}"
        leaves, given = normal(rng, "a", "b"), normal(rng, "g")
        got, expected = run(learner, code, leaves, ask, given), reference.scenario.run(code, leaves, ask, given)
        got, expected = (
            dict(zip(names, (answers.get(one) for one in ask), strict=True)) for answers in (got, expected)
        )
        expect_close(got, expected, case=case, **EXACT)


@exercise("Tensor.backward")
def test_grad_is_an_array(learner, reference, rng):
    """A grad is an array, also where the leaf has no axes and several gradients were added."""
    for shape in [(), (2,)]:
        for case, code in {
            "one pass": "y = a * 3\ny.backward(g)",
            "the leaf used twice": "y = a * a\ny.backward(g)",
            "two passes": "(a * a).backward(g)\n(a * 3).backward(g)",
            "the leaf itself, twice": "a.backward(g)\na.backward(g)",
        }.items():
            leaves, given = normal(rng, "a", shape=shape), normal(rng, "g", shape=shape)
            leaves, given = ({name: np.array(value) for name, value in arrays.items()} for arrays in (leaves, given))
            ask = ["type(a.grad).__name__", "a.grad"]
            kind, grad = (run(learner, code, leaves, ask, given).get(one) for one in ask)
            named = (
                f"a {kind}" if isinstance(kind, str) and kind in ("float64", "float32", "float") else "something else"
            )
            message = (
                f"a.grad is {named}, not an array: sums and products of arrays without axes are "
                "NumPy numbers. Wrap what goes into grad in np.array(...)."
            )
            where = f"{case}, a of shape {shape}"
            expect(kind == "ndarray", message, case=where)
            expected = reference.scenario.run(code, leaves, ask, given)["a.grad"]
            expect_close(grad, expected, names=("a.grad",), case=where, **EXACT)


@exercise("Tensor.backward")
def test_dtypes(learner, reference, rng):
    """A grad has the dtype of its leaf, also where other dtypes are mixed in."""
    single, double = rng.normal(size=2).astype(np.float32), rng.normal(size=2)
    for case, leaves in {
        "float32": {"a": single, "b": single},
        "float32 and float64": {"a": single, "b": double},
    }.items():
        for code in (
            "y = a * b\ny.backward(g)",
            "y = a * b + a\ny.backward(g)\n(a * b).backward(g)",
            "y = a[[0, 0]] / b\ny.backward(g)",
        ):
            check_program(learner, reference, code, leaves, ["a.grad", "b.grad"], {"g": double}, case=case, **SINGLE)
    for code in ("y = (a * a).sum()\ny.backward()", "a.backward(g)"):
        check_program(learner, reference, code, {"a": single}, ["a.grad"], {"g": double}, case="float32", **SINGLE)


@exercise("Tensor.backward")
def test_long_chain(learner, reference):
    """50,000 operations: without recursion, and without a list that is searched for each, which takes ten seconds."""
    code = "y = a\nfor _ in range(49_999):\n    y = -y\n(y * b).backward(g)"
    leaves = {"a": np.array([0.5, 2.0]), "b": np.array([0.25, -1.0])}
    given = {"g": np.array([3.0, -0.75])}
    check_program(learner, reference, code, leaves, ["a.grad", "b.grad"], given, case="50,000 operations in a row")


@exercise("Tensor.backward", promise="instrumented")
def test_each_vjp_once(learner, reference, rng):
    """Each VJP is called exactly once, however many paths go through it."""
    if learner.scenario.has_its_own_tape():
        code = "y = a\nfor _ in range(60):\n    y = (y + y) * 0.5\ny.backward(g)"
        leaves, given = {"a": rng.normal(size=2)}, {"g": rng.normal(size=2)}
        check_program(learner, reference, code, leaves, ["a.grad"], given, case="2⁶⁰ paths")
        return
    code = "y = a\nfor _ in range(3):\n    y = (y + y) * b\ny.backward(g)"
    leaves, given = normal(rng, "a", "b"), normal(rng, "g")
    check_program(learner, reference, code, leaves, ["a.grad", "b.grad"], given, case="8 paths")
    for rungs in (1, 2, int(rng.integers(10, 13))):
        calls = learner.scenario.vjp_calls(rungs)
        least, most = (min(calls), max(calls)) if calls else (0, 0)
        message = (
            f"In one backward pass a vjp was called {most} times: sum up a tensor's gradient, then call its vjps once."
            if most > 1
            else "A vjp was never called: every tensor that the result was computed from has its turn."
        )
        case = f"{rungs} operations, each uses the result before it twice: {2**rungs} paths"
        expect(least == most == 1, message, case=case)


SOME = 2
"""Results that may still be alive once the walk has passed them: the current one and the one before it."""


@exercise("Tensor.backward", promise="instrumented")
def test_frees_as_it_walks(learner):
    """What a result kept is let go as soon as the walk has passed it, although the root is still held."""
    operations = 12
    counts = learner.scenario.alive(operations)
    case = f"a chain of {operations} operations, its result held"
    after = max(counts.get(f"{what} after", operations) for what in ("arrays", "vjps"))
    message = f"{after} of {operations} operations still hold what they kept after the pass: let go of their edges."
    expect(after == 0, message, case=case)
    vjps, arrays = (counts.get(f"{what} at the lower end", operations) for what in ("vjps", "arrays"))
    message = (
        f"The VJPs of {vjps} of {operations} operations are alive when the pass comes to the first operation: let go "
        "of a result's edges as soon as its VJPs have been called."
    )
    expect(vjps <= SOME, message, case=case)
    message = (
        f"The arrays of {arrays} of {operations} results are alive when the pass comes to the first operation: hold no "
        "list of all tensors while you walk, take each one off it."
    )
    expect(arrays <= SOME, message, case=case)


def random_program(rng, steps) -> tuple[str, Arrays, tuple[int, ...]]:
    """A random program with some of the leaves a, b and c; its leaves; the shape of its result y.

    Values stay near 1, and no result depends on rounding: relu gets no exact cancellation.
    """
    shapes = {"a": (2, 3), "b": (3,), "c": (3, 2)}
    known: dict[str, tuple[int, ...]] = dict(shapes)
    lines = []
    for number in range(steps):
        name = f"h{number}" if number < steps - 1 else "y"
        # use the newest result, so that few results are unused
        x = list(known)[-1] if number else str(rng.choice(list(known)))
        expression, shape = _random_step(rng, x, known)
        lines.append(f"{name} = {expression}")
        known[name] = shape
    used = [name for name in shapes if re.search(rf"\b{name}\b", "\n".join(lines))]
    return "\n".join(lines), {name: rng.normal(size=shapes[name]) for name in used}, known["y"]


def _random_step(rng, x: str, known: dict[str, tuple[int, ...]]) -> tuple[str, tuple[int, ...]]:
    """An operation on x, and perhaps another known tensor, with the shape of its result."""
    shape = known[x]
    choices: list[tuple[str, tuple[int, ...]]] = [(f"{x}.tanh()", shape), (f"({x} + 0.37).relu()", shape)]
    choices += [(f"{x}.tanh().exp()", shape), (f"({x} * {x} + 1).log()", shape), (f"2 - {x}", shape)]
    for other, theirs in known.items():
        try:
            both = np.broadcast_shapes(shape, theirs)
        except ValueError:
            continue
        choices += [(f"{x} + {other}", both), (f"({x} * {other}).tanh()", both), (f"{other} - {x}", both)]
        choices += [(f"{x} / ({other} ** 2 + 1)", both)]
    for other, theirs in known.items():
        if len(shape) == 2 and len(theirs) in (1, 2) and shape[1] == theirs[0]:
            choices += [(f"({x} @ {other}).tanh()", (shape[0], *theirs[1:]))] * 3
    if shape:
        choices += [(f"{x}.sum(axis=0)", shape[1:]), (f"{x}.mean(axis=-1)", shape[:-1]), (f"{x}.T", shape[::-1])]
        choices += [(f"{x}[[0, -1, 0]]", (3, *shape[1:])), (f"{x}.reshape(-1)", (int(np.prod(shape)),))]
    return choices[rng.integers(len(choices))]


def programs(rng) -> Iterator[tuple[str, Arrays, tuple[int, ...]]]:
    """Random programs, the smallest first."""
    for steps in (1, 2, 3, 4, 5, 6, 8, 10):
        for _ in range(3):
            yield random_program(rng, steps)


@exercise("Tensor.backward")
def test_random_programs(learner, reference, rng):
    """Random graphs of all operations; a leaf that the result does not depend on keeps None."""
    for code, leaves, shape in programs(rng):
        given = {"g": rng.normal(size=shape)}
        ask = ["y.data", *(f"{name}.grad" for name in leaves)]
        check_program(learner, reference, f"{code}\ny.backward(g)", leaves, ask, given, case="a random program")


@exercise("Tensor.backward")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; one leaf twice; old grads."""
    check_every_kind("backward_in_states", learner, reference, kinds, "code")
