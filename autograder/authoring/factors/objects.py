"""The factors of arguments that are no arrays and that exercises of several lessons take, with their levels.

Each level is said in feedback behind the argument's name: "q_net frozen, in eval mode". Beside them stands the usual
state, which no label mentions: trainable parameters without `.grad`, in training mode, each of them under one name.
"""

from __future__ import annotations

OBJECTS: dict[str, dict[str, tuple[str, ...]]] = {
    "module": {
        "parameters": ("frozen", "frozen in part"),
        "grads": ("with grads",),
        "mode": ("in eval mode",),
        "names": ("with a tied parameter",),
        "buffers": ("with a buffer",),
    },
}
"""By kind: its factors."""
