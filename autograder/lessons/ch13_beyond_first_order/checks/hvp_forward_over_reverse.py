"""Checks of hvp_forward_over_reverse."""

from __future__ import annotations

from autograder.judging import agree, exercise, random
from autograder.lessons.ch13_beyond_first_order.checks.hessian_products import (
    check_arguments_and_parameters_afterwards,
    check_every_kind_of_tensor,
    check_functions_that_do_not_depend_on_x,
    check_leaves_and_strides,
    check_linear_functions,
    check_no_hessian,
    check_product_with_the_hessian,
    check_shapes_of_x,
)


@exercise("hvp_forward_over_reverse")
def test_product_with_the_hessian(learner, reference, rng):
    """Vectors, from one entry on; Hessians that are not diagonal, with rows that do not add up to H·v."""
    check_product_with_the_hessian(learner, reference, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse")
def test_shapes_of_x(learner, reference, rng):
    """H·v has the shape of x, whatever that is."""
    check_shapes_of_x(learner, reference, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse")
def test_linear_functions(learner, reference, rng):
    """Where f is linear, or linear piece by piece, H is 0: zeros, and no error."""
    check_linear_functions(learner, reference, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse")
def test_functions_that_do_not_depend_on_x(learner, reference, rng):
    """Where f does not depend on x, H is 0 as well."""
    check_functions_that_do_not_depend_on_x(learner, reference, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse")
def test_leaves_and_strides(learner, reference, rng):
    """x may require a gradient, be in the middle of a graph, and have other strides, as v may."""
    check_leaves_and_strides(learner, reference, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse")
def test_every_kind_of_tensor(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; leaves, results, one for both."""
    check_every_kind_of_tensor(learner, reference, kinds, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse", promise="instrumented")
def test_no_hessian(learner, reference, rng):
    """x has 1,000 entries: no tensor of nearly n² entries, one call of f, at most 6 times its FLOPs."""
    check_no_hessian(learner, reference, rng, "hvp_forward_over_reverse")


@exercise("hvp_forward_over_reverse")
def test_tangent_goes_forward(learner, reference, rng):
    """One derivative for gradients that go back and another one for tangents: both must be in the result, once each."""
    for size in (1, 3, 1000, (2, 1, 1, 2, 1)):
        x, v, a = random(rng, size), random(rng, size), rng.uniform(0.5, 1.5, size=size)
        back, ahead = rng.uniform(1.5, 2, size=size), rng.uniform(0.5, 0.8, size=size)
        case = f"f has one rule for gradients and one for tangents, x has shape {x.shape}"
        agree("which_way", learner, reference, "hvp_forward_over_reverse", x, v, a, back, ahead, case=case)


@exercise("hvp_forward_over_reverse", promise="instrumented")
def test_arguments_and_parameters_afterwards(learner, reference, rng):
    """Values, requires_grad and .grad of x, of v and of a parameter that f uses; no graph behind the result."""
    check_arguments_and_parameters_afterwards(learner, reference, rng, "hvp_forward_over_reverse")
