"""Lines of several programs, and messages for them."""

from __future__ import annotations

SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=lr)"
BACK = "loss.backward()"
ZERO = "optimizer.zero_grad()"


def as_handed_out(what, where_to_look):
    return f"The program does what it did when it was handed out: {what}. {where_to_look}"


def with_rate(factor):
    return {SGD: f"optimizer = torch.optim.SGD(model.parameters(), lr={factor} * lr)"}


SMALLER = (
    "A smaller learning rate makes a symptom smaller, and everything else slower. The bug is still there. Leave the "
    "learning rate as it is."
)
