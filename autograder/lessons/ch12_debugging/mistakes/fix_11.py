"""Wrong answers to fix_11, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import as_handed_out

SCALE = "scaler.scale(total / n_tokens).backward()"
STEP = "scaler.step(optimizer)"
ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=lr)"
UNSCALED = {'scaler = torch.amp.GradScaler("cpu")': "", "scaler.update()": "", STEP: "optimizer.step()"}
PLAIN = {**UNSCALED, SCALE: "(total / n_tokens).backward()"}
AUTOCAST = 'with torch.autocast("cpu", dtype=torch.float16):'


TOO_LARGE = (
    "Nothing underflows, but step() gets gradients that are thousands of times too large: the loss was multiplied, or "
    "not divided by n_tokens, and the gradients were not divided again before the step. Adam forgives most of that, "
    "but its eps is then too small beside them, and clipping or weight decay would go wrong."
)


def _by_hand(scale, divided=True):
    step = f"for parameter in model.parameters():\n    parameter.grad /= {scale}\noptimizer.step()"
    return {
        **UNSCALED,
        SCALE: f"(total / n_tokens * {scale}).backward()",
        STEP: step if divided else "optimizer.step()",
    }


as_handed_out_11 = mistake(
    "fix_11",
    PLAIN,
    says=as_handed_out(
        "most gradients are exactly 0",
        "Print them, and compare (p − y) / n_tokens with 2 ** -24, the smallest positive number of float16. (A "
        'GradScaler is for a GPU unless it is told otherwise, and does nothing without one: GradScaler("cpu").)',
    ),
)
in_float32 = mistake(
    "fix_11",
    {**PLAIN, AUTOCAST: "if True:"},
    says="The products run in float32 now: that needs twice the memory and more time, and is what float16 was there to "
    "save. Keep them in float16.",
)
in_bfloat16 = mistake(
    "fix_11",
    {**PLAIN, AUTOCAST: 'with torch.autocast("cpu", dtype=torch.bfloat16):'},
    says="bfloat16 has the range of float32, so nothing underflows. A fine choice where the machine has it; here the "
    "products stay in float16.",
)
not_divided_again = mistake(
    "fix_11",
    _by_hand("2.0**16", divided=False),
    says=TOO_LARGE,
)
factor_too_small = mistake(
    "fix_11",
    _by_hand("16.0"),
    says="The factor is too small: gradients that were 0 have a bit or two now. Ten bits more than the smallest one "
    "needs are a good beginning, and 2 ** 16 is GradScaler's.",
)
factor_too_large = mistake(
    "fix_11",
    _by_hand("1e13"),
    says="The factor is so large that gradients overflow: float16 ends at 65,504, and an inf divided by anything is "
    "inf.",
)
larger_rate_11 = mistake(
    "fix_11",
    {**PLAIN, ADAM: "optimizer = torch.optim.Adam(model.parameters(), lr=10 * lr)"},
    says="A larger learning rate multiplies zeros, too. They are lost in backward(), before the optimizer sees them.",
)
scaled_after_backward = mistake(
    "fix_11",
    {
        **PLAIN,
        "optimizer.zero_grad()": "optimizer.zero_grad()",
        STEP: "for parameter in model.parameters():\n    parameter.grad *= 1024.0\noptimizer.step()",
    },
    says="What is 0 after backward() stays 0, whatever multiplies it then, and however small Adam's eps is. Scale the "
    "loss, so that it does not become 0.",
)
never_normalised = mistake(
    "fix_11",
    {**UNSCALED, SCALE: "total.backward()"},
    says=TOO_LARGE,
)

much_larger_rate_11 = mistake(
    "fix_11",
    {**PLAIN, ADAM: "optimizer = torch.optim.Adam(model.parameters(), lr=1000 * lr)"},
    says="A larger learning rate does not bring back what has become 0. Scale the loss before backward(), so that its "
    "gradients are no zeros in float16.",
)
