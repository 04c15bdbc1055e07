"""The reference of ch13_beyond_first_order against PyTorch's Hessians, exact integrals and finite differences."""

from __future__ import annotations

import numpy as np
import torch
from numpy.polynomial.hermite_e import hermegauss

from autograder.judging import exercise


def functions(rng):
    """Functions of a tensor of shape (2, 3), their Hessians full, diagonal and 0."""
    a, W = torch.tensor(rng.normal(size=(2, 3))), torch.tensor(rng.normal(size=(3, 4)), requires_grad=True)
    return [
        lambda x: (torch.tanh(x @ W) ** 2).sum() + (a * x**3).sum(),
        lambda x: torch.logsumexp(x.reshape(-1), 0) * (a * x).sum(),
        lambda x: (a * x**4).sum(),
        lambda x: (a * x).sum(),
        lambda x: (x @ W).sum(),
        lambda x: (W**2).sum(),
        lambda x: torch.tensor(1.0, dtype=torch.float64),
    ]


def hessian_of(f, x):
    return torch.autograd.functional.hessian(f, x).reshape(x.numel(), x.numel()).detach()


@exercise("hvp")
def test_product_against_the_hessian(reference, rng):
    product = reference.implementations["hvp"]
    for f in functions(rng):
        x, v = (torch.tensor(rng.normal(size=(2, 3))) for _ in range(2))
        by_hessian = (hessian_of(f, x) @ v.reshape(-1)).reshape(2, 3)
        torch.testing.assert_close(product(f, x, v), by_hessian, rtol=1e-9, atol=1e-9)


@exercise("hvp_forward_over_reverse")
def test_forward_over_reverse_by_hand(reference, rng):
    """f = ½ xᵀ A x + b·x with A not symmetric has the Hessian (A + Aᵀ) / 2; and as the Hessian of the others has it."""
    product = reference.implementations["hvp_forward_over_reverse"]
    A, b, x, v = (torch.tensor(rng.normal(size=shape)) for shape in ((4, 4), 4, 4, 4))
    torch.testing.assert_close(product(lambda x: 0.5 * x @ A @ x + b @ x, x, v), (A + A.T) @ v / 2)
    for f in functions(rng):
        x, v = (torch.tensor(rng.normal(size=(2, 3))) for _ in range(2))
        by_hessian = (hessian_of(f, x) @ v.reshape(-1)).reshape(2, 3)
        torch.testing.assert_close(product(f, x, v), by_hessian, rtol=1e-9, atol=1e-9)


@exercise("hessian_trace")
def test_trace_against_the_hessian(reference, rng):
    """Exact for diagonal Hessians; within six standard errors, of the known variance, for full ones."""
    trace, generator = reference.implementations["hessian_trace"], torch.Generator().manual_seed(1)
    for f in functions(rng):
        x, samples = torch.tensor(rng.normal(size=(2, 3))), 400
        H = hessian_of(f, x)
        off = H - torch.diag(H.diagonal())
        error = (2 * (off**2).sum() / samples).sqrt().item()  # var z·Hz = 2 Σ H_ij² beside the diagonal
        assert abs(trace(f, x, samples, generator) - H.trace().item()) <= 6 * error + 1e-9


@exercise("maml_gradient")
def test_maml_against_finite_differences(reference, rng):
    maml = reference.implementations["maml_gradient"]

    def loss(params, data):
        return ((torch.tanh(data[0] @ params["w"]) - data[1]) ** 2).mean() + params["b"] ** 2 * data[1].sum()

    support, query = ((torch.tensor(rng.normal(size=(4, 2))), torch.tensor(rng.normal(size=4))) for _ in range(2))
    params = {"w": torch.tensor(rng.normal(size=2)), "b": torch.tensor(rng.normal(), dtype=torch.float64)}

    def after_the_step(w, b):
        leaves = {"w": w.detach().requires_grad_(), "b": b.detach().requires_grad_()}
        loss(leaves, support).backward()
        return loss({name: leaf.detach() - 0.3 * leaf.grad for name, leaf in leaves.items()}, query)

    got = maml(loss, params, support, query, 0.3)
    for name, value in params.items():
        flat = value.reshape(-1)
        for i in range(flat.numel()):
            step = torch.zeros_like(flat)
            step[i] = 1e-5
            ends = [after_the_step(**{**params, name: (flat + sign * step).reshape(value.shape)}) for sign in (1, -1)]
            difference = (ends[0] - ends[1]).item() / 2e-5
            np.testing.assert_allclose(got[name].reshape(-1)[i], difference, rtol=1e-6, atol=1e-8)


def expectation(estimate):
    """E over a standard normal eps, by Gauss-Hermite quadrature: exact for polynomials of degree 79 or less."""
    nodes, weights = hermegauss(40)
    return (weights * estimate(nodes)).sum() / weights.sum()


@exercise("score_function_gradient")
def test_score_function_is_unbiased(reference):
    """E[x²] = mu² + sigma², E[x³] = mu³ + 3 mu sigma²: their derivatives by mu, exactly."""
    score = reference.implementations["score_function_gradient"]
    for mu, sigma in [(1.5, 1.0), (-0.7, 2.0), (0.0, 0.3)]:
        square = expectation(lambda eps: score(lambda x: x**2, mu, sigma, eps))  # noqa: B023
        cube = expectation(lambda eps: score(lambda x: x**3, mu, sigma, eps))  # noqa: B023
        np.testing.assert_allclose([square, cube], [2 * mu, 3 * mu**2 + 3 * sigma**2], rtol=1e-9, atol=1e-9)


@exercise("reparameterized_gradient")
def test_reparameterization_is_unbiased(reference):
    path = reference.implementations["reparameterized_gradient"]
    for mu, sigma in [(1.5, 1.0), (-0.7, 2.0), (0.0, 0.3)]:
        square = expectation(lambda eps: path(lambda x: 2 * x, mu, sigma, eps))  # noqa: B023
        cube = expectation(lambda eps: path(lambda x: 3 * x**2, mu, sigma, eps))  # noqa: B023
        np.testing.assert_allclose([square, cube], [2 * mu, 3 * mu**2 + 3 * sigma**2], rtol=1e-9, atol=1e-9)


@exercise("gumbel_softmax_st")
def test_gumbel_softmax_against_numpy(reference, rng):
    choose = reference.implementations["gumbel_softmax_st"]
    for shape, tau in [((3,), 0.5), ((2, 4), 2.0), ((2, 1, 3), 1e-3)]:
        logits, gumbels, g = rng.normal(size=shape), rng.gumbel(size=shape), rng.normal(size=shape)
        leaf = torch.tensor(logits, requires_grad=True)
        y = choose(leaf, tau, torch.tensor(gumbels))
        y.backward(torch.tensor(g))
        s = (logits + gumbels) / tau
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        hard = np.eye(shape[-1])[(logits + gumbels).argmax(axis=-1)]
        np.testing.assert_array_equal(y.detach().numpy(), hard)
        by_hand = p * (g - (p * g).sum(axis=-1, keepdims=True)) / tau
        np.testing.assert_allclose(leaf.grad.numpy(), by_hand, rtol=1e-9, atol=1e-12)


@exercise("gumbel_softmax_st")
def test_choices_are_draws_from_the_softmax(reference):
    """Frequencies of 20,000 choices, each within six standard errors."""
    rng, n = np.random.default_rng(0), 20_000
    logits = np.array([0.5, -1.0, 1.5])
    y = reference.implementations["gumbel_softmax_st"](
        torch.tensor(np.broadcast_to(logits, (n, 3)).copy()), 0.7, torch.tensor(rng.gumbel(size=(n, 3)))
    )
    p = np.exp(logits) / np.exp(logits).sum()
    assert (np.abs(y.numpy().mean(axis=0) - p) <= 6 * np.sqrt(p * (1 - p) / n)).all()
