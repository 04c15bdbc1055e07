"""Checks of td_loss."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, SINGLE, agree, compare, exercise, on_case, random

HALF = np.float16


def network(rng, d, actions, dtype=F64):
    return {"W": random(rng, (actions, d), dtype), "b": random(rng, actions, dtype)}


def transitions(rng, n, d, actions, dones=None, dtype=F64):
    """A batch of n transitions; without `dones`, it has both ended and continuing ones if n > 1."""
    if dones is None:
        dones = rng.permutation(np.arange(n) % 2)
    return {
        "states": random(rng, (n, d), dtype),
        "actions": rng.integers(actions, size=n),
        "rewards": random(rng, n, dtype),
        "next_states": random(rng, (n, d), dtype),
        "dones": np.asarray(dones, dtype=dtype),
    }


def discount(rng):
    """A gamma that float32 represents exactly, so that a mask made with .float() loses no precision in float64."""
    return int(rng.integers(40, 61)) / 64


BATCHES = {  # what kind of batch: (n, d, actions), smallest first
    "two transitions": (2, 1, 2),
    "as many transitions as actions": (3, 2, 3),
    "a batch": (5, 3, 4),
    "a longer batch, two actions": (8, 2, 2),
}


@exercise("td_loss")
def test_batches(learner, reference, rng):
    """The mean over the batch: one number for each transition, each with its own action."""
    for case, (n, d, actions) in BATCHES.items():
        q, target = network(rng, d, actions), network(rng, d, actions)
        batch = transitions(rng, n, d, actions, np.zeros(n) if n == 2 else None)  # two that go on
        agree("two_networks", learner, reference, q, target, batch, discount(rng), case=case)


@exercise("td_loss")
def test_one_transition(learner, reference, rng):
    """(Q(s, a) − r − γ max Q_target(s′))², and without the last term where the episode is done."""
    for case, done, d, actions in [
        ("one transition that goes on", 0, 1, 2),
        ("one transition that ends the episode", 1, 1, 2),
        ("one transition, several actions", 0, 3, 4),
        ("one transition, a single action", 0, 2, 1),
    ]:
        q, target = network(rng, d, actions), network(rng, d, actions)
        batch = transitions(rng, 1, d, actions, [done])
        agree("two_networks", learner, reference, q, target, batch, discount(rng), case=case)


@exercise("td_loss")
def test_every_kind_of_input(learner, reference, kinds, rng):
    """All pairs of dtypes, layouts, values; networks frozen, with old grads, in eval mode, one for both; the batch."""
    for kind in kinds:
        batch, q, target = kind.drawn.values()
        dones = rng.integers(2, size=len(batch[2]))
        bools = kind.levels["transitions dones"] == "with dones that are bools"
        dones = dones.astype(bool if bools else batch[2].dtype)
        arguments = q, target, batch, rng.integers(len(q[1]), size=len(dones)), dones, discount(rng), kind.states
        expected = reference.scenario.td_loss_in_states(*arguments)
        with on_case(kind.label):
            got = learner.scenario.td_loss_in_states(*arguments)
        compare(got, expected, case=kind.label, **kind.tolerance(expected["loss"]))


@exercise("td_loss")
def test_dones(learner, reference, rng):
    """All done, none done, and dones that are bools."""
    for case, dones in [
        ("none done", np.zeros(3)),
        ("all done", np.ones(3)),
        ("dones are bools", np.array([True, False, True])),
        ("dones are bools, one transition", np.array([False])),
    ]:
        q, target = network(rng, 2, 3), network(rng, 2, 3)
        batch = {**transitions(rng, len(dones), 2, 3), "dones": dones}
        agree("two_networks", learner, reference, q, target, batch, discount(rng), case=case)


@exercise("td_loss", promise="instrumented")
def test_nothing_flows_into_the_target(learner, reference, rng):
    """q_net has a gradient after backward, and target_net has none: None, not zeros."""
    for case, (n, d, actions) in [("one transition", (1, 1, 2)), *BATCHES.items()]:
        q, target = network(rng, d, actions), network(rng, d, actions)
        batch = transitions(rng, n, d, actions, np.zeros(n) if n == 1 else None)
        agree("flow_into_the_networks", learner, reference, q, target, batch, discount(rng), case=case)


@exercise("td_loss")
def test_one_network_for_both(learner, reference, rng):
    """The technique: where both are the same module the gradient still goes through Q(s, a) alone."""
    for case, (n, d, actions) in [("one transition", (1, 1, 2)), *BATCHES.items()]:
        batch = transitions(rng, n, d, actions, np.zeros(n) if n == 1 else None)
        arguments = network(rng, d, actions), batch, discount(rng)
        agree("one_network", learner, reference, *arguments, case=f"one module is both networks, {case}")


@exercise("td_loss", promise="instrumented")
def test_batch_and_networks_afterwards(learner, reference, rng):
    """td_loss changes neither the batch nor the networks, frozen parts included, and calls no backward."""
    states = {  # before the call: which parameters are frozen, and whether the networks are in eval mode
        "all of it trained": ([], False),
        "target_net frozen": (["target_net.weight", "target_net.bias"], False),
        "q_net's bias frozen, in eval mode": (["q_net.bias"], True),
        "both biases frozen": (["q_net.bias", "target_net.bias"], False),
    }
    for (size, (n, d, actions)), (state, before) in zip(BATCHES.items(), states.items(), strict=True):
        q, target = network(rng, d, actions), network(rng, d, actions)
        arguments = q, target, transitions(rng, n, d, actions), discount(rng), *before
        agree("afterwards", learner, reference, *arguments, case=f"after td_loss, {size}, {state}")


@exercise("td_loss")
def test_td_in_float32(learner, reference, rng):
    """float32 networks and rewards, float32 loss and gradients; dones as numbers and as bools. And float16."""
    for case, kind in {"float32": F32, "float32, dones are bools": bool}.items():
        q, target = network(rng, 2, 3, F32), network(rng, 2, 3, F32)
        batch = transitions(rng, 4, 2, 3, dtype=F32)
        batch["dones"] = batch["dones"].astype(kind)
        agree("two_networks", learner, reference, q, target, batch, discount(rng), case=case, **SINGLE)
    q, target, batch = network(rng, 2, 3, HALF), network(rng, 2, 3, HALF), transitions(rng, 4, 2, 3, dtype=HALF)
    batch["dones"] = batch["dones"].astype(bool)
    case = "float16, dones are bools"
    agree("two_networks", learner, reference, q, target, batch, discount(rng), case=case, rtol=0.02, atol=0.02)
