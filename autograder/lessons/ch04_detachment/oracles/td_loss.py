"""The reference of td_loss against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise


def td_by_hand(q, target, batch, gamma):
    """The loss of two linear networks, transition by transition."""
    total = 0.0
    for s, a, r, after, done in zip(*batch.values(), strict=True):
        prediction = q["W"][a] @ s + q["b"][a]
        best = max(target["W"] @ after + target["b"])
        total += (prediction - (r if done else r + gamma * best)) ** 2
    return total / len(batch["rewards"])


@exercise("td_loss")
def test_td_loss_against_finite_differences(reference, rng):
    """The target's numbers are held still, also where both networks are one."""
    for n, d, actions in [(1, 1, 1), (1, 2, 3), (4, 2, 3), (6, 3, 2)]:
        q, target = ({"W": rng.normal(size=(actions, d)), "b": rng.normal(size=actions)} for _ in range(2))
        batch = {
            "states": rng.normal(size=(n, d)),
            "actions": rng.integers(actions, size=n),
            "rewards": rng.normal(size=n),
            "next_states": rng.normal(size=(n, d)),
            "dones": rng.integers(2, size=n).astype(bool),
        }
        for shared in (False, True):
            fixed = {name: array.copy() for name, array in (q if shared else target).items()}
            arguments = (q, batch, 0.9) if shared else (q, target, batch, 0.9)
            got = getattr(reference.scenario, "one_network" if shared else "two_networks")(*arguments)
            np.testing.assert_allclose(got["loss"], td_by_hand(q, fixed, batch, 0.9), **EXACT)
            for name in ("W", "b"):
                expected = np.zeros_like(q[name])
                for index in np.ndindex(expected.shape):
                    step = np.zeros_like(expected)
                    step[index] = 1e-6
                    up, down = (td_by_hand({**q, name: q[name] + s * step}, fixed, batch, 0.9) for s in (1, -1))
                    expected[index] = (up - down) / 2e-6
                np.testing.assert_allclose(got[f"d{name}"], expected, rtol=1e-6, atol=1e-8)
