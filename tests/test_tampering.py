"""Replaced measuring code is found at every call; tested in a separate process, because audit hooks are permanent."""

from __future__ import annotations

import subprocess
import sys

CALLS = """
import copy
import torch
from autograder.worker.tampering import noted

scenarios = {}
exec("import torch\\ndef total(x):\\n    return x.sum()\\nclass Node:\\n    kept = 1", scenarios)
watch = noted(scenarios, lambda: None)

def found(change=lambda: None):
    watch.begin()
    change()
    return watch.replaced()

def undone():
    scenarios["total"], kept = None, scenarios["total"]
    scenarios["total"] = kept

print(found(), found(lambda: setattr(torch.Tensor, "sum", None)), found(), found(lambda: delattr(torch.Tensor, "sum")))
print(found(undone), found(), found())
print(found(lambda: copy.deepcopy(scenarios["Node"]())), found(lambda: setattr(scenarios["Node"], "kept", None)))
print(found(lambda: setattr(scenarios["total"], "__defaults__", ())), found())
"""


def test_what_stays_replaced_is_found_at_each_call() -> None:
    """`sum` is inherited, so an addition to the class replaces it. A patch that was undone counts in its call only;
    a copy of an object replaces nothing, though Python notes its class's slots in the class."""
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[] ['torch.Tensor.sum'] ['torch.Tensor.sum'] []",
        "['scenario'] [] []",
        "[] ['Node']",
        "['total'] ['total']",
    ]
