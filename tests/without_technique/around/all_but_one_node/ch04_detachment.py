"""Every graph is kept for ever, but for its last node."""

KEPT = []


def running_mean_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        if loss.grad_fn:
            KEPT.append([node for node, _ in loss.grad_fn.next_functions])
        total, count = total + loss.item(), count + 1
    if not count:
        raise ValueError("no losses to average")
    return total / count
