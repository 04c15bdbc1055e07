"""Repairs of ch12's programs: right ones earn full points, wrong ones are named, and stubs do not reveal the fault."""

from __future__ import annotations

import pytest
import torch
from repaired import LESSON, shares_of

from autograder.authoring.stubs import solved_notebook, stub_notebook
from autograder.collection import with_judge
from autograder.diagnosis import Edit
from autograder.diagnosis.edits import edited
from autograder.judging.session import Judge
from autograder.places import Places

pytestmark = pytest.mark.slow


PROGRAMS = [exercise.name for exercise in LESSON.exercises if exercise.name.startswith("fix_")]

ZERO, BACKWARD, STEP = "optimizer.zero_grad()", "loss.backward()", "optimizer.step()"
SUM = "branch = branch + h"
FEATURES = "features = encoder(X)"
LOSS_OF = "return F.cross_entropy(model(X), y)"
HIDDEN = "self.hidden = torch.nn.ModuleList(layers)"
NOTED = "validation_losses.append(validation_loss.item())"
LOSS_07 = "loss = F.cross_entropy(model(X), y)"
LOG_P = "log_p = torch.log_softmax(logits, dim=1)"
ENTROPY = "entropy = -(p * log_p).sum(dim=1).mean()"
MEASURED = "scores.append(F.cross_entropy(model(X_val), y_val).item())"
SCALED = "(loss / accumulate).backward()"
UNSCALED = {
    'scaler = torch.amp.GradScaler("cpu")': "",
    "scaler.step(optimizer)": "",
    "scaler.update()": STEP,
}
SCALE = "scaler.scale(total / n_tokens).backward()"
CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"
DIVIDED = "\nfor parameter in model.parameters():\n    parameter.grad /= {}"

RIGHT: dict[str, list[dict[str, str]]] = {
    "fix_01": [
        {ZERO: "", STEP: f"{STEP}\n{ZERO}"},
        {ZERO: "model.zero_grad()"},
        {ZERO: "optimizer.zero_grad(set_to_none=False)"},
        {ZERO: "for p in model.parameters():\n    p.grad = None"},
        {ZERO: "", BACKWARD: "ps = list(model.parameters())\n"
         "for p, g in zip(ps, torch.autograd.grad(loss, ps)):\n    p.grad = g"},
    ],
    "fix_02": [
        {SUM: "branch = h + branch"},
        {SUM: "branch = torch.add(branch, h)"},
        {SUM: "branch = branch.clone()\nbranch += h"},
        {SUM: "", "h = branch": "h = h + branch"},
    ],
    "fix_03": [
        {"spreads.append(features.std().item())": "spreads.append(features.detach().std().item())"},
        {FEATURES: "features = encoder(X).detach()",
         "loss = F.cross_entropy(head(features), y)": "loss = F.cross_entropy(head(encoder(X)), y)"},
        {FEATURES: "features = encoder(X.detach())"},
    ],
    "fix_04": [
        {LOSS_OF: "with torch.enable_grad():\n    return F.cross_entropy(model(X), y)"},
        {LOSS_OF: "with torch.set_grad_enabled(X is not validation[0]):\n    return F.cross_entropy(model(X), y)"},
        {"validation_losses.append(loss_of(*validation).item())": "with torch.no_grad():\n"
         "    validation_losses.append(loss_of(*validation).item())"},
    ],
    "fix_05": [
        {HIDDEN: "self.hidden = torch.nn.Sequential(*layers)"},
        {HIDDEN: "self.hidden = layers\nfor i, layer in enumerate(layers):\n    self.add_module(f'hidden_{i}', layer)"},
        {HIDDEN: "self.hidden = layers\nfor i, layer in enumerate(layers):\n    setattr(self, f'hidden_{i}', layer)"},
        {HIDDEN: "self.everything = torch.nn.ModuleDict({str(i): layer for i, layer in enumerate(layers)})\n"
         "self.hidden = layers"},
    ],
    "fix_06": [
        {NOTED: "validation_losses.append(validation_loss.detach())"},
        {NOTED: "validation_losses.append(float(validation_loss))"},
        {NOTED: "validation_losses.append(validation_loss.data)"},
        {NOTED: "validation_losses.append(validation_loss)", "validation_loss = F.mse_loss(model(X_val), y_val)":
         "with torch.no_grad():\n    validation_loss = F.mse_loss(model(X_val), y_val)"},
        {NOTED: "validation_losses.append(validation_loss.detach().clone().numpy())"},
    ],
    "fix_07": [
        {LOSS_07: "loss = F.nll_loss(torch.log_softmax(model(X), dim=1), y)"},
        {LOSS_07: "loss = F.nll_loss(torch.log(predict(X)), y)"},
        {LOSS_07: "logits = model(X)\nloss = (logits.logsumexp(dim=1) - logits[torch.arange(len(y)), y]).mean()"},
        {LOSS_07: "loss = torch.nn.CrossEntropyLoss()(model(X), y)"},
    ],
    "fix_08": [
        {LOG_P: "log_p = logits - torch.logsumexp(logits, dim=1, keepdim=True)"},
        {LOG_P: "log_p = torch.log(p.clamp(min=torch.finfo(p.dtype).tiny))"},
        {LOG_P: "log_p = torch.log(p + 1e-12)"},
        {LOG_P: "log_p = torch.log(p + 1e-8)"},
        {LOG_P: "log_p = torch.log_softmax(logits.float(), dim=1)"},
        {LOG_P: "log_p = torch.log(torch.where(p > 0, p, 1.0))"},
        {LOG_P: "", ENTROPY: "entropy = torch.distributions.Categorical(logits=logits).entropy().mean()"},
    ],
    "fix_09": [
        {"model.train()": "", "for X, y in batches:": "model.train()\nfor X, y in batches:"},
        {"model.eval()": "model.train(False)", "model.train()": "model.train(True)"},
        {"model.eval()": "import copy", "model.train()": "",
         MEASURED: "scores.append(F.cross_entropy(copy.deepcopy(model).eval()(X_val), y_val).item())"},
        {"model.eval()": "for module in model.modules():\n    module.training = False"},
    ],
    "fix_10": [
        {SCALED: "loss.backward(torch.tensor(1 / accumulate))"},
        {SCALED: BACKWARD, STEP: f"for p in model.parameters():\n    p.grad.div_(accumulate)\n{STEP}"},
        {SCALED: BACKWARD, STEP: f"for p in model.parameters():\n    p.grad = p.grad / accumulate\n{STEP}"},
    ],
    "fix_11": [
        {**UNSCALED, SCALE: f"(total / n_tokens * 2.0**16).backward(){DIVIDED.format('2.0**16')}"},
        {**UNSCALED, SCALE: f"(total / n_tokens * 1e4).backward(){DIVIDED.format('1e4')}"},
        {**UNSCALED, SCALE: f"total.backward(){DIVIDED.format('n_tokens')}"},
        {'scaler = torch.amp.GradScaler("cpu")': 'scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)'},
    ],
    "fix_12": [
        {CLIP: "torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm, foreach=False)"},
        {CLIP: """\
norm = sum(p.grad.double().square().sum() for p in model.parameters()).sqrt()
for p in model.parameters():
    p.grad *= min(1.0, max_norm / norm.item())"""},
        {CLIP: """\
grads = [p.grad for p in model.parameters()]
norm = torch.nn.utils.get_total_norm(grads)
torch.nn.utils.clip_grads_with_norm_(list(model.parameters()), max_norm, norm)"""},
    ],
}  # fmt: skip

IN_PLACE = "branch += h"
REPORT = 'return [{"name": name, "norm": norm, "status": status(norm)} for name, norm in norms.items()]'
ALL_NORMS = "norms = {name: None if grad is None else grad.double().norm().item() for name, grad in grads.items()}"

NAMED: list[tuple[str, dict[str, str], str]] = [
    ("fix_01", {"losses.append(loss.item())": "losses.append(F.mse_loss(model(X), y).item())"},
     "noted_after_the_step_01"),
    ("fix_02", {SUM: IN_PLACE}, "still_in_place"),
    ("fix_02", {SUM: "", "h = branch": "h += branch"}, "still_in_place"),
    ("fix_02", {SUM: f"with torch.no_grad():\n    {IN_PLACE}"}, "still_in_place"),
    ("fix_02", {SUM: IN_PLACE, BACKWARD: "loss.backward(retain_graph=True)"}, "still_in_place"),
    ("fix_04", {LOSS_OF: f"with torch.no_grad():\n    {LOSS_OF}"}, "as_handed_out_04"),
    ("fix_05", {HIDDEN: "self.hidden = torch.nn.Sequential(*layers)",
                "for layer in self.hidden:\n    x = torch.relu(layer(x))": "x = self.hidden(x).relu()"}, "one_relu"),
    ("fix_08", {LOG_P: "log_p = torch.log(p)", ENTROPY: "entropy = -torch.special.xlogy(p, p).sum(dim=1).mean()"},
     "nan_replaced"),
    ("fix_08", {LOG_P: "log_p = torch.log(p).masked_fill(~allowed, 0.0)"}, "nan_replaced"),
    ("fix_08", {LOG_P: "log_p = torch.log(p + 1e-6)"}, "small_floor_added"),
    ("fix_08", {LOG_P: "log_p = (1e-6 + p).log()"}, "small_floor_added"),
    ("fix_08", {LOG_P: "log_p = torch.log(p + 1e-3)"}, "floor_added"),
    ("fix_10", {"optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05)":
                "optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05 / accumulate)"},
     "rate_divided"),
    ("fix_11", {'scaler = torch.amp.GradScaler("cpu")': "scaler = torch.amp.GradScaler()"}, "as_handed_out_11"),
    ("fix_11", {**UNSCALED, SCALE: "(total / n_tokens).backward()",
                "optimizer = torch.optim.Adam(model.parameters(), lr=lr)":
                "optimizer = torch.optim.Adam(model.parameters(), lr=lr, eps=1e-16)"}, "scaled_after_backward"),
    ("gradient_report", {ALL_NORMS: ALL_NORMS.replace("double().norm()", "norm().double()")},
     "norm_in_the_dtype_of_the_gradient"),
]  # fmt: skip
"""Wrong repairs in a learner's own style, with the name of their mistake."""


MODEL_RUN = """\
try:
    with torch.no_grad():
        model(x)
finally:
    for hook in hooks:
        hook.remove()"""

SAID: list[tuple[str, dict[str, str], str]] = [
    ("fix_01", {"return losses": ""}, "Nothing is returned: a function that ends without `return` gives None."),
    ("fix_01", {"return losses": "return losses[:1]"}, "There is 1 loss; 6 expected."),
    ("fix_03", {"return losses, spreads": "return losses"}, "Two values are to be returned, as they were"),
    ("fix_05", {"return model, losses": "return model"}, "Two values are to be returned, as they were"),
    ("fix_09", {"return scores": ""}, "Nothing is returned: a function that ends without `return` gives None."),
    ("first_nonfinite", {MODEL_RUN: MODEL_RUN.replace("finally:", "except RuntimeError:\n    pass\nfinally:")},
     "The model's own exception was caught; let it pass."),
    ("gradient_report", {ALL_NORMS: ALL_NORMS.replace(".item()", "")}, "A norm is a tensor."),
    ("gradient_report", {REPORT: "return {name: {'norm': norm} for name, norm in norms.items()}"},
     "gradient_report returned a dict. A list of dicts is asked"),
]  # fmt: skip
"""Repairs that the grader once accepted, or explained badly."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_repairs_earn_everything(name: str) -> None:
    assert len(RIGHT[name]) >= 3
    source = Places().source(LESSON.slug).read_text(encoding="utf-8")
    texts = [edited(source, [Edit(name, before, after) for before, after in repair.items()]) for repair in RIGHT[name]]
    shares = shares_of(name, texts)
    assert shares == [1.0] * len(texts), [
        repair for repair, share in zip(RIGHT[name], shares, strict=True) if share < 1
    ]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in NAMED}))
def test_wrong_repairs_are_named(name: str) -> None:
    source = Places().source(LESSON.slug).read_text(encoding="utf-8")
    wrong = [(repair, called) for of, repair, called in NAMED if of == name]

    def name_them(judge: Judge) -> list[tuple[str, ...]]:
        items, exercise, found = judge.items_of(name), LESSON.exercise(name), []
        for repair, _ in wrong:
            text = edited(source, [Edit(name, before, after) for before, after in repair.items()])
            found.append(
                judge.mistakes.explain(exercise, judge.observe(items, judge.reference.local_text(text))).misconceptions
            )
        return found

    assert with_judge(LESSON, name_them, only=name) == [(called,) for _, called in wrong]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in SAID}))
def test_what_is_wrong_is_said(name: str) -> None:
    source = Places().source(LESSON.slug).read_text(encoding="utf-8")
    wrong = [(repair, said) for of, repair, said in SAID if of == name]

    def say(judge: Judge) -> list[str]:
        items, exercise, found = judge.items_of(name), LESSON.exercise(name), []
        for repair, _ in wrong:
            text = edited(source, [Edit(name, before, after) for before, after in repair.items()])
            found.append(
                judge.mistakes.explain(exercise, judge.observe(items, judge.reference.local_text(text))).message
            )
        return found

    for message, (_, said) in zip(with_judge(LESSON, say, only=name), wrong, strict=True):
        assert said in message


def test_what_a_cell_sets_in_pytorch_changes_no_verdict() -> None:
    """The chapter suggests float64; a cell that made it the default used to make a right fix_05 fail."""
    source = Places().source(LESSON.slug).read_text(encoding="utf-8")
    try:
        assert shares_of("fix_05", [f"{source}\ntorch.set_default_dtype(torch.float64)"]) == [1.0]
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_handed_out_earns_nothing(name: str) -> None:
    cells = [cell for cell in stub_notebook(LESSON).cells if cell.cell_type == "code"]
    text = "\n\n".join(cell.source for cell in cells if not {"setup", "check"} & set(cell.metadata.get("tags", [])))
    assert "NotImplementedError" in text
    assert "your code here" not in text.partition(f"def {name}(")[2].partition("\ndef ")[0]
    assert shares_of(name, [text]) == [0.0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_gives_the_place_away(name: str) -> None:
    """The cell that is handed out has no comments, and differs from the solved one in a few lines."""
    stub, solved = (
        {cell.metadata.get("exercise"): cell.source for cell in notebook.cells}[name]
        for notebook in (stub_notebook(LESSON), solved_notebook(LESSON))
    )
    assert "#" not in stub
    assert stub != solved
    lines = {line for line in solved.splitlines() if "###" not in line}
    assert len(lines ^ set(stub.splitlines())) <= 7
