"""Checks of healthy_mlp."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import F32, F64, exercise, expect, expect_close, random
from autograder.lessons.ch09_vanishing_gradients.checks.layers import batch
from autograder.lessons.ch09_vanishing_gradients.checks.networks import ends_and_width, same_shapes, torch_seed
from autograder.wording import clean


@exercise("healthy_mlp", promise="instrumented")
def test_structure(learner, rng):
    """depth + 2 Linears, BatchNorm and ReLU in each block, logits, and a way past every block."""
    for depth, width in [(1, 4), (5, 8), (30, 32)]:
        n_in, n_out, _ = ends_and_width(rng)
        if depth == 30:  # the network that is trained below
            n_in, n_out = 12, 4
        else:
            width += int(rng.integers(8))
        case = f"a network of depth={depth}"
        X = random(rng, (16, n_in), F32)
        got = learner.scenario.healthy_structure(torch_seed(rng), (n_in, n_out, depth, width), X)
        expect(got["a module"], "healthy_mlp returned no torch.nn.Module.", case=case)
        if not got["a module"] or not same_shapes(got["linears"], (n_in, n_out, depth, width), case):
            return
        message = f"{got['norms']} modules BatchNorm1d run; depth = {depth} expected, one in each block."
        if got["norms"] < got["norms made"]:
            message = f"{got['norms made']} modules BatchNorm1d are made, and {got['norms']} of them run."
        elif got["layernorms"]:
            message += f" LayerNorms found: {got['layernorms']}."
        expect(got["norms"] >= depth, message, case=case)
        if got["norms"] < depth:  # distinguishes the known mistakes
            made = [got["norms"], got["norms made"], got["layernorms"]]
            expect_close(np.array(made), np.array([depth, depth, 0]), names=("norms",), case=case, rtol=0, atol=0)
        message = f"{got['relus']} modules ReLU run; depth = {depth} expected, one in each block."
        if got["relus"] < depth and not got["other activations"]:  # known mistakes use another activation
            message += " A function such as torch.relu is no module: use torch.nn.ReLU()."
            expect(False, message, case=case)
        else:
            found = ", ".join(clean(str(name), 20) for name in got["other activations"][:3])
            expect(got["relus"] >= depth, f"{message} Found: {found}.", case=case)
        expect(got["shape"] == (16, n_out), "The output has not the shape (n, n_out).", case=case)
        message = (
            "With the hidden Linears set to 0 nothing of x arrives at the output: no residual connection leads around "
            "the whole block. A block gives x + f(x)."
        )
        expect(got["skips"], message, case=case)
        message = (
            "With the hidden Linears set to 0, all but the first, nothing of the first block arrives at the output. "
            "A block gives x + f(x), where x is its own input, not that of another block."
        )
        expect(got["carries on"], message, case=case)
        message = (
            "With the hidden Linears set to 0 a block does not give x but something else: a block is x + f(x), with "
            "no factor, and no ReLU or BatchNorm after the addition."
        )
        expect(got["adds only"] or not got["skips"], message, case=case)
        message = (
            "What arrives at the output layer is not the sum of what the input layer and the blocks return: a block is "
            "x + f(x), with no factor, and `f` ends with its last module."
        )
        expect(got["whole branches"] or not got["adds only"], message, case=case)
        for key, module in (("norms", "BatchNorm1d"), ("relus", "ReLU")):
            message = (
                f"{got[key]} modules {module} run, but the logits depend on what {got[key + ' used']} of them return; "
                f"depth = {depth} expected. Use in `f` what the module returns."
            )
            expect(got[key] < depth or got[key + " used"] >= depth, message, case=case)
        message = "The outputs are probabilities or their logarithms. Return logits: the loss has the softmax in it."
        expect(not got["softmax"], message, case=case)
        expect(got["train mode"], "The network is not in train mode.", case=case)
        message = "Two networks have the same weights: leave the random generator unseeded."
        expect(not got["seeded"], message, case=case)


# The ratio of the first to the last hidden gradient norm of fresh networks. 2,160 honest ones (five orders in the
# block, three initialisations, a BatchNorm more; depths and widths as below) had 0.98 to 15.2. Without residual
# connections 450 had 138 to 447 at depth 30, width 64. The worst honest kind's logarithm is 3.8 standard deviations
# below log(30), and of three networks the median counts: a false reject in 10^7.
@exercise("healthy_mlp", promise="instrumented")
def test_gradients_in_bounds(learner):
    """The first hidden layer's gradient norm between 1/30 and 30 times the last one's."""
    rng = np.random.default_rng(30)  # a property, on visible inputs only: any healthy network has it
    for depth, width in [(30, 64), (30, 32), (10, 32)]:
        case = f"fresh networks, depth={depth}, width={width}"
        ratios = []
        for _ in range(3):
            arguments = torch_seed(rng), (12, 4, depth, width), *batch(rng, 128, 12, 4, F32)
            got = learner.scenario.healthy_gradients(*arguments) or {"largest": [], "silent": False}
            largest = got["largest"]
            expect(len(largest) == depth, "modules() does not find depth + 2 Linears.", case=case)
            expect(not got["silent"], "The output layer's weights are 0, and so are all gradients below.", case=case)
            message = (
                "A hidden Linear has a gradient of exactly 0, and zeros have no ratio. A branch f that begins at 0, "
                "with a BatchNorm weight of zeros, say, is an honest choice elsewhere, but not one for this exercise."
            )
            expect(got["silent"] or 0 not in largest, message, case=case)
            expect(all(map(math.isfinite, largest)), "The gradient of a hidden Linear is inf or nan.", case=case)
            if len(largest) != depth or not all(0 < entry < math.inf for entry in largest):
                return
            first, last = (np.linalg.norm(gradient.astype(F64)) for gradient in got["ends"])
            ratios.append(first / last)
        ratio = sorted(ratios)[1]
        explodes = "explodes towards" if ratio > 1 else "vanishes towards"
        message = (
            f"The gradient {explodes} the first layer: its norm is {ratio:.2g} times that of the last hidden layer; "
            "1/30 to 30 expected."
        )
        expect(1 / 30 <= ratio <= 30, message, case=case)


def clouds(rng, n, d, classes):
    """Points around one centre per class, and their classes; centres are orthogonal, at distance 3 from the origin."""
    axes, _ = np.linalg.qr(rng.normal(size=(d, d)))
    y = rng.integers(classes, size=n)
    return (3 * axes[y] + 0.5 * rng.normal(size=(n, d))).astype(F32), y


# 88 honest networks (11 kinds, 8 seeds) classified 98 % to 100 % of the new points correctly, and at least 90 % if each
# block gives (x + f(x))/√2. 32 networks without skips (sigmoid, plain ReLU, ReLU with BatchNorm, the same with He's
# weights) reached 21 % to 42 %. 60 steps at half the rate give the same result, for 1.5 times the cost.
@exercise("healthy_mlp")
def test_it_learns(learner, rng):
    """Trained by us for 40 steps, its logits for new points, whose classes the submission never sees."""
    case = "depth=30, width=32, 40 steps of Adam, four clouds of points"
    X, y = clouds(rng, 712, 12, 4)
    logits = learner.scenario.trained(torch_seed(rng), (12, 4, 30, 32), X[:512], y[:512], X[512:], 40)
    there = isinstance(logits, np.ndarray) and logits.shape == (200, 4) and bool(np.isfinite(logits).all())
    expect(there, "After the training the outputs are no finite logits of shape (n, n_out).", case=case)
    right = float((logits.argmax(axis=1) == y[512:]).mean()) if there else 0.0
    message = f"After the training {right:.0%} of new points are told right; 80 % expected, and 25 % is guessing."
    expect(right >= 0.8, message, case=case)
