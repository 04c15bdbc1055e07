"""Checks of ch14_scaling_out: gradients of all ranks, messages, layers in parts, attention without its matrix.

Ranks run side by side in threads, beside the submission: scenarios start them and bring numbers back.
"""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, F32, F64, agree, exercise, expect_close, expect_raises, random
from autograder.judging.expectations import current_record


def cut(size: int) -> str:
    return f"{size} rank{'s' * (size > 1)}"


# all_reduce_gradients


def network(rng, d, h, o, dtype=F64):
    """W1, b and W2, of one dtype or each of its own."""
    dtypes = dtype if isinstance(dtype, tuple) else (dtype,) * 3
    return [random(rng, shape, of) for shape, of in zip(((d, h), (h,), (h, o)), dtypes, strict=True)]


def shards(rng, rows, d, o, dtype=F64):
    """X and y for each rank."""
    return [[random(rng, (n, d), dtype), random(rng, (n, o), dtype)] for n in rows]


def counted(rows) -> str:
    return f"{' + '.join(map(str, rows))} row{'s' * (sum(rows) > 1)} on {cut(len(rows))}"


def agree_on_gradients(learner, reference, rng, rows, told="", *, nan=False, spare=False, dtype=F64, **tolerance):
    d, h, o = (int(size) for size in rng.integers(1, 4, size=3))
    of_data = F64 if isinstance(dtype, tuple) else dtype
    arguments = network(rng, d, h, o, dtype), shards(rng, rows, d, o, of_data), nan, spare
    case = f"{told}{', ' * bool(told)}{counted(rows)}"
    agree("gradients", learner, reference, *arguments, case=case, **{**EXACT, **tolerance})


@exercise("all_reduce_gradients")
def test_even_shards(learner, reference, rng):
    """As many rows on each rank, one rank included."""
    for rows in ((1, 1), (3, 3), (2, 2, 2), (4,)):
        agree_on_gradients(learner, reference, rng, rows)


@exercise("all_reduce_gradients")
def test_uneven_shards(learner, reference, rng):
    """Each row counts as much as any other, wherever it is."""
    for rows in ((1, 2), (5, 1), (1, 4, 2), tuple(int(n) for n in rng.integers(1, 7, size=4))):
        agree_on_gradients(learner, reference, rng, rows)


@exercise("all_reduce_gradients")
def test_ranks_without_rows(learner, reference, rng):
    """They have no gradient, or nan, and take part."""
    for nan, told in [(False, "None without rows"), (True, "nan without rows")]:
        for rows in ((2, 0), (0, 3, 1), (0, 0, 2)):
            agree_on_gradients(learner, reference, rng, rows, f".grad is {told}", nan=nan)


@exercise("all_reduce_gradients")
def test_parameters_without_a_gradient(learner, reference, rng):
    """One that no loss reaches gets zeros; a frozen one, which stands before others, nothing."""
    for rows in ((1,), (1, 2), (3, 0)):
        told = "a frozen parameter, and one that no loss reaches"
        agree_on_gradients(learner, reference, rng, rows, told, spare=True)


@exercise("all_reduce_gradients")
def test_gradients_in_float32(learner, reference, rng):
    """float32 parameters have float32 gradients."""
    for rows in ((1, 2), (3, 0)):
        agree_on_gradients(learner, reference, rng, rows, "float32", dtype=F32, rtol=1e-4, atol=1e-5)


@exercise("all_reduce_gradients")
def test_parameters_of_two_dtypes(learner, reference, rng):
    """Each .grad has the dtype of its own parameter."""
    for rows in ((2, 2), (1, 3), (2, 0)):
        agree_on_gradients(
            learner, reference, rng, rows, "float64 and float32 in turn", dtype=(F64, F32, F64), rtol=1e-4, atol=1e-5
        )


@exercise("all_reduce_gradients")
def test_large_gradients_in_float16(learner, reference, rng):
    """The sum over rows is more than float16 holds, their mean is not."""
    for rows in ((4, 4), (8, 2)):
        arguments = network(rng, 1, 1, 1, np.float16), shards(rng, rows, 1, 1, np.float16)
        for _, y in arguments[1]:
            y[...] = np.where(y < 0, -190, 190) + np.clip(y, -3, 3)
        case = f"float16, targets of ±190, {counted(rows)}"
        agree("gradients", learner, reference, *arguments, False, False, case=case, rtol=2e-2, atol=1e-2)


# bucketed_all_reduce


def agree_on_buckets(
    learner, reference, rng, shapes, bucket_bytes, case, dtypes=(F64,), layout="rows first", **tolerance
):
    grads = [random(rng, shape, dtypes[i % len(dtypes)]) for i, shape in enumerate(shapes)]
    multiplied_by = [float(factor) for factor in 2 + np.arange(40) + rng.uniform(-0.3, 0.3, size=40)]
    arguments = grads, bucket_bytes, multiplied_by, float(rng.uniform(0.5, 1)), layout
    agree("buckets", learner, reference, *arguments, case=case, **{**EXACT, **tolerance})


@exercise("bucketed_all_reduce")
def test_one_bucket(learner, reference, rng):
    """All of them in one message; no message for no tensors."""
    for shapes in ([(1,)], [(2,), (3,)], [(), (2, 3), (1, 1, 2)]):
        case = f"{len(shapes)} tensor{'s' * (len(shapes) > 1)}, room for all"
        agree_on_buckets(learner, reference, rng, shapes, 1000, case)
    agree_on_buckets(learner, reference, rng, [], 1000, "no tensors")


@exercise("bucketed_all_reduce")
def test_several_buckets(learner, reference, rng):
    """As many tensors in each as have room, in order; a bucket may be full to the last byte."""
    agree_on_buckets(learner, reference, rng, [(2,), (2,), (1,)], 32, "the first two fit exactly")
    agree_on_buckets(learner, reference, rng, [(2,), (2,), (1,)], 31, "a byte too little for the first two")
    agree_on_buckets(learner, reference, rng, [(3,), (2,), (1,), (2,)], 32, "what fits into an earlier bucket")
    for _ in range(3):
        sizes = [(int(n),) for n in rng.integers(1, 9, size=9)]
        agree_on_buckets(learner, reference, rng, sizes, int(rng.integers(64, 130)), "nine tensors")


@exercise("bucketed_all_reduce")
def test_large_tensors(learner, reference, rng):
    """A tensor that is larger than a bucket goes alone and whole."""
    agree_on_buckets(learner, reference, rng, [(9,)], 16, "one tensor, larger than a bucket")
    agree_on_buckets(learner, reference, rng, [(1,), (3, 3), (1,), (1,)], 16, "a large tensor between small ones")
    agree_on_buckets(learner, reference, rng, [(1,), (2,), (1,)], 0, "buckets of 0 bytes")
    sizes = [(int(n),) for n in rng.integers(1, 12, size=8)]
    agree_on_buckets(learner, reference, rng, sizes, 48, "eight tensors, some larger than a bucket")


@exercise("bucketed_all_reduce")
def test_mixed_dtypes(learner, reference, rng):
    """A message has one dtype; a bucket that was closed stays closed, and bytes depend on the dtype."""
    single = {"rtol": 1e-5, "atol": 1e-5}
    for shapes, dtypes, told in [
        ([(2,), (3,)], (F32, F64), "float32, float64"),
        ([(2,), (1,), (2,), (1,)], (F64, F32), "float64 and float32 in turn"),
        ([(1,), (2,), (2,), (1,), (3,)], (F32, F32, F64), "float32, float32, float64 in turn"),
    ]:
        for bucket_bytes in (1000, 12):
            case = f"{told}, buckets of {bucket_bytes} bytes"
            agree_on_buckets(learner, reference, rng, shapes, bucket_bytes, case, dtypes, **single)
    agree_on_buckets(learner, reference, rng, [(2,), (2,), (2,)], 16, "float32, two of three fit", (F32,), **single)
    half = {"rtol": 1e-2, "atol": 1e-2}
    agree_on_buckets(
        learner, reference, rng, [(4,), (4,), (1,)], 16, "float16, two of three fit", (np.float16,), **half
    )


@exercise("bucketed_all_reduce")
def test_strided_tensors(learner, reference, rng):
    """Tensors whose entries do not lie side by side, or column by column, as in the gradient of a transposed weight."""
    for shapes in ([(3,), (2,)], [(2, 3), (2,), (1, 2)]):
        case = "tensors of every other entry of another one"
        agree_on_buckets(learner, reference, rng, shapes, 40, case, layout="every other entry")
    for shapes in ([(2, 3)], [(3, 2), (2,), (2, 2, 3)]):
        case = "tensors whose entries lie column by column"
        agree_on_buckets(learner, reference, rng, shapes, 40, case, layout="columns first")


# ColumnParallelLinear, RowParallelLinear


def layer(rng, n_out, n_in, bias=True, dtype=F64):
    return random(rng, (n_out, n_in), dtype), random(rng, n_out, dtype) if bias else None


def agree_on_values(learner, reference, rng, name):
    """The result, without a backward pass."""
    for size, (n_out, n_in), lead in [(1, (1, 1), (1,)), (2, (2, 4), (1,)), (2, (4, 6), (3,)), (3, (3, 6), (2, 2))]:
        arguments = *layer(rng, n_out, n_in), random(rng, (*lead, n_in)), size
        case = f"{cut(size)}, {n_in} inputs, {n_out} outputs, x has shape {(*lead, n_in)}"
        agree("values_of_layer", learner, reference, name, *arguments, case=case, **EXACT)


def agree_on_layer(learner, reference, rng, name, size, shape, lead, told="", **options):
    """The result and all gradients."""
    settings = {"bias": True, "dtype": F64, "in_the_middle": False, "beside": False, **options}
    (n_out, n_in), dtype = shape, settings["dtype"]
    x, g = random(rng, (*lead, n_in), dtype), random(rng, (*lead, n_out), dtype)
    where = settings["in_the_middle"], settings["beside"]
    arguments = *layer(rng, n_out, n_in, settings["bias"], dtype), x, g, size, *where
    tolerance = EXACT if dtype is F64 else {"rtol": 1e-4, "atol": 1e-5}
    case = f"{told}{', ' * bool(told)}{cut(size)}, {n_in} inputs, {n_out} outputs, x has shape {(*lead, n_in)}"
    agree("parallel_layer", learner, reference, name, *arguments, case=case, **tolerance)


SIZES = [(1, (1, 1), (1,)), (2, (2, 2), (1,)), (2, (4, 6), (3,)), (3, (6, 9), (2, 2)), (4, (8, 12), ())]
"""Of the larger ones, no axis is as long as there are ranks: of a factor `size` nothing else is said."""


@exercise("ColumnParallelLinear")
def test_column_values(learner, reference, rng):
    """Each rank's part of the outputs."""
    agree_on_values(learner, reference, rng, "ColumnParallelLinear")


@exercise("RowParallelLinear")
def test_row_values(learner, reference, rng):
    """The whole result on each rank, with the bias once."""
    agree_on_values(learner, reference, rng, "RowParallelLinear")


@exercise("ColumnParallelLinear")
def test_column_gradients(learner, reference, rng):
    """Those of the one layer: dx whole on every rank, the parameters' in part."""
    for size, shape, lead in SIZES:
        agree_on_layer(learner, reference, rng, "ColumnParallelLinear", size, shape, lead)


@exercise("RowParallelLinear")
def test_row_gradients(learner, reference, rng):
    """Those of the one layer: dx and the weight's in part, the bias's whole."""
    for size, shape, lead in SIZES:
        agree_on_layer(learner, reference, rng, "RowParallelLinear", size, shape, lead)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_between_other_operations(learner, reference, rng, name):
    """x comes from an operation and y goes into one."""
    for size, shape, lead in [(1, (2, 1), (1,)), (2, (2, 4), (3,)), (3, (3, 3), (2, 1))]:
        agree_on_layer(learner, reference, rng, name, size, shape, lead, "sin(layer(sin(x)))", in_the_middle=True)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_beside_other_operations(learner, reference, rng, name):
    """x goes elsewhere, too: what comes back from there is no part of the sum."""
    for size, shape, lead in [(1, (1, 2), (1,)), (2, (4, 6), (3,)), (3, (6, 9), (2, 1))]:
        for in_the_middle in (False, True):
            told = "sin(layer(sin(x))) + cos(sin(x))" if in_the_middle else "layer(x) + cos(x)"
            options = {"in_the_middle": in_the_middle, "beside": True}
            agree_on_layer(learner, reference, rng, name, size, shape, lead, told, **options)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_of_data(learner, reference, rng, name):
    """x requires no gradient."""
    for size, (n_out, n_in), lead in [(1, (1, 2), (1,)), (2, (4, 6), (3,))]:
        arguments = *layer(rng, n_out, n_in), random(rng, (*lead, n_in)), random(rng, (*lead, n_out)), size
        case = f"an x that requires no gradient, {cut(size)}, {n_in} inputs, {n_out} outputs"
        agree("layer_of_data", learner, reference, name, *arguments, case=case, **EXACT)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_without_bias(learner, reference, rng, name):
    """bias is None."""
    for size, shape, lead in [(1, (1, 2), (1,)), (2, (2, 4), (3,))]:
        agree_on_layer(learner, reference, rng, name, size, shape, lead, "no bias", bias=False)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_layers_in_float32(learner, reference, rng, name):
    """Parameters, results and gradients are float32."""
    for size, shape, lead in [(1, (1, 1), (1,)), (2, (4, 4), (3,))]:
        agree_on_layer(learner, reference, rng, name, size, shape, lead, "float32", dtype=F32)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_parts(learner, reference, rng, name):
    """Each rank keeps its part of the weight, a copy."""
    for size, (n_out, n_in), bias in [(1, (2, 2), True), (2, (4, 6), True), (3, (6, 3), False)]:
        case = f"{cut(size)}, weight {n_out} x {n_in}{'' if bias else ', no bias'}"
        agree("parts_of_layer", learner, reference, name, *layer(rng, n_out, n_in, bias), size, case=case)


@exercise("ColumnParallelLinear", "RowParallelLinear")
def test_uneven_parts(learner, reference, name):
    """ValueError where the outputs, or the inputs, cannot be shared evenly; parts where they can."""
    W, b = np.arange(4.0).reshape(2, 2), np.arange(2.0)
    agree("parts_of_layer", learner, reference, name, W, b, 2, case=f"{cut(2)}, weight 2 x 2", **EXACT)
    for size, n in [(2, 3), (3, 4), (4, 6), (3, 2)]:
        case = f"{n} {'outputs' if name.startswith('Column') else 'inputs'} on {cut(size)}"
        arguments = np.ones((n, n)), np.ones(n), size
        expect_raises(ValueError, learner.scenario.uneven_layer, name, *arguments, case=case)


@exercise("ColumnParallelLinear", "RowParallelLinear", promise="instrumented")
def test_what_is_sent(learner, reference, rng, name):
    """One all-reduce in one of the two directions; the arguments are what they were."""
    for size, (n_out, n_in), lead in [(2, (4, 6), (3,)), (3, (3, 6), (2, 2))]:
        x, g = random(rng, (*lead, n_in)), random(rng, (*lead, n_out))
        arguments = *layer(rng, n_out, n_in), x, g, size
        case = f"{cut(size)}, x has shape {(*lead, n_in)}, y {(*lead, n_out)}"
        agree("sent_by_layer", learner, reference, name, *arguments, case=case)


# chunked_attention, chunked_attention_vjp


def queries(rng, n_q, n_k, d, d_v, lead=(), dtype=F64):
    return [random(rng, (*lead, *shape), dtype) for shape in ((n_q, d), (n_k, d), (n_k, d_v))]


def counts(n_q, n_k, block) -> str:
    keys = f"{n_k} key{'s' * (n_k > 1)}"
    return f"{n_q} quer{'ies' if n_q > 1 else 'y'}, {keys}, blocks of {block}"


def agree_on_attention(learner, reference, rng, name, sizes, block, told="", lead=(), dtype=F64, **tolerance):
    q, k, v = queries(rng, *sizes, lead, dtype)
    g = [random(rng, (*lead, sizes[0], sizes[3]), dtype)] if name == "chunked_attention_vjp" else []
    case = f"{told}{', ' * bool(told)}{counts(*sizes[:2], block)}"
    scenario = "attention_vjp" if g else "attention"
    agree(scenario, learner, reference, *g, q, k, v, block, case=case, **{**EXACT, **tolerance})


@exercise("chunked_attention", "chunked_attention_vjp")
def test_one_block(learner, reference, rng, name):
    """All keys in one block, or in fewer than a block has."""
    for sizes, block in [((1, 1, 1, 1), 1), ((1, 2, 2, 1), 2), ((2, 3, 4, 2), 3), ((3, 2, 2, 3), 5)]:
        agree_on_attention(learner, reference, rng, name, sizes, block)


@exercise("chunked_attention", "chunked_attention_vjp")
def test_several_blocks(learner, reference, rng, name):
    """Blocks of one key and of more."""
    for sizes, block in [((1, 2, 1, 1), 1), ((2, 4, 2, 3), 2), ((3, 6, 5, 2), 1), ((4, 9, 3, 2), 3)]:
        agree_on_attention(learner, reference, rng, name, sizes, block)


@exercise("chunked_attention", "chunked_attention_vjp")
def test_shorter_last_block(learner, reference, rng, name):
    """The number of keys is no multiple of the block."""
    for sizes, block in [((1, 3, 1, 1), 2), ((2, 5, 2, 3), 3), ((3, 7, 3, 2), 4), ((2, 5, 2, 2), 4)]:
        agree_on_attention(learner, reference, rng, name, sizes, block)


@exercise("chunked_attention", "chunked_attention_vjp")
def test_leading_axes(learner, reference, rng, name):
    """A batch, and heads."""
    for lead in [(1,), (2, 3), (2, 1, 2)]:
        agree_on_attention(learner, reference, rng, name, (3, 5, 2, 3), 2, f"leading axes {lead}", lead)


@exercise("chunked_attention", "chunked_attention_vjp")
def test_large_scores(learner, reference, rng, name):
    """Scores of ±1000: growing from block to block, shrinking, and all far below 0."""
    for told, first, last in [
        ("scores from 1000 to −1000", 1000, -1000),
        ("scores from −1000 to 1000", -1000, 1000),
        ("all scores about −1000", -1001, -1000),
    ]:
        for n_k, block in [(2, 1), (6, 2)]:
            q = np.abs(random(rng, (2, 1))) + 1
            k = np.linspace(first, last, n_k)[:, None] + random(rng, (n_k, 1))
            v = random(rng, (n_k, 3))
            case = f"{told}, {counts(2, n_k, block)}"
            if name == "chunked_attention":
                agree("attention", learner, reference, q, k, v, block, case=case, **EXACT)
            else:
                g = random(rng, (2, 3))
                agree("attention_vjp", learner, reference, g, q, k, v, block, case=case, rtol=1e-7, atol=1e-9)


@exercise("chunked_attention", "chunked_attention_vjp")
def test_attention_in_float32(learner, reference, rng, name):
    """float32 in, float32 out."""
    for sizes, block in [((1, 1, 1, 1), 1), ((3, 5, 4, 2), 2)]:
        agree_on_attention(learner, reference, rng, name, sizes, block, "float32", dtype=F32, rtol=1e-4, atol=1e-5)


@exercise("chunked_attention", promise="instrumented")
def test_memory_of_attention(learner, reference, rng):
    """The technique: neither the matrix of scores nor a whole row of it, and right values all the same."""
    for n_q, n_k in [(1024, 1024), (1, 4096)]:
        arrays = queries(rng, n_q, n_k, 4, 6)
        agree("memory_of_attention", learner, reference, *arrays, 32, case=counts(n_q, n_k, 32))


@exercise("chunked_attention_vjp", promise="instrumented")
def test_memory_of_the_gradients(learner, reference, rng):
    """The technique: no matrix of scores, of probabilities or of their gradients, and right values all the same."""
    n = 1024 if current_record().visible else 1280
    arrays = random(rng, (n, 6)), *queries(rng, n, n, 4, 6)
    agree("memory_of_the_gradients", learner, reference, *arrays, 32, case=counts(n, n, 32))


# zero_bytes_per_rank


@exercise("zero_bytes_per_rank")
def test_stages(learner, reference, rng):
    """What each stage divides."""
    for stage in (0, 1, 2, 3):
        for n_params, ranks in [(1, 1), (8, 2), *((int(rng.integers(10**6, 10**11)), int(rng.integers(2, 2000))),) * 3]:
            got, expected = (who.zero_bytes_per_rank(n_params, ranks, stage) for who in (learner, reference))
            expect_close(got, expected, case=f"stage {stage}, {n_params} parameters, {cut(ranks)}", **EXACT)


@exercise("zero_bytes_per_rank")
def test_shares_that_are_not_whole(learner, reference, rng):
    """Bytes are not rounded."""
    for stage in (1, 2, 3):
        for n_params, ranks in [(1, 64), (int(rng.integers(10, 100)), int(rng.integers(101, 200)))]:
            got, expected = (who.zero_bytes_per_rank(n_params, ranks, stage) for who in (learner, reference))
            expect_close(got, expected, case=f"stage {stage}, more ranks than parameters", **EXACT)


@exercise("zero_bytes_per_rank")
def test_unknown_stages(learner, reference, rng):
    """ValueError, and none for the stages that there are."""
    for stage in (4, -1, int(rng.integers(5, 100))):
        expect_raises(ValueError, learner.zero_bytes_per_rank, 100, 2, stage, case=f"stage={stage}")
        known, n_params = int(rng.integers(4)), int(rng.integers(100, 10**6))
        got, expected = (who.zero_bytes_per_rank(n_params, 2, known) for who in (learner, reference))
        expect_close(got, expected, case=f"beside that: stage={known}", **EXACT)


# zero_step


def agree_on_zero_steps(learner, reference, rng, shapes, size, told="", *, n_steps=1, clipped=False, **options):
    """Parameters and momentum after some steps; clipped, to a part of the first gradient's norm."""
    settings = {"dtype": F64, "as_parameters": False, "strided": False, **options}
    dtype = settings["dtype"]
    params = [random(rng, shape, dtype) for shape in shapes]
    steps = [[[random(rng, shape, dtype) for shape in shapes] for _ in range(size)] for _ in range(n_steps)]
    lr, beta = float(rng.uniform(0.1, 0.5)), float(rng.uniform(0.3, 0.9))
    means = [np.mean([np.concatenate([np.ravel(grad) for grad in of]) for of in ranks], axis=0) for ranks in steps]
    norms = [float(np.linalg.norm(mean)) for mean in means]
    max_norm = 0.7 * min(norms) if clipped else float("inf")
    n = sum(value.size for value in params)
    case = f"{told}{', ' * bool(told)}{cut(size)}, {n} parameter{'s' * (n > 1)} in shapes {shapes}"
    arguments = params, steps, lr, beta, max_norm, settings["as_parameters"], settings["strided"]
    tolerance = EXACT if dtype is F64 else {"rtol": 1e-4, "atol": 1e-5}
    agree("zero_steps", learner, reference, *arguments, case=case, **tolerance)


@exercise("zero_step")
def test_one_zero_step(learner, reference, rng):
    """Pieces that fit, nothing clipped: the mean of the gradients, the update, and all parameters on every rank."""
    for shapes, size in [([(1,)], 1), ([(2,)], 2), ([(2, 3)], 2), ([(2, 2), (), (1,)], 3)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size)


@exercise("zero_step")
def test_several_zero_steps(learner, reference, rng):
    """The momentum of one step goes on in the next."""
    for shapes, size in [([(1,)], 1), ([(4,)], 2), ([(2, 2), (2,)], 2)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "three steps", n_steps=3)


@exercise("zero_step")
def test_pieces_that_do_not_fit(learner, reference, rng):
    """The last piece, or several, is filled up with zeros."""
    for shapes, size in [([(3,)], 2), ([(2,), ()], 2), ([(1,)], 3), ([(2, 2), (3,)], 4), ([(5,)], 4)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "two steps", n_steps=2)


@exercise("zero_step")
def test_clipped_zero_steps(learner, reference, rng):
    """To the norm of the whole mean gradient, before it goes into the momentum."""
    for shapes, size in [([(1,)], 1), ([(4,)], 2), ([(3,), (2, 2)], 2), ([(2, 2), (4,)], 3)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "two steps, clipped", n_steps=2, clipped=True)
    params, grads = [random(rng, 3)], [[random(rng, 3)] for _ in range(2)]
    norm = float(np.linalg.norm((grads[0][0] + grads[1][0]) / 2))
    for told, max_norm in [("the norm is just below max_norm", 1.02 * norm), ("just above", norm / 1.02)]:
        arguments = params, [grads], 0.5, 0.9, max_norm, False, False
        agree("zero_steps", learner, reference, *arguments, case=f"2 ranks, one tensor, {told}", **EXACT)
    nothing = [[np.zeros(2)], [np.zeros(2)]]
    agree(
        "zero_steps",
        learner,
        reference,
        [random(rng, 2)],
        [nothing],
        0.5,
        0.9,
        1.0,
        False,
        False,
        case="gradients of 0",
    )


@exercise("zero_step")
def test_parameters_of_modules(learner, reference, rng):
    """torch.nn.Parameters, and tensors that are not contiguous; grads stay as they are."""
    for shapes, size in [([(2,)], 1), ([(2, 3), (3,)], 2)]:
        for told, options in [
            ("torch.nn.Parameters", {"as_parameters": True}),
            ("parameters that are not contiguous", {"strided": True}),
        ]:
            agree_on_zero_steps(learner, reference, rng, shapes, size, told, n_steps=2, clipped=True, **options)


@exercise("zero_step")
def test_zero_steps_in_float32(learner, reference, rng):
    """float32 in, float32 out."""
    for shapes, size in [([(1,)], 1), ([(2, 2), (3,)], 2)]:
        agree_on_zero_steps(learner, reference, rng, shapes, size, "float32", n_steps=2, clipped=True, dtype=F32)


@exercise("zero_step", promise="instrumented")
def test_what_a_zero_step_sends(learner, reference, rng):
    """A reduce-scatter, one number, an all-gather."""
    for shapes, size in [([(4,)], 2), ([(2, 3), (2,)], 3)]:
        params, grads = ([random(rng, shape) for shape in shapes] for _ in range(2))
        of_ranks = [[grad * (rank + 1) for grad in grads] for rank in range(size)]
        for max_norm, told in [(0.01, "clipped"), (1000.0, "not clipped")]:
            case = f"{cut(size)}, parameters of shapes {shapes}, {told}"
            agree("sent_by_zero_step", learner, reference, params, of_ranks, max_norm, case=case)


# pipeline_bubble


def agree_on_bubble(learner, reference, stages: int, microbatches: int, case: str) -> None:
    got, expected = (who.pipeline_bubble(stages, microbatches) for who in (learner, reference))
    expect_close(got, expected, case=case, **EXACT)


@exercise("pipeline_bubble")
def test_few_microbatches(learner, reference, rng):
    """One micro-batch; as many as stages; one stage, which never waits."""
    for stages, microbatches in [(1, 1), (2, 1), (2, 2), (1, 7), (4, 4), *rng.integers(2, 300, size=(3, 2)).tolist()]:
        agree_on_bubble(learner, reference, stages, microbatches, f"stages = {stages}")


@exercise("pipeline_bubble")
def test_many_microbatches(learner, reference, rng):
    """The bubble shrinks as micro-batches come, and grows with the stages."""
    for high in (100, 1000, 10_000):
        stages, microbatches = int(rng.integers(2, 200)), int(rng.integers(high // 2, high))
        agree_on_bubble(learner, reference, stages, microbatches, "many micro-batches")
