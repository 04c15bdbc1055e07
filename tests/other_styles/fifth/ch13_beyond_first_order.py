"""The scores by the logarithms of the probabilities: the same but for a constant, and rounded elsewhere."""

import torch


def gumbel_softmax_st(logits, tau, gumbels):
    scores = torch.log_softmax(logits, dim=-1) + gumbels
    soft = torch.softmax(scores / tau, dim=-1)
    hard = torch.nn.functional.one_hot((logits + gumbels).argmax(dim=-1), scores.shape[-1])
    return hard + (soft - soft.detach())
