"""Wrong answers to no_grad, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

always_on_afterwards = mistake(
    "no_grad",
    {"Tensor.recording = before": "Tensor.recording = True"},
    says="Recording is switched on at the end, whatever it was before: the end of an inner block switches it on "
    "inside the outer one. Put back what was there.",
)
flipped = mistake(
    "no_grad",
    {
        "Tensor.recording = False": "Tensor.recording = not Tensor.recording",
        "Tensor.recording = before": "Tensor.recording = not Tensor.recording",
    },
    says="Recording is flipped at both ends, so an inner block switches it on. Switch it off, and put back "
    "what was there.",
)
not_restored_after_an_exception = mistake(
    "no_grad",
    {"try:\n    yield\nfinally:\n    Tensor.recording = before": "yield\nTensor.recording = before"},
    says="An exception inside the block skips the end, and recording stays off: put the end into `finally`.",
)
exceptions_swallowed = mistake(
    "no_grad",
    {"finally:": "except Exception:\n    pass\nfinally:"},
    says="An exception inside the block is swallowed. It belongs to the caller: `finally`, not `except`, and an "
    "__exit__ that does not return True.",
)
never_off = mistake(
    "no_grad",
    {"Tensor.recording = False": ""},
    says="Recording is never switched off: set Tensor.recording to False before the block.",
)
off_for_ever = mistake(
    "no_grad",
    {"Tensor.recording = before": "pass"},
    says="Recording stays off after the block: put back what was there before.",
)
off_when_called = mistake(
    "no_grad",
    {
        "@contextmanager": "",
        "try:\n    yield\nfinally:\n    Tensor.recording = before": """
@contextmanager
def block():
    try:
        yield
    finally:
        Tensor.recording = before

return block()
""",
    },
    says="The call no_grad() switches recording off, before any `with` has begun: do it when the block is entered.",
)
