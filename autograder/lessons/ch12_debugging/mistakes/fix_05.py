"""Wrong answers to fix_05, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import SGD, as_handed_out, with_rate

HIDDEN = "self.hidden = torch.nn.ModuleList(layers)"

as_handed_out_05 = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = layers"},
    says=as_handed_out(
        "the loss stalls, and what is saved is not the whole network",
        "Print [name for name, _ in model.named_parameters()], and count. (A tuple or a dict of layers gives "
        "the same names.)",
    ),
)
optimizer_told = mistake(
    "fix_05",
    {
        HIDDEN: "self.hidden = layers",
        SGD: "hidden = [p for layer in model.hidden for p in layer.parameters()]\n"
        "optimizer = torch.optim.SGD([*model.parameters(), *hidden], lr=lr)",
    },
    says="The optimizer knows the hidden layers now, and the model still does not: state_dict(), to(device) and "
    "zero_grad() pass them over, and a network that is saved and loaded has other hidden layers.",
)
weights_alone = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = layers\nself.weights = torch.nn.ParameterList([layer.weight for layer in layers])"},
    says="The hidden layers' weights are registered, their biases are not: they neither learn nor are saved.",
)
one_layer_for_all = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = torch.nn.ModuleList([layers[0], *layers[-1:] * (depth - 1)])"},
    says="Fewer layers than `depth` have parameters of their own: one of them runs several times. The architecture "
    "stays.",
)
head_first = mistake(
    "fix_05",
    {
        "self.head = torch.nn.Linear(width, n_out)": "",
        "super().__init__()": "super().__init__()\nself.head = torch.nn.Linear(width, n_out)",
    },
    says="The head is made before the hidden layers, so that each draws other numbers at its start. The order stays: "
    "hidden layers first to last, then the head.",
)
one_relu = mistake(
    "fix_05",
    {
        HIDDEN: "self.hidden = torch.nn.Sequential(*layers)",
        "for layer in self.hidden:\n    x = torch.relu(layer(x))": "x = torch.relu(self.hidden(x))",
    },
    says="There is one ReLU behind all hidden layers. Each has its own; two linear maps without one between are one.",
)
registered_and_frozen = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = torch.nn.ModuleList(layers).requires_grad_(False)"},
    says="The hidden layers are registered and frozen: they are saved, and still do not learn.",
)
larger_rate_05 = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = layers", **with_rate(10)},
    says="With a larger learning rate the head learns faster, on features that are still random. Leave it as it is; "
    "the hidden layers are not found.",
)

one_layer_again_and_again = mistake(
    "fix_05",
    {
        "layers = [torch.nn.Linear(n_in if i == 0 else width, width) for i in range(depth)]": "layers = "
        "[torch.nn.Linear(n_in, width), *[torch.nn.Linear(width, width)] * (depth - 1)]",
    },
    says="`[layer] * n` is n times the same layer, with one weight for all. Make each anew: a list comprehension.",
)
