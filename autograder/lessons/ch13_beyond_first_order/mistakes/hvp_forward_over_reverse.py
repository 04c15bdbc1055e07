"""Wrong answers to hvp_forward_over_reverse, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

JVP = "_, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))"
TANGENT = "return tangent.detach()"

forward_row_sums = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("v.detach()", "torch.ones_like(x)")},
    says="The tangent is all ones, which gives the sums of H's rows. The direction is v.",
)
value_for_tangent = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("_, tangent", "tangent, _")},
    says="This is the gradient: torch.func.jvp returns the value first and the tangent second.",
)
SLOPE_OF_F = (
    "This is a JVP of f itself, the slope of f along v: a first derivative. Take the JVP of its gradient, "
    "torch.func.grad(f)."
)
jvp_of_f = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("torch.func.grad(f)", "f")},
    says=SLOPE_OF_F,
)
jvp_of_f_times_v = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("torch.func.grad(f)", "f"), TANGENT: "return tangent.detach() * v"},
    says=SLOPE_OF_F,
)
value_and_tangent = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("_, tangent", "both"), TANGENT: "return both"},
    says="torch.func.jvp returns two things, the gradient and its tangent. The tangent alone is H·v.",
)
BACK_TWICE = (
    "The product is right, but no tangent was carried forward: two backward passes give it as well, as H is symmetric, "
    "and so does the Hessian itself. The exercise is the other way: a JVP carries v forward through the gradient's "
    "computation."
)
twice_reverse = mistake(
    "hvp_forward_over_reverse",
    {JVP: "return hvp(f, x, v)", TANGENT: ""},
    says=BACK_TWICE,
)
vjp_of_gradient = mistake(
    "hvp_forward_over_reverse",
    {
        JVP: "_, back = torch.func.vjp(torch.func.grad(f), x.detach())",
        TANGENT: "return back(v.detach())[0].detach()",
    },
    says=BACK_TWICE,
)
graph_of_parameters_left = mistake(
    "hvp_forward_over_reverse",
    {TANGENT: "return tangent"},
    says="f's own parameters leave a graph behind the result, and with it all that it saved. Detach it.",
)
forward_differences = mistake(
    "hvp_forward_over_reverse",
    {JVP: "slope = torch.func.grad(f)\ntangent = (slope(x + 1e-4 * v) - slope(x - 1e-4 * v)) / 2e-4"},
    says="This is a difference of two gradients: some digits, and f is called twice. A tangent is exact.",
)
v_too_long = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("(v.detach(),)", "(v.detach() / v.norm(),)")},
    says="v was normalised. H·v is linear in v: its length counts.",
)

point_and_direction_swapped = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("(x.detach(),), (v.detach(),)", "(v.detach(),), (x.detach(),)")},
    says="Point and direction have changed places: this is the Hessian at v times x. jvp(function, (x,), (v,)).",
)
