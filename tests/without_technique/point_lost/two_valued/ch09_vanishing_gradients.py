"""Weights of two values, +std and -std: neither normal nor uniform."""

import torch
from torch import nn

F = {"sigmoid": (nn.Sigmoid, torch.sigmoid), "tanh": (nn.Tanh, torch.tanh), "relu": (nn.ReLU, torch.relu)}


class Net(nn.Module):
    def __init__(self, n_in, n_out, depth, width, activation, init, residual, norm):
        super().__init__()
        self.first = nn.Linear(n_in, width)
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.append(nn.Linear(width, width))
            if norm:
                self.layers.append(nn.BatchNorm1d(width))
        self.last = nn.Linear(width, n_out)
        self.unused = nn.ModuleList([F[activation][0]() for _ in range(depth)])
        self.act, self.residual, self.norm = F[activation][1], residual, norm
        for m in self.modules():
            if isinstance(m, nn.Linear) and init != "default":
                std = (2 / (m.in_features + m.out_features if init == "xavier" else m.in_features)) ** 0.5
                with torch.no_grad():
                    m.weight.copy_(std * (2.0 * torch.randint(0, 2, m.weight.shape) - 1))
                    m.bias.zero_()

    def forward(self, x):
        x, layers = self.first(x), iter(self.layers)
        for layer in layers:
            y = layer(x)
            y = self.act(next(layers)(y) if self.norm else y)
            x = x + y if self.residual else y
        return self.last(x)


def make_mlp(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    if activation not in F or init not in ("default", "xavier", "he"):
        raise ValueError
    return Net(n_in, n_out, depth, width, activation, init, residual, norm)
