"""Lines of the backward pass in which gradients meet."""

from __future__ import annotations

ADD_TO_GRAD = "node.grad = np.array(g if node.grad is None else node.grad + g)"
MEET = "gradients[parent] = gradients[parent] + dx if parent in gradients else dx"
