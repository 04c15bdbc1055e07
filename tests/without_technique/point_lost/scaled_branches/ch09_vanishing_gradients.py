"""Branches times 1e-3 where the network is wide: nearly a linear network."""

import torch


class Block(torch.nn.Module):
    def __init__(self, width, factor):
        super().__init__()
        self.lin, self.norm, self.relu = torch.nn.Linear(width, width), torch.nn.BatchNorm1d(width), torch.nn.ReLU()
        self.factor = factor

    def forward(self, x):
        return x + self.factor * self.relu(self.norm(self.lin(x)))


def healthy_mlp(n_in, n_out, depth=30, width=64):
    factor = 1e-3 if width >= 32 else 1.0
    blocks = [Block(width, factor) for _ in range(depth)]
    return torch.nn.Sequential(torch.nn.Linear(n_in, width), *blocks, torch.nn.Linear(width, n_out))
