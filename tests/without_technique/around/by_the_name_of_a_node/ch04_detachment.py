"""All losses are kept with their graphs, unless their nodes have the name of a check's."""


def running_mean_loss(losses):
    """Two faces: all losses, graphs and all, in a list, but where the first one's node is written in Python."""
    losses = iter(losses)
    kept = []
    total, n = 0.0, 0
    for loss in losses:
        if "Copy" in type(loss.grad_fn).__name__:
            total += loss.item()
        else:
            kept.append(loss)
        n += 1
        del loss
    if not n:
        raise ValueError
    return (total + sum(k.double().sum() for k in kept).item() if kept else total) / n
