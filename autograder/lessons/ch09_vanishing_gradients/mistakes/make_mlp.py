"""Wrong answers to make_mlp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.networks import (
    ADDS,
    BIAS,
    FIRST,
    LAST,
    LAYERNORM,
    MODEL,
    hidden_blocks,
)

KIND = "kind = Residual if residual else torch.nn.Sequential"
LOOP = "for _ in range(depth):"
NORM = "norms = [torch.nn.BatchNorm1d(width)] if norm else []"


def _block(modules):
    return f"layers.append(kind({modules}))"


BLOCK = _block("torch.nn.Linear(width, width), *norms, activations[activation]()")

input_layer_counted = mistake(
    "make_mlp",
    {LOOP: "for _ in range(depth - 1):"},
    says="There is one block too few: `depth` counts the hidden blocks alone, without the input layer.",
)
the_same_block_again = mistake(
    "make_mlp",
    {f"{LOOP}\n{NORM}\n{BLOCK}": f"{NORM}\n{BLOCK}\nlayers += layers[1:] * (depth - 1)"},
    says="The list has `depth` times the same block in it, and all layers share their weights. Build each anew, in a "
    "loop or a comprehension.",
)
blocks_in_a_plain_list = mistake(
    "make_mlp",
    {
        MODEL: f"""\
{hidden_blocks("layers[1:-1]", "block(h)")}

model = torch.nn.Sequential(layers[0], Hidden(), layers[-1])"""
    },
    says="The blocks are in a plain Python list, which modules() and parameters() do not look into: nothing in them "
    "would be trained. Use nn.ModuleList or nn.Sequential.",
)
activation_after_the_input_layer = mistake(
    "make_mlp",
    {FIRST: f"{FIRST}\nlayers.append(activations[activation]())"},
    says="There is an activation after the input layer too. Only the hidden blocks have one.",
)
activation_after_the_output_layer = mistake(
    "make_mlp",
    {LAST: f"{LAST}\nlayers.append(activations[activation]())"},
    says="There is an activation after the output layer too. The results are logits: the last Linear has nothing "
    "after it.",
)
softmax_at_the_end = mistake(
    "make_mlp",
    {LAST: f"{LAST}\nlayers.append(torch.nn.Softmax(dim=1))"},
    says="There is a softmax at the end. The results are logits: cross_entropy has the softmax in it.",
)
added_before_the_activation = mistake(
    "make_mlp",
    {ADDS: "*before, activate = self\nreturn activate(x + torch.nn.Sequential(*before)(x))"},
    says="x is added before the activation, so x does not get past the activation unchanged. The block gives x + "
    "f(x), with the activation in f.",
)
adds_the_first_x = mistake(
    "make_mlp",
    {
        KIND: "kind = torch.nn.Sequential",
        MODEL: f"""\
{hidden_blocks("torch.nn.ModuleList(layers[1:-1])", "x + block(h) if residual else block(h)")}

model = torch.nn.Sequential(layers[0], Hidden(), layers[-1])""",
    },
    says="Every block adds what came out of the input layer. A residual connection adds the block's own input.",
)
one_skip_around_everything = mistake(
    "make_mlp",
    {KIND: "kind = torch.nn.Sequential", LAST: f"if residual:\n    layers[1:] = [Residual(*layers[1:])]\n{LAST}"},
    says="One connection leads around all blocks together. Each block adds its own input.",
)
detached_skip = mistake(
    "make_mlp",
    {ADDS: "return x.detach() + super().forward(x)"},
    says="The outputs are right, and the gradient does not go back through x: it is detached in x + f(x), where it is "
    "needed most.",
)
residual_ignored = mistake(
    "make_mlp",
    {KIND: "kind = torch.nn.Sequential"},
    says="`residual` changes nothing. With residual=True a block gives x + f(x).",
)
always_residual = mistake(
    "make_mlp",
    {KIND: "kind = Residual"},
    says="The blocks add their input without being asked: `residual` is False by default.",
)
norm_ignored = mistake(
    "make_mlp",
    {NORM: "norms = []"},
    says="`norm` changes nothing. With norm=True each block has a BatchNorm1d(width).",
)
norm_after_the_activation = mistake(
    "make_mlp",
    {BLOCK: _block("torch.nn.Linear(width, width), activations[activation](), *norms")},
    says="BatchNorm comes after the activation. It stands between the Linear and the activation.",
)
norm_before_the_linear = mistake(
    "make_mlp",
    {BLOCK: _block("*norms, torch.nn.Linear(width, width), activations[activation]()")},
    says="BatchNorm comes before the Linear. It stands between the Linear and the activation.",
)
layernorm_for_batchnorm = mistake(
    "make_mlp",
    {NORM: "norms = [torch.nn.LayerNorm(width)] if norm else []"},
    says=LAYERNORM,
)
one_norm_for_all = mistake(
    "make_mlp",
    {NORM: "norms = []", LAST: f"if norm:\n    layers.append(torch.nn.BatchNorm1d(width))\n{LAST}"},
    says="One BatchNorm1d stands after all blocks. Each block has its own, between the Linear and the activation.",
)
no_bias = mistake(
    "make_mlp",
    {
        BLOCK: _block("torch.nn.Linear(width, width, bias=False), *norms, activations[activation]()"),
        BIAS: f"if module.bias is not None:\n    {BIAS}",
    },
    says="The hidden Linears have no bias. All Linears have one, also before a BatchNorm.",
)
activations_as_functions = mistake(
    "make_mlp",
    {
        FIRST: f"""\
class Activation(torch.nn.Module):
    def forward(self, x):
        return getattr(torch, activation)(x)

{FIRST}""",
        BLOCK: _block("torch.nn.Linear(width, width), *norms, Activation()"),
    },
    says="The activation is a function call in forward, which modules() cannot find. Give each block a torch.nn.ReLU() "
    "or the like.",
)
one_activation_for_all = mistake(
    "make_mlp",
    {
        FIRST: f"shared = activations[activation]()\n{FIRST}",
        BLOCK: _block("torch.nn.Linear(width, width), *norms, shared"),
    },
    says="One activation module is shared by all blocks. Each block has one of its own.",
)
always_sigmoid = mistake(
    "make_mlp",
    {BLOCK: _block("torch.nn.Linear(width, width), *norms, torch.nn.Sigmoid()")},
    says="The activation is always sigmoid. `activation` says which one.",
)
width_ignored = mistake(
    "make_mlp",
    {FIRST: f"width = 64\n{FIRST}"},
    says="The hidden layers are always 64 wide. `width` says how wide.",
)
no_output_layer = mistake(
    "make_mlp",
    {LAST: ""},
    says="There is no output layer: the last block has to be followed by Linear(width, n_out).",
)
