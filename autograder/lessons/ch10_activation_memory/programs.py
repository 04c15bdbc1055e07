"""Programs for checks of `predict_saved`: layers that no chapter shows, and random ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BY_RESULT = ("exp", "sigmoid", "tanh", "softmax", "relu", "sqrt")
BY_INPUT = ("silu", "gelu", "sin", "square", "log")
OF_TWO = ("add", "mul", "div")


@dataclass(frozen=True)
class Program:
    """Steps, and the shape of each tensor in them: (rows, columns), or () for a sum."""

    steps: list[tuple[str, ...]]
    shapes: dict[str, tuple[int, ...]]
    trained: list[str]
    parameters: list[str]

    @property
    def arguments(self) -> tuple[list[tuple[str, ...]], dict[str, int], list[str], list[str]]:
        """The arguments of `predict_saved`."""
        sizes = {name: int(np.prod(shape)) for name, shape in self.shapes.items()}
        return self.steps, sizes, self.trained, self.parameters


def unseen_layers(rng: np.random.Generator) -> dict[str, Program]:
    """Layers whose bytes no chapter shows, with random sizes and all widths different."""
    s, h, f, r = (int(n) for n in rng.permutation(np.arange(3, 12))[:4])

    def program(steps: str, widths: dict[str, int], weights: dict[str, tuple[int, int]], trained: str) -> Program:
        shapes: dict[str, tuple[int, ...]] = {**{name: (s, width) for name, width in widths.items()}, **weights}
        return Program([tuple(line.split()) for line in steps.split(", ")], shapes, trained.split(), list(weights))

    gate_and_value = {"W": (h, f), "V": (h, f)}
    return {
        "a gated linear unit": program(
            "a matmul x W, b matmul x V, gate sigmoid b, y mul a gate",
            {"x": h, "a": f, "b": f, "gate": f, "y": f},
            gate_and_value,
            "x W V",
        ),
        "a gated layer, its gate cut off from the gradient": program(
            "a matmul x W, b matmul x V, gate sigmoid b, cut detach gate, y mul a cut",
            {"x": h, "a": f, "b": f, "gate": f, "cut": f, "y": f},
            gate_and_value,
            "x W V",
        ),
        "a bilinear layer": program(
            "a matmul x W, b matmul x V, y mul a b", {"x": h, "a": f, "b": f, "y": f}, gate_and_value, "x W V"
        ),
        "squared ReLU between two products": program(
            "a matmul x W, b relu a, c square b, y matmul c U",
            {"x": h, "a": f, "b": f, "c": f, "y": h},
            {"W": (h, f), "U": (f, h)},
            "x W U",
        ),
        "the same with frozen weights": program(
            "a matmul x W, b relu a, c square b, y matmul c U",
            {"x": h, "a": f, "b": f, "c": f, "y": h},
            {"W": (h, f), "U": (f, h)},
            "x",
        ),
        "a low-rank adapter beside a frozen product": program(
            "a matmul x W, b matmul x A, c matmul b B, d scale c, y add a d",
            {"x": h, "a": f, "b": r, "c": f, "d": f, "y": f},
            {"W": (h, f), "A": (h, r), "B": (r, f)},
            "x A B",
        ),
        "the first layer of a network, whose input requires no gradient": program(
            "a matmul x W, b tanh a, c silu b", {"x": h, "a": f, "b": f, "c": f}, {"W": (h, f)}, "W"
        ),
        "a highway layer": program(
            "a matmul x W, t sigmoid a, b matmul x V, c tanh b, d mul t c, e scale t, u mul e x, y add d u",
            dict.fromkeys(("x", "a", "t", "b", "c", "d", "e", "u", "y"), h),
            {"W": (h, h), "V": (h, h)},
            "x W V",
        ),
        "a softmax written out": program(
            "e exp x, z view e, p div e z", dict.fromkeys(("x", "e", "z", "p"), h), {}, "x"
        ),
    }


def random_program(rng: np.random.Generator, n_steps: int) -> Program:
    """Random steps on matrices with equally many rows and two widths; inputs and weights may be trained or not."""
    rows, *widths = (int(n) for n in rng.permutation(np.arange(3, 12))[:3])
    shapes: dict[str, tuple[int, ...]] = {"x": (rows, widths[0]), "z": (rows, widths[0]), "c": (rows, widths[1])}
    trained, parameters = ["x"], list[str]()
    trained += ["z"] if rng.random() < 0.5 else []
    steps: list[tuple[str, ...]] = []
    for i in range(n_steps):
        operation = str(rng.choice([*BY_RESULT, *BY_INPUT, *OF_TWO * 2, *["matmul"] * 3, "scale", "view", "detach"]))
        tensors = [name for name in shapes if name not in parameters]
        first, result = str(rng.choice(tensors)), f"h{i}"
        if operation == "matmul":
            weight, width = f"W{i}", int(rng.choice(widths))
            shapes[weight], shapes[result] = (shapes[first][1], width), (rows, width)
            parameters.append(weight)
            trained += [weight] if rng.random() < 0.5 else []
            steps.append((result, operation, first, weight))
            continue
        shapes[result] = shapes[first]
        second = [str(rng.choice([name for name in tensors if shapes[name] == shapes[first]]))]
        steps.append((result, operation, first, *(second if operation in OF_TWO else [])))
    return Program(steps, shapes, trained, parameters)
