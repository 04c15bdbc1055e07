"""Checks of no_grad."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.checks.code_cells import check_program, normal
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind


def check_recording(learner, reference, rng, cases, ask=("bool(y.requires_grad)", "y.edges", "y.data")):
    """Check what is recorded inside and after a block, and whether recording is on at the end."""
    for case, code in cases.items():
        check_program(learner, reference, code, normal(rng, "a"), [*ask, "Tensor.recording"], case=case)


@exercise("no_grad")
def test_nothing_recorded_inside(learner, reference, rng):
    """Results have their values, require no gradient and have no edges."""
    cases = {
        "inside": "with no_grad():\n    y = a * 2",
        "two operations inside": "with no_grad():\n    y = (a * a).tanh()",
        "a recorded result used inside": "h = a * a\nwith no_grad():\n    y = h + 1",
    }
    check_recording(learner, reference, rng, cases)


@exercise("no_grad")
def test_recording_again_outside(learner, reference, rng):
    """After the block everything is recorded as before; a leaf made inside may require a gradient."""
    ask = ["a.grad", "bool(y.requires_grad)"]
    cases = {
        "after the block": "with no_grad():\n    h = a * 2\ny = a * a\ny.backward(y.data)",
        "through a value from inside": "with no_grad():\n    h = a * 2\ny = a * h\ny.backward(y.data)",
        "no_grad() without `with`": "guard = no_grad()\ny = a * a\ny.backward(y.data)",
        "a leaf made inside": "with no_grad():\n    b = Tensor(a.data, True)\ny = a * b\ny.backward(y.data)",
    }
    check_recording(learner, reference, rng, cases, ask)


@exercise("no_grad")
def test_nested_blocks(learner, reference, rng):
    """The end of an inner block does not end the outer one."""
    cases = {
        "after the inner block": "with no_grad():\n    with no_grad():\n        pass\n    y = a * 2",
        "in the inner block": "with no_grad():\n    with no_grad():\n        y = a * 2",
        "after three blocks": "with no_grad():\n    with no_grad():\n        with no_grad():\n            pass\n"
        "        y = a * 2",
        "after both": "with no_grad():\n    with no_grad():\n        h = a * 2\ny = a.reshape(2)",
    }
    check_recording(learner, reference, rng, cases, ("bool(y.requires_grad)", "len(y.edges)", "y.data"))


@exercise("no_grad")
def test_exceptions(learner, reference, rng):
    """An exception ends the block, goes on to the caller, and leaves the state as it was before."""
    failing = "try:\n    with no_grad():\n        raise KeyError('lost')\nexcept KeyError:\n    came = True\n"
    inside = "with no_grad():\n" + "".join(f"    {line}\n" for line in failing.strip().split("\n")) + "    y = a * 2"
    cases = {"an exception inside": f"came = False\n{failing}y = a.reshape(2)"}
    cases["in an inner block"] = f"came = False\n{inside}"
    check_recording(learner, reference, rng, cases, ("came", "bool(y.requires_grad)", "len(y.edges)", "y.data"))


@exercise("no_grad")
def test_every_kind_of_block(learner, reference, kinds, rng):
    """All pairs of what was recorded before, where the guard was made, how the block ends, what is computed in it."""
    for kind in kinds:
        kind.drawn["a"] = rng.normal(size=(2, 2))
    check_every_kind("block_in_states", learner, reference, kinds, "operation")
