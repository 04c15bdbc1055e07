"""Wrong answers to fix_08, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import as_handed_out

LOG_P = "log_p = torch.log_softmax(logits, dim=1)"
LOG_OF_P = "log_p = torch.log(p)"
ENTROPY = "entropy = -(p * log_p).sum(dim=1).mean()"
TOTAL = "loss = F.cross_entropy(logits, y) - beta * entropy"

as_handed_out_08 = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P},
    says=as_handed_out(
        "the loss is nan where an action is forbidden",
        "Print p, log_p and p * log_p of such a row. (A fill of another size changes nothing as long as p is 0 there.)",
    ),
)
nan_replaced = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P, ENTROPY: "entropy = -(p * log_p).nan_to_num(0.0).sum(dim=1).mean()"},
    says="The loss is finite and its gradient is nan. What replaces or skips the nan behind the logarithm (nan_to_num, "
    "torch.where, nansum; xlogy and entr do so inside) sends a 0 backward, and the logarithm multiplies it by 1/0. "
    "After one step all parameters are nan. Keep the 0 away from the logarithm.",
)
loss_replaced = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P, TOTAL: f"{TOTAL}\nloss = torch.nan_to_num(loss)"},
    says="A nan was replaced by 0 in the loss. The gradients are nan or 0 all the same: nothing is mended.",
)
batch_skipped_08 = mistake(
    "fix_08",
    {
        LOG_P: LOG_OF_P,
        TOTAL: f"{TOTAL}\nif loss.isnan():\n    losses.append(F.cross_entropy(logits, y).item())\n    continue",
    },
    says="Batches with a nan are skipped: those with forbidden actions, from which there is something to learn.",
)
batch_left_out_08 = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P, TOTAL: f"{TOTAL}\nif loss.isnan():\n    continue"},
    says="Batches with a nan are left out: those with forbidden actions, from which there is something to learn.",
)
mask_left_out = mistake(
    "fix_08",
    {"logits = model(X).masked_fill(~allowed, -1e9)": "logits = model(X)"},
    says="The mask is gone: forbidden actions have a probability, and the model learns against them.",
)
entropy_without_the_mask = mistake(
    "fix_08",
    {
        "p = torch.softmax(logits, dim=1)": "p = torch.softmax(model(X), dim=1)",
        LOG_P: "log_p = torch.log_softmax(model(X), dim=1)",
    },
    says="The entropy is that of the model without the mask. Forbidden actions have the probability 0 in it, too.",
)
softmax_twice_08 = mistake(
    "fix_08",
    {LOG_P: "log_p = torch.log_softmax(p, dim=1)"},
    says="log_softmax takes logits, and was given probabilities: that is the softmax of a softmax.",
)
entropy_added = mistake(
    "fix_08",
    {TOTAL: "loss = F.cross_entropy(logits, y) + beta * entropy"},
    says="The entropy is added. It is subtracted, so that a less certain agent has the smaller loss.",
)
entropy_left_out = mistake(
    "fix_08",
    {LOG_P: "", ENTROPY: "", TOTAL: "loss = F.cross_entropy(logits, y)"},
    says="The entropy is gone from the loss. It stays; only its value at p = 0 is at fault.",
)
large_floor = mistake(
    "fix_08",
    {LOG_P: "log_p = torch.log(p.clamp(min=0.05))"},
    says="The floor for p is so large that honest probabilities lie below it: the entropy and its gradient change. The "
    "smallest positive float is enough: torch.finfo(p.dtype).tiny.",
)
FLOOR_ADDED = (
    "The number that was added to p is there for all actions, not just for those with p = 0, so the entropy and its "
    "gradient change. It hides the symptom. log_softmax of the logits needs no such number; a floor has to be far "
    "below any honest probability."
)
small_floor_added = mistake("fix_08", {LOG_P: "log_p = torch.log(p + 1e-6)"}, says=FLOOR_ADDED)
larger_floor_added = mistake("fix_08", {LOG_P: "log_p = torch.log(p + 1e-5)"}, says=FLOOR_ADDED)
floor_added = mistake("fix_08", {LOG_P: "log_p = torch.log(p + 1e-3)"}, says=FLOOR_ADDED)
softer_mask = mistake(
    "fix_08",
    {
        "logits = model(X).masked_fill(~allowed, -1e9)": "logits = model(X).masked_fill(~allowed, -3.0)",
        LOG_P: LOG_OF_P,
    },
    says="The mask is so soft that forbidden actions have a probability above 0. They are forbidden.",
)

gradients_replaced = mistake(
    "fix_08",
    {
        LOG_P: LOG_OF_P,
        ENTROPY: "entropy = -torch.nansum(p * log_p, dim=1).mean()",
        "loss.backward()": "loss.backward()\nfor parameter in model.parameters():\n"
        "    parameter.grad.nan_to_num_(nan=0.0)",
    },
    says="The nan in the gradients are set to 0: where an action is forbidden nothing is learned. It hides the "
    "symptom. Keep the logarithm away from 0: log_softmax of the logits.",
)
mask_of_minus_ten = mistake(
    "fix_08",
    {
        "logits = model(X).masked_fill(~allowed, -1e9)": "logits = model(X).masked_fill(~allowed, -10.0)",
        LOG_P: LOG_OF_P,
    },
    says="The mask is milder, so that forbidden actions have a probability again. It hides the symptom. The mask "
    "stays; the logarithm is what to mend: log_softmax of the logits.",
)
