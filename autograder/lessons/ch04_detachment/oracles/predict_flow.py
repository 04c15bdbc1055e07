"""The reference of predict_flow against something independent."""

from __future__ import annotations

import warnings

import torch

from autograder.judging import exercise


@exercise("predict_flow")
def test_prediction_against_the_programs(reference):
    """The programs are run, and their tensors say what they got."""
    truth = {}
    for program in reference.module.PROGRAMS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # .grad of what is no leaf
            truth[program.__name__] = {name: tensor.grad is not None for name, tensor in program().items()}
    assert reference.predict_flow() == truth
    assert len(truth) == 6
    for tensors in truth.values():  # no program is answered by one word
        assert len(set(tensors.values())) == 2


def run_steps(steps):
    """Which tensors have a .grad after the steps ran in PyTorch."""
    made = {}
    for name, how, *inputs in steps:
        if how in ("leaf", "constant"):
            made[name] = torch.tensor(1.5, requires_grad=how == "leaf")
        elif how == "request":
            made[name].requires_grad_()
        elif how == "detach":
            made[name] = made[inputs[0]].detach()
        else:
            with torch.set_grad_enabled(how == "product"):
                made[name] = made[inputs[0]] * made[inputs[1]]
    made[steps[-1][0]].backward()
    return {name: tensor.grad is not None for name, tensor in made.items()}


@exercise("predict_flow")
def test_prediction_of_steps_against_autograd(reference, rng):
    """Random steps, run."""
    for _ in range(300):
        steps = [("a", "leaf"), ("b", "leaf"), ("k", "constant")]
        for i in range(rng.integers(1, 12)):
            names = [name for name, *_ in steps]
            how = rng.choice(["leaf", "constant", "product", "product under no_grad", "detach", "request"])
            one, other = rng.choice(names, size=2).tolist()
            inputs = {"product": [one, other], "product under no_grad": [one, other], "detach": [one]}.get(how, [])
            steps.append((one if how == "request" else f"h{i}", str(how), *inputs))
        steps.append(("loss", "product", steps[-1][0], "a"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # .grad of what is no leaf
            assert reference.predict_flow({"one": steps}) == {"one": run_steps(steps)}
