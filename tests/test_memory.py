"""The memory predictor agrees with traces of the model and with the course's figures, and rejects bad input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import checkpoint

from course import llama
from course.experiments.costs import drop_weight_gradients, predict
from course.experiments.policies import POLICIES
from course.instruments.live import LiveStorages
from course.llama import Llama, LlamaConfig
from course.memory import (
    MODELS,
    NORMS,
    PRECISIONS,
    RECOMPUTE,
    MemoryInputError,
    Precision,
    Shape,
    Training,
    find_model,
    fits,
    largest_batch,
    layer_bytes,
    parse_bytes,
    predict_memory,
    remedies,
    step_flops,
)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

SMALL = Shape(hidden=64, layers=3, heads=4, kv_heads=2, ffn=172, vocab=300)

CARD = 80 * 10**9

WITHIN = 1e-4
"""Relative tolerance for traces: the rest is a few numbers per row or per step."""


# Compared with the model


class _Activations(LiveStorages):
    """Counts live bytes without the weights' gradients, which belong to the states."""

    def __init__(self, model: Llama) -> None:
        super().__init__()
        self._head = model.head.weight.shape
        self._weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self._makes_gradient_of_weight(func, args):
            with self.not_counting():
                return super().__torch_dispatch__(func, types, args, kwargs)
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _makes_gradient_of_weight(self, func: Callable[..., Any], args: tuple[Any, ...]) -> bool:
        aten = torch.ops.aten
        if func is aten.mm.default:  # one factor of g @ W and x @ Wᵀ is a weight
            return not any(factor.untyped_storage()._cdata in self._weights for factor in args[:2])
        if func is aten.add.Tensor:  # the head's gradients of two chunks
            return args[0].shape == self._head
        return func is aten.embedding_dense_backward.default


def _traced(training: Training) -> tuple[int, int]:
    """Bytes alive after forward, and at the step's peak, counted while the model runs on fake tensors."""
    dtype = {2: torch.bfloat16, 4: torch.float32}[training.precision.activations]
    with FakeTensorMode():
        config = LlamaConfig(**asdict(training.shape))
        model = Llama(config, training.seq, dtype=dtype, fused_norm=training.norms == "fused")
        ids = torch.zeros(training.batch, training.seq, dtype=torch.long)
        live = _Activations(model)
        run = POLICIES[RECOMPUTE[training.recompute]](model.stack, live)
        drop_weight_gradients(model)
        with live:
            loss = _loss(model, run(model.embedding(ids)), ids, training.loss_rows)
            kept = live.bytes
            loss.backward()
    return kept, live.peak


def _loss(model: Llama, x: Tensor, ids: Tensor, rows: int | None) -> Tensor:
    if rows is None:
        return F.cross_entropy(model.head(model.norm(x)).float().flatten(0, 1), ids.flatten())

    def one(x: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(model.head(x).float(), target, reduction="sum")

    parts = zip(model.norm(x).flatten(0, 1).split(rows), ids.flatten().split(rows), strict=True)
    losses = [checkpoint(one, part, target, use_reentrant=False) for part, target in parts]
    return torch.stack(losses).sum() / ids.numel()


def _deviations(training: Training) -> tuple[float, float]:
    """Relative errors of the prediction: bytes kept, and peak."""
    memory = predict_memory(training)
    kept, peak = _traced(training)
    after_forward = memory.loss_peak - 8 * training.tokens * training.shape.vocab
    return after_forward / kept - 1, memory.peak / peak - 1


def _case(model: str, seq: int, recompute: str, norms: str) -> Training:
    """A training step of two layers of a model with its head; more layers only repeat the first."""
    return Training(replace(MODELS[model], layers=2), seq, recompute=recompute, norms=norms)


@pytest.mark.parametrize("norms", NORMS)
@pytest.mark.parametrize("recompute", RECOMPUTE)
def test_a_whole_small_model_is_predicted(recompute: str, norms: str) -> None:
    for training in (
        Training(SMALL, 256, recompute=recompute, norms=norms),
        Training(SMALL, 64, 3, recompute, Precision(activations=4), norms),
        Training(replace(SMALL, layers=7, kv_heads=4, vocab=2000), 100, 2, recompute, norms=norms),
    ):
        assert max(map(abs, _deviations(training))) < WITHIN, training


@pytest.mark.parametrize("recompute", RECOMPUTE)
def test_the_7b_model_is_predicted(recompute: str) -> None:
    assert max(map(abs, _deviations(_case("llama-2-7b", 8192, recompute, "fused")))) < WITHIN


@pytest.mark.parametrize("norms", NORMS)
@pytest.mark.parametrize("recompute", RECOMPUTE)
@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_predicted(model: str, recompute: str, norms: str) -> None:
    for seq in (512, 4096, 16_384):
        assert max(map(abs, _deviations(_case(model, seq, recompute, norms)))) < WITHIN, seq


@pytest.mark.parametrize("recompute", ["none", "full"])
def test_a_loss_in_chunks_is_predicted(recompute: str) -> None:
    """First where the loss sets the peak, then with few tokens at once, where the layers set it."""
    shape = replace(SMALL, vocab=20_000)
    for seq, rows in ((256, 64), (250, 64), (64, 64), (64, 1000)):
        training = Training(shape, seq, recompute=recompute, loss_rows=rows)
        memory = predict_memory(training)
        assert memory.peak_at == "loss"
        assert memory.peak == pytest.approx(_traced(training)[1], rel=WITHIN)
    in_layer = predict_memory(Training(MODELS["llama-2-7b"], 8192, recompute="full", loss_rows=1024))
    assert (in_layer.peak_at, in_layer.loss_head) == ("layer", 0)
    assert in_layer.peak == in_layer.layer_peak == predict_memory(_full_7b()).layer_peak


def _full_7b() -> Training:
    return Training(MODELS["llama-2-7b"], 8192, recompute="full")


@pytest.mark.parametrize("recompute", RECOMPUTE)
def test_flops_agree_with_the_counter(recompute: str) -> None:
    for training in (Training(SMALL, 128, 2, recompute), Training(replace(SMALL, kv_heads=4), 64, 1, recompute)):
        counted = predict(
            POLICIES[RECOMPUTE[recompute]],
            LlamaConfig(**asdict(training.shape)),
            training.seq,
            batch=training.batch,
            head=True,
        )
        assert step_flops(training) == counted.flops


def test_shapes_agree_with_the_course() -> None:
    for name, config in (("llama-2-7b", llama.LLAMA_2_7B), ("llama-3.1-70b", llama.LLAMA_3_1_70B)):
        assert asdict(MODELS[name]) == asdict(config)
        assert MODELS[name].n_params == config.n_params


# Compared with the course's figures


def _gb(n_bytes: float) -> float:
    return round(n_bytes / 1e9, 2)


def test_the_layer_of_the_course() -> None:
    assert layer_bytes(MODELS["llama-2-7b"]) * 8192 == 1_259_405_312
    assert layer_bytes(MODELS["llama-3.1-70b"]) * 8192 == 2_720_071_680


def test_peaks_agree_with_the_chapters() -> None:
    """With the head, at 8,192 tokens: 7B, 70B."""
    figures = {
        "none": (43.58, 230.48),
        "matmuls": (29.89, 144.58),
        "half": (19.82, 94.92),
        "selective": (7.61, 34.52),
        "full": (5.43, 23.61),
    }
    for recompute, peaks in figures.items():
        found = [
            predict_memory(Training(MODELS[model], 8192, recompute=recompute))
            for model in ("llama-2-7b", "llama-3.1-70b")
        ]
        assert tuple(_gb(memory.peak) for memory in found) == peaks
        assert {memory.peak_at for memory in found} == {"loss"}


def test_flops_agree_with_the_chapters() -> None:
    found = [step_flops(Training(MODELS["llama-2-7b"], 8192, recompute=recompute)) for recompute in RECOMPUTE]
    assert round(found[0] / 1e12, 1) == 447.9
    assert [round(flops / found[0], 3) for flops in found] == [1.0, 1.0, 1.092, 1.184, 1.263]


def test_states_have_sixteen_bytes_a_parameter() -> None:
    for model, states, moments in (("llama-2-7b", 107.81, 53.91), ("llama-3.1-70b", 1128.86, 564.43)):
        memory = predict_memory(Training(MODELS[model], 8192))
        n_params = MODELS[model].n_params
        assert memory.states == 16 * n_params
        assert (_gb(memory.states), _gb(8 * n_params)) == (states, moments)
        assert (memory.weights, memory.grads, memory.optimizer) == (2 * n_params, 2 * n_params, 12 * n_params)
    shape = MODELS["llama-2-7b"]
    n_bytes = {name: predict_memory(Training(shape, 8192, precision=of)).states for name, of in PRECISIONS.items()}
    assert {name: of_all / shape.n_params for name, of_all in n_bytes.items()} == {
        "mixed": 16,
        "mixed-fp32-grads": 18,
        "mixed-8bit-adam": 10,
        "bf16": 8,
        "fp32": 16,
    }


def test_zero_stages_divide_only_states() -> None:
    """Rajbhandari et al. 2020, figure 1: 7.5B parameters on 64 GPUs take 120, 31.4, 16.6 and 1.9 GB of states."""
    shape = Shape(hidden=4096, layers=36, heads=32, kv_heads=32, ffn=11_008, vocab=16_000)
    memories = [predict_memory(Training(shape, 2048, gpus=64, zero=zero)) for zero in range(4)]
    per_parameter = [(memory.states - memory.gathered) / shape.n_params for memory in memories]
    assert per_parameter == pytest.approx([16, 4 + 12 / 64, 2 + 14 / 64, 16 / 64], rel=1e-6)
    assert [round(7.5 * each, 1) for each in per_parameter] == [120.0, 31.4, 16.6, 1.9]
    assert len({memory.peak for memory in memories}) == 1
    assert [memory.gathered // shape.largest_unit for memory in memories] == [0, 0, 2, 4]
    assert predict_memory(Training(shape, 2048)).gathered == 0


def test_fitting_agrees_with_the_chapter_on_activation_memory() -> None:
    """One sequence of 8,192 tokens on each 80 GB GPU."""
    expected = {("llama-2-7b", 8): ["none", "selective", "full"], ("llama-3.1-70b", 32): ["selective", "full"]}
    for model, cards in (
        *(("llama-2-7b", n) for n in (1, 8)),
        *(("llama-3.1-70b", n) for n in (1, 8, 16, 32)),
    ):
        fitting = [
            how
            for how in ("none", "selective", "full")
            if fits(predict_memory(Training(MODELS[model], 8192, recompute=how, gpus=cards)), CARD)
        ]
        assert fitting == expected.get((model, cards), []), (model, cards)
    batches = [
        [
            largest_batch(Training(MODELS["llama-2-7b"], 8192, recompute=how), card)
            for how in ("none", "selective", "full")
        ]
        for card in (80e9, 141e9, 192e9)
    ]
    assert batches == [[0, 0, 0], [0, 4, 6], [1, 11, 15]]


# Remedies


def test_a_fitting_step_needs_no_remedy() -> None:
    assert remedies(Training(MODELS["llama-2-7b"], 8192, gpus=8), CARD) == []


HEAVY = [
    Training(MODELS["llama-2-7b"], 8192),
    Training(MODELS["llama-2-7b"], 8192, gpus=8, zero=1),
    Training(MODELS["llama-3.1-8b"], 8192, batch=4, gpus=8),
    Training(MODELS["llama-3.1-70b"], 8192, gpus=32),
    Training(MODELS["llama-3.1-70b"], 8192, recompute="full", gpus=8),
    Training(MODELS["llama-3.1-8b"], 131_072, gpus=8),
]


@pytest.mark.parametrize("training", HEAVY)
def test_every_remedy_fits_and_the_cheapest_is_first(training: Training) -> None:
    found = remedies(training, CARD)
    assert found
    assert all(fits(remedy.memory, CARD) and remedy.memory == predict_memory(remedy.training) for remedy in found)
    assert len({remedy.changes for remedy in found}) == len(found)
    here = [remedy.extra_flops for remedy in found if remedy.training.gpus == training.gpus]
    assert here == sorted(here)
    for remedy in found:
        less = step_flops(training) / training.tokens
        assert remedy.extra_flops == pytest.approx(step_flops(remedy.training) / remedy.training.tokens / less - 1)


def test_remedies_by_name() -> None:
    def changes(training: Training) -> list[tuple[str, ...]]:
        return [remedy.changes for remedy in remedies(training, CARD)]

    assert changes(HEAVY[0]) == [("4 GPUs",), ("2 GPUs", "recompute half")]
    assert changes(HEAVY[1])[:3] == [("ZeRO stage 2",), ("recompute matmuls",), ("ZeRO stage 3",)]
    assert changes(HEAVY[2])[0] == ("batch 1, accumulated",)
    assert changes(HEAVY[3]) == [("recompute selective",), ("recompute full",)]
    assert changes(HEAVY[4])[0] == ("24 GPUs",)


def test_a_suggested_number_of_gpus_is_minimal() -> None:
    for remedy in remedies(HEAVY[4], CARD):
        fewer = replace(remedy.training, gpus=remedy.training.gpus - 8)
        assert not fits(predict_memory(fewer), CARD)


def test_no_remedy_is_listed_if_none_helps() -> None:
    assert remedies(Training(MODELS["llama-3.1-70b"], 1_048_576, gpus=8), CARD) == []


def test_the_largest_batch_is_the_largest() -> None:
    training = Training(MODELS["llama-3.1-8b"], 4096, gpus=8, recompute="full")
    most = largest_batch(training, CARD)
    assert fits(predict_memory(replace(training, batch=most)), CARD)
    assert not fits(predict_memory(replace(training, batch=most + 1)), CARD)
    assert largest_batch(training, CARD, most=2) == 2


# Input


def test_sizes_are_parsed_with_their_units() -> None:
    assert parse_bytes("80GB") == parse_bytes(" 80 gb ") == 80 * 10**9
    assert parse_bytes("80GiB") == 80 * 2**30
    assert parse_bytes("1.5TB") == 15 * 10**11
    assert parse_bytes("81559MiB") == 81_559 * 2**20


@pytest.mark.parametrize(
    "text", ["80", "80G", "80Gi", "", "GB", "-80GB", "0GB", "80 XB", "1e3GB", "nanGB", "iB", "9e9TB"]
)
def test_invalid_sizes_are_refused(text: str) -> None:
    with pytest.raises(MemoryInputError):
        parse_bytes(text)


def test_names_are_found_in_any_case() -> None:
    assert find_model("Llama-2-7B") == MODELS["llama-2-7b"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: replace(SMALL, heads=3),
        lambda: replace(SMALL, kv_heads=3),
        lambda: replace(SMALL, layers=0),
        lambda: replace(SMALL, vocab=1.5),  # type: ignore[arg-type]
        lambda: replace(SMALL, ffn=True),
        lambda: Training(SMALL, 0),
        lambda: Training(SMALL, 8, batch=-1),
        lambda: Training(SMALL, 8, recompute="everything"),
        lambda: Training(SMALL, 8, norms="none"),
        lambda: Training(SMALL, 8, loss_rows=0),
        lambda: Training(SMALL, 8, gpus=0),
        lambda: Training(SMALL, 8, zero=4),
        lambda: Precision(moment=-1),
        lambda: Precision(activations=3),
        lambda: layer_bytes(SMALL, "every_layer"),
    ],
)
def test_impossible_settings_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(MemoryInputError) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_the_parts_add_up_to_the_total() -> None:
    memory = predict_memory(HEAVY[3])
    assert memory.states + memory.peak == memory.total
    assert memory.peak == max(memory.loss_peak, memory.layer_peak)
