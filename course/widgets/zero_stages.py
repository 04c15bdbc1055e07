"""The widget of ZeRO's stages: which part of a model's states each GPU holds."""

from __future__ import annotations

from collections.abc import Mapping

from IPython.display import HTML

from course.memory import MODELS, Shape, Training, predict_memory
from course.widgets import require_stops, show
from course.widgets.frames import Frame

GPUS = tuple(2**i for i in range(11))
"""The values of the slider."""
STAGES = range(4)
KINDS = (("optimizer", 12, 1), ("gradients", 2, 2), ("weights", 2, 3))
"""The kinds of states, their bytes per parameter with Adam in mixed precision, and the first stage that shards each."""
HALVES = (2, 2, 2, 3)
"""Communication of a step with one micro-batch, by stage, in halves of an all-reduce of 16-bit numbers."""
SHAPES = {"7B": MODELS["llama-2-7b"], "70B": MODELS["llama-3.1-70b"], "405B": MODELS["llama-3.1-405b"]}


def held_bytes(shape: Shape, gpus: int, stage: int) -> list[int]:
    """The bytes of optimizer, gradients and weights that each of `gpus` GPUs holds."""
    memory = predict_memory(Training(shape, 1, gpus=gpus, zero=stage))
    return [memory.optimizer, memory.grads, memory.weights]


def sent_bytes(n_params: int, gpus: int, stage: int) -> float:
    """The bytes that each of `gpus` GPUs sends in a step of one micro-batch, gradients and weights in 16 bits."""
    return HALVES[stage] * 2 * n_params * (gpus - 1) / gpus


def zero_stages(
    model: str = "7B",
    stage: int = 0,
    gpus: int = 8,
    card: float = 80e9,
    *,
    models: Mapping[str, Shape] = SHAPES,
    figure: str = "",
    frame: Frame | None = None,
) -> HTML:
    """The part of the weights, gradients and optimizer states that each GPU holds.

    It starts with these settings. The bytes are those of `course.memory`, for Adam in mixed precision.

    Args:
        card: a GPU's memory in bytes.
        models: shapes by name; `{"mine": Shape(...)}` shows a model of your own.

    Raises:
        ValueError: a setting is not a value of its control.
    """
    require_stops({"model": model, "stage": stage, "gpus": gpus}, {"model": models, "stage": STAGES, "gpus": GPUS})
    tables = {
        name: {
            "held": [[held_bytes(shape, n, of) for n in GPUS] for of in STAGES],
            "sent": [[sent_bytes(shape.n_params, n, of) for n in GPUS] for of in STAGES],
        }
        for name, shape in models.items()
    }
    start = {"model": model, "stage": stage, "gpus": gpus}
    return show(
        "zero_stages", {"tables": tables, "kinds": KINDS, "gpus": GPUS, "card": card, "start": start}, figure, frame
    )
