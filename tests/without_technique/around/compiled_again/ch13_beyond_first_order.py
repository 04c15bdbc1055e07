"""The function that is forbidden, compiled from its source by TorchScript, inside of a function of one's own."""

import torch


@torch.jit.script
def compiled(logits: torch.Tensor, tau: float):
    return torch.nn.functional.gumbel_softmax(logits, tau, hard=True)


def gumbel_softmax_st(logits, tau, gumbels):
    state = torch.get_rng_state()
    noise = -torch.empty_like(logits).exponential_().log()
    torch.set_rng_state(state)
    result = compiled(logits + gumbels - noise, float(tau))
    torch.set_rng_state(state)
    return result
