"""Wrong answers to reversible_block, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

Y1, Y2 = "y1 = x1 + f(x2)", "y2 = x2 + g(y1)"
SAVE_YS, SAVED_YS = "ctx.save_for_backward(y1, y2)", "y1, y2 = ctx.saved_tensors"
RUN_G = "with torch.enable_grad():\ny1 = y1.detach().requires_grad_()\ng_of_y1 = ctx.g(y1)"
BACK_THROUGH_G = "g_of_y1.backward(dy2)"
X2 = "x2 = (y2 - g_of_y1).detach().requires_grad_()"
RUN_F = f"with torch.enable_grad():\n{X2}\nf_of_x2 = ctx.f(x2)"
DX1 = "dx1 = dy1 + y1.grad"
BACK_THROUGH_F = "f_of_x2.backward(dx1)"
DX1_AND_DX2 = "return None, None, dx1, dy2 + x2.grad"

left_to_autograd = mistake(
    "reversible_block",
    {"return Reversible.apply(f, g, x1, x2)": f"{Y1}\n{Y2}\nreturn y1, y2"},
    says="This is right, and autograd keeps x1, x2 and all that f and g compute. It takes a Function that saves y1 and "
    "y2 alone.",
)
keeps_x2 = mistake(
    "reversible_block",
    {
        SAVE_YS: "ctx.save_for_backward(y1, y2, x2)",
        SAVED_YS: "y1, y2, x2 = ctx.saved_tensors",
        X2: "x2 = x2.detach().requires_grad_()",
    },
    says="x2 is saved as well. It follows from what is there: x2 = y2 − g(y1).",
    where="Reversible",
)
a_checkpoint = mistake(
    "reversible_block",
    {
        SAVE_YS: "ctx.save_for_backward(x1, x2)",
        "\n".join([SAVED_YS, RUN_G, BACK_THROUGH_G, RUN_F, DX1, BACK_THROUGH_F, DX1_AND_DX2]): """\
x1, x2 = (x.detach().requires_grad_() for x in ctx.saved_tensors)
with torch.enable_grad():
    y1 = x1 + ctx.f(x2)
    y2 = x2 + ctx.g(y1)
torch.autograd.backward([y1, y2], [dy1, dy2])
return None, None, x1.grad, x2.grad""",
    },
    says="x1 and x2 are saved: that is a checkpoint. In a stack each block would keep its inputs. Save the outputs, "
    "and compute the inputs back.",
    where="Reversible",
)
keeps_what_f_and_g_compute = mistake(
    "reversible_block",
    {
        Y1: "f_of_x2 = f(x2)\ny1 = x1 + f_of_x2",
        Y2: "g_of_y1 = g(y1)\ny2 = x2 + g_of_y1",
        SAVE_YS: "ctx.save_for_backward(y1, y2, f_of_x2, g_of_y1)",
        SAVED_YS: "y1, y2, *_ = ctx.saved_tensors",
    },
    says="More is kept than y1 and y2, inputs or what f and g compute. Nothing else is needed: backward computes all "
    "of it again.",
    where="Reversible",
)
results_in_an_attribute = mistake(
    "reversible_block",
    {SAVE_YS: "ctx.ys = y1.detach(), y2.detach()", SAVED_YS: "y1, y2 = ctx.ys"},
    says="y1 and y2 are kept in an attribute of ctx: nobody notices if one of them is changed in place. "
    "ctx.save_for_backward does.",
    where="Reversible",
)
both_from_the_inputs = mistake(
    "reversible_block",
    {
        Y2: "y2 = x2 + g(x1)",
        SAVED_YS: f"{SAVED_YS}\ny1 = y1 - ctx.f(y2)",
        BACK_THROUGH_F: "f_of_x2.backward(dy1)",
    },
    says="y2 = x2 + g(x1): g has to get y1, the stream that has just been changed. Otherwise nothing can be computed "
    "back.",
    where="Reversible",
)
added_once_more = mistake(
    "reversible_block",
    {X2: "x2 = (y2 + g_of_y1).detach().requires_grad_()"},
    says="x2 was computed back as y2 + g(y1). The forward pass added: subtract.",
    where="Reversible",
)
f_at_y2 = mistake(
    "reversible_block",
    {X2: "x2 = y2.detach().requires_grad_()"},
    says="f's gradient was taken at y2. f saw x2: compute it back first, y2 − g(y1).",
    where="Reversible",
)
dx1_without_g = mistake(
    "reversible_block",
    {DX1: "dx1 = dy1"},
    says="dx1 = dy1 lacks what comes back through g: y1 goes to the loss, and into y2.",
    where="Reversible",
)
dy1_into_f = mistake(
    "reversible_block",
    {BACK_THROUGH_F: "f_of_x2.backward(dy1)"},
    says="f's upstream gradient is that of y1 in full, what comes through g included: dx1, not dy1.",
    where="Reversible",
)
dx2_without_f = mistake(
    "reversible_block",
    {DX1_AND_DX2: "return None, None, dx1, dy2"},
    says="dx2 = dy2 lacks what comes back through f: x2 goes into y2, and into y1.",
    where="Reversible",
)
dx2_through_f_alone = mistake(
    "reversible_block",
    {DX1_AND_DX2: "return None, None, dx1, x2.grad"},
    says="dx2 lacks dy2: x2 is also added to y2 as it is, and that way has the derivative 1.",
    where="Reversible",
)
dy1_into_g = mistake(
    "reversible_block",
    {BACK_THROUGH_G: "g_of_y1.backward(dy1 + dy2)"},
    says="g's upstream gradient is dy2 alone: y1 = x1 + f(x2) does not contain g.",
    where="Reversible",
)
half_blocks_in_the_other_order = mistake(
    "reversible_block",
    {Y1: "y2 = x2 + g(x1)", Y2: "y1 = x1 + f(y2)"},
    says="The half-blocks are in the other order: y2 was computed first, and f got it. y1 = x1 + f(x2) comes "
    "first, and g gets y1.",
    where="Reversible",
)
f_of_x1 = mistake(
    "reversible_block",
    {Y1: "y1 = x1 + f(x1)"},
    says="y1 = x1 + f(x1): f gets x2, the other stream. Otherwise x1 cannot be computed back.",
    where="Reversible",
)
subtracted_in_forward = mistake(
    "reversible_block",
    {Y2: "y2 = x2 - g(y1)"},
    says="y2 is x2 − g(y1). The forward pass adds, x2 + g(y1); only computing x2 back subtracts.",
    where="Reversible",
)
inputs_swapped = mistake(
    "reversible_block",
    {"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(f, g, x2, x1)"},
    says="x1 and x2 are swapped on their way into the Function.",
)
f_and_g_swapped = mistake(
    "reversible_block",
    {"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(g, f, x1, x2)"},
    says="f and g are swapped on their way into the Function.",
)
saved_in_another_order = mistake(
    "reversible_block",
    {SAVE_YS: "ctx.save_for_backward(y2, y1)"},
    says="y1 and y2 come out of ctx.saved_tensors in another order than they were saved in, so backward takes one for "
    "the other.",
    where="Reversible",
)
dy2_into_f = mistake(
    "reversible_block",
    {BACK_THROUGH_F: "f_of_x2.backward(dy2)"},
    says="dy2 went back through f. f(x2) is a term of y1, so its upstream gradient is that of y1: dx1.",
    where="Reversible",
)
dy1_through_g = mistake(
    "reversible_block",
    {BACK_THROUGH_G: "g_of_y1.backward(dy1)"},
    says="dy1 went back through g. g(y1) is a term of y2, so its upstream gradient is dy2.",
    where="Reversible",
)
nothing_recorded_in_backward = mistake(
    "reversible_block",
    {RUN_G: "y1 = y1.detach().requires_grad_()\ng_of_y1 = ctx.g(y1)"},
    says="Nothing is recorded inside a Function's backward, so g(y1) has no graph to go back through. Run g and f "
    "again under torch.enable_grad().",
    where="Reversible",
)
gradients_swapped = mistake(
    "reversible_block",
    {DX1_AND_DX2: "return None, None, dy2 + x2.grad, dx1"},
    says="The gradients of x1 and x2 are swapped.",
    where="Reversible",
)
no_gradients_of_parameters = mistake(
    "reversible_block",
    {
        BACK_THROUGH_G: "(through_g,) = torch.autograd.grad(g_of_y1, y1, dy2)",
        DX1: "dx1 = dy1 + through_g",
        BACK_THROUGH_F: "(through_f,) = torch.autograd.grad(f_of_x2, x2, dx1)",
        DX1_AND_DX2: "return None, None, dx1, dy2 + through_f",
    },
    says="The parameters of f and g get no gradient: torch.autograd.grad gives those of x1 and x2 alone. Call "
    "backward on g(y1) and f(x2): it adds to the parameters' .grad.",
    where="Reversible",
)
g_runs_again = mistake(
    "reversible_block",
    {X2: "x2 = (y2 - ctx.g(y1)).detach().requires_grad_()"},
    says="g runs once to compute x2 back and once more for its gradient. One run does for both: y2 − its result, "
    "detached.",
    where="Reversible",
)

dx1_through_g_alone = mistake(
    "reversible_block",
    {"dx1 = dy1 + y1.grad": "dx1 = y1.grad"},
    says="dx1 lacks dy1: y1 goes to the loss directly, too, and not only through g.",
    where="Reversible",
)
