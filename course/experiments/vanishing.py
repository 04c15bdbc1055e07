"""Gradients through deep networks: measured per layer, predicted, and whether such a network learns.

    python -m course.experiments.vanishing --device cpu --out FILE

Every network is drawn on the CPU from a seed, so the same weights and data are measured on every device.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from course.experiments.recording import options_of, record

ACTIVATIONS: dict[str, type[nn.Module]] = {"sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "relu": nn.ReLU}
INITS = ("default", "xavier", "he")


@dataclass(frozen=True)
class Recipe:
    """A network: an input layer, `depth` hidden blocks of `width` units, an output layer."""

    activation: str = "sigmoid"
    init: str = "default"
    """`default` is `nn.Linear`'s. `xavier` (uniform) and `he` (normal) set biases to zero."""
    residual: bool = False
    norm: bool = False
    """BatchNorm between a block's linear map and its activation."""
    depth: int = 30
    width: int = 64
    gain: float = 1.0
    """Xavier's gain."""
    branch_scale: float | None = None
    """Initial value of a learned factor on each residual branch; None for no such factor."""

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"activation is one of {', '.join(ACTIVATIONS)}, not {self.activation!r}")
        if self.init not in INITS:
            raise ValueError(f"init is one of {', '.join(INITS)}, not {self.init!r}")
        if self.gain != 1.0 and self.init != "xavier":
            raise ValueError("gain belongs to Xavier's initialization")
        if self.branch_scale is not None and not self.residual:
            raise ValueError("branch_scale belongs to residual blocks")

    @property
    def label(self) -> str:
        gain = f" gain {self.gain:g}" if self.gain != 1.0 else ""
        scale = "" if self.branch_scale is None else f" (branch × {self.branch_scale:g})"
        norm, residual = " + norm" * self.norm, (" + residual" + scale) * self.residual
        return f"{self.activation}, {self.init}{gain}{residual}{norm}"


class Block(nn.Module):
    """activation(norm(linear(x))), with a skip connection around it if the recipe is residual."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__()
        self.linear = nn.Linear(recipe.width, recipe.width)
        self.norm = nn.BatchNorm1d(recipe.width) if recipe.norm else nn.Identity()
        self.activation = ACTIVATIONS[recipe.activation]()
        self.residual = recipe.residual
        self.scale: nn.Parameter | float = 1.0
        if recipe.branch_scale is not None:
            self.scale = nn.Parameter(torch.full((recipe.width,), recipe.branch_scale))

    def forward(self, x: Tensor) -> Tensor:
        y = self.activation(self.norm(self.linear(x)))
        return x + self.scale * y if self.residual else y


def build(recipe: Recipe, n_in: int = 64, n_out: int = 10) -> nn.Sequential:
    """The network of a recipe, with weights drawn from PyTorch's global generator."""
    blocks = (Block(recipe) for _ in range(recipe.depth))
    net = nn.Sequential(nn.Linear(n_in, recipe.width), *blocks, nn.Linear(recipe.width, n_out))
    if recipe.init != "default":
        for module in net.modules():
            if isinstance(module, nn.Linear):
                if recipe.init == "xavier":
                    nn.init.xavier_uniform_(module.weight, gain=recipe.gain)
                else:
                    nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                nn.init.zeros_(module.bias)
    return net


def blocks_of(net: nn.Module) -> list[Block]:
    return [module for module in net.modules() if isinstance(module, Block)]


# measured


def hidden_gradients(net: nn.Module, X: Tensor, y: Tensor) -> list[Tensor]:
    """The gradient of the cross-entropy for each hidden block's weight, first to last; no `.grad` is changed."""
    loss = F.cross_entropy(net(X), y)
    return list(torch.autograd.grad(loss, [block.linear.weight for block in blocks_of(net)]))


def norms(tensors: Iterable[Tensor]) -> list[float]:
    """Euclidean norms, computed in float64, because squares of entries below 1e-23 underflow in float32."""
    return [t.double().norm().item() for t in tensors]


def draw(
    recipe: Recipe, seed: int, batch: int = 256, n_in: int = 64, n_out: int = 10
) -> tuple[nn.Sequential, Tensor, Tensor]:
    """A network with random inputs (batch, n_in) and labels: pure noise, so that only the network matters."""
    torch.manual_seed(seed)
    net = build(recipe, n_in, n_out)
    return net, torch.randn(batch, n_in), torch.randint(0, n_out, (batch,))


def gradient_profile(
    recipe: Recipe,
    seeds: Iterable[int] = range(5),
    batch: int = 256,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> list[float]:
    """The norm of each hidden weight's gradient at initialization, first to last: medians over the seeds."""
    rows = []
    for seed in seeds:
        net, X, y = draw(recipe, seed, batch)
        rows.append(norms(hidden_gradients(net.to(device, dtype), X.to(device, dtype), y.to(device))))
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def decay(profile: Sequence[float]) -> float:
    """The geometric mean of the factors from each layer to the one before it; below 1, the gradient vanishes."""
    if profile[-1] == 0:
        return math.nan
    return (profile[0] / profile[-1]) ** (1 / (len(profile) - 1))


# predicted

_Z = np.linspace(-10, 10, 20_000)  # an even number of points: none on ReLU's kink
_P = np.exp(-(_Z**2) / 2)
_P /= _P.sum()


def _value_and_slope(activation: str, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if activation == "relu":
        return np.maximum(x, 0), (x > 0).astype(float)
    if activation == "tanh":
        h = np.tanh(x)
        return h, 1 - h**2
    h = (1 + np.tanh(x / 2)) / 2  # no overflow
    return h, h * (1 - h)


class Moments(NamedTuple):
    """Moments of an activation φ(z), with z normal with mean 0."""

    square: float
    """E φ²"""
    variance: float
    """E φ² − (E φ)²"""
    slope_square: float
    """E φ′²"""


def moments(activation: str, variance: float = 1.0) -> Moments:
    value, slope = _value_and_slope(activation, math.sqrt(variance) * _Z)
    mean, square = float(_P @ value), float(_P @ value**2)
    return Moments(square, square - mean**2, float(_P @ slope**2))


def weight_scale(recipe: Recipe) -> tuple[float, float]:
    """fan-in × the variance of a weight, and the variance of a bias."""
    if recipe.init == "default":
        return 1 / 3, 1 / (3 * recipe.width)
    return (recipe.gain**2 if recipe.init == "xavier" else 2.0), 0.0


class Decay(NamedTuple):
    """Factors from each layer to the one before it, geometric means over the hidden layers."""

    signal: float
    """of the gradient for the activations"""
    weights: float
    """of the gradient for the weights, which also carries the size of the layer's input"""


def predicted_decay(recipe: Recipe) -> Decay | None:
    """The theory of wide networks with inputs of variance 1; None for residual networks without BatchNorm.

    Without residual: q, the mean square of a unit's pre-activation, follows q ← s·E φ(√q z)² + v, with s and v of
    `weight_scale`; one step back multiplies the gradient by √(s·E φ′(√q z)²). BatchNorm sets q to 1 and divides by the
    standard deviation of the pre-activations, in which s cancels. With a residual the stream's variance grows by the
    branch's Var φ at every block, and the branch adds its own gradient to the one that the skip carries.
    """
    scale, bias = weight_scale(recipe)
    if recipe.norm:
        unit = moments(recipe.activation)
        if not recipe.residual:
            factor = math.sqrt(unit.slope_square / unit.variance)
            return Decay(factor, factor)
        branch = 1.0 if recipe.branch_scale is None else recipe.branch_scale**2
        streams = [scale + block * branch * unit.variance for block in range(1, recipe.depth)]
        factor = _geometric_mean([math.sqrt(1 + branch * unit.slope_square / stream) for stream in streams])
        return Decay(factor, factor)
    if recipe.residual:
        return None
    square, signal, inputs = scale + bias, [], [scale + bias]
    for _ in range(recipe.depth - 1):
        at = moments(recipe.activation, scale * square + bias)
        signal.append(math.sqrt(scale * at.slope_square))
        square = at.square
        inputs.append(square)
    back = _geometric_mean(signal)
    return Decay(back, back * math.sqrt(inputs[0] / inputs[-1]) ** (1 / (recipe.depth - 1)))


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


# does it learn?

OPTIMIZERS: dict[str, tuple[type[torch.optim.Optimizer], float]] = {
    "SGD": (torch.optim.SGD, 0.05),
    "Adam": (torch.optim.Adam, 1e-3),
}
CHANCE = math.log(4)
"""The loss of a classifier that gives four classes the same probability."""


def learning_task(seed: int = 1) -> tuple[Tensor, Tensor]:
    """1,024 points in 64 dimensions, labeled by the largest of four linear functions: logistic regression suffices."""
    torch.manual_seed(seed)
    X, W = torch.randn(1024, 64), torch.randn(64, 4)
    return X, (X @ W).argmax(1)


def train(
    recipe: Recipe,
    optimizer: str = "SGD",
    steps: int = 300,
    seed: int = 1,
    device: str = "cpu",
    lr: float | None = None,
    clip: float | None = None,
) -> list[float]:
    """The loss of each batch of 128, then the loss on all points with BatchNorm in training mode; may be nan."""
    X, y = learning_task(seed)
    net = build(recipe, n_out=4).to(device)
    make, usual = OPTIMIZERS[optimizer]
    update = make(net.parameters(), lr=usual if lr is None else lr, fused=True)  # type: ignore[call-arg]
    losses = []
    for _ in range(steps):
        rows = torch.randint(0, len(X), (128,))
        update.zero_grad()
        loss = F.cross_entropy(net(X[rows].to(device)), y[rows].to(device))
        loss.backward()
        losses.append(loss.detach())
        if clip is not None:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        update.step()
    with torch.no_grad():
        losses.append(F.cross_entropy(net(X.to(device)), y.to(device)))
    return torch.stack(losses).tolist()


# the command

PROFILED = (
    Recipe("sigmoid", "default"),
    Recipe("sigmoid", "xavier"),
    Recipe("sigmoid", "he"),
    Recipe("sigmoid", "xavier", gain=4.0),
    Recipe("tanh", "xavier"),
    Recipe("relu", "default"),
    Recipe("relu", "he"),
    Recipe("sigmoid", "default", norm=True),
    Recipe("sigmoid", "default", residual=True),
    Recipe("relu", "default", norm=True),
    Recipe("relu", "he", residual=True),
    Recipe("relu", "default", residual=True, norm=True),
    Recipe("relu", "xavier", residual=True, norm=True),
    Recipe("relu", "he", residual=True, norm=True),
)
TRAINED = tuple(PROFILED[i] for i in (0, 1, 5, 6, 7, 8, 9, 10, 11))

SIZES = {
    "cpu": {"depth": 10, "width": 64, "batch": 256, "seeds": 3, "steps": 100},
    "cuda": {"depth": 100, "width": 1024, "batch": 1024, "seeds": 5, "steps": 300},
}


def resized(recipe: Recipe, depth: int, width: int) -> Recipe:
    return Recipe(**{**asdict(recipe), "depth": depth, "width": width})


def finite(value: float) -> float | None:
    """The value, or None if it is inf or nan, which JSON lacks."""
    return value if math.isfinite(value) else None


def measure(depth: int, width: int, batch: int, seeds: int, steps: int, device: str) -> dict[str, Any]:
    """Gradient profiles in float32 and float64 with predictions, and training runs, as data for JSON."""
    entries = []
    for recipe in (resized(recipe, depth, width) for recipe in PROFILED):
        predicted = predicted_decay(recipe)
        entry: dict[str, Any] = {"recipe": asdict(recipe), "label": recipe.label}
        for dtype in (torch.float32, torch.float64):
            profile = gradient_profile(recipe, range(seeds), batch, device, dtype)
            entry[str(dtype).removeprefix("torch.")] = {
                "norms": [finite(norm) for norm in profile],
                "decay": finite(decay(profile)),
            }
        entry["predicted_decay"] = None if predicted is None else predicted._asdict()
        entries.append(entry)
    runs = [
        {
            "label": recipe.label,
            "optimizer": optimizer,
            "loss": finite(train(recipe, optimizer, steps, device=device)[-1]),
        }
        for recipe in (resized(recipe, depth, width) for recipe in TRAINED)
        for optimizer in OPTIMIZERS
        if steps
    ]
    settings = {"depth": depth, "width": width, "batch": batch, "seeds": seeds, "steps": steps}
    return {"settings": settings, "profiles": entries, "training": {"chance": CHANCE, "runs": runs}}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m course.experiments.vanishing", description=__doc__)
    for name, text in (
        ("depth", "hidden layers"),
        ("width", "units in each"),
        ("batch", "rows of a batch"),
        ("seeds", "networks a median is taken over"),
        ("steps", "training steps; 0: no training"),
    ):
        sizes = ", ".join(f"{size[name]} on {device}" for device, size in SIZES.items())
        parser.add_argument(f"--{name}", type=int, help=f"{text} ({sizes})")
    options = options_of(parser, arguments)
    for name, usual in SIZES[options.device.partition(":")[0]].items():
        if getattr(options, name) is None:
            setattr(options, name, usual)
        least = {"depth": 2, "steps": 0}.get(name, 1)
        if getattr(options, name) < least:
            parser.error(f"--{name}: at least {least}")
    measurements = measure(
        options.depth, options.width, options.batch, options.seeds, options.steps, device=options.device
    )
    record(options.out, parser=parser, options=options, measurements=measurements)
    for entry in measurements["profiles"]:
        measured, predicted = entry["float64"]["decay"], entry["predicted_decay"]
        decays = "no number" if measured is None else f"{measured:.3f}"
        theory = "" if predicted is None else f"   predicted {predicted['weights']:.3f}"
        print(f"{entry['label']:36} per layer {decays}{theory}")
    for run in measurements["training"]["runs"]:
        loss = "diverged" if run["loss"] is None else f"{run['loss']:.3f}"
        print(f"{run['label']:36} {run['optimizer']:5} loss {loss}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
