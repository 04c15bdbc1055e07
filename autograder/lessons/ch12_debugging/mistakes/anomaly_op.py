"""Wrong answers to anomaly_op, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

DETECT = "with torch.autograd.detect_anomaly():"
RERAISED = "if told is None:\n    raise"

mode_left_on = mistake(
    "anomaly_op",
    {DETECT: "torch.autograd.set_detect_anomaly(True)\nif True:"},
    says="Anomaly mode stays on after the call, and makes all that follows slow. As a context manager it ends by "
    "itself.",
)
mode_always_switched_off = mistake(
    "anomaly_op",
    {
        DETECT: "torch.autograd.set_detect_anomaly(True)\nif True:",
        "return told[1]": "torch.autograd.set_detect_anomaly(False)\nreturn told[1]",
        "return None": "torch.autograd.set_detect_anomaly(False)\nreturn None",
    },
    says="Anomaly mode is off after the call, also where the caller had it on. Leave it as it was: the context manager "
    "remembers.",
)
anything_swallowed = mistake(
    "anomaly_op",
    {RERAISED: "if told is None:\n    return None"},
    says="Every RuntimeError of the backward pass was taken for none at all. One that is no anomaly has to pass: "
    "raise.",
)
fn_inside_of_the_try = mistake(
    "anomaly_op",
    {
        "loss = fn()": "",
        "loss.backward()": "fn().backward()",
        RERAISED: "if told is None:\n    return None",
    },
    says="Every RuntimeError, also one of fn itself, was taken for none at all. What is no anomaly has to pass: raise.",
)
whole_message = mistake(
    "anomaly_op",
    {"return told[1]": "return str(error)"},
    says="The whole message was returned. The name of the node is the part in quotation marks.",
)
operation_not_node = mistake(
    "anomaly_op",
    {"return told[1]": 'return told[1].replace("Backward0", "").lower()'},
    says="The name was shortened to that of the operation. The node's is asked, as PyTorch writes it: SqrtBackward0.",
)
root_of_the_graph = mistake(
    "anomaly_op",
    {"return told[1]": "return loss.grad_fn.name()"},
    says="This is the loss's own node, where the backward pass begins. The one that made the nan is in the message.",
)
called_twice = mistake(
    "anomaly_op",
    {"loss = fn()": "fn()\nloss = fn()"},
    says="fn was called twice. It may be slow, or draw random numbers: call it once.",
)
checks_switched_off = mistake(
    "anomaly_op",
    {DETECT: "with torch.autograd.detect_anomaly(check_nan=False):"},
    says="Nothing looks for a nan while backward runs: anomaly mode is not on, or check_nan=False has it record where "
    "operations were called, and no more.",
)

name_cut = mistake(
    "anomaly_op",
    {"return told[1]": 'return told[1].removesuffix("Backward0")'},
    says="The name is cut. The node's whole name is asked, as PyTorch has it: SqrtBackward0.",
)


@misconception(
    "anomaly_op",
    says="The gradients of the leaves were looked at. Those tell that there was a nan on the way, and not which node "
    "made it: let anomaly mode find it.",
)
def leaves_looked_at(fn):
    loss = fn()
    loss.backward()
    node = loss.grad_fn
    while node is not None:
        following = [parent for parent, _ in node.next_functions if parent is not None]
        if not following:
            return None
        if hasattr(following[0], "variable"):
            grad = following[0].variable.grad
            return node.name() if grad is not None and grad.isnan().any() else None
        node = following[0]
    return None
