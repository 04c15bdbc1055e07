"""Checks that both layers that are split across ranks share."""

from __future__ import annotations

from autograder.judging import EXACT, agree, expect_raises, random
from autograder.judging.checking.kinds import LARGEST
from autograder.lessons.ch14_scaling_out.checks.pieces import WEIGHED, cut


def layer(rng, n_out, n_in, bias=True):
    return random(rng, (n_out, n_in)), random(rng, n_out) if bias else None


def shown(weight, bias, **others):
    """The arguments that feedback shows, under the names that the exercise uses."""
    return {"weight": weight, "bias": bias, **others}


def agree_on_values(learner, reference, rng, name):
    """Check the result, without a backward pass."""
    for size, (n_out, n_in), lead in [(1, (1, 1), (1,)), (2, (2, 2), (1,)), (2, (4, 6), (3,)), (3, (3, 6), (2, 2))]:
        (W, b), x = layer(rng, n_out, n_in), random(rng, (*lead, n_in))
        case = f"{cut(size)}, {n_in} inputs, {n_out} outputs, x has shape {(*lead, n_in)}"
        asked = "values_of_layer", learner, reference, name, W, b, x, size
        agree(*asked, case=case, tensors=shown(W, b, x=x), **EXACT)


def agree_on_layer(learner, reference, rng, name, size, shape, lead, told="", **options):
    """Check the result and all gradients."""
    settings = {"bias": True, "in_the_middle": False, "beside": False, **options}
    n_out, n_in = shape
    x, g = random(rng, (*lead, n_in)), random(rng, (*lead, n_out))
    where = settings["in_the_middle"], settings["beside"]
    W, b = layer(rng, n_out, n_in, settings["bias"])
    case = f"{told}{', ' * bool(told)}{cut(size)}, {n_in} inputs, {n_out} outputs, x has shape {(*lead, n_in)}"
    asked = "parallel_layer", learner, reference, name, W, b, x, g, size, *where
    agree(*asked, case=case, tensors=shown(W, b, x=x, g=g), **EXACT)


SIZES = [
    (1, (1, 1), (1,)),
    (2, (2, 2), (1,)),
    (2, (4, 6), (3,)),
    (3, (6, 9), (2, 2)),
    (4, (8, 12), ()),
    (2, (4, 6), (2, 1, 2, 1)),
]
"""In the larger cases no axis is as long as the number of ranks, so a factor `size` has no other explanation."""


def check_between_other_operations(learner, reference, rng, name):
    """x comes from an operation and y goes into one."""
    for size, shape, lead in [(1, (2, 1), (1,)), (2, (2, 4), (3,)), (3, (3, 3), (2, 1))]:
        agree_on_layer(learner, reference, rng, name, size, shape, lead, "sin(layer(sin(x)))", in_the_middle=True)


def check_beside_other_operations(learner, reference, rng, name):
    """x goes elsewhere, too: what comes back from there is no part of the sum."""
    for size, shape, lead in [(1, (1, 2), (1,)), (2, (4, 6), (3,)), (3, (6, 9), (2, 1))]:
        for in_the_middle in (False, True):
            told = "sin(layer(sin(x))) + cos(sin(x))" if in_the_middle else "layer(x) + cos(x)"
            options = {"in_the_middle": in_the_middle, "beside": True}
            agree_on_layer(learner, reference, rng, name, size, shape, lead, told, **options)


def check_of_data(learner, reference, rng, name):
    """x requires no gradient."""
    for size, (n_out, n_in), lead in [(1, (1, 2), (1,)), (2, (4, 6), (3,))]:
        W, b = layer(rng, n_out, n_in)
        x, g = random(rng, (*lead, n_in)), random(rng, (*lead, n_out))
        case = f"an x that requires no gradient, {cut(size)}, {n_in} inputs, {n_out} outputs"
        asked = "layer_of_data", learner, reference, name, W, b, x, g, size
        agree(*asked, case=case, tensors=shown(W, b, x=x, g=g), **EXACT)


def check_without_bias(learner, reference, rng, name):
    """bias is None."""
    for size, shape, lead in [(1, (1, 2), (1,)), (2, (2, 4), (3,))]:
        agree_on_layer(learner, reference, rng, name, size, shape, lead, "no bias", bias=False)


def check_every_kind_of_layer(learner, reference, kinds, name):
    """All pairs of shapes, dtypes, layouts; made from a module's parameters, called twice, with grads already."""
    for kind in kinds:
        W, b, x, g = kind.drawn.values()
        asked = "layer_in_states", learner, reference, name, W, b, x, g, kind.options["size"], kind.states
        tolerance = kind.tolerance((), [LARGEST**2])  # a sum of products has the rounding of the largest of them
        agree(*asked, case=kind.label, tensors=shown(W, b, x=x, g=g), **tolerance)


def check_parts(learner, reference, rng, name):
    """Each rank keeps its part of the weight, a copy."""
    odd = (5, 4) if name.startswith("Row") else (4, 5)  # the other axis is not cut, so it may have any length
    for size, (n_out, n_in), bias in [(1, (2, 2), True), (2, (4, 6), True), (3, (6, 3), False), (2, odd, True)]:
        case = f"{cut(size)}, weight {n_out} x {n_in}{'' if bias else ', no bias'}"
        W, b = layer(rng, n_out, n_in, bias)
        agree("parts_of_layer", learner, reference, name, W, b, size, case=case, tensors=shown(W, b))


def check_uneven_parts(learner, reference, rng, name):
    """ValueError where the outputs, or the inputs, cannot be shared evenly; parts where they can."""
    W, b = layer(rng, 2, 2)
    case = f"{cut(2)}, weight 2 x 2"
    agree("parts_of_layer", learner, reference, name, W, b, 2, case=case, tensors=shown(W, b), **EXACT)
    column = name.startswith("Column")
    for size, n, other in [(2, 3, 3), (3, 4, 4), (4, 6, 6), (3, 2, 2), (2, 5, 4), (3, 7, 6)]:
        case = f"{n} {'outputs' if column else 'inputs'} on {cut(size)}, {other} {'inputs' if column else 'outputs'}"
        W, b = layer(rng, *((n, other) if column else (other, n)))
        expect_raises(ValueError, learner.scenario.uneven_layer, name, W, b, size, case=case)


def check_what_is_sent(learner, reference, rng, name):
    """One all-reduce in one of the two directions, which carries the sum; the arguments are what they were.

    A rank may add its share of the bias before the sum, so the layer whose messages are multiplied has none.
    """
    for size, (n_out, n_in), lead, bias in [(2, (4, 6), (3,), True), (3, (3, 6), (2, 2), False)]:
        x, g = random(rng, (*lead, n_in)), random(rng, (*lead, n_out))
        W, b = layer(rng, n_out, n_in, bias)
        seed = None if bias else int(rng.integers(2**31))
        told = "" if bias else f"no bias, {WEIGHED}, "
        case = f"{told}{cut(size)}, x has shape {(*lead, n_in)}, y {(*lead, n_out)}"
        agree(
            "sent_by_layer", learner, reference, name, W, b, x, g, size, seed, case=case, tensors=shown(W, b, x=x, g=g)
        )
