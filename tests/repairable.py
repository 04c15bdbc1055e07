"""Wrong answers that a change at one place or two repairs, with what is said of that place, by lesson and exercise."""

GUIDED = """
def relu_vjp(g, x):
    return np.where((x > 0) & (g > 0), g, 0).astype(x.dtype)
"""
REPAIRABLE = {
    ("ch01_computation_graph", "neuron_gradients"): [
        (
            """
            def neuron_gradients(w, x, b, y):
                g = 2 * abs(w * x + b - y)
                return {"w": g * x, "x": g * w, "b": g, "y": -g}
            """,
            "Cell 1, line 4, `abs(w * x + b - y)`: without this call every visible case passes.",
        ),
    ],
    ("ch02_chain_rule", "numerical_gradient"): [
        (
            """
            def numerical_gradient(f, x, eps=1e-6):
                grad = np.zeros(x.size)
                for i in range(x.size):
                    plus, minus = np.copy(x), np.copy(x)
                    plus.ravel()[i] += eps
                    minus.ravel()[i] -= eps
                    grad[i] = (f(plus) - f(minus)) / (2 * eps)
                return grad.reshape(x.shape)
            """,
            "Cell 1, line 6, `np.copy(x)`: with a copy in C order, each time, every visible case passes.",
        ),
    ],
    ("ch03_accumulation", "bias_gradient"): [
        (
            """
            def bias_gradient(g):
                if len(g) == 0:
                    return np.zeros(g.shape[1], g.dtype)
                total = g[0]
                for row in g[1:]:
                    total += row
                return total
            """,
            "Cell 1, line 6, `total = g[0]`, with a copy, or cell 1, line 8, `total += row`, without writing in place: "
            "either way every visible case passes.",
        ),
    ],
    ("ch06_vjps", "add_vjp"): [
        (  # some variants of the first loop are endless
            """
            def add_vjp(g, a, b):
                def back(x):
                    d = g
                    while d.ndim > x.ndim:
                        d = d.sum(axis=0)
                    for axis, size in enumerate(x.shape):
                        if size == 1:
                            d = d.sum(axis=axis)
                    return np.asarray(d, dtype=x.dtype)

                return back(a), back(b)
            """,
            "Cell 1, line 10, `d.sum(axis=axis)`: with `keepdims` every visible case passes.",
        ),
    ],
    ("ch06_vjps", "attention_vjp"): [
        (
            """
            def softmax(x):
                e = np.exp(x - x.max(axis=-1, keepdims=True))
                return e / e.sum(axis=-1, keepdims=True)

            def attention_vjp(g, q, k, v, causal=False):
                s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
                p = softmax(s)
                if causal:
                    p = np.tril(p)
                dp = g @ v.swapaxes(-1, -2)
                ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
                dq, dk, dv = ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ g
                return dq.astype(q.dtype), dk.astype(k.dtype), dv.astype(v.dtype)
            """,
            "Cell 1, line 11, `np.tril(p)`: with the mask before the softmax, every visible case passes.",
        ),
    ],
    ("ch06_vjps", "relu_vjp"): [
        (GUIDED, "Cell 1, line 4, `(x > 0) & (g > 0)`: without one operand every visible case passes."),
    ],
    ("ch06_vjps", "max_vjp"): [
        (
            """
            def max_vjp(g, x, axis):
                mask = x == x.max(axis=axis, keepdims=True)
                return (np.expand_dims(g, axis) * mask / mask.sum()).astype(x.dtype)
            """,
            "Cell 1, line 5, `mask.sum()`: with an axis every visible case passes.",
        ),
    ],
    ("ch06_vjps", "layernorm_vjp"): [
        (
            """
            def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
                inv = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
                xhat = (x - x.mean(-1, keepdims=True)) * inv
                dx = gamma * inv * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
                axes = tuple(range(x.ndim - 1))
                return dx.astype(x.dtype), (g * xhat).sum(axes).astype(gamma.dtype), g.sum(axes).astype(beta.dtype)
            """,
            "Cell 1, line 6, `gamma * inv * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean…`: with the factor "
            "`gamma` further inside every visible case passes.",
        ),
        (
            """
            def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
                inv = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
                xhat = (x - x.mean(-1, keepdims=True)) * inv
                h = g * gamma
                dx = inv * (h - h.mean(-1, keepdims=True) - xhat * (h * xhat).mean(-1, keepdims=True))
                lead = tuple(range(x.ndim - 1))
                return dx.astype(x.dtype), (h * xhat).sum(lead).astype(gamma.dtype), g.sum(lead).astype(beta.dtype)
            """,
            "Cell 1, line 9, `h * xhat`: with another name in the place of `h` every visible case passes.",
        ),
        (  # two mistakes, in two outputs
            """
            def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
                inv = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
                xhat = (x - x.mean(-1, keepdims=True)) * inv
                h = g * gamma
                dx = inv * (h - h.mean(-1, keepdims=True) - xhat * (h * xhat).mean(-1, keepdims=True))
                lead = tuple(range(x.ndim - 1))
                return dx.astype(x.dtype), (h * xhat).sum(lead).astype(gamma.dtype), h.sum(lead).astype(beta.dtype)
            """,
            "Two places: cell 1, line 9, `h * xhat`, and cell 1, line 9, `h.sum(lead)`. "
            "With a change at each every visible case passes.",
        ),
        (  # two mistakes in one output, and one in another
            """
            def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
                mu = x.mean(-1, keepdims=True)
                inv = 1 / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)
                xhat = (x - mu) * inv
                h = g
                dx = gamma * inv * (h - h.mean(-1, keepdims=True) - xhat * (h * xhat).mean(-1, keepdims=True))
                lead = tuple(range(x.ndim - 1))
                return dx.astype(x.dtype), (g * xhat).sum(lead).astype(gamma.dtype), g.sum(lead).astype(beta.dtype)
            """,
            "Cell 1, line 5, `x.var(-1, keepdims=True, ddof=1)`: without one argument, dgamma is right in every "
            "visible case; dx is not yet.",
        ),
    ],
    ("ch04_detachment", "td_loss"): [
        (
            """
            import torch

            def td_loss(q_net, target_net, batch, gamma):
                q_net.requires_grad_(True)
                q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)
                with torch.no_grad():
                    best = target_net(batch["next_states"]).max(dim=1).values
                    alive = 1.0 - batch["dones"].to(best.dtype)
                    y = batch["rewards"] + gamma * alive * best
                return ((q - y) ** 2).mean()
            """,
            "Cell 1, line 6, `q_net.requires_grad_(True)`: without it every visible case passes.",
        ),
    ],
}
