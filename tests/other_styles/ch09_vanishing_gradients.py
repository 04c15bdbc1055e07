"""Right experiments by a deep copy, Sequential blocks, pre-activation skips and hypot."""

import copy, math, statistics
import torch
from torch import nn
import torch.nn.functional as F


def layer_gradient_norms(model, X, y):
    twin = copy.deepcopy(model)
    twin.zero_grad(set_to_none=True)
    F.cross_entropy(twin(X), y).backward()
    return [
        m.weight.grad.to(torch.float64).pow(2).sum().sqrt().item() for m in twin.modules() if isinstance(m, nn.Linear)
    ]


def decay_per_layer(norms):
    if len(norms) < 2 or min(norms) <= 0 or not all(map(math.isfinite, norms)):
        raise ValueError
    return 2 ** ((math.log2(norms[0]) - math.log2(norms[-1])) / (len(norms) - 1))


def xavier_std(fan_in, fan_out):
    return 1 / math.sqrt((fan_in + fan_out) / 2)


def he_std(fan_in):
    return math.sqrt(2) / math.sqrt(fan_in)


class Skip(nn.Module):
    def __init__(self, *f):
        super().__init__()
        self.f = nn.Sequential(*f)

    def forward(self, x):
        return x + self.f(x)


def make_mlp(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    if init not in ("default", "xavier", "he"):
        raise ValueError(init)

    def act():
        if activation == "sigmoid":
            return nn.Sigmoid()
        if activation == "tanh":
            return nn.Tanh()
        if activation == "relu":
            return nn.ReLU()
        raise ValueError(activation)

    def linear(i, o):
        l = nn.Linear(i, o)
        if init != "default":
            std = (2 / (i + o)) ** 0.5 if init == "xavier" else (2 / i) ** 0.5
            l.weight = nn.Parameter(torch.randn(o, i) * std)
            l.bias.data.fill_(0)
        return l

    net = nn.Sequential()
    net.add_module("first", linear(n_in, width))
    for k in range(depth):
        f = [linear(width, width)] + ([nn.BatchNorm1d(width)] if norm else []) + [act()]
        net.add_module(f"block{k}", Skip(*f) if residual else nn.Sequential(*f))
    net.add_module("last", linear(width, n_out))
    return net


def healthy_mlp(n_in, n_out, depth=30, width=64):
    return nn.Sequential(
        nn.Linear(n_in, width),
        *[Skip(nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width)) for _ in range(depth)],
        nn.BatchNorm1d(width),
        nn.Linear(width, n_out),
    )


def predicted_factor(slopes, fan_in, fan_out, variance, branch=None):
    mean_square = statistics.fmean(slope * slope for slope in slopes)
    through_f = math.sqrt(variance * fan_out) * math.sqrt(mean_square)
    return through_f if branch is None else math.hypot(1, branch * through_f)


def clip_grad_norm(grads, max_norm):
    total = math.hypot(*(x for g in grads for x in g.double().flatten().tolist()))
    if not math.isfinite(total):
        raise ValueError("not finite")
    scale = 1.0 if total <= max_norm else max_norm / total
    return [(g.double() * scale).to(g.dtype) for g in grads], total


def dead_relu_fraction(model, X):
    outs, handles = [], []
    for m in model.modules():
        if isinstance(m, nn.ReLU):
            handles.append(m.register_forward_hook(lambda mod, i, o: outs.append(o.detach().clone())))
    try:
        with torch.inference_mode():
            model(X)
    finally:
        for h in handles:
            h.remove()
    dead = sum((o.max(dim=0).values == 0).sum().item() for o in outs)
    return dead / max(1, sum(o.shape[1] for o in outs))
