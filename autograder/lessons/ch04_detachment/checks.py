"""Checks of ch04_detachment: where the gradient stops, and where it must not.

Tensors lose their graph on the way to the judge, so most checks run a scenario beside the submission and compare the
values and gradients that it brings back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import F32, F64, SINGLE, agree, compare, exercise, expect, expect_close, random
from autograder.values import summarise

# straight_through_round


def between(rng, shape, dtype=F64):
    """Numbers at least 0.1 away from every whole number and every half: floor, trunc and round all differ somewhere."""
    whole = rng.integers(-9, 10, size=shape)
    return np.asarray(whole + rng.choice([-1, 1], size=shape) * rng.uniform(0.1, 0.4, size=shape), dtype=dtype)


OPERATIONS = ("sin", "tanh", "square", "times", "divided by", "plus", "matmul", "sums", "flip", "softmax")


def steps(rng, width, dtype=F64):
    """Four drawn steps of a program, one of them not linear and one a matrix."""
    names = rng.permutation(["sin", "matmul", *rng.choice(OPERATIONS, size=2)])
    shapes = {"matmul": (width, width)}
    return [(str(name), random(rng, shapes.get(str(name), width), dtype)) for name in names]


def agree_on_the_way(learner, reference, rng, x, dtype=F64, **tolerance):
    """The gradient through the middle of drawn programs.

    What g, or a product with g, is the gradient of needs no graph. This one needs what PyTorch does with it.
    """
    width = len(x)
    scale = [("matmul", random(rng, (width, width), dtype)), ("plus", x)]  # spread over several whole numbers
    for before in ([], steps(rng, width, dtype) + scale):
        arguments = x if not before else random(rng, width, dtype), before, steps(rng, width, dtype)
        agree(
            "rounded_on_the_way",
            learner,
            reference,
            *arguments,
            random(rng, width, dtype),
            case=f"between {'other operations' if before else 'a leaf and other operations'}",
            **tolerance,
        )


@exercise("straight_through_round")
def test_values_and_gradient(learner, reference, rng):
    """round(x) forward, g backward, x as it was."""
    for case, shape in {
        "one entry": (1,),
        "a vector": (8,),
        "a 0-d tensor": (),
        "a matrix": (2, 3),
        "three axes": (2, 1, 4),
        "an empty tensor": (0, 3),
    }.items():
        arguments = between(rng, shape), random(rng, shape)
        agree("rounded", learner, reference, *arguments, case=case)
    agree_on_the_way(learner, reference, rng, between(rng, 6))


@exercise("straight_through_round")
def test_halves(learner, reference, rng):
    """A half goes to the even neighbour, as torch.round has it."""
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])
    for case, x in [("halves", halves), ("halves further out", halves + 2 * rng.integers(2, 50))]:
        agree("rounded", learner, reference, x, random(rng, 6), case=case)
    agree_on_the_way(learner, reference, rng, rng.permutation(halves))


@exercise("straight_through_round")
def test_exactly_whole(learner, reference, rng):
    """The values are whole numbers to the last bit, in float64 and in float32."""
    # (round(x) + x) - x misses 11 or more of the 200 in each of 1,000 seeds, 77 or more in float32
    for case, dtype in [("float64, values exact to the last bit", F64), ("float32, values exact to the last bit", F32)]:
        x, g = rng.uniform(-100, 100, size=200).astype(dtype), random(rng, 200, dtype)
        agree("rounded", learner, reference, x, g, case=case, rtol=0, atol=0)
    agree_on_the_way(learner, reference, rng, rng.uniform(-100, 100, size=5))


@exercise("straight_through_round")
def test_in_the_middle_of_a_graph(learner, reference, rng):
    """x = a · b: the gradient goes on through x to a and b, and the values of x stay."""
    for case, shape in {"one entry": (1,), "a vector": (3,), "a 0-d tensor": (), "a matrix": (3, 2)}.items():
        b = rng.uniform(0.5, 2, size=shape)
        arguments = np.asarray(between(rng, shape) / b), np.asarray(b), random(rng, shape)
        agree("rounded_product", learner, reference, *arguments, case=f"x = a · b, {case}")
    agree_on_the_way(learner, reference, rng, between(rng, 4))


@exercise("straight_through_round")
def test_no_gradient_asked(learner, reference, rng):
    """An x that requires no gradient is rounded, and nothing requires one afterwards."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        agree("rounded_constant", learner, reference, between(rng, shape), case=f"{case}, requires_grad=False")
    agree_on_the_way(learner, reference, rng, between(rng, 3))


@exercise("straight_through_round")
def test_rounding_in_float32(learner, reference, rng):
    """Result and gradient have the dtype of x."""
    for case, shape in {"one entry": (1,), "a 0-d tensor": (), "a matrix": (2, 3)}.items():
        arguments = between(rng, shape, F32), random(rng, shape, F32)
        agree("rounded", learner, reference, *arguments, case=f"float32, {case}", **SINGLE)
    agree_on_the_way(learner, reference, rng, between(rng, 4, F32), F32, **SINGLE)


# td_loss


def network(rng, d, actions, dtype=F64):
    return {"W": random(rng, (actions, d), dtype), "b": random(rng, actions, dtype)}


def transitions(rng, n, d, actions, dones=None, dtype=F64):
    """A batch of n; where `dones` is None both kinds are in it, if n allows."""
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
    """A gamma that float32 holds exactly, so that a mask made with .float() costs no precision in float64."""
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
    """Where both are the same module the gradient still goes through Q(s, a) alone."""
    for case, (n, d, actions) in [("one transition", (1, 1, 2)), *BATCHES.items()]:
        batch = transitions(rng, n, d, actions, np.zeros(n) if n == 1 else None)
        arguments = network(rng, d, actions), batch, discount(rng)
        agree("one_network", learner, reference, *arguments, case=f"one module is both networks, {case}")


@exercise("td_loss", promise="instrumented")
def test_batch_and_networks_afterwards(learner, reference, rng):
    """td_loss changes neither the batch nor the networks, and calls no backward."""
    for case, (n, d, actions) in BATCHES.items():
        q, target = network(rng, d, actions), network(rng, d, actions)
        batch = transitions(rng, n, d, actions)
        agree("afterwards", learner, reference, q, target, batch, discount(rng), case=f"after td_loss, {case}")


@exercise("td_loss")
def test_td_in_float32(learner, reference, rng):
    """float32 networks and rewards, float32 loss and gradients; dones as numbers and as bools."""
    for case, kind in {"float32": F32, "float32, dones are bools": bool}.items():
        q, target = network(rng, 2, 3, F32), network(rng, 2, 3, F32)
        batch = transitions(rng, 4, 2, 3, dtype=F32)
        batch["dones"] = batch["dones"].astype(kind)
        agree("two_networks", learner, reference, q, target, batch, discount(rng), case=case, **SINGLE)


# freeze


def digit(rng):
    return int(rng.integers(1, 10))


def check_frozen(scenario, learner, reference, rng, names, *arguments: Any, case: str):
    """Which parameters are frozen, one by one; then the count and the rest. One name is never the same."""
    arguments = ([*names, f"beside{rng.integers(10_000)}.weight"], *arguments)
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    flags = [name for name, value in expected.items() if isinstance(value, str)]
    for name in flags:
        wrong = "was frozen and must not be" if expected[name] == "trainable" else "is not frozen"
        expect(got.get(name) == expected[name], f"{name} {wrong}: the prefix is '{arguments[-1]}'.", case=case)
    got, expected = ({name: value for name, value in of.items() if name not in flags} for of in (got, expected))
    compare(got, expected, case=case)


def drawn_names(rng, near: float = 0.0) -> tuple[list[str], list[str]]:
    """The parameters and the modules of a drawn tree. This share of names begin or end with those of neighbours."""
    parameters: list[str] = []
    modules: list[str] = []

    def word() -> str:
        return "".join(rng.choice(list("bdgklmnprst"), size=3) + rng.choice(list("aou"), size=3))

    def part(taken) -> str:
        name = word()
        if taken and rng.random() < near:
            other = str(rng.choice(taken))
            name = str(rng.choice([f"{other}{digit(rng)}", f"{other}_{name}", f"{name}{other}"]))
        return part(taken) if name in taken else name

    def grow(path: str, depth: int) -> None:
        taken: list[str] = []
        for _ in range(rng.integers(1, 3)):
            taken.append(part(taken))
            parameters.append(path + taken[-1])
        for _ in range(rng.integers(1, 3) if depth else 0):
            taken.append(part(taken))
            modules.append(path + taken[-1])
            grow(f"{path}{taken[-1]}.", depth - 1)

    for _ in range(2):
        modules.append(part(modules))
        grow(f"{modules[-1]}.", int(rng.integers(1, 3)))
    return [str(name) for name in rng.permutation(parameters)], modules


def check_drawn(learner, reference, rng, scenario="frozen", arguments=lambda names: (), end="", near=0.0):
    """Two drawn trees, and prefixes of several kinds: a list of known trees does not have them.

    Args:
        arguments: what else the scenario is given with these names.
        near: the share of names that begin or end with those of their neighbours; if any do, a prefix is a part of a
            name, too. What takes those for prefixes is the mistake of one check, not of all.
    """
    for _ in range(2):
        names, modules = drawn_names(rng, near)
        inner = [name for name in modules if "." in name]
        prefixes = [rng.choice(modules), rng.choice(inner), rng.choice(names)]
        for prefix in prefixes + [rng.choice(modules)[:-1]] * bool(near):
            prefix = f"{prefix}{end}"
            check_frozen(scenario, learner, reference, rng, names, *arguments(names), prefix, case="a drawn tree")


@exercise("freeze")
def test_a_layer(learner, reference, rng):
    """All parameters of a layer, and none of another one; a parameter tensor counts once, whatever its size."""
    i = digit(rng)
    for case, names in {
        "one parameter": [f"layer{i}.weight"],
        "one layer": [f"layer{i}.weight", f"layer{i}.bias"],
        "two layers": [f"layer{i}.weight", f"layer{i}.bias", f"head{i}.weight", f"head{i}.bias"],
        "layers below the layer": [f"layer{i}.0.weight", f"layer{i}.0.bias", f"layer{i}.norm.scale", "head.weight"],
    }.items():
        check_frozen("frozen", learner, reference, rng, names, f"layer{i}", case=case)
    check_drawn(learner, reference, rng)


@exercise("freeze")
def test_layer1_is_not_layer10(learner, reference, rng):
    """A name that only begins with the same letters does not match."""
    i, j = digit(rng), int(rng.integers(0, 10))
    layers = [f"layer{i}.weight", f"layer{i}{j}.weight", f"layer{i}_norm.scale"]
    check_frozen("frozen", learner, reference, rng, layers, f"layer{i}", case="a longer number")
    blocks = [f"blocks.{i}.weight", f"blocks.{i}{j}.weight", f"blocks.{i}.norm.scale"]
    check_frozen("frozen", learner, reference, rng, blocks, f"blocks.{i}", case="a longer number, numbered blocks")
    inside = [f"layer{i}.weight", f"wide.layer{i}.weight", f"prelayer{i}.weight"]
    check_frozen("frozen", learner, reference, rng, inside, f"layer{i}", case="the prefix in the middle of a name")
    check_drawn(learner, reference, rng, near=0.6)


@exercise("freeze")
def test_nested_modules(learner, reference, rng):
    """A prefix of several parts."""
    i = digit(rng)
    stem = f"encoder.blocks.{i}"
    names = [f"{stem}.attention.q.weight", f"{stem}.bias", f"{stem}0.bias", "encoder.bias", f"blocks.{i}.bias"]
    for prefix in (stem, f"{stem}.attention", f"{stem}.attention.q", "encoder"):
        check_frozen("frozen", learner, reference, rng, names, prefix, case=f"prefix '{prefix}'")
    check_drawn(learner, reference, rng)


@exercise("freeze")
def test_whole_names(learner, reference, rng):
    """The name of one parameter is a prefix too."""
    i = digit(rng)
    names = [f"scale{i}", f"scale{i}0", f"layer{i}.weight", f"layer{i}.weight_scale", f"layer{i}.bias"]
    for prefix in (f"layer{i}.weight", f"scale{i}"):
        check_frozen("frozen", learner, reference, rng, names, prefix, case=f"prefix '{prefix}'")
    check_drawn(learner, reference, rng)


@exercise("freeze")
def test_dot_at_the_end(learner, reference, rng):
    """A dot at the end of the prefix changes nothing."""
    i = digit(rng)
    names = [f"layer{i}.weight", f"layer{i}.norm.bias", f"layer{i}0.weight", f"head{i}.weight"]
    for prefix in (f"layer{i}.", f"layer{i}.norm."):
        check_frozen("frozen", learner, reference, rng, names, prefix, case=f"prefix '{prefix}'")
    check_drawn(learner, reference, rng, end=".")


@exercise("freeze")
def test_everything(learner, reference, rng):
    """The empty prefix matches every parameter, those of the module itself included."""
    i = digit(rng)
    for case, names in {
        "one parameter": [f"scale{i}"],
        "nested modules": [f"scale{i}", f"layer{i}.weight", f"layer{i}.norm.bias", "head.weight"],
    }.items():
        check_frozen("frozen", learner, reference, rng, names, "", case=f"prefix '', {case}")
    names, _ = drawn_names(rng)
    check_frozen("frozen", learner, reference, rng, names, "", case="prefix '', a drawn tree")
    check_drawn(learner, reference, rng)


@exercise("freeze")
def test_nothing_matches(learner, reference, rng):
    """0, and nothing changes."""
    i = digit(rng)
    names = [f"layer{i}.weight", f"layer{i}.bias", "head.weight"]
    check_frozen("frozen", learner, reference, rng, names, "head", case="one name matches")
    for prefix in ("weight", "layer", f"layer{i}.w", f"layer{i}.weight.data", "tail"):
        check_frozen("frozen", learner, reference, rng, names, prefix, case=f"no name matches '{prefix}'")
    check_drawn(learner, reference, rng)


@exercise("freeze")
def test_frozen_before(learner, reference, rng):
    """A parameter that was frozen before is counted, and stays frozen also where nothing matches."""
    i = digit(rng)
    names = [f"layer{i}.weight", f"layer{i}.bias", "head.weight", "head.bias"]
    for case, before in {
        "one was frozen before": [f"layer{i}.weight"],
        "all of the layer was frozen before": [f"layer{i}.weight", f"layer{i}.bias"],
        "parameters elsewhere were frozen before": ["head.weight"],
    }.items():
        check_frozen("frozen_twice", learner, reference, rng, names, before, f"layer{i}", case=case)
    check_drawn(learner, reference, rng, "frozen_twice", lambda names: (names[::2],))


@exercise("freeze")
def test_shared_parameters(learner, reference, rng):
    """A parameter with two names is frozen by either, and counts once."""
    i = digit(rng)
    names = [f"embed{i}.weight", f"body{i}.weight"]
    tied = [f"embed{i}.weight", f"head{i}.weight"]
    for prefix in (f"embed{i}", f"head{i}", "", f"body{i}"):
        check_frozen(
            "frozen_shared", learner, reference, rng, names, tied, prefix, case=f"a shared weight, prefix '{prefix}'"
        )
    check_drawn(learner, reference, rng, "frozen_shared", lambda names: ([names[0], "tied.again"],))


@exercise("freeze")
def test_buffers_do_not_count(learner, reference, rng):
    """Buffers have no gradient to freeze."""
    i = digit(rng)
    names, buffers = [f"norm{i}.weight", f"norm{i}.bias", "head.weight"], [f"norm{i}.running_mean", "steps"]
    for prefix in (f"norm{i}", ""):
        check_frozen(
            "frozen_beside_buffers", learner, reference, rng, names, buffers, prefix, case=f"buffers, prefix '{prefix}'"
        )
    check_drawn(learner, reference, rng, "frozen_beside_buffers", lambda names: ([f"{name}_mean" for name in names],))


# ema_update

LAYERS = {  # what kind of module: shapes of the parameters, smallest first
    "one number": {"scale": ()},
    "one layer": {"weight": (2, 3), "bias": (2,)},
    "nested layers": {"scale": (1,), "layer1.weight": (3, 2), "layer1.bias": (3,), "layer2.norm.bias": (2,)},
}


def modules(rng, shapes, count=2, dtype=F64):
    """The parameters of some modules with these shapes."""
    return [{name: random(rng, shape, dtype) for name, shape in shapes.items()} for _ in range(count)]


def some_decay(rng):
    """Between 0.6 and 0.9, so that decay and 1 − decay are told apart."""
    return float(rng.uniform(0.6, 0.9))


@exercise("ema_update")
def test_one_update(learner, reference, rng):
    """decay · target + (1 − decay) · online."""
    for case, shapes in LAYERS.items():
        agree("averaged", learner, reference, *modules(rng, shapes), some_decay(rng), case=case)


@exercise("ema_update")
def test_extreme_decays(learner, reference, rng):
    """decay = 0 copies online, decay = 1 leaves target, 0.999 hardly moves it."""
    for decay in (0.0, 0.999, 1.0, 0.5):
        arguments = modules(rng, LAYERS["one layer"])
        agree("averaged", learner, reference, *arguments, decay, case=f"decay = {decay:g}")


@exercise("ema_update")
def test_many_updates(learner, reference, rng):
    """Each update starts from what the last one left."""
    for count in (2, 5):
        target, *onlines = modules(rng, LAYERS["one layer"], count + 1)
        arguments = target, onlines, some_decay(rng)
        agree("averaged_again", learner, reference, *arguments, case=f"{count} updates")


@exercise("ema_update", promise="instrumented")
def test_in_place(learner, reference, rng):
    """The parameters are the same objects in the same memory."""
    for case, shapes in LAYERS.items():
        arguments = *modules(rng, shapes), some_decay(rng)
        agree("averaged_in_place", learner, reference, *arguments, case=f"in place, {case}")


@exercise("ema_update", promise="instrumented")
def test_no_graph(learner, reference, rng):
    """Leaves before, leaves afterwards, with the requires_grad that they had."""
    for case, flags in {
        "target requires no gradient": (False, True),
        "both require gradients": (True, True),
        "online requires no gradient": (True, False),
        "neither requires gradients": (False, False),
    }.items():
        arguments = *modules(rng, LAYERS["one layer"]), some_decay(rng), *flags
        agree("averaged_with_flags", learner, reference, *arguments, case=case)


@exercise("ema_update")
def test_online_and_buffers_stay(learner, reference, rng):
    """online is only read, and buffers are left alone."""
    shapes = {"running_mean": (2,), "norm.running_var": (3,)}
    for case, layers in [("one layer and buffers", "one layer"), ("nested layers and buffers", "nested layers")]:
        target, online = modules(rng, LAYERS[layers])
        target_buffers, online_buffers = modules(rng, shapes)
        for buffers in (target_buffers, online_buffers):
            buffers["steps"] = np.array(rng.integers(100))
        arguments = target, online, target_buffers, online_buffers, some_decay(rng)
        agree("averaged_beside", learner, reference, *arguments, case=case)


@exercise("ema_update")
def test_shared_weights_once(learner, reference, rng):
    """A parameter with two names is averaged once."""
    target, online = modules(rng, {"embed.weight": (2, 3), "body.weight": (3,)})
    tied = ["embed.weight", "head.weight", "tail.weight"]
    for case, names in {"a weight with two names": tied[:2], "a weight with three names": tied}.items():
        agree("averaged_shared", learner, reference, target, online, names, some_decay(rng), case=case)


@exercise("ema_update")
def test_averages_in_float32(learner, reference, rng):
    """float32 modules stay float32."""
    arguments = *modules(rng, LAYERS["one layer"], dtype=F32), some_decay(rng)
    agree("averaged", learner, reference, *arguments, case="float32", **SINGLE)


# predict_flow


def check_program(learner, reference, program: str):
    """The learner's answer for one of the six programs."""
    answer, right = learner.predict_flow(), reference.predict_flow()
    if has_program(answer, program, program):
        got, expected = (_called_in_full(program, flows) for flows in (answer[program], right[program]))
        expect_close(got, expected, names=(program,), case=program, rtol=0, atol=0)


def has_program(answer: Any, program: str, case: str) -> bool:
    """Whether the answer says anything of one program."""
    there = isinstance(answer, dict) and program in answer
    expect(there, f"predict_flow returned {summarise(answer)}; a dict with the key '{program}' expected", case=case)
    return there


def _called_in_full(program: str, flows: Any) -> Any:
    """The answers with the program's name before that of each tensor."""
    return {f"{program}: {name}": flow for name, flow in flows.items()} if isinstance(flows, dict) else flows


@exercise("predict_flow")
def test_dead_unit(learner, reference):
    """A unit that relu switches off, a term times 0, and a leaf that is not used."""
    check_program(learner, reference, "dead_unit")


@exercise("predict_flow")
def test_side_branch(learner, reference):
    """A detach on one of two branches, and one that is subtracted."""
    check_program(learner, reference, "side_branch")


@exercise("predict_flow")
def test_no_grad_block(learner, reference):
    """A product and a leaf that are made under no_grad."""
    check_program(learner, reference, "no_grad_block")


@exercise("predict_flow")
def test_late_request(learner, reference):
    """requires_grad_ after the tensor was used."""
    check_program(learner, reference, "late_request")


@exercise("predict_flow")
def test_choice(learner, reference):
    """A condition, what it chose and what it did not choose."""
    check_program(learner, reference, "choice")


@exercise("predict_flow")
def test_half_a_step(learner, reference):
    """autograd.grad, and a step that makes a new tensor."""
    check_program(learner, reference, "half_a_step")


STEPS = {  # what a program shows, and its steps; what no step makes is a leaf, or a constant if its name is k
    "a product of two leaves": "L = a * b",
    "a leaf that is not used": "c = leaf; L = a * b",
    "a constant": "L = a * k",
    "a result on the way": "h = a * b; L = h * c",
    "a product under no_grad": "h = a * b under no_grad; L = h * c",
    "a detached result": "h = a * b; d = detach h; L = d * c",
    "a detached leaf, and the leaf itself": "d = detach a; L = a * d",
    "a constant that asks before it is used": "request k; L = a * k",
    "a constant that asks after it was used": "h = a * k; request k; L = h * b",
    "a constant that asks between two uses": "h = a * k; request k; L = h * k",
    "a result that asks, and led to leaves before": "h = a * b; request h; L = h * c",
    "a detached result that asks": "h = a * b; d = detach h; request d; L = d * c",
    "a product under no_grad that asks": "h = a * b under no_grad; request h; L = h * c",
    "two ways, one detached": "h = a * b; d = detach h; e = h * c; L = d * e",
    "a product of constants": "h = k * k; L = h * a",
    "a step that the loss does not use": "h = a * b; e = h * c; L = h * a",
}


def steps_of(rng, text: str) -> list[tuple[str, ...]]:
    """The steps of a program that is written as in `STEPS`, its tensors renamed at random."""
    steps: list[tuple[str, ...]] = []
    for statement in text.split("; "):
        name, _, rest = statement.partition(" = ")
        step: tuple[str, ...]
        words = rest.removesuffix(" under no_grad").replace(" *", "").split()
        if name.startswith("request "):
            step = (name.removeprefix("request "), "request")
        elif words[0] == "detach":
            step = (name, "detach", words[1])
        elif words == ["leaf"]:
            step = (name, "leaf")
        else:
            step = (name, "product under no_grad" if "no_grad" in rest else "product", *words)
        known = {made for made, *_ in steps}
        new = [used for used in (step[2:] or step[:1]) if used not in known and step[1] != "leaf"]
        steps += [(used, "constant" if used == "k" else "leaf") for used in dict.fromkeys(new)]
        steps.append(step)
    letters = rng.permutation(list("abcdefghijkmnopqrstuvwxyz")).tolist()
    names = {name: letters.pop() for name in dict.fromkeys(step[0] for step in steps)}
    return [(names[name], how, *(names[used] for used in inputs)) for name, how, *inputs in steps]


def random_steps(rng, size: int) -> list[tuple[str, ...]]:
    """A program without any plan, of `size` steps after its leaves, whose loss a leaf leads to."""
    leaves = [f"w{i}" for i in range(3)]
    steps: list[tuple[str, ...]] = [*((name, "leaf") for name in leaves), ("k", "constant")]
    for i in range(size):
        known = list(dict.fromkeys(name for name, *_ in steps))
        near = [*known, *known[-3:], *known[-1:]]
        how = str(rng.choice(["product", "product", "product", "product under no_grad", "detach", "request"]))
        one, other = rng.choice(near, size=2).tolist()
        steps.append(
            (one, "request") if how == "request" else (f"h{i}", how, one, *([other] if "product" in how else []))
        )
    last = [name for name, *_ in steps][-1]
    return [*steps, ("loss", "product", last, str(rng.choice(leaves)))]


def check_steps(learner, reference, programs: dict[str, list[tuple[str, ...]]]):
    """The learner's answers for programs that are given as steps."""
    answer, right = learner.predict_flow(programs), reference.predict_flow(programs)
    for program, steps in programs.items():
        told = "; ".join(" ".join(step) for step in steps)
        if has_program(answer, program, f"{program}: {told}"):
            expect_close(answer[program], right[program], names=("the answer",), case=program, rtol=0, atol=0)


@exercise("predict_flow")
def test_steps(learner, reference):
    """Programs given as steps, each with one thing to know; with other letters they are the same ones."""
    rng = np.random.default_rng(4)
    for case, text in STEPS.items():
        check_steps(learner, reference, {case: steps_of(rng, text)})


@exercise("predict_flow")
def test_random_steps(learner, reference, rng):
    """Short programs given as steps, without any plan; several at once, and none."""
    for size in (2, 3, 4):
        check_steps(learner, reference, {f"{size} steps, program {i}": random_steps(rng, size) for i in range(3)})
    expect_close(learner.predict_flow({}), {}, case="no programs", rtol=0, atol=0)


@exercise("predict_flow")
def test_longer_programs(learner, reference, rng):
    """Longer programs given as steps."""
    for size in (5, 6, 8, 12):
        check_steps(learner, reference, {f"{size} steps, program {i}": random_steps(rng, size) for i in range(3)})


# running_mean_loss


def losses(rng, count):
    """A list of positive numbers, the first no more likely to be near the mean than the last."""
    return rng.uniform(0.5, 3, size=count).tolist()


@exercise("running_mean_loss", promise="instrumented")
def test_graphs_are_let_go(learner, reference, rng):
    """At most two graphs are alive while the losses are read, and none afterwards; the first thing to be told."""
    for count in (4, 2, 12):
        values = losses(rng, count)
        case = f"a generator of {count} losses"
        expected, got = (who.scenario.graphs_alive(values) for who in (reference, learner))
        message = (
            f"{got['graphs']} of {count} graphs were alive at once: each loss you keep as a tensor keeps its graph and "
            "all that it saved. Keep numbers."
        )
        expect(got["graphs"] <= 2, message, case=case)
        expect(got["left"] == 0, f"{got['left']} graphs are still alive after the return.", case=case)
        counts = {"graphs", "left"}
        got, expected = ({name: value for name, value in of.items() if name not in counts} for of in (got, expected))
        compare(got, expected, case=case)


@exercise("running_mean_loss")
def test_any_iterable(learner, reference, rng):
    """The mean of a list, a tuple, a generator; a Python float."""
    for kind in ("list", "tuple", "generator"):
        for count in (1, 2, 7):
            values = losses(rng, count)
            case = f"a {kind} of {count} loss{'es' * (count > 1)}"
            agree("mean_of", learner, reference, values, kind, case=case)


@exercise("running_mean_loss")
def test_one_element_of_any_shape(learner, reference, rng):
    """Losses of shape (), (1,) and (1, 1), also in one iterable."""
    for shapes in ([(1,)], [(1, 1)], [()], [(1,), (1,), (1,)], [(1, 1), (), (1,), ()]):
        values = losses(rng, len(shapes))
        agree("mean_of_shapes", learner, reference, values, shapes, case=f"shapes {', '.join(map(str, shapes))}")


@exercise("running_mean_loss", promise="instrumented")
def test_no_losses(learner, reference, rng):
    """The mean of nothing is a ValueError."""
    agree("mean_of", learner, reference, losses(rng, 1), "list", case="one loss")
    for kind in ("list", "generator"):
        agree("mean_of_nothing", learner, reference, kind, case=f"an empty {kind}")


@exercise("running_mean_loss")
def test_sums_that_float32_cannot_hold(learner, reference, rng):
    """Many small losses after a large one: a sum in the losses' own precision stops growing."""
    for dtype, power in {"float32": 24, "bfloat16": 8}.items():
        values = [2.0**power] + [1.0] * int(rng.integers(20, 60))
        case = f"{dtype}, the loss 2**{power} and many losses of 1"
        agree("mean_of", learner, reference, values, "generator", dtype, case=case)


@exercise("running_mean_loss")
def test_losses_stay_as_they_are(learner, reference, rng):
    """The losses have their values and their graphs afterwards."""
    for count in (1, 3):
        agree("losses_afterwards", learner, reference, losses(rng, count), case=f"a list of {count}, afterwards")


@exercise("running_mean_loss")
def test_while_training(learner, reference, rng):
    """The generator is a training loop: it calls backward on each loss after handing it out."""
    for count in (1, 4):
        arguments = losses(rng, count), float(rng.uniform(0.1, 0.4))
        agree("training_loop", learner, reference, *arguments, case=f"a training loop of {count} steps")
