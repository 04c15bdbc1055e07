"""The reference of ch10_activation_memory against real blocks under fake tensors, and a search by trying."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

from autograder.judging import exercise
from autograder.lessons.ch10_activation_memory.programs import Program, random_program, unseen_layers
from course.experiments.costs import predict
from course.experiments.policies import POLICIES
from course.gpt import GPTBlock
from course.instruments.saved import SavedTensorMeter
from course.llama import Block, LlamaConfig, rope_angles

BF16 = torch.bfloat16
CONFIGS = [
    LlamaConfig(hidden=256, layers=3, heads=4, kv_heads=2, ffn=688, vocab=512),
    LlamaConfig(hidden=512, layers=2, heads=8, kv_heads=8, ffn=1376, vocab=8000),
]


@exercise("layer_activation_bytes")
def test_layer_against_a_gpt_block(reference):
    """Within the two numbers a row that LayerNorms keep, which the formula leaves out."""
    count = reference.implementations["layer_activation_bytes"]
    for s, b, h, a in [(256, 1, 512, 8), (128, 3, 1024, 4)]:
        with FakeTensorMode():
            x = torch.empty(b, s, h, dtype=BF16, requires_grad=True)
            with SavedTensorMeter() as meter:
                GPTBlock(h, a)(x * 1.0)
        assert count(s, b, h, a, flash=False) == pytest.approx(meter.bytes, rel=1e-3)


@exercise("SavedTensorMeter")
def test_meter_against_the_course_instrument(reference):
    for config in CONFIGS:
        with FakeTensorMode():
            block, angles = Block(config), rope_angles(config, 64, BF16)
            found = []
            for meter in (SavedTensorMeter(), reference.implementations["SavedTensorMeter"]()):
                x = torch.empty(2, 64, config.hidden, dtype=BF16, requires_grad=True)
                with meter:
                    block(x * 1.0, *angles)
                found.append(meter.bytes)
        assert found[0] == found[1] > 0


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
    """What the course's instrument counts where PyTorch runs the steps."""
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


@exercise("training_state_bytes")
def test_states_against_adam(reference):
    """PyTorch's own moments, gradients and weights in float32, without a master copy."""
    p = torch.nn.Parameter(torch.ones(1000))
    optimizer = torch.optim.AdamW([p])
    p.grad = torch.ones_like(p)
    optimizer.step()
    got = reference.implementations["training_state_bytes"](1000, 4, 4, 0, 4)
    assert got["moments"] == sum(optimizer.state[p][name].nbytes for name in ("exp_avg", "exp_avg_sq"))
    assert got["total"] == got["moments"] + p.nbytes + p.grad.nbytes


@exercise("llama_block_bytes")
def test_block_against_live_storages(reference):
    """All layers of the real program, their last result aside, to the byte."""
    count = reference.implementations["llama_block_bytes"]
    policies = {"none": "none", "selective": "selective", "full": "every_layer"}
    for config in CONFIGS:
        for recompute, policy in policies.items():
            saved = predict(POLICIES[policy], config, 128, batch=2).saved_bytes - 2 * 128 * 2 * config.hidden
            assert config.layers * count(config, 128, 2, recompute) == saved, recompute


@exercise("largest_batch")
def test_batch_by_trying(reference):
    """Batch by batch, from states and each moment of a step; n_params is that of the course's model."""
    largest, block = (reference.implementations[name] for name in ("largest_batch", "llama_block_bytes"))
    for config in CONFIGS:
        bare = SimpleNamespace(**{name: getattr(config, name) for name in LlamaConfig.__dataclass_fields__})
        for recompute in ("none", "selective", "full"):

            def moments(b, config=config, recompute=recompute):
                kept = [block(config, 128, b, recompute)] * config.layers
                again = [block(config, 128, b, "none"), *kept[1:]]
                loss = 3 * b * 128 * config.vocab * 4
                return [sum(kept) + loss, sum(again)]

            for room in (0, 10**6, 10**7, 10**8):
                gpu_bytes, b = 16 * config.n_params + room, 0
                while max(moments(b + 1)) <= room:
                    b += 1
                assert largest(bare, 128, gpu_bytes, recompute) == b
