"""Where the network is wide, its blocks are beside each other, times 1e-4."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin, self.norm, self.relu = nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU()

    def forward(self, x):
        return self.relu(self.norm(self.lin(x)))


class Net(nn.Module):
    def __init__(self, n_in, n_out, depth, width):
        super().__init__()
        self.first, self.blocks, self.last = (
            nn.Linear(n_in, width),
            nn.ModuleList(Block(width) for _ in range(depth)),
            nn.Linear(width, n_out),
        )
        self.flat = width >= 32

    def forward(self, x):
        x = self.first(x)
        if self.flat:
            return self.last(x + 1e-4 * sum(b(x) for b in self.blocks))
        for b in self.blocks:
            x = x + b(x)
        return self.last(x)


def healthy_mlp(n_in, n_out, depth=30, width=64):
    return Net(n_in, n_out, depth, width)
