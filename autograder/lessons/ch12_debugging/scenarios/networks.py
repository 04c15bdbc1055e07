"""Small networks with given weights.

Scenarios return data, mostly dicts. The key of a bool is the sentence that a learner is told if it is True. Each
scenario runs with gradients switched on and a seeded generator, whatever a cell of the submission has set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


@contextmanager
def _fresh(seed: int = 0) -> Iterator[None]:
    """Switch gradients on and anomaly mode off, set the default dtype to float32, and seed the generator."""
    # torch.manual_seed would record a stack for each missing device type
    torch.default_generator.manual_seed(seed)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
            yield
    finally:
        torch.set_default_dtype(before)


def _linear(layer: dict[str, np.ndarray]) -> torch.nn.Linear:
    """A linear layer with the weights W (out, in) and the bias b (out,)."""
    W, b = torch.tensor(layer["W"]), torch.tensor(layer["b"])
    linear = torch.nn.Linear(W.shape[1], W.shape[0], dtype=W.dtype)
    with torch.no_grad():
        linear.weight.copy_(W)
        linear.bias.copy_(b)
    return linear


def _network(layers: Sequence[dict]) -> torch.nn.Sequential:
    """Linear layers with a tanh after each but the last."""
    modules: list[torch.nn.Module] = []
    for layer in layers:
        modules += [_linear(layer), torch.nn.Tanh()]
    return torch.nn.Sequential(*modules[:-1])


def _named(value: Any) -> Any:
    """A name that can be compared: strings and None unchanged, a description for anything else."""
    return value if value is None or isinstance(value, str) else [type(value).__name__]


def _state(*modules: torch.nn.Module) -> np.ndarray:
    """All parameters and buffers in one vector."""
    values = [value.detach().reshape(-1).double() for module in modules for value in module.state_dict().values()]
    return torch.cat(values).numpy() if values else np.zeros(0)
