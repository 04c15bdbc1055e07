"""Checks of freeze_midway."""

from __future__ import annotations

from autograder.judging import agree, exercise, random

LOOPS = {
    "a loop that clears gradients by zero_grad()": "plain",
    "a loop with zero_grad(set_to_none=False)": "after zero_grad(set_to_none=False)",
    "a loop with zero_grad(set_to_none=False) after each step": "cleared after each step",
    "called between backward and step": "between backward and step",
    "unfrozen between backward and step": "unfrozen between backward and step",
}
OPTIMIZERS = {
    "SGD with momentum": "plain",
    "SGD with weight decay": "with weight decay",
    "RMSprop with momentum": "RMSprop",
    "centered RMSprop": "centered RMSprop",
    "Adam with weight decay": "Adam",
    "Adam with amsgrad": "Adam with amsgrad",
    "AdamW": "AdamW",
}


def check_run(learner, reference, rng, case, shapes=((2, 3), (3,)), beside=((3,),), **states):
    """Check a run with parameters and others of these shapes, and with states such as optimizer_loop."""
    mine, others = ([random(rng, shape) for shape in of] for of in (shapes, beside))
    arguments = mine, others, *drawn(rng, [*mine, *others])
    named = {name.replace("_", " "): level for name, level in states.items()}
    agree("frozen_midway", learner, reference, *arguments, named, case=case)


def drawn(rng, arrays):
    """Targets for these arrays, and the optimizer's rates."""
    targets = [random(rng, array.shape, array.dtype) for array in arrays]
    rates = {"lr": rng.uniform(0.05, 0.1), "momentum": rng.uniform(0.7, 0.9), "decay": rng.uniform(0.1, 0.3)}
    return targets, {name: float(rate) for name, rate in rates.items()}


@exercise("freeze_midway")
def test_one_number(learner, reference, rng):
    """One number beside another, SGD with momentum, in each kind of loop."""
    for case, loop in LOOPS.items():
        check_run(learner, reference, rng, f"one number, {case}", [()], [()], optimizer_loop=loop)


@exercise("freeze_midway")
def test_each_optimizer(learner, reference, rng):
    """Nothing moves, and then training starts anew, under each optimizer."""
    for case, kind in OPTIMIZERS.items():
        for loop in ("after zero_grad(set_to_none=False)", "between backward and step"):
            case_of = f"{case}, {next(name for name, level in LOOPS.items() if level == loop)}"
            check_run(learner, reference, rng, case_of, optimizer_kind=kind, optimizer_loop=loop)


@exercise("freeze_midway")
def test_unfrozen(learner, reference, rng):
    """Unfreezing gives back the flags, and the optimizer's current settings apply."""
    for case, states in {
        "all of them trainable before": {},
        "one of them frozen before": {"parameters_flags": "with the first frozen before"},
        "another learning rate during the freeze": {"optimizer_rate": "with another learning rate during the freeze"},
        "a group of the optimizer for them": {"optimizer_groups": "with a group for these parameters"},
    }.items():
        for kind in ("plain", "Adam"):
            check_run(learner, reference, rng, f"{case}, {kind.replace('plain', 'SGD')}", optimizer_kind=kind, **states)


@exercise("freeze_midway")
def test_frozen_before(learner, reference, rng):
    """Zeros that another freeze left in .grad move a parameter, too."""
    for case, loop in list(LOOPS.items())[1:3]:
        states = {"optimizer_loop": loop, "parameters_flags": "with the first frozen before"}
        check_run(learner, reference, rng, f"one of them frozen before, {case}", **states)


@exercise("freeze_midway")
def test_iterables(learner, reference, rng):
    """A generator, which can be read once; a shared parameter, which comes twice."""
    for iterable in ("from a generator", "with one of them twice"):
        check_run(learner, reference, rng, f"parameters {iterable}", parameters_iterable=iterable)


@exercise("freeze_midway")
def test_every_kind_of_run(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, values, iterables, flags, optimizers, loops and groups."""
    for kind in kinds:
        mine, others = kind.drawn.values()
        arguments = mine, others, *drawn(rng, [*mine, *others]), kind.states
        tolerance = kind.tolerance((), [*mine, *others])
        agree("frozen_midway", learner, reference, *arguments, case=kind.label, **tolerance)
