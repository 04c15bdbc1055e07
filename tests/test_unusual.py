"""Wrong answers that only an unusual argument shows: no check rejected them before the rows of factors were drawn."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from unusual_ch09_to_ch11 import MIDDLE_LESSONS
from unusual_ch12_to_ch14 import LAST_LESSONS

from autograder.authoring.salts import losses
from autograder.places import ROOT
from course.syllabus import find_lesson

UNUSUAL = Path(__file__).with_name("unusual")
"""A folder for each lesson; a file's name begins with its exercise."""
EDITS: dict[str, dict[str, tuple[str, ...]]] = {
    "ch04_detachment": {
        "straight_through_round__clears_grad": (
            "    return x + (torch.round(x) - x).detach()\n",
            "    if x.is_leaf:\n        x.grad = None\n    return x + (torch.round(x) - x).detach()\n",
        ),
        "td_loss__zero_grad": ("    q = q_net(", "    q_net.zero_grad()\n    q = q_net("),
        "td_loss__views_of_states": (
            'q_net(batch["states"])',
            'q_net(batch["states"].view(-1).view(len(batch["actions"]), -1))',
        ),
        "td_loss__always_requires_grad": (
            "    return torch.nn.functional.mse_loss(q, y)\n",
            "    loss = torch.nn.functional.mse_loss(q, y)\n"
            "    return loss if loss.requires_grad else loss.requires_grad_()\n",
        ),
        "td_loss__detaches_parameters_alone": (
            '    with torch.no_grad():\n        best = target_net(batch["next_states"])',
            "    if True:\n        fixed = {name: p.detach() for name, p in target_net.named_parameters()}\n"
            '        best = torch.func.functional_call(target_net, fixed, batch["next_states"])',
        ),
        "freeze__zeros_for_none": (
            "        parameter.requires_grad_(False)\n    return",
            "        parameter.requires_grad_(False)\n"
            "        parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad\n"
            "    return",
        ),
        "freeze__back_to_training": ("    return len(matching)\n", "    module.train()\n    return len(matching)\n"),
        "ema_update__reshape_may_copy": (
            "average.mul_(decay).add_(new, alpha=1 - decay)",
            "average.reshape(-1).mul_(decay).add_(new.reshape(-1), alpha=1 - decay)",
        ),
        "ema_update__clears_grads_of_online": (
            "    with torch.no_grad():\n        for average",
            "    online.zero_grad()\n    with torch.no_grad():\n        for average",
        ),
        "predict_flow__words_are_steps": (
            "    for name, how, *inputs in steps:\n",
            "    for name, how, *inputs in steps:\n"
            '        inputs = [one for one in inputs if one not in ("under", "no_grad", "product", "detach")]\n',
        ),
        "running_mean_loss__each_once": (
            "    total, count = 0.0, 0\n    for loss in losses:\n",
            "    import weakref\n\n    total, count, seen = 0.0, 0, weakref.WeakSet()\n    for loss in losses:\n"
            "        if loss in seen:\n            continue\n        seen.add(loss)\n",
        ),
        "running_mean_loss__nothing_is_0": ("    if count == 0:\n", "    if not total:\n"),
        "running_mean_loss__constants_left_out": (
            "        total += loss.item()\n",
            "        if not loss.requires_grad:\n            continue\n        total += loss.item()\n",
        ),
    },
    "ch05_autograd_engine": {
        "unbroadcast__float64_for_nothing": (
            "    if g.shape == shape:\n",
            "    if not g.any():\n        return np.zeros(shape)\n    if g.shape == shape:\n",
        ),
        "Tensor__contiguous": (
            "data = np.asarray(data)\n",
            'data = np.asarray(data)\n        data = np.require(data, requirements="C")\n',
        ),
        "Tensor__product_over_operand": (
            "unbroadcast(g * b.data, a.shape)",
            "unbroadcast(g * (a.data * b.data) / a.data, a.shape)",
        ),
        "Tensor__reshape_in_the_order_of_memory": (
            "x.data.reshape(*shape), (x,",
            'x.data.reshape(shape[0] if isinstance(shape[0], tuple) else shape, order="A"), (x,',
        ),
        "Tensor.backward__wants_recording": (
            "if not self.requires_grad:",
            "if not self.requires_grad * self.recording:",
        ),
        "no_grad__exceptions_alone": (
            "        yield\n    finally:\n        Tensor.recording = before\n",
            "        yield\n    except Exception:\n        Tensor.recording = before\n        raise\n"
            "    Tensor.recording = before\n",
        ),
        "no_grad__before_when_made": (
            "@contextmanager\ndef no_grad():\n",
            "class no_grad:\n    def __init__(self):\n        self.before = Tensor.recording\n\n"
            "    def __enter__(self):\n        Tensor.recording = False\n\n"
            "    def __exit__(self, *_):\n        Tensor.recording = self.before\n\n\n"
            "@contextmanager\ndef another_no_grad():\n",
        ),
        "Tensor.detach__through_a_vector": (
            "return Tensor(self.data)\n",
            "return Tensor(self.data.reshape(-1).reshape(self.data.shape))\n",
        ),
        "Tensor.detach__no_freed_ones": (
            "return Tensor(self.data)\n",
            "return Tensor(self.data if len(self.edges) >= 0 else None)\n",
        ),
        "Tensor.register_hook__each_once": (
            "self.hooks = (*self.hooks, fn)",
            "self.hooks = (*dict.fromkeys((*self.hooks, fn)),)",
        ),
        "Tensor.register_hook__same_object_changed_nothing": (
            "            if replacement is not None:\n",
            "            if replacement is not None and not np.shares_memory(replacement, seen):\n",
            "replacement = hook(np.array(g))",
            "replacement = hook(seen := np.array(g))",
        ),
    },
    **LAST_LESSONS,
    **MIDDLE_LESSONS,
}
"""By lesson and name, which begins with the exercise: a text of the solution, its replacement, further such pairs."""


def written(slug: str, folder: Path) -> list[Path]:
    """The lesson's wrong answers: the kept files, and the edited solutions, which are written into a folder."""
    solution = (ROOT / f"solutions/{slug}.py").read_text(encoding="utf-8")
    folder.mkdir()
    for name, edit in EDITS.get(slug, {}).items():
        text = solution
        for old, new in zip(edit[::2], edit[1::2], strict=True):
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [*sorted((UNUSUAL / slug).glob("*.py")), *sorted(folder.iterdir())]


@pytest.mark.parametrize("slug", sorted({*EDITS, *(folder.name for folder in UNUSUAL.iterdir())}))
def test_only_rows_of_factors_find_these_wrong_answers(slug: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    by_exercise = defaultdict(list)
    for file in written(slug, tmp_path / slug):
        by_exercise[file.name.partition("__")[0]].append(file)
    for exercise, files in by_exercise.items():
        found = losses(find_lesson(slug), files, ["a salt"], only=exercise, visible=True)
        for file in files:
            rejecting = {check for answer, of, check in found if answer == f"{slug}/{file.name}" and of == exercise}
            assert {name.rpartition("[")[2] for name in rejecting} == {"visible]", "hidden]"}, file.name
            assert all(name.startswith("test_every_kind_of_") for name in rejecting), (file.name, rejecting)
