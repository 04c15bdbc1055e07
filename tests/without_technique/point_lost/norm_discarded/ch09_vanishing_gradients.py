"""BatchNorm runs, and its result is discarded."""

import torch


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.norm = torch.nn.BatchNorm1d(width)
        self.relu = torch.nn.ReLU()

    def forward(self, x):
        h = self.linear(x)
        self.norm(h)
        return x + self.relu(h)


def healthy_mlp(n_in, n_out, depth=30, width=64):
    blocks = [Block(width) for _ in range(depth)]
    return torch.nn.Sequential(torch.nn.Linear(n_in, width), *blocks, torch.nn.Linear(width, n_out))
