"""Checks of ch10_activation_memory: bytes by formula, and a meter that counts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import EXACT, F32, F64, agree, exercise, expect_close, expect_raises, random
from autograder.lessons.ch10_activation_memory.programs import BY_INPUT, BY_RESULT, random_program, unseen_layers

RECOMPUTE = ("none", "selective", "full")


def sizes(rng, low: int = 1, high: int = 6) -> dict[str, int]:
    """A Llama whose heads have 16, 32 or 64 dimensions, and fewer heads of keys than of queries."""
    kv_heads = int(rng.integers(low, high))
    heads = kv_heads * int(rng.integers(2, 5))
    hidden = heads * int(rng.choice([16, 32, 64]))
    return {
        "hidden": hidden,
        "layers": int(rng.integers(2, 30)),
        "heads": heads,
        "kv_heads": kv_heads,
        "ffn": int(hidden * rng.uniform(2.2, 3.8)),
        "vocab": int(rng.integers(500, 5000)),
    }


# layer_activation_bytes


# On seven devices neither the shared bytes of this layer, nor its scores, nor their sum are a whole number.
NOTHING_WHOLE = 3, 1, 8, 2


def agree_on_layer(learner, reference, rng, case: str, arguments: tuple[int, ...] = (), **options: Any) -> None:
    if not arguments:
        a = int(rng.integers(2, 40))
        arguments = int(rng.integers(3, 4000)), int(rng.integers(2, 9)), a * int(rng.integers(8, 129)), a
    expected = reference.layer_activation_bytes(*arguments, **options)
    got = learner.layer_activation_bytes(*arguments, **options)
    expect_close(got, expected, names=("the bytes",), case=case, **EXACT)


@exercise("layer_activation_bytes")
def test_one_device(learner, reference, rng):
    """Fused attention and un-fused, one device."""
    for case, arguments in {"one token, all sizes 1": (1, 1, 1, 1), "two tokens": (2, 1, 4, 2)}.items():
        for flash in (True, False):
            got, expected = (who.layer_activation_bytes(*arguments, flash) for who in (learner, reference))
            expect_close(got, expected, names=("the bytes",), case=f"{case}, flash={flash}", **EXACT)
    for _ in range(2):
        agree_on_layer(learner, reference, rng, "flash=False", flash=False)
        agree_on_layer(learner, reference, rng, "flash=True", flash=True)
        agree_on_layer(learner, reference, rng, "flash left out: it is used")


@exercise("layer_activation_bytes")
def test_tensor_parallel(learner, reference, rng):
    """Several devices: 10 of the 34 are not divided."""
    for flash in (True, False):
        for t in (1, 2, 8, 3):
            case = f"tensor_parallel={t}, flash={flash}"
            agree_on_layer(learner, reference, rng, case, flash=flash, tensor_parallel=t)
        case = f"tensor_parallel=7, flash={flash}"
        agree_on_layer(learner, reference, rng, case, NOTHING_WHOLE, flash=flash, tensor_parallel=7)


@exercise("layer_activation_bytes")
def test_sequence_parallel(learner, reference, rng):
    """With sequence parallelism all 34 are."""
    for flash in (True, False):
        for t in (1, 2, 8, 3):
            case = f"tensor_parallel={t}, sequence_parallel=True, flash={flash}"
            options = {"flash": flash, "tensor_parallel": t, "sequence_parallel": True}
            agree_on_layer(learner, reference, rng, case, **options)
        case = f"tensor_parallel=7, sequence_parallel=True, flash={flash}"
        options = {"flash": flash, "tensor_parallel": 7, "sequence_parallel": True}
        agree_on_layer(learner, reference, rng, case, NOTHING_WHOLE, **options)


# SavedTensorMeter


def agree_on_meter(learner, reference, rng, kinds: tuple[str, ...], devices: tuple[str, ...] = ("cpu", "meta")) -> None:
    for kind in kinds:
        for device in devices:
            n, m = (int(size) for size in rng.integers(2, 40, size=2))
            case = f"{kind}, x is {n} x {m}" + (", on the meta device" if device == "meta" else "")
            agree("metered", learner, reference, kind, n, m, device, case=case)


@exercise("SavedTensorMeter")
def test_what_is_saved(learner, reference, rng):
    """Nothing, a result, both factors; several storages of one size; other dtypes."""
    kinds = "one result", "two factors", "several storages of one size", "another dtype", "nothing", "no numbers"
    agree_on_meter(learner, reference, rng, kinds)


@exercise("SavedTensorMeter")
def test_constants_count(learner, reference, rng):
    """What requires no gradient and is saved all the same: a factor, the data of a layer, indices, a mask."""
    agree_on_meter(learner, reference, rng, ("a constant factor", "data in front of a layer", "indices and a mask"))


@exercise("SavedTensorMeter")
def test_storages_count_once(learner, reference, rng):
    """What two operations save, and views of one storage."""
    kinds = "one storage, saved by two operations", "two views that begin at different places"
    agree_on_meter(learner, reference, rng, kinds)


@exercise("SavedTensorMeter")
def test_storages_count_whole(learner, reference, rng):
    """A view of one column keeps the whole matrix, one that repeats a row keeps the row."""
    agree_on_meter(learner, reference, rng, ("a view of a part", "a view that repeats one row"))


@exercise("SavedTensorMeter")
def test_parameters_do_not_count(learner, reference, rng):
    """Neither a parameter nor a view of one, frozen or not."""
    agree_on_meter(learner, reference, rng, ("parameters and their views", "a frozen parameter and its views"))


@exercise("SavedTensorMeter")
def test_the_block(learner, reference, rng):
    """Before it, after it, when it raises, one in another, one after another; tensors made before it count."""
    for how in ("plain", "raises", "nested", "one after the other"):
        n, m = (int(size) for size in rng.integers(2, 40, size=2))
        agree("block_of_the_meter", learner, reference, n, m, how, case=f"the block: {how}, x is {n} x {m}")


@exercise("SavedTensorMeter")
def test_gradients(learner, reference, rng):
    """Those without a meter, float32 and float64."""
    for shape, dtype in [((1,), F64), ((2, 3), F64), ((3,), F32)]:
        arguments = random(rng, shape, dtype), random(rng, shape, dtype)
        case = f"gradients under the meter, {dtype.__name__}, x has shape {shape}"
        agree("gradients_under_the_meter", learner, reference, *arguments, case=case, rtol=1e-5, atol=1e-6)


@exercise("SavedTensorMeter")
def test_networks(learner, reference, rng):
    """What the meter is for: embeddings, attention with a mask, dropout, a norm, frozen layers, a cross-entropy."""
    for kind in ("a classifier of data", "a language model", "a frozen body and a head"):
        n, m = (int(size) for size in rng.integers(3, 20, size=2))
        agree("metered", learner, reference, kind, n, m, "cpu", case=f"{kind}, sizes {n} and {m}")


@exercise("SavedTensorMeter", promise="instrumented")
def test_memory_is_let_go(learner, reference, rng):
    """Storages that come and go at one address count each; none is kept alive."""
    for rounds in (1, 20):
        n = int(rng.integers(20, 60))
        case = f"a result that is let go within the block, {rounds} times, {n} x {n}"
        agree("let_go", learner, reference, n, rounds, case=case)


# predict_saved


def agree_on_program(learner, reference, program, sizes, trained, parameters=(), case="") -> None:
    arguments = list(program), dict(sizes), list(trained), list(parameters)
    got, expected = (who.predict_saved(*arguments) for who in (learner, reference))
    expect_close(got, expected, names=("the bytes",), case=case, **EXACT)


def drawn_sizes(rng, names: str, low: int = 2) -> dict[str, int]:
    """A number of entries for each name, no two alike."""
    found = rng.permutation(np.arange(low, low + 40))
    return {name: int(n) for name, n in zip(names.split(), found, strict=False)}


@exercise("predict_saved")
def test_one_step(learner, reference, rng):
    """Each operation alone, its inputs trained; one entry first."""
    for operation in (*BY_RESULT, *BY_INPUT, "scale", "sum", "view"):
        sizes = {"x": 1, "y": 1} if operation in ("exp", "silu") else drawn_sizes(rng, "x y")
        agree_on_program(learner, reference, [("y", operation, "x")], sizes, ["x"], case=f"one step: {operation}")
    for operation in ("add", "mul", "div", "matmul"):
        steps, sizes = [("y", operation, "a", "b")], drawn_sizes(rng, "a b y")
        agree_on_program(learner, reference, steps, sizes, ["a", "b"], case=f"one step: {operation}")
    agree_on_program(learner, reference, [], drawn_sizes(rng, "x"), ["x"], case="no steps")


@exercise("predict_saved")
def test_who_asks(learner, reference, rng):
    """Inputs that require no gradient, steps that need none, a detach."""
    for operation in ("mul", "matmul", "div", "add"):
        for trained in (["a"], ["b"], []):
            steps, sizes = [("y", operation, "a", "b")], drawn_sizes(rng, "a b y")
            case = (
                f"one step: {operation} of a and b, of which {' and '.join(trained) or 'neither'} requires a gradient"
            )
            agree_on_program(learner, reference, steps, sizes, trained, case=case)
    for operation in ("exp", "silu"):
        steps = [("a", operation, "c"), ("b", "mul", "a", "x"), ("y", operation, "b")]
        case = f"{operation} of what requires no gradient, then a product with x, which does"
        agree_on_program(learner, reference, steps, drawn_sizes(rng, "c a x b y"), ["x"], case=case)
        steps = [("a", operation, "x"), ("b", "detach", "a"), ("y", operation, "b")]
        sizes = drawn_sizes(rng, "x a y")
        agree_on_program(learner, reference, steps, sizes | {"b": sizes["a"]}, ["x"], case=f"{operation} of a detach")
    for trained in (["x"], ["W"], ["x", "W"]):
        steps, sizes = [("y", "matmul", "x", "W")], drawn_sizes(rng, "x W y")
        case = f"x @ W, W a parameter; trained: {', '.join(trained)}"
        agree_on_program(learner, reference, steps, sizes, trained, ["W"], case=case)


@exercise("predict_saved")
def test_memory_counts_once(learner, reference, rng):
    """What two steps need; a product with itself; views, views of views, parts; parameters."""
    h = int(rng.integers(20, 60))
    n, part = h * int(rng.integers(2, 9)), h
    same = dict.fromkeys(("x", "a", "b", "v", "w", "y", "z"), n)
    for case, steps in {
        "a product with itself": [("y", "mul", "x", "x")],
        "exp, and silu of its result": [("a", "exp", "x"), ("y", "silu", "a")],
        "a view, and what it looks into": [("a", "exp", "x"), ("v", "view", "a"), ("y", "sin", "v")],
        "a view of a view": [("v", "view", "x"), ("w", "view", "v"), ("y", "sin", "w"), ("z", "log", "x")],
        "a detach, times what it was cut from": [("a", "tanh", "x"), ("v", "detach", "a"), ("y", "mul", "a", "v")],
        "relu of a view, then two steps": [
            ("v", "view", "x"),
            ("a", "relu", "v"),
            ("y", "sin", "a"),
            ("z", "gelu", "a"),
        ],
    }.items():
        agree_on_program(learner, reference, steps, same, ["x"], case=case)
    steps = [("a", "scale", "x"), ("v", "view", "a"), ("y", "sin", "v")]
    sizes = {"x": n, "a": n, "v": part, "y": part}
    agree_on_program(learner, reference, steps, sizes, ["x"], case="a view of a part keeps the whole")
    steps = [("t", "view", "W"), ("y", "matmul", "x", "t"), ("z", "mul", "y", "b")]
    sizes = drawn_sizes(rng, "x W y b z")
    for trained in (["x", "W", "b"], ["x"]):
        case = f"a view of a parameter, in a product; trained: {', '.join(trained)}"
        agree_on_program(learner, reference, steps, sizes | {"t": sizes["W"]}, trained, ["W", "b"], case=case)


@exercise("predict_saved")
def test_unseen_layers(learner, reference, rng):
    """Gated and bilinear layers, squared ReLU, frozen weights, adapters."""
    for case, program in unseen_layers(rng).items():
        agree_on_program(learner, reference, *program.arguments, case=case)


@exercise("predict_saved")
def test_programs_that_are_drawn(learner, reference, rng):
    """Steps at random, fewer first."""
    for n_steps in (2, 3, 4, 6, 8, 12, 12, 20):
        program = random_program(rng, n_steps)
        agree_on_program(learner, reference, *program.arguments, case=f"a program of {n_steps} steps that are drawn")


# training_state_bytes


def agree_on_states(learner, reference, *arguments: int, case: str, **options: int) -> None:
    expected = reference.training_state_bytes(*arguments, **options)
    got = learner.training_state_bytes(*arguments, **options)
    expect_close(got, expected, case=case, **EXACT)


@exercise("training_state_bytes")
def test_defaults(learner, reference, rng):
    """16 bytes a parameter."""
    agree_on_states(learner, reference, 1, case="one parameter")
    for high in (100, 10**6, 10**11):
        agree_on_states(learner, reference, int(rng.integers(high // 2, high)), case="16 bytes a parameter")


@exercise("training_state_bytes")
def test_other_precisions(learner, reference, rng):
    """Each of the four, and none of some."""
    names = ("param_bytes", "grad_bytes", "master_bytes", "moment_bytes")
    for name in names:
        n = int(rng.integers(2, 10**9))
        for value in (0, 1, 8):
            agree_on_states(learner, reference, n, case=f"{name}={value}", **{name: value})
    options = dict(zip(names, (int(i) for i in rng.permutation([1, 3, 5, 7])), strict=True))
    agree_on_states(learner, reference, int(rng.integers(2, 10**9)), case="four different sizes", **options)


# llama_block_bytes

ONE_PERCENT = {"rtol": 0.01, "atol": 0.0}


def agree_on_block(learner, reference, config, s, b, recompute, case) -> None:
    got, expected = (who.scenario.block_bytes(*config.values(), s, b, recompute) for who in (learner, reference))
    if type(got) is int:  # ints are compared exactly; anything else but an int is refused
        got, expected = float(got), float(expected)
    expect_close(got, expected, names=("the bytes",), case=case, **ONE_PERCENT)


@exercise("llama_block_bytes")
def test_all_kept(learner, reference, rng):
    """recompute="none", grouped queries and not."""
    for tokens in ((1, 1), (7, 1), (int(rng.integers(100, 9000)), int(rng.integers(2, 9)))):
        agree_on_block(learner, reference, sizes(rng), *tokens, "none", "none, fewer heads of keys than of queries")
    config = sizes(rng)
    agree_on_block(learner, reference, {**config, "kv_heads": config["heads"]}, 64, 3, "none", "none, kv_heads = heads")
    for ffn in (1, 20 * config["hidden"]):
        agree_on_block(learner, reference, {**config, "ffn": ffn}, 64, 3, "none", f"none, ffn = {ffn}")


@exercise("llama_block_bytes")
def test_recomputed(learner, reference, rng):
    """selective and full."""
    for recompute in ("full", "selective"):
        for tokens in ((1, 1), (7, 1), (int(rng.integers(100, 9000)), int(rng.integers(2, 9)))):
            config = sizes(rng)
            case = f"{recompute}, heads of {config['hidden'] // config['heads']}"
            agree_on_block(learner, reference, config, *tokens, recompute, case)


@exercise("llama_block_bytes")
def test_unknown_policy(learner, reference, rng):
    """ValueError, and none for the policies that there are."""
    for recompute in ("everything", "", "None"):
        config = sizes(rng)
        case = f"recompute={recompute!r}"
        expect_raises(ValueError, learner.scenario.block_bytes, *config.values(), 8, 1, recompute, case=case)
        known = str(rng.choice(RECOMPUTE))
        agree_on_block(learner, reference, config, 8, 1, known, f"beside that: recompute={known!r}")


# largest_batch


def card(reference, config, s, recompute, sequences: float) -> int:
    """A card with room for the states and so many sequences; from how the reference answers larger and larger ones."""
    h, kv, f = config["hidden"], config["kv_heads"] * config["hidden"] // config["heads"], config["ffn"]
    layer = 2 * h * h + 2 * h * kv + 3 * h * f + 2 * h
    states = 16 * (2 * config["vocab"] * h + h + config["layers"] * layer)
    kept, whole = (reference.scenario.block_bytes(*config.values(), s, 1, how) for how in (recompute, "none"))
    peak = config["layers"] * kept + max(12 * s * config["vocab"], whole - kept)
    return states + int(sequences * peak)


def agree_on_batch(learner, reference, config, s, recompute, sequences, case) -> None:
    gpu_bytes = card(reference, config, s, recompute, sequences)
    agree_on_card(learner, reference, config, s, gpu_bytes, recompute, case)


def agree_on_card(learner, reference, config, s, gpu_bytes, recompute, case) -> None:
    got, expected = (who.scenario.batch(*config.values(), s, gpu_bytes, recompute) for who in (learner, reference))
    expect_close(got, expected, names=("the batch",), case=case, **EXACT)


@exercise("largest_batch")
def test_some_fit(learner, reference, rng):
    """A little more and a little less than a whole number of sequences."""
    for recompute in RECOMPUTE:
        for n in (1, *(int(n) for n in rng.integers(2, 25, size=3))):
            for share, told in ((1 + 0.3 / n, "a little more"), (1 - 0.3 / n, "a little less")):
                config, s = sizes(rng), int(rng.integers(500, 9000))
                case = f"{recompute}, {told} room than for {n}"
                agree_on_batch(learner, reference, config, s, recompute, n * share, case)


@exercise("largest_batch")
def test_every_parameter_has_states(learner, reference, rng):
    """One token a sequence: its activations are a few numbers for each of `hidden`, and each norm's states show."""
    for recompute in RECOMPUTE:
        for layers in (1, 4):
            config = {**sizes(rng), "layers": layers, "vocab": int(rng.integers(8, 64))}
            for share, told in [(0.05, "a little more"), (-0.05, "a little less"), (0.05, "a little more")]:
                n = int(rng.integers(1, 5))  # as few as leave room for the 1 % of a block's bytes
                depth = f"{layers} layer{'s' * (layers > 1)}"
                case = f"{recompute}, sequences of one token, {depth}, {told} room than for {n}"
                agree_on_batch(learner, reference, config, 1, recompute, n + share, case)


@exercise("largest_batch")
def test_where_the_peak_is(learner, reference, rng):
    """A large vocabulary, where it is the loss; a tiny one, where it is a block that is computed again."""
    for recompute in RECOMPUTE:
        for vocab in (8, 200_000):
            for layers in (1, 3):
                config = {**sizes(rng), "vocab": vocab, "layers": layers}
                s, n = int(rng.integers(500, 9000)), int(rng.integers(2, 25))
                for share in (1 + 0.3 / n, 1 - 0.3 / n):
                    case = f"{recompute}, {layers} layers, vocabulary of {vocab:,}"
                    agree_on_batch(learner, reference, config, s, recompute, n * share, case)


@exercise("largest_batch")
def test_nothing_fits(learner, reference, rng):
    """0 where the states alone are too large, and where no sequence has room beside them."""
    config, s = {**sizes(rng), "vocab": int(rng.integers(2000, 5000))}, 1024
    for recompute in RECOMPUTE:
        for told, sequences in {
            "half a sequence has room": 0.5,
            "not even the states have room": -3.5,
            "beside that: some fit": int(rng.integers(2, 30)) + 0.5,
        }.items():
            gpu_bytes = max(0, card(reference, config, s, recompute, sequences))
            agree_on_card(learner, reference, config, s, gpu_bytes, recompute, f"{recompute}, {told}")
        agree_on_card(learner, reference, config, s, 0, recompute, f"{recompute}, a card without memory")
