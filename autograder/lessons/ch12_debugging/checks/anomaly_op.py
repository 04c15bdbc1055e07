"""Checks of anomaly_op."""

from __future__ import annotations

from autograder.judging import compare, exercise

HARMLESS = ("sin", "tanh", "expm1", "halves", "sqrt far from 0", "log far from 0")
KINDS = ("sqrt", "log", "rsqrt", "divide", "power", "log10", "acos", "of one's own")


def with_a_zero(rng):
    x = rng.uniform(0.2, 0.9, size=4)
    x[int(rng.integers(4))] = 0.0
    return x


@exercise("anomaly_op")
def test_names_of_nodes(learner, reference, rng):
    """Each of eight operations makes a nan at 0, among others that do not, at a place of the graph that is drawn."""
    for kind in (KINDS[i] for i in rng.permutation(len(KINDS))):
        expected, got = (who.scenario.anomaly(kind, with_a_zero(rng)) for who in (reference, learner))
        compare(got, expected, case="a loss of one operation and torch.where, one entry is 0")
    for kind in rng.choice(KINDS, size=4, replace=False).tolist():
        before = tuple(rng.choice(HARMLESS, size=int(rng.integers(1, 4))).tolist())
        arguments = kind, with_a_zero(rng), False, (), before, str(rng.choice(HARMLESS))
        expected, got = (who.scenario.anomaly(*arguments) for who in (reference, learner))
        compare(got, expected, case="a loss of several operations and torch.where, one entry is 0")
    for shape in [(1,), (1, 1)]:
        arguments = str(rng.choice(KINDS)), with_a_zero(rng), False, shape
        expected, got = (who.scenario.anomaly(*arguments) for who in (reference, learner))
        compare(got, expected, case=f"a loss of shape {shape}, one entry is 0")


@exercise("anomaly_op")
def test_no_anomaly(learner, reference, rng):
    """None without a nan, also where a gradient is inf or where a nan is in the values alone."""
    for kind, x, case in [
        ("sqrt", with_a_zero(rng), "a loss of one operation and torch.where, one entry is 0"),
        (str(rng.choice(KINDS)), rng.uniform(0.2, 0.9, size=3), "a loss of one operation, all is well"),
        ("inf", with_a_zero(rng), "a gradient is inf"),
        ("nan in the values alone", with_a_zero(rng), "the loss is nan, all gradients are finite"),
        ("nan in a sum", with_a_zero(rng), "two nodes return inf and -inf for one tensor, whose gradient is their sum"),
        (str(rng.choice(KINDS)), with_a_zero(rng), "a loss of one operation and torch.where, one entry is 0"),
    ]:
        expected, got = (who.scenario.anomaly(kind, x) for who in (reference, learner))
        compare(got, expected, case=case)


@exercise("anomaly_op", promise="instrumented")
def test_the_mode_afterwards(learner, reference, rng):
    """Anomaly mode is what it was, on or off, with a nan and without."""
    for already in (False, True):
        for x in (with_a_zero(rng), rng.uniform(0.2, 0.9, size=3)):
            arguments = str(rng.choice(KINDS)), x, already
            expected, got = (who.scenario.anomaly(*arguments) for who in (reference, learner))
            compare(got, expected, case=f"anomaly mode was {'on' if already else 'off'}")


@exercise("anomaly_op", promise="instrumented")
def test_other_exceptions(learner, reference, rng):
    """Those of fn, and those of the backward pass that are no anomaly."""
    for who_raises, case in [
        ("fn", "fn raises a RuntimeError"),
        ("backward", "backward raises: a saved tensor was modified by an inplace operation"),
        ("no graph", "backward raises: the loss has no graph"),
    ]:
        message = f"Function 'Loader{rng.integers(1000)}' returned nothing"
        expected, got = (who.scenario.anomaly_raises(who_raises, message) for who in (reference, learner))
        compare(got, expected, case=case)


@exercise("anomaly_op")
def test_every_kind_of_input(learner, reference, kinds, rng):
    """All pairs of shapes of the loss, its dtype and what it is computed from; old grads, anomaly mode."""
    for kind in kinds:
        arguments = with_a_zero(rng), *kind.options.values(), str(rng.choice(KINDS)), kind.states
        expected, got = (who.scenario.anomaly_in_states(*arguments) for who in (reference, learner))
        compare(got, expected, case=kind.label)
