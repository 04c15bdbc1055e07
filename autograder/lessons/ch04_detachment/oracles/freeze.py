"""The reference of freeze against something independent."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import exercise

PARTS = st.lists(st.sampled_from(["a", "b", "a1", "a10", "1", "10"]), min_size=1, max_size=3).map(".".join)


@exercise("freeze")
def test_freeze_against_lists_of_parts(reference):
    """A prefix matches if its parts are the first parts of the name."""

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.lists(PARTS, min_size=1, max_size=6, unique=True), PARTS | st.just(""), st.booleans())
    def check(paths, prefix, dotted):
        names = [f"{path}.weight" for path in paths]
        wanted = prefix.split(".") if prefix else []
        expected = [name.split(".")[: len(wanted)] == wanted for name in names]
        got = reference.scenario.frozen(names, prefix + "." * (dotted and bool(prefix)))
        assert got["the count"] == sum(expected)
        assert [got[name] == "frozen" for name in names] == expected

    check()


@exercise("freeze")
def test_freeze_on_a_transformer_with_tied_weights(reference):
    freeze = reference.implementations["freeze"]
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = torch.nn.ModuleDict({"embed": torch.nn.Embedding(5, 8), "body": torch.nn.TransformerEncoder(layer, 2)})
    model["head"] = torch.nn.Linear(8, 5)
    model["head"].weight = model["embed"].weight
    assert freeze(model, "body.layers.1") == len(list(model["body"].layers[1].parameters()))
    assert freeze(model, "head") == 2
    still = sum(parameter.requires_grad for parameter in model.parameters())
    assert still == len(list(model["body"].layers[0].parameters()))
    assert freeze(model, "") == len(list(model.parameters()))
