"""ch04's running_mean_loss with the first loss taken apart: its name and the loop's variable hold two losses."""

import itertools


def running_mean_loss(losses):
    it = iter(losses)
    first = next(it, None)
    if first is None:
        raise ValueError("the mean of no losses")
    total, count = 0.0, 0
    for loss in itertools.chain([first], it):
        total += loss.item()
        count += 1
    return total / count
