"""Of every graph the node that holds its leaf is kept for ever."""

KEPT = []


def running_mean_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        node = loss.grad_fn
        while node and node.next_functions:
            node = node.next_functions[0][0]
        KEPT.append(node)
        total, count = total + loss.item(), count + 1
    if not count:
        raise ValueError("no losses to average")
    return total / count
