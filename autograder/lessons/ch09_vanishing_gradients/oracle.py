"""The reference of ch09_vanishing_gradients against NumPy, exact arithmetic and PyTorch's own functions."""

from __future__ import annotations

import copy
import itertools
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise

SEEDS = range(5)


def chain(rng, *widths, dtype=torch.float64):
    """A sigmoid network with weights of Linear's own size, drawn from `rng`."""
    modules: list[torch.nn.Module] = []
    for fan_in, fan_out in itertools.pairwise(widths):
        linear = torch.nn.Linear(fan_in, fan_out, dtype=dtype)
        with torch.no_grad():
            for parameter in linear.parameters():
                parameter.copy_(torch.tensor(rng.uniform(-1, 1, size=parameter.shape) / math.sqrt(fan_in)))
        modules += [linear, torch.nn.Sigmoid()]
    return torch.nn.Sequential(*modules[:-1])


def norms_by_hand(weights, biases, X, y):
    """Backpropagation through a sigmoid network, in NumPy."""
    activations = [X]
    for W, b in zip(weights, biases, strict=True):
        z = activations[-1] @ W.T + b
        activations.append(z if W is weights[-1] else 1 / (1 + np.exp(-z)))
    p = np.exp(activations[-1] - activations[-1].max(axis=1, keepdims=True))
    g = p / p.sum(axis=1, keepdims=True)
    g[np.arange(len(y)), y] -= 1
    g /= len(y)
    norms = []
    for i in reversed(range(len(weights))):
        norms.append(math.sqrt(((g.T @ activations[i]) ** 2).sum()))
        a = activations[i]
        g = (g @ weights[i]) * a * (1 - a)
    return norms[::-1]


@exercise("layer_gradient_norms")
def test_norms_against_numpy(reference, rng):
    for widths in [(3, 2), (4, 5, 3), (2, 6, 6, 6, 3), (5, *[8] * 31, 4)]:
        model = chain(rng, *widths)
        X, y = rng.normal(size=(9, widths[0])), rng.integers(widths[-1], size=9)
        linears = [module for module in model if isinstance(module, torch.nn.Linear)]
        by_hand = norms_by_hand(*[[getattr(m, name).detach().numpy() for m in linears] for name in ("weight", "bias")],
                                X, y)  # fmt: skip
        got = reference.implementations["layer_gradient_norms"](model, torch.tensor(X), torch.tensor(y))
        assert all(type(norm) is float for norm in got)
        np.testing.assert_allclose(got, by_hand, rtol=1e-9)


@exercise("layer_gradient_norms")
def test_norms_in_float32_are_those_of_float64(reference, rng):
    """Where float32's own norm is 0.0; and .grad after backward() is the same gradient."""
    norms = reference.implementations["layer_gradient_norms"]
    single = chain(rng, 6, *[8] * 31, 4, dtype=torch.float32)
    X, y = torch.tensor(rng.normal(size=(16, 6)), dtype=torch.float32), torch.tensor(rng.integers(4, size=16))
    got = norms(single, X, y)
    np.testing.assert_allclose(got, norms(copy.deepcopy(single).double(), X.double(), y), rtol=1e-4)
    torch.nn.functional.cross_entropy(single(X), y).backward()
    gradients = [module.weight.grad for module in single if isinstance(module, torch.nn.Linear)]
    np.testing.assert_allclose(got, [np.linalg.norm(gradient.numpy().astype(np.float64)) for gradient in gradients])
    assert gradients[0].norm() == 0
    assert (gradients[0] != 0).all()


@exercise("decay_per_layer")
def test_decay_against_exact_arithmetic(reference):
    """The product of the ratios, as fractions, and its root."""

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.floats(1e-150, 1e150), min_size=2, max_size=12))
    def check(norms):
        product = math.prod(Fraction(one) / Fraction(other) for one, other in itertools.pairwise(norms))
        logarithm = (math.log(product.numerator) - math.log(product.denominator)) / (len(norms) - 1)
        decay = reference.implementations["decay_per_layer"](norms)
        assert math.isclose(decay, math.exp(logarithm), rel_tol=1e-10)

    check()
    assert math.isclose(reference.decay_per_layer([1.0, 2.0, 8.0]), statistics.geometric_mean([1 / 2, 2 / 8]))
    assert math.isclose(reference.decay_per_layer([5e-324, 1.0, 1e300]), 10 ** ((math.log10(5e-324) - 300) / 2))


@exercise("decay_per_layer")
def test_decay_of_the_experiment(reference):
    """Theory for default weights: sigmoid's slope is at most 1/4 and a weight's deviation 1/sqrt(3n), so 0.144."""
    make, norms_of = (reference.implementations[name] for name in ("make_mlp", "layer_gradient_norms"))
    decays = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        norms = norms_of(make(64, 10), torch.randn(256, 64), torch.randint(0, 10, (256,)))
        decays.append(reference.decay_per_layer(norms[1:-1]))
    assert abs(statistics.median(decays) - 0.14) < 0.01


@exercise("xavier_std")
def test_xavier_against_torch(reference):
    """The deviation of what xavier_normal_ and xavier_uniform_ draw."""
    torch.manual_seed(0)
    for fan_in, fan_out in [(300, 500), (1000, 100), (40, 4000)]:
        for draw in (torch.nn.init.xavier_normal_, torch.nn.init.xavier_uniform_):
            drawn = draw(torch.empty(fan_out, fan_in)).double().std().item()
            assert math.isclose(drawn, reference.xavier_std(fan_in, fan_out), rel_tol=0.02)


@exercise("he_std")
def test_he_against_torch(reference):
    """The deviation of what kaiming_normal_ and kaiming_uniform_ draw; the mean square survives ReLU."""
    torch.manual_seed(0)
    for fan_in, fan_out in [(300, 500), (1000, 100), (40, 4000)]:
        for draw in (torch.nn.init.kaiming_normal_, torch.nn.init.kaiming_uniform_):
            drawn = draw(torch.empty(fan_out, fan_in), nonlinearity="relu").double().std().item()
            assert math.isclose(drawn, reference.he_std(fan_in), rel_tol=0.02)
    z = torch.randn(500, 1000)
    following = torch.relu(z) @ (reference.he_std(1000) * torch.randn(1000, 1000))
    assert math.isclose(following.square().mean().item(), 1, rel_tol=0.03)


def output_by_hand(model, X, activation, residual, norm):
    """What the network gives, in NumPy, from its parameters in their order."""
    parameters = [parameter.detach().numpy() for parameter in model.parameters()]
    act = {"sigmoid": lambda z: 1 / (1 + np.exp(-z)), "tanh": np.tanh, "relu": lambda z: np.maximum(z, 0)}[activation]
    W, b, *middle = parameters[:-2]
    x = X @ W.T + b
    size = 4 if norm else 2
    for i in range(0, len(middle), size):
        W, b, *affine = middle[i : i + size]
        z = x @ W.T + b
        if norm:
            gamma, beta = affine
            z = gamma * (z - z.mean(axis=0)) / np.sqrt(z.var(axis=0) + 1e-5) + beta
        x = x + act(z) if residual else act(z)
    W, b = parameters[-2:]
    return x @ W.T + b


@exercise("make_mlp")
def test_outputs_against_numpy(reference, rng):
    for activation, init, residual, norm in itertools.product(
        ("sigmoid", "tanh", "relu"), ("default", "xavier", "he"), (False, True), (False, True)
    ):
        options = {"activation": activation, "init": init, "residual": residual, "norm": norm}
        model = reference.implementations["make_mlp"](3, 4, depth=3, width=5, **options).double()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.tensor(rng.normal(size=parameter.shape)))
        X = rng.normal(size=(6, 3))
        expected = output_by_hand(model, X, activation, residual, norm)
        np.testing.assert_allclose(model(torch.tensor(X)).detach(), expected, rtol=1e-9)


@exercise("make_mlp")
def test_parameters_counted(reference):
    for norm in (False, True):
        model = reference.implementations["make_mlp"](20, 10, norm=norm)
        expected = 20 * 64 + 64 + 30 * (64 * 64 + 64 + norm * 2 * 64) + 64 * 10 + 10
        assert sum(parameter.numel() for parameter in model.parameters()) == expected
    with pytest.raises(ValueError, match="gelu"):
        reference.implementations["make_mlp"](3, 2, activation="gelu")


@exercise("healthy_mlp")
def test_healthy_network_is_one_of_make_mlp(reference, rng):
    """With the same parameters it computes what make_mlp's network with ReLU, residuals and BatchNorm does."""
    options = {"activation": "relu", "residual": True, "norm": True}
    for sizes in [(3, 2, 1, 4), (5, 3, 30, 16)]:
        healthy = reference.implementations["healthy_mlp"](*sizes)
        other = reference.implementations["make_mlp"](*sizes, **options)
        with torch.no_grad():
            for mine, its in zip(healthy.parameters(), other.parameters(), strict=True):
                mine.copy_(its)
        X = torch.tensor(rng.normal(size=(8, sizes[0])), dtype=torch.float32)
        torch.testing.assert_close(healthy(X), other(X))
        np.testing.assert_allclose(
            healthy.double()(X.double()).detach(), output_by_hand(healthy, X.double().numpy(), "relu", True, True)
        )


@exercise("clip_grad_norm")
def test_clipping_against_torch(reference, rng):
    """torch.nn.utils.clip_grad_norm_ in float64, whose epsilon of 1e-6 is lost beside large norms."""
    for shapes in [[(3,)], [(3, 2), (3,), ()], [(4, 1, 2), (0,), (5,)]]:
        for share in (0.01, 0.7, 1.5):
            parameters = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in shapes]
            for parameter in parameters:
                parameter.grad = torch.tensor(np.asarray(1e6 * rng.normal(size=parameter.shape)))
            grads = [parameter.grad.clone() for parameter in parameters]
            max_norm = share * math.sqrt(math.fsum(x * x for grad in grads for x in grad.flatten().tolist()))
            clipped, total = reference.implementations["clip_grad_norm"](grads, max_norm)
            theirs = torch.nn.utils.clip_grad_norm_(parameters, max_norm)
            assert type(total) is float
            assert math.isclose(total, theirs.item(), rel_tol=1e-12)
            for mine, parameter in zip(clipped, parameters, strict=True):
                torch.testing.assert_close(mine, parameter.grad, rtol=1e-10, atol=0)
            norm = math.sqrt(sum(grad.square().sum().item() for grad in clipped))
            assert math.isclose(norm, min(total, max_norm), rel_tol=1e-12)


@exercise("dead_relu_fraction")
def test_share_by_brute_force(reference, rng):
    """Every unit on every row, in NumPy."""
    for widths in [(2, 6), (3, 5, 9), (2, 8, 8, 4)]:
        linears = [torch.nn.Linear(a, b, dtype=torch.float64) for a, b in itertools.pairwise(widths)]
        model = torch.nn.Sequential(*[module for linear in linears for module in (linear, torch.nn.ReLU())])
        with torch.no_grad():
            for linear in linears:
                linear.bias.copy_(torch.tensor(rng.normal(scale=2, size=linear.bias.shape)))
        X = rng.normal(size=(5, widths[0]))
        h, dead, units = X, 0, 0
        for linear in linears:
            h = np.maximum(h @ linear.weight.detach().numpy().T + linear.bias.detach().numpy(), 0)
            units += h.shape[1]
            dead += sum(all(h[i, j] == 0 for i in range(len(h))) for j in range(h.shape[1]))
        share = reference.implementations["dead_relu_fraction"](model, torch.tensor(X))
        assert type(share) is float
        assert math.isclose(share, dead / units)
