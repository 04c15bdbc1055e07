"""The reference of gradcheck against something independent."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import torch

from autograder.judging import exercise

TORCH_FUNCTIONS = {
    "tanh of a product": (lambda a, b: torch.tanh(a @ b), [(2, 3), (3, 2)]),
    "softmax": (lambda x: torch.softmax(x, dim=-1), [(2, 3)]),
    "a 0-d result": (lambda a, b: (a * b).sin().sum(), [(3,), ()]),
    "layer normalization": (lambda x, w, b: torch.nn.functional.layer_norm(x, (4,), w, b), [(2, 4), (4,), (4,)]),
}


@exercise("gradcheck")
def test_gradcheck_against_torch(reference, rng):
    """PyTorch's gradients pass here and in PyTorch's gradcheck; with one entry wrong by 1% they pass in neither."""
    for compute, shapes in TORCH_FUNCTIONS.values():
        inputs = tuple(np.asarray(rng.uniform(0.5, 1.5, size=shape)) for shape in shapes)

        def function(factor, compute=compute):
            class Wrong(torch.autograd.Function):
                @staticmethod
                def forward(ctx, *tensors):
                    ctx.save_for_backward(*tensors)
                    return compute(*tensors)

                @staticmethod
                def backward(ctx, g):
                    with torch.enable_grad():
                        leaves = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
                        gradients = list(torch.autograd.grad(compute(*leaves), leaves, g))
                    largest = gradients[-1].abs().argmax()
                    gradients[-1] = gradients[-1].clone()
                    gradients[-1].view(-1)[largest] *= factor
                    return tuple(gradients)

            return Wrong.apply

        for factor, right in [(1.0, True), (1.01, False)]:
            apply = function(factor)

            def f(*arrays, apply=apply):
                return apply(*(torch.tensor(np.asarray(array)) for array in arrays)).numpy()

            def vjp(g, *arrays, apply=apply):
                leaves = [torch.tensor(np.asarray(array), requires_grad=True) for array in arrays]
                gradients = torch.autograd.grad(apply(*leaves), leaves, torch.as_tensor(np.asarray(g)))
                return tuple(gradient.numpy() for gradient in gradients)

            leaves = tuple(torch.tensor(array, requires_grad=True) for array in inputs)
            assert torch.autograd.gradcheck(apply, leaves, raise_exception=False) is right
            assert reference.gradcheck(f, vjp, inputs, np.random.default_rng(0)) is right


@exercise("gradcheck")
def test_what_the_bank_leaves_out(reference, rng):
    """Every mistake of the rules' register that differences can find is in the bank; none that they cannot find."""
    file = Path(__file__).parents[1] / "gradcheck_bank.py"
    spec = importlib.util.spec_from_file_location("the_bank", file)
    bank = importlib.util.module_from_spec(spec)
    sys.modules["the_bank"] = bank  # dataclasses look their module up
    spec.loader.exec_module(bank)
    left_out, bank.FOUND_BY_NO_DIFFERENCES, bank.MISTAKES_PER_RULE = bank.FOUND_BY_NO_DIFFERENCES, frozenset(), 1000

    kinds = [bank.elementwise_rules, bank.rules_along_an_axis, bank.products_and_lookups, bank.normalizations]
    asked = set()
    for seed in range(8):  # a few show only where the numbers are right for it
        for questions in (kind(seed) for kind in [*kinds, bank.large_rules]):
            asked |= {question.words for question in questions}
    names = {mistake.name for mistake in bank.register()}
    missing = {name for name in names if f"the mistake “{name.replace('_', ' ')}”" not in asked}
    more, fewer = sorted(missing - left_out), sorted(left_out - missing)
    assert not more, f"gradcheck_bank.py asks of none of {', '.join(more)}: give it a function of that rule"
    assert not fewer, f"FOUND_BY_NO_DIFFERENCES has {', '.join(fewer)}, which are asked: take them out"
