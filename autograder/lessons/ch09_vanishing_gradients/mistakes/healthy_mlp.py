"""Wrong answers to healthy_mlp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.networks import LAYERNORM, WRITES_OVER_X, hidden_blocks

BATCHNORM = "self.norm = torch.nn.BatchNorm1d(width)"
RELU = "self.relu = torch.nn.ReLU()"
X_PLUS_F = "return x + self.relu(self.norm(self.linear(x)))"
F_ALONE = "return self.relu(self.norm(self.linear(x)))"
X_PLUS_RELU = "return x + self.relu(self.linear(x))"


def _network(hidden, last="torch.nn.Linear(width, n_out)"):
    return f"return torch.nn.Sequential(torch.nn.Linear(n_in, width), {hidden}, {last})"


NETWORK = _network("*blocks")
HE_NETWORK = f"""\
{NETWORK.replace("return", "model =")}
for module in model.modules():
    if isinstance(module, torch.nn.Linear):
        torch.nn.init.kaiming_normal_(module.weight)
        torch.nn.init.zeros_(module.bias)
return model"""

the_sigmoid_network = mistake(
    "healthy_mlp",
    {BATCHNORM: "", RELU: "self.sigmoid = torch.nn.Sigmoid()", X_PLUS_F: "return self.sigmoid(self.linear(x))"},
    says="This is the sigmoid network that collapses. Use ReLU, residual connections and BatchNorm together.",
)
relu_alone = mistake(
    "healthy_mlp",
    {BATCHNORM: "", X_PLUS_F: "return self.relu(self.linear(x))"},
    says="ReLU alone does not cure it: with PyTorch's default weights each layer makes the gradient 0.43 times as "
    "large. Residual connections and BatchNorm are missing.",
)
relu_and_he = mistake(
    "healthy_mlp",
    {BATCHNORM: "", X_PLUS_F: "return self.relu(self.linear(x))", NETWORK: HE_NETWORK},
    says="ReLU with He's weights keeps the gradient, and little else: residual connections and BatchNorm are missing.",
)
no_residual = mistake(
    "healthy_mlp",
    {X_PLUS_F: F_ALONE},
    says="BatchNorm without residual connections makes gradients explode: 1.2 times as large with each layer, 200 "
    "times over 30. Add the block's input to its output.",
)
no_norm = mistake(
    "healthy_mlp",
    {BATCHNORM: "", X_PLUS_F: X_PLUS_RELU, NETWORK: HE_NETWORK},
    says="Residual connections without BatchNorm: each block adds to the signal, which explodes on the way "
    "forward. Put a BatchNorm1d into every block.",
)
no_norm_default_weights = mistake(
    "healthy_mlp",
    {BATCHNORM: "", X_PLUS_F: X_PLUS_RELU},
    says="Residual connections without BatchNorm: each block adds to the signal. Put a BatchNorm1d into every block.",
)
sigmoid_with_the_rest = mistake(
    "healthy_mlp",
    {RELU: "self.relu = torch.nn.Sigmoid()"},
    says="The activation is not ReLU. Residual connections and BatchNorm help sigmoid and others too, but here use "
    "ReLU.",
)
norm_never_called = mistake(
    "healthy_mlp",
    {X_PLUS_F: X_PLUS_RELU},
    says="The BatchNorm1d is made in __init__ and not called in forward. What is not called does nothing.",
)
healthy_layernorm = mistake(
    "healthy_mlp",
    {BATCHNORM: "self.norm = torch.nn.LayerNorm(width)"},
    says=LAYERNORM,
)
healthy_in_place = mistake(
    "healthy_mlp",
    {X_PLUS_F: "x += self.relu(self.norm(self.linear(x)))\nreturn x"},
    says=WRITES_OVER_X,
)
healthy_after_the_addition = mistake(
    "healthy_mlp",
    {X_PLUS_F: "return self.relu(x + self.norm(self.linear(x)))"},
    says="ReLU or BatchNorm comes after the addition, so x does not get past it unchanged. A block gives x + f(x), "
    "with both of them in f.",
)
depth_and_width_not_passed_on = mistake(
    "healthy_mlp",
    {"class Block(torch.nn.Module):": "depth, width = 30, 64\n\nclass Block(torch.nn.Module):"},
    says="`depth` and `width` are not passed on: the network is always 30 blocks deep and 64 wide.",
)
branches_begin_at_zero = mistake(
    "healthy_mlp",
    {BATCHNORM: f"{BATCHNORM}\ntorch.nn.init.zeros_(self.norm.weight)"},
    says="The branches begin at 0, so their gradients are exactly 0 and have no ratio. Elsewhere that is an honest "
    "choice; for this exercise leave the BatchNorm weights as they are.",
)
healthy_softmax = mistake(
    "healthy_mlp",
    {NETWORK: _network("*blocks", "torch.nn.Linear(width, n_out), torch.nn.Softmax(dim=1)")},
    says="There is a softmax at the end. Return logits: the loss has the softmax in it.",
)
healthy_one_skip = mistake(
    "healthy_mlp",
    {
        X_PLUS_F: F_ALONE,
        NETWORK: f"""\
class Residual(torch.nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)

{_network("Residual(*blocks)")}""",
    },
    says="One connection leads around all blocks together. Inside it the gradient explodes as if there were none. "
    "Let each block add its own input.",
)
healthy_adds_the_first_x = mistake(
    "healthy_mlp",
    {
        X_PLUS_F: F_ALONE,
        NETWORK: f"{hidden_blocks('torch.nn.ModuleList(blocks)', 'x + block(h)')}\n\n{_network('Hidden()')}",
    },
    says="Every block adds what came out of the input layer. A residual connection adds the block's own input, so "
    "that the gradient has a way back past each block.",
)
healthy_plain_list = mistake(
    "healthy_mlp",
    {NETWORK: f"{hidden_blocks('blocks', 'block(h)')}\n\n{_network('Hidden()')}"},
    says="The blocks are in a plain Python list, which parameters() does not look into: no optimiser trains them. Use "
    "nn.ModuleList or nn.Sequential.",
)
shallow = mistake(
    "healthy_mlp",
    {"blocks = [Block() for _ in range(depth)]": "blocks = [Block() for _ in range(min(depth, 3))]"},
    says="The network has fewer blocks than `depth` says. A shallow network is healthy, but the task is a deep one.",
)
output_layer_of_zeros = mistake(
    "healthy_mlp",
    {
        NETWORK: f"""\
last = torch.nn.Linear(width, n_out)
torch.nn.init.zeros_(last.weight)
{_network("*blocks", "last")}"""
    },
    says="The weights of the output layer are 0: at the start no gradient gets into the blocks at all.",
)
healthy_one_norm = mistake(
    "healthy_mlp",
    {BATCHNORM: "", X_PLUS_F: X_PLUS_RELU, NETWORK: _network("*blocks, torch.nn.BatchNorm1d(width)")},
    says="One BatchNorm1d stands before the output. Every block needs its own.",
)
