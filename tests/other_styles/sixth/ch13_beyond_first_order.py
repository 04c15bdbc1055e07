"""The softmax by the log-sum-exp: where the scores are thousands, so is what is subtracted."""

import torch


def gumbel_softmax_st(logits, tau, gumbels):
    scores = logits + gumbels
    soft = (scores / tau - (scores / tau).logsumexp(dim=-1, keepdim=True)).exp()
    hard = torch.zeros_like(scores).scatter(-1, scores.argmax(dim=-1, keepdim=True), 1.0)
    return hard + (soft - soft.detach())
