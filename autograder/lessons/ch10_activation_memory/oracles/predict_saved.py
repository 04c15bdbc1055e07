"""The reference of predict_saved against something independent."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from autograder.judging import exercise
from autograder.lessons.ch10_activation_memory.programs import Program, random_program, unseen_layers
from course.instruments.meter import SavedTensorMeter

OPERATIONS = {
    **{
        name: getattr(torch, name) for name in ("add", "mul", "div", "matmul", "exp", "sigmoid", "tanh", "relu", "sqrt")
    },
    **{name: getattr(torch, name) for name in ("sum", "sin", "square", "log")},
    "softmax": lambda x: x.softmax(-1),
    "silu": F.silu,
    "gelu": F.gelu,
    "scale": lambda x: 3 * x,
    "view": lambda x: x.view(-1, x.shape[-1]),
    "detach": torch.Tensor.detach,
}


def measured(program: Program) -> int:
    """The bytes that the course's instrument counts when PyTorch runs the steps."""
    made = {result for result, *_ in program.steps}
    tensors = {
        name: (torch.nn.Parameter if name in program.parameters else torch.Tensor.requires_grad_)(
            torch.rand(shape), name in program.trained
        )
        for name, shape in program.shapes.items()
        if name not in made
    }
    with SavedTensorMeter() as meter:
        for result, operation, *inputs in program.steps:
            tensors[result] = OPERATIONS[operation](*(tensors[name] for name in inputs))
    return meter.bytes


@exercise("predict_saved")
def test_prediction_against_the_meter(reference):
    """Every operation, who requires a gradient, parts and random programs: to the byte."""
    predict_saved = reference.implementations["predict_saved"]
    rng = np.random.default_rng(0)
    programs = [*unseen_layers(rng).values(), *(random_program(rng, n) for n in range(1, 25) for _ in range(20))]
    for operation in OPERATIONS:
        n = 2 if operation in ("add", "mul", "div", "matmul") else 1
        for trained in ([], ["a"], ["b"], ["a", "b"]):
            shapes = {"a": (3, 3), "b": (3, 3), "y": () if operation == "sum" else (3, 3)}
            programs.append(Program([("y", operation, *("a", "b")[:n])], shapes, trained, []))
    assert {operation for program in programs for _, operation, *_ in program.steps} == set(OPERATIONS)
    for program in programs:
        assert predict_saved(*program.arguments) == measured(program), program.steps


@exercise("predict_saved")
def test_parts_against_the_meter(reference):
    """A view of a part, and of a parameter."""
    predict_saved = reference.implementations["predict_saved"]
    x, W = torch.ones(6, 5, requires_grad=True), torch.nn.Parameter(torch.ones(4, 5))
    with SavedTensorMeter() as meter:
        (3 * x)[:, :1].sin()
    steps = [("a", "scale", "x"), ("v", "view", "a"), ("y", "sin", "v")]
    assert predict_saved(steps, {"x": 30, "a": 30, "v": 6, "y": 6}, ["x"], []) == meter.bytes
    with SavedTensorMeter() as meter:
        x @ W.t()
    steps = [("t", "view", "W"), ("y", "matmul", "x", "t")]
    assert predict_saved(steps, {"x": 30, "W": 20, "t": 20, "y": 24}, ["x", "W"], ["W"]) == meter.bytes
