"""The honest part of each attack on ch04_detachment: one PyTorch function. The test appends it."""

# %%
import torch


def straight_through_round(x):
    return torch.round(x).detach() + (x - x.detach())
