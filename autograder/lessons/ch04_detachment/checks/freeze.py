"""Checks of freeze."""

from __future__ import annotations

from typing import Any

from autograder.judging import compare, exercise, expect


def digit(rng):
    return int(rng.integers(1, 10))


def check_frozen(scenario, learner, reference, rng, names, *arguments: Any, case: str, prefix: str | None = None):
    """Check which parameters are frozen, one by one, then the count and the rest. One of the names is random.

    Args:
        prefix: the last argument, if there is none.
    """
    arguments = ([*names, f"beside{rng.integers(10_000)}.weight"], *arguments)
    prefix = arguments[-1] if prefix is None else prefix
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    flags = [name for name, value in expected.items() if isinstance(value, str)]
    for name in flags:
        wrong = "was frozen and must not be" if expected[name] == "trainable" else "is not frozen"
        expect(got.get(name) == expected[name], f"{name} {wrong}: the prefix is '{prefix}'.", case=case)
    got, expected = ({name: value for name, value in of.items() if name not in flags} for of in (got, expected))
    compare(got, expected, case=case)


def drawn_names(rng, near: float = 0.0) -> tuple[list[str], list[str]]:
    """The parameters and modules of a random tree; a share `near` of names begin or end with a neighbour's name."""
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
    """Check two random trees with prefixes of several kinds, which a list of known trees would not contain.

    Args:
        arguments: returns further arguments of the scenario for these names.
        near: share of names that begin or end with a neighbour's name; if not 0, some prefixes are only parts of
            names. Only one check uses them, so that mistaking such a part for a prefix fails one check, not all.
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
    instead = [f"blocks.{i}.weight", f"blocks_{i}.weight"]
    check_frozen("frozen", learner, reference, rng, instead, f"blocks.{i}", case="another character for the dot")
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
def test_every_kind_of_module(learner, reference, kinds, rng):
    """All pairs of prefixes; parameters frozen before, tied, with and without grads; eval mode; buffers."""
    for kind in kinds:
        names, prefix = kind.options.values()
        arguments = [*names, f"drawn{rng.integers(10_000)}"], prefix, kind.states
        check_frozen("frozen_in_states", learner, reference, rng, *arguments, case=kind.label, prefix=prefix)


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
