"""Wrong answers to fix_03, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import as_handed_out

FEATURES = "features = encoder(X)"
SGD_OF_BOTH = "optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=lr)"
HEAD_LOSS = "loss = F.cross_entropy(head(features), y)"

as_handed_out_03 = mistake(
    "fix_03",
    {FEATURES: "features = encoder(X).detach()"},
    says=as_handed_out(
        "the loss falls a little and stalls",
        "Print the .grad of the encoder's parameters after backward(). (To set requires_grad on what the "
        "encoder gave, or to clone it, changes nothing about them.)",
    ),
)
faster_head = mistake(
    "fix_03",
    {
        FEATURES: "features = encoder(X).detach()",
        SGD_OF_BOTH: "optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=10 * lr)",
    },
    says="With another learning rate the head learns faster, on features that are still random. The encoder has no "
    "gradient.",
)
head_left_out = mistake(
    "fix_03",
    {SGD_OF_BOTH: "optimizer = torch.optim.SGD(encoder.parameters(), lr=lr)"},
    says="Now the head does not learn: its parameters are not with the optimizer. Both learn.",
)
detached_for_the_loss = mistake(
    "fix_03",
    {HEAD_LOSS: "loss = F.cross_entropy(head(features.detach()), y) + features.std()"},
    says="The encoder has a gradient, but not that of the cross-entropy: the features are still detached on the way to "
    "the head. The loss stays as it is.",
)
spread_after_the_step = mistake(
    "fix_03",
    {
        "spreads.append(features.std().item())": "",
        "losses.append(loss.item())": "losses.append(loss.item())\nspreads.append(encoder(X).std().item())",
    },
    says="The spreads are those after the step. They belong to the features that the loss was computed from.",
)
