"""The reference of ch04_detachment against NumPy, finite differences, torch.optim and the six programs as they run."""

from __future__ import annotations

import math
import statistics
import warnings

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise

EXACT = {"rtol": 1e-10, "atol": 1e-12}


class _Identity(torch.autograd.Function):
    """Rounds forward and lets the gradient through, by definition."""

    @staticmethod
    def forward(ctx, x):
        return torch.from_numpy(np.asarray(np.rint(x.detach().numpy())))

    @staticmethod
    def backward(ctx, g):
        return g


@exercise("straight_through_round")
def test_rounding_against_a_function(reference, rng):
    for dtype in (np.float32, np.float64):
        for shape in [(), (1,), (0, 2), (3, 4), (500,)]:
            x, g = (np.asarray(rng.normal(scale=10, size=shape), dtype=dtype) for _ in range(2))
            if x.size > 1:
                x.flat[0] = 2.5
            gradients = []
            for function in (reference.implementations["straight_through_round"], _Identity.apply):
                leaf = torch.tensor(x, requires_grad=True)
                y = function(leaf)
                (3 * y).backward(torch.tensor(g))
                gradients.append(leaf.grad.numpy())
                np.testing.assert_array_equal(y.detach().numpy(), np.rint(x))
            np.testing.assert_array_equal(*gradients)


def td_by_hand(q, target, batch, gamma):
    """The loss of two linear networks, transition by transition."""
    total = 0.0
    for s, a, r, after, done in zip(*batch.values(), strict=True):
        prediction = q["W"][a] @ s + q["b"][a]
        best = max(target["W"] @ after + target["b"])
        total += (prediction - (r if done else r + gamma * best)) ** 2
    return total / len(batch["rewards"])


@exercise("td_loss")
def test_td_loss_against_finite_differences(reference, rng):
    """The target's numbers are held still, also where both networks are one."""
    for n, d, actions in [(1, 1, 1), (1, 2, 3), (4, 2, 3), (6, 3, 2)]:
        q, target = ({"W": rng.normal(size=(actions, d)), "b": rng.normal(size=actions)} for _ in range(2))
        batch = {
            "states": rng.normal(size=(n, d)),
            "actions": rng.integers(actions, size=n),
            "rewards": rng.normal(size=n),
            "next_states": rng.normal(size=(n, d)),
            "dones": rng.integers(2, size=n).astype(bool),
        }
        for shared in (False, True):
            fixed = {name: array.copy() for name, array in (q if shared else target).items()}
            arguments = (q, batch, 0.9) if shared else (q, target, batch, 0.9)
            got = getattr(reference.scenario, "one_network" if shared else "two_networks")(*arguments)
            np.testing.assert_allclose(got["loss"], td_by_hand(q, fixed, batch, 0.9), **EXACT)
            for name in ("W", "b"):
                expected = np.zeros_like(q[name])
                for index in np.ndindex(expected.shape):
                    step = np.zeros_like(expected)
                    step[index] = 1e-6
                    up, down = (td_by_hand({**q, name: q[name] + s * step}, fixed, batch, 0.9) for s in (1, -1))
                    expected[index] = (up - down) / 2e-6
                np.testing.assert_allclose(got[f"d{name}"], expected, rtol=1e-6, atol=1e-8)


PARTS = st.lists(st.sampled_from(["a", "b", "a1", "a10", "1", "10"]), min_size=1, max_size=3).map(".".join)


@exercise("freeze")
def test_freeze_against_lists_of_parts(reference):
    """A prefix matches if its parts are the first parts of the name."""

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.lists(PARTS, min_size=1, max_size=6, unique=True), PARTS | st.just(""), st.booleans())
    def check(paths, prefix, dotted):
        names = [f"{path}.weight" for path in paths]
        wanted = prefix.split(".") if prefix else []
        expected = [name.split(".")[: len(wanted)] == wanted for name in names]
        got = reference.scenario.frozen(names, prefix + "." * (dotted and bool(prefix)))
        assert got["the count"] == sum(expected)
        assert [got[name] == "frozen" for name in names] == expected

    check()


@exercise("freeze")
def test_freeze_on_a_transformer_with_tied_weights(reference):
    freeze = reference.implementations["freeze"]
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = torch.nn.ModuleDict({"embed": torch.nn.Embedding(5, 8), "body": torch.nn.TransformerEncoder(layer, 2)})
    model["head"] = torch.nn.Linear(8, 5)
    model["head"].weight = model["embed"].weight
    assert freeze(model, "body.layers.1") == len(list(model["body"].layers[1].parameters()))
    assert freeze(model, "head") == 2
    still = sum(parameter.requires_grad for parameter in model.parameters())
    assert still == len(list(model["body"].layers[0].parameters()))
    assert freeze(model, "") == len(list(model.parameters()))


@exercise("ema_update")
def test_average_against_torch(reference, rng):
    """torch.optim.swa_utils keeps the same average; so does the sum written out."""
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    decay = float(rng.uniform(0.5, 0.99))
    online = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)).double()
    target = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)).double()
    target.load_state_dict(online.state_dict())
    theirs = AveragedModel(online, multi_avg_fn=get_ema_multi_avg_fn(decay))
    theirs.update_parameters(online)  # the first update copies
    history = [[parameter.detach().clone() for parameter in online.parameters()]]
    for _ in range(6):
        with torch.no_grad():
            for parameter in online.parameters():
                parameter.add_(torch.tensor(rng.normal(size=parameter.shape)))
        history.append([parameter.detach().clone() for parameter in online.parameters()])
        reference.implementations["ema_update"](target, online, decay)
        theirs.update_parameters(online)
    weights = [decay**6, *((1 - decay) * decay ** (6 - i) for i in range(1, 7))]
    for i, (mine, other) in enumerate(zip(target.parameters(), theirs.module.parameters(), strict=True)):
        assert mine.requires_grad
        assert mine.is_leaf
        np.testing.assert_allclose(mine.detach(), other.detach(), **EXACT)
        written_out = sum(weight * values[i] for weight, values in zip(weights, history, strict=True))
        np.testing.assert_allclose(mine.detach(), written_out, **EXACT)


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


@exercise("running_mean_loss")
def test_mean_against_the_standard_library(reference, rng):
    running_mean_loss = reference.implementations["running_mean_loss"]
    for count in (1, 2, 3, 1000):
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            losses = torch.tensor(rng.lognormal(sigma=3, size=count), requires_grad=True).to(dtype)
            numbers = losses.tolist()
            got = running_mean_loss(loss * 1 for loss in losses)
            assert type(got) is float
            assert math.isclose(got, statistics.fmean(numbers), rel_tol=1e-12)
            assert math.isclose(got, math.fsum(numbers) / count, rel_tol=1e-12)
