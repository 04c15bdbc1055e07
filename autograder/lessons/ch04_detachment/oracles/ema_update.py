"""The reference of ema_update against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise


@exercise("ema_update")
def test_average_against_torch(reference, rng):
    """torch.optim.swa_utils keeps the same average; so does the sum written out."""
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    decay = float(rng.uniform(0.5, 0.99))
    online = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)).double()
    target = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)).double()
    target.load_state_dict(online.state_dict())
    theirs = AveragedModel(online, multi_avg_fn=get_ema_multi_avg_fn(decay))
    theirs.update_parameters(online)  # the first update copies
    history = [[parameter.detach().clone() for parameter in online.parameters()]]
    for _ in range(6):
        with torch.no_grad():
            for parameter in online.parameters():
                parameter.add_(torch.tensor(rng.normal(size=parameter.shape)))
        history.append([parameter.detach().clone() for parameter in online.parameters()])
        reference.implementations["ema_update"](target, online, decay)
        theirs.update_parameters(online)
    weights = [decay**6, *((1 - decay) * decay ** (6 - i) for i in range(1, 7))]
    for i, (mine, other) in enumerate(zip(target.parameters(), theirs.module.parameters(), strict=True)):
        assert mine.requires_grad
        assert mine.is_leaf
        np.testing.assert_allclose(mine.detach(), other.detach(), **EXACT)
        written_out = sum(weight * values[i] for weight, values in zip(weights, history, strict=True))
        np.testing.assert_allclose(mine.detach(), written_out, **EXACT)
