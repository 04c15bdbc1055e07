"""Recorded experiments: the command, its JSON, and what it says of wrong input."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

import pytest

from course.experiments import checkpointing, recording
from course.experiments.checkpointing import SMALL, SMALL_SEQ
from course.experiments.costs import Cost, measure_bytes, predict
from course.experiments.policies import POLICIES
from course.llama import LlamaConfig

pytestmark = pytest.mark.slow


def test_the_command_writes_what_it_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: POLICIES[name] for name in ("none", "every_layer", "offload", "reversible")}
    monkeypatch.setattr(checkpointing, "POLICIES", few)
    file = tmp_path / "result.json"
    assert checkpointing.main(["--device", "cpu", "--out", str(file), "--repeats", "1"]) == 0
    result = json.loads(file.read_text())
    assert result["command"] == "python -m course.experiments.checkpointing --repeats 1 --device cpu --out FILE"
    assert set(result["provenance"]) >= {"device", "torch", "python", "system", "date"}
    assert str(tmp_path) not in file.read_text()
    assert [row["policy"] for row in result["policies"]] == list(few)
    for row in result["policies"]:
        assert row["measured"]["forward_seconds"] > 0
        assert row["measured"]["backward_seconds"] > 0
        assert row["predicted"] == vars(
            measure_bytes(few[row["policy"]], SMALL, SMALL_SEQ, dtype=checkpointing.SMALL_DTYPE)
        )
    assert list(tmp_path.iterdir()) == [file]


def test_a_prediction_says_bytes_and_flops() -> None:
    assert Cost(1, 2, 3, 4).flops == 7


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--device", "cuda"], "--device cuda: this PyTorch is built for CPUs only; use --device cpu"),
        (["--device", "tpu"], "--device: there is no device 'tpu': say cpu or cuda"),
        (["--repeats", "0"], "--repeats: at least 1"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.version.cuda", None)
    with pytest.raises(SystemExit) as stop:
        checkpointing.main([*arguments, "--out", str(tmp_path / "x.json")])
    assert stop.value.code == 2
    assert complaint in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        checkpointing.main(["--out", str(tmp_path / "no" / "x.json")])
    assert "--out: there is no folder" in capsys.readouterr().err


def test_shipped_results_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "RESULTS", tmp_path)
    assert recording.recorded("checkpointing") == []
    parser, options = ArgumentParser("x"), Namespace(device="cpu")
    for name in ("checkpointing-b", "checkpointing-a", "vanishing-a"):
        recording.record(tmp_path / f"{name}.json", parser=parser, options=options, measurements={"name": name})
    assert [entry["name"] for entry in recording.recorded("checkpointing")] == ["checkpointing-a", "checkpointing-b"]


def test_shipped_results_say_where_they_come_from() -> None:
    for file in recording.RESULTS.glob("*.json"):
        assert set(json.loads(file.read_text())["provenance"]) >= {"device", "torch", "date"}, file.name


def test_what_was_recorded_as_predicted_is_predicted_today_and_was_met() -> None:
    run = next(run for run in recording.recorded("checkpointing") if "H100" in run["provenance"]["device"])
    for row in run["policies"]:
        assert abs(row["measured"]["peak_bytes"] / row["predicted"]["peak_bytes"] - 1) < 1e-5, row["policy"]
    for name in ("every_layer", "reversible"):
        row = next(row for row in run["policies"] if row["policy"] == name)
        cost = predict(POLICIES[name], LlamaConfig(**run["config"]), run["seq"])
        assert asdict(cost) == row["predicted"], name
