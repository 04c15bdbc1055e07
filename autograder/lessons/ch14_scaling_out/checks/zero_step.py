"""Checks of zero_step."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, agree, exercise, random
from autograder.lessons.ch14_scaling_out.checks.pieces import WEIGHED, cut


def agree_on_zero_steps(learner, reference, rng, shapes, size, told="", *, n_steps=1, clipped=False, **options):
    """Check parameters and momentum after some steps; `clipped`: to a part of the first gradient's norm."""
    settings = {"as_parameters": False, "strided": False, **options}
    params = [random(rng, shape) for shape in shapes]
    steps = [[[random(rng, shape) for shape in shapes] for _ in range(size)] for _ in range(n_steps)]
    lr, beta = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.3, 0.9))
    means = [np.mean([np.concatenate([np.ravel(grad) for grad in of]) for of in ranks], axis=0) for ranks in steps]
    norms = [float(np.linalg.norm(mean)) for mean in means]
    max_norm = 0.7 * min(norms) if clipped else float("inf")
    n = sum(value.size for value in params)
    case = f"{told}{', ' * bool(told)}{cut(size)}, {n} parameter{'s' * (n > 1)} in shapes {shapes}"
    arguments = params, steps, lr, beta, max_norm, settings["as_parameters"], settings["strided"]
    agree("zero_steps", learner, reference, *arguments, case=case, **EXACT)


@exercise("zero_step")
def test_one_zero_step(learner, reference, rng):
    """Pieces that fit, nothing clipped: the mean of the gradients, the update, and all parameters on every rank."""
    for shapes, size in [([(1,)], 1), ([(2,)], 2), ([(2, 3)], 2), ([(2, 2), (), (1,)], 3)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size)


@exercise("zero_step")
def test_several_zero_steps(learner, reference, rng):
    """The momentum of one step goes on in the next."""
    for shapes, size in [([(1,)], 1), ([(4,)], 2), ([(2, 2), (2,)], 2)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "three steps", n_steps=3)


@exercise("zero_step")
def test_pieces_that_do_not_fit(learner, reference, rng):
    """The last piece, or several, is filled up with zeros."""
    for shapes, size in [([(3,)], 2), ([(2,), ()], 2), ([(1,)], 3), ([(2, 2), (3,)], 4), ([(5,)], 4)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "two steps", n_steps=2)


@exercise("zero_step")
def test_clipped_zero_steps(learner, reference, rng):
    """To the norm of the whole mean gradient, before it goes into the momentum."""
    for shapes, size in [([(1,)], 1), ([(4,)], 2), ([(3,), (2, 2)], 2), ([(2, 2), (4,)], 3)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "two steps, clipped", n_steps=2, clipped=True)
    params, grads = [random(rng, 3)], [[random(rng, 3)] for _ in range(2)]
    norm = float(np.linalg.norm((grads[0][0] + grads[1][0]) / 2))
    for told, max_norm in [("the norm is just below max_norm", 1.02 * norm), ("just above", norm / 1.02)]:
        arguments = params, [grads], 0.5, 0.9, max_norm, False, False
        agree("zero_steps", learner, reference, *arguments, case=f"2 ranks, one tensor, {told}", **EXACT)
    nothing = [[np.zeros(2)], [np.zeros(2)]]
    agree(
        "zero_steps",
        learner,
        reference,
        [random(rng, 2)],
        [nothing],
        0.5,
        0.9,
        1.0,
        False,
        False,
        case="gradients of 0",
    )


@exercise("zero_step")
def test_parameters_of_modules(learner, reference, rng):
    """torch.nn.Parameters, and tensors that are not contiguous; grads stay as they are."""
    for shapes, size in [([(2,)], 1), ([(2, 3), (3,)], 2)]:
        for told, options in [
            ("torch.nn.Parameters", {"as_parameters": True}),
            ("parameters that are transposes, and others that are not contiguous", {"strided": True}),
        ]:
            agree_on_zero_steps(learner, reference, rng, shapes, size, told, n_steps=2, clipped=True, **options)


@exercise("zero_step")
def test_every_kind_of_parameter(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; torch.nn.Parameters, frozen ones, and .grad that nobody asked for."""
    for kind in kinds:
        (params, grads), (size, max_norm) = kind.drawn.values(), (kind.options[key] for key in ("size", "max_norm"))
        length = -(-sum(value.size for value in params) // size)
        momenta = [random(rng, length, params[0].dtype) for _ in range(size)]
        arguments = params, grads, momenta, 0.25, 0.5, max_norm, kind.states
        tolerance = kind.tolerance((), [*params, *grads])
        agree("zero_step_in_states", learner, reference, *arguments, case=kind.label, **tolerance)


@exercise("zero_step", promise="instrumented")
def test_what_a_zero_step_sends(learner, reference, rng):
    """A reduce-scatter, one number, an all-gather; they carry the gradients, the squares and the new parameters.

    What each rank sends is multiplied by numbers of its own, entry by entry, so each result tells what came by message.
    """
    for shapes, size in [([(4,)], 2), ([(2, 3), (2,)], 3)]:
        params, grads = ([random(rng, shape) for shape in shapes] for _ in range(2))
        of_ranks = [[grad * (rank + 1) for grad in grads] for rank in range(size)]
        pieces = np.zeros(-(-sum(value.size for value in params) // size) * size)
        n = sum(value.size for value in params)
        for max_norm, told in [(0.01, "clipped"), (1000.0, "not clipped")]:
            pieces[:n] = random(rng, n)
            arguments = params, of_ranks, np.split(pieces.copy(), size), max_norm, int(rng.integers(2**31))
            case = f"{WEIGHED}, momentum of earlier steps, {cut(size)}, parameters of shapes {shapes}, {told}"
            agree("sent_by_zero_step", learner, reference, *arguments, case=case)
