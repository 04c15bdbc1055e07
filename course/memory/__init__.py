"""Predicts the bytes that each GPU needs to train a Llama-style model, by closed formulas in plain Python.

    >>> training = Training(MODELS["llama-2-7b"], seq=8192, recompute="full", gpus=8)
    >>> memory = predict_memory(training)
    >>> round(memory.total / 1e9, 1), fits(memory, parse_bytes("80GB"))
    (19.7, True)

It needs only the standard library, so it runs in a browser. `course.experiments.costs` counts the same with PyTorch,
operation by operation; `tests/test_memory.py` compares the two.

**States**, in bytes per parameter, are those of mixed precision with Adam (Rajbhandari et al. 2020, arXiv 1910.02054,
section 3.1): weights 2, gradients 2, and in the optimizer a float32 master copy 4 and two moments of 4 each. ZeRO
divides them by the number of GPUs: the optimizer's at stage 1, gradients too at stage 2, weights too at stage 3.

**Activations** are counted as in Korthikanti et al. 2022 (arXiv 2205.05198, section 4.1), but for the layer of
`course.llama` instead of GPT's: every array that backward needs, once. They are not divided among GPUs, because each
GPU runs its own sequences.

**Left out** are the CUDA context, communication buffers, workspaces, fragmentation in the allocator, and temporaries
inside kernels and of the optimizer's step (AdamW with `foreach`, PyTorch's default on a GPU, allocates one more array
for each parameter, after backward). Leave 15 to 20 % of the total to them.
"""

from course.memory.account import Memory, Moment, fits, layer_bytes, moments, predict_memory, step_flops
from course.memory.changes import LOSS_ROWS, MOST_GPUS, Remedy, as_remedy, largest_batch, price, remedies
from course.memory.training import (
    MODELS,
    MOST,
    NORMS,
    PRECISIONS,
    RECOMPUTE,
    MemoryInputError,
    Precision,
    Shape,
    Training,
    find_model,
    known,
    parse_bytes,
)

__all__ = [
    "LOSS_ROWS",
    "MODELS",
    "MOST",
    "MOST_GPUS",
    "NORMS",
    "PRECISIONS",
    "RECOMPUTE",
    "Memory",
    "MemoryInputError",
    "Moment",
    "Precision",
    "Remedy",
    "Shape",
    "Training",
    "as_remedy",
    "find_model",
    "fits",
    "known",
    "largest_batch",
    "layer_bytes",
    "moments",
    "parse_bytes",
    "predict_memory",
    "price",
    "remedies",
    "step_flops",
]
