"""Tools for debugging, written in other ways: right ones earn everything."""

from __future__ import annotations

import pytest
from repaired import LESSON, shares_of

from autograder.places import Places

pytestmark = pytest.mark.slow


TOOLS = {
    "gradient_report": [
        """
def gradient_report(model):
    def norm_of(p):
        return p.grad if p.grad is None else torch.linalg.vector_norm(p.grad, dtype=torch.float64).item()

    norms = [norm_of(p) for p in model.parameters()]
    usable = torch.tensor([n for n in norms if n and math.isfinite(n)], dtype=torch.float64)
    median = usable.quantile(0.5).item() if len(usable) else 0.0
    rules = [
        ("none", lambda n: n is None),
        ("nonfinite", lambda n: not math.isfinite(n)),
        ("zero", lambda n: n == 0.0),
        ("exploding", lambda n: n > 1000 * median),
        ("ok", lambda n: True),
    ]
    names = [name for name, _ in model.named_parameters()]
    return [
        dict(name=name, norm=n, status=next(word for word, holds in rules if holds(n))) for name, n in zip(names, norms)
    ]
""",
        """
def gradient_report(model):
    report, seen = [], []
    for name, p in model.named_parameters():
        g = p.grad
        entry = {"status": None, "name": name, "norm": None}
        report.append(entry)
        if g is None:
            entry["status"] = "none"
            continue
        entry["norm"] = math.sqrt(torch.dot(g.double().flatten(), g.double().flatten()))
        if not torch.isfinite(g).all():
            entry["status"] = "nonfinite"
        elif not g.any():
            entry["status"] = "zero"
        else:
            seen.append(entry["norm"])
    seen.sort()
    for entry in report:
        if entry["status"] is None:
            middle = (seen[(len(seen) - 1) // 2] + seen[len(seen) // 2]) / 2
            entry["status"] = "exploding" if entry["norm"] / middle > 1000 else "ok"
    return tuple(report)
""",
    ],
    "first_nonfinite": [
        """
def first_nonfinite(model, x):
    class Found:
        name = None

    def bad(output):
        parts = [output]
        while parts:
            part = parts.pop()
            if isinstance(part, torch.Tensor):
                if not part.isfinite().all():
                    return True
            elif isinstance(part, dict):
                parts += part.values()
            elif isinstance(part, (tuple, list)):
                parts += part
        return False

    def hook_for(name):
        def hook(module, args, output):
            if Found.name is None and bad(output):
                Found.name = name
        return hook

    hooks = []
    for name, module in model.named_modules():
        if not module._modules:
            hooks.append(module.register_forward_hook(hook_for(name)))
    try:
        model(x)
    finally:
        [hook.remove() for hook in hooks]
    return Found.name
""",
        """
import functools
from torch.utils._pytree import tree_leaves

def note(found, name, module, args, output):
    tensors = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor)]
    if not all(torch.isfinite(tensor).all() for tensor in tensors):
        found.setdefault(name)

def first_nonfinite(model, x):
    found, hooks = {}, []
    try:
        for name, module in model.named_modules():
            if len(list(module.modules())) == 1:
                hooks.append(module.register_forward_hook(functools.partial(note, found, name)))
        with torch.inference_mode():
            model(x)
    finally:
        while hooks:
            hooks.pop().remove()
    return next(iter(found), None)
""",
    ],
    "anomaly_op": [
        """
def anomaly_op(fn):
    with torch.autograd.set_detect_anomaly(True):
        try:
            loss = fn()
            torch.autograd.backward([loss])
        except RuntimeError as error:
            start, mark, _ = str(error).partition(" returned nan values")
            if not mark:
                raise
            return start.removeprefix("Function ").strip("'")
""",
        """
def anomaly_op(fn):
    loss = fn()
    answer = None
    with warnings.catch_warnings(record=True), torch.autograd.detect_anomaly():
        try:
            loss.backward()
        except Exception as error:
            match = re.match(r"Function '(?P<node>[^']*)' returned nan values in its \\d+th output", str(error))
            if not match:
                raise error
            answer = match["node"]
    return answer
""",
    ],
    "repeated_batches": [
        """
from itertools import combinations

def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if not a.is_floating_point():
        return torch.equal(a, b)
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(a[~a.isnan()], b[~b.isnan()])

def repeated_batches(batches):
    return [(i, j) for (i, a), (j, b) in combinations(enumerate(batches), 2) if same(a, b)]
""",
        """
def repeated_batches(batches):
    def alike(a, b):
        try:
            torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)
        except (AssertionError, TypeError):
            return False
        return True

    found = []
    for j in range(1, len(batches)):
        for i in range(j):
            a, b = batches[i], batches[j]
            if isinstance(a, tuple) == isinstance(b, tuple) and alike(a, b):
                found.append((i, j))
    found.sort()
    return found
""",
    ],
}
"""Right tools in other styles, beside the reference and those of tests/other_styles."""


@pytest.mark.parametrize("name", TOOLS)
def test_right_tools_earn_everything(name: str) -> None:
    source = Places().source(LESSON.slug).read_text(encoding="utf-8")
    assert shares_of(name, [f"{source}\n{tool}" for tool in TOOLS[name]]) == [1.0] * len(TOOLS[name])
