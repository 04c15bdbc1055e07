"""Wrong answers to fix_02, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import BACK

SUM = "branch = branch + h"

still_in_place = mistake(
    "fix_02",
    {SUM: "branch += h"},
    says="Something is still written into after an operation has saved it for its backward. The message names the "
    "operation that made it, and the line to change is the one that writes. (No help: no_grad around it, a copy made "
    "afterwards, retain_graph.)",
)
written_past_the_check = mistake(
    "fix_02",
    {SUM: "branch.data += h"},
    says=".data writes past the version counter: the error is gone, and tanh's backward reads the changed output. The "
    "gradients are wrong without a word. Make a new tensor.",
)
branch_detached = mistake(
    "fix_02",
    {SUM: "branch = branch.detach() + h"},
    says="The branch was detached: its layer gets no gradient any more, and does not learn.",
)
skip_detached = mistake(
    "fix_02",
    {SUM: "branch = branch + h.detach()"},
    says="The skip connection was detached: its gradient, the reason why there is one, is lost.",
)
skip_left_out = mistake(
    "fix_02",
    {SUM: ""},
    says="The skip connection is gone. That is another network; the architecture stays.",
)
tanh_around_both = mistake(
    "fix_02",
    {"branch = torch.tanh(layer(h))": "branch = layer(h)", SUM: "branch = torch.tanh(branch + h)"},
    says="The tanh is around the sum now. That is another network: h + tanh(layer(h)) is asked.",
)
error_caught_02 = mistake(
    "fix_02",
    {SUM: "branch += h", BACK: "try:\n    loss.backward()\nexcept RuntimeError:\n    pass"},
    says="The exception was caught, and the step that follows has no gradient, or only those of the layers behind the "
    "error. Mend its cause.",
)
