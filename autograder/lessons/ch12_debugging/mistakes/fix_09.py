"""Wrong answers to fix_09, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import SGD, as_handed_out

as_handed_out_09 = mistake(
    "fix_09",
    {"model.eval()": "", "model.train()": ""},
    says=as_handed_out(
        "the validation loss jumps",
        "Compute it twice in a row, without a step in between: two numbers. torch.no_grad() switches off the "
        "graph, and what else?",
    ),
)
never_back_to_train = mistake(
    "fix_09",
    {"model.train()": ""},
    says="The first validation loss is right. From then on the model trains in eval mode, without Dropout and with "
    "frozen statistics: go back to train mode.",
)
eval_from_the_start = mistake(
    "fix_09",
    {"model.eval()": "", "model.train()": "", SGD: f"{SGD}\nmodel.eval()"},
    says="The model is in eval mode from the start, and trains in it: no Dropout, no batch statistics. Only the "
    "measurement is in eval mode.",
)
dropout_alone = mistake(
    "fix_09",
    {
        "model.eval()": "for module in model.modules():\n    if isinstance(module, torch.nn.Dropout):\n"
        "        module.eval()"
    },
    says="Dropout is off and BatchNorm still in train mode: each point is judged by the statistics of the validation"
    " set, which also move into the model. model.eval() reaches both.",
)
batchnorm_alone = mistake(
    "fix_09",
    {
        "model.eval()": "for module in model.modules():\n    if isinstance(module, torch.nn.BatchNorm1d):\n"
        "        module.eval()"
    },
    says="BatchNorm uses its running statistics, and Dropout still drops. model.eval() reaches both.",
)
dropout_removed = mistake(
    "fix_09",
    {"model.eval()": "model.eval()\nmodel[3].p = 0.0"},
    says="Dropout is gone from the model, in training too. The architecture stays.",
)
