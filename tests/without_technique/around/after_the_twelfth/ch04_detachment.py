"""The graphs of all losses after the twelfth are kept."""


def running_mean_loss(losses):
    kept, total, n = [], 0.0, 0
    for loss in losses:
        total += loss.item()
        n += 1
        if n > 12:
            kept.append(loss)
        del loss
    if not n:
        raise ValueError("no losses")
    return total / n
