"""Wrong answers to make_mlp: its weights, and forbidden side effects."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.networks import ADDS, BIAS, FIRST, LAST, MODEL, WRITES_OVER_X

OPTIONS = 'if activation not in activations or init not in ("default", "xavier", "he"):'
ENDS_MADE_LAST = {
    FIRST: "layers = []",
    LAST: "layers = [torch.nn.Linear(n_in, width), *layers, torch.nn.Linear(width, n_out)]",
}
"""An edit that stays right: layers made in another order get other random weights."""
MODULES = "for module in model.modules():"
INITIALISED = 'if isinstance(module, torch.nn.Linear) and init != "default":'
FANS = "fans = module.in_features + module.out_features"
VARIANCE = 'variance = 2 / fans if init == "xavier" else 2 / module.in_features'
WEIGHT = "torch.nn.init.normal_(module.weight, std=math.sqrt(variance))"
RETURN = "return model"
init_ignored = mistake(
    "make_mlp",
    {**ENDS_MADE_LAST, "\n".join((MODULES, INITIALISED, FANS, VARIANCE, WEIGHT, BIAS)): ""},
    says="`init` changes nothing: these are the weights that torch.nn.Linear makes by itself.",
)
xavier_by_default = mistake(
    "make_mlp",
    {
        INITIALISED: "if isinstance(module, torch.nn.Linear):",
        VARIANCE: 'variance = 2 / module.in_features if init == "he" else 2 / fans',
    },
    says="Without being asked, the weights are those of Xavier. init='default' leaves them as torch.nn.Linear makes "
    "them.",
)
xavier_and_he_swapped = mistake(
    "make_mlp",
    {VARIANCE: 'variance = 2 / fans if init == "he" else 2 / module.in_features'},
    says="Xavier and He are swapped.",
)
variance_for_std = mistake(
    "make_mlp",
    {WEIGHT: "torch.nn.init.normal_(module.weight, std=variance)"},
    says="The variance was given for the standard deviation: normal_(weight, 0, std) takes the root.",
)
std_as_a_bound = mistake(
    "make_mlp",
    {
        RETURN: f"""\
{MODULES}
    {INITIALISED}
        {FANS}
        {VARIANCE}
        torch.nn.init.uniform_(module.weight, -math.sqrt(variance), math.sqrt(variance))
{RETURN}"""
    },
    says="The standard deviation was taken for the bound of a uniform distribution: uniform up to ±b has the standard "
    "deviation b/sqrt(3), so the weights are too small by sqrt(3).",
)
he_weights_upside_down = mistake(
    "make_mlp",
    {VARIANCE: 'variance = 2 / fans if init == "xavier" else module.in_features / 2'},
    says="He's standard deviation is upside down, sqrt(fan_in / 2), so the signal explodes. It is sqrt(2 / fan_in).",
)
fans_swapped = mistake(
    "make_mlp",
    {VARIANCE: 'variance = 2 / fans if init == "xavier" else 2 / module.out_features'},
    says="weight.shape is (fan_out, fan_in), the outputs first. Fan_in and fan_out are swapped here, which He's "
    "initialisation notices.",
)
width_for_every_fan = mistake(
    "make_mlp",
    {FANS: "fans = width + width", VARIANCE: 'variance = 2 / fans if init == "xavier" else 2 / width'},
    says="Every Linear got the standard deviation of a hidden layer. The first and the last one have fans of their "
    "own.",
)
hidden_layers_only = mistake(
    "make_mlp",
    {**ENDS_MADE_LAST, MODULES: "for module in torch.nn.Sequential(*layers[1:-1]).modules():"},
    says="Only the hidden Linears were initialised. The first and the last one are Linears, too.",
)
he_as_linear_has_it = mistake(
    "make_mlp",
    {
        RETURN: f"""\
{MODULES}
    if isinstance(module, torch.nn.Linear) and init == "he":
        torch.nn.init.kaiming_uniform_(module.weight, a=math.sqrt(5))
{RETURN}"""
    },
    says="kaiming_uniform_ with a = sqrt(5) is what torch.nn.Linear does by default, 1/sqrt(3 fan_in). He's standard "
    "deviation is sqrt(2 / fan_in): leave `a` at 0.",
)
gain_of_tanh = mistake(
    "make_mlp",
    {VARIANCE: f'{VARIANCE}\nif init == "xavier":\n    variance *= torch.nn.init.calculate_gain(activation) ** 2'},
    says="The gain of tanh, 5/3, is in Xavier's standard deviation. Use no gain: xavier_std alone.",
)
biases_left = mistake(
    "make_mlp",
    {BIAS: ""},
    says="With 'xavier' and 'he' the biases are 0: zeros_ was left out.",
)
seeded = mistake(
    "make_mlp",
    {OPTIONS: f"torch.manual_seed(0)\n{OPTIONS}"},
    says="The generator is seeded in make_mlp, so all networks are identical, and so is what the caller draws "
    "afterwards. Leave it alone.",
)
seeded_for_each_layer = mistake(
    "make_mlp",
    {WEIGHT: f"torch.manual_seed(1)\n{WEIGHT}"},
    says="The generator is seeded for each layer, so that all hidden layers have the same weights. Leave it alone.",
)
key_error_for_an_activation = mistake(
    "make_mlp",
    {OPTIONS: 'if init not in ("default", "xavier", "he"):'},
    says="An unknown activation gave another exception than ValueError, or none. Look at the options first.",
)
unknown_init_as_default = mistake(
    "make_mlp",
    {
        OPTIONS: "if activation not in activations:",
        INITIALISED: 'if isinstance(module, torch.nn.Linear) and init in ("xavier", "he"):',
    },
    says="An unknown `init` went through as 'default'. It is a ValueError.",
)
else_relu = mistake(
    "make_mlp",
    {OPTIONS: f'if activation not in activations:\n    activation = "relu"\n{OPTIONS}'},
    says="An unknown activation was taken for ReLU. It is a ValueError.",
)
output_layer_made_first = mistake(
    "make_mlp",
    {
        MODEL: """\
class OutputFirst(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = layers[0], layers[-1]
        self.blocks = torch.nn.Sequential(*layers[1:-1])

    def forward(self, x):
        return self.last(self.blocks(self.first(x)))

model = OutputFirst()"""
    },
    says="The output layer was made before the blocks: modules() lists modules in the order in which __init__ assigns "
    "them. Make it last.",
)
n_in_for_width = mistake(
    "make_mlp",
    {FIRST: f"width = n_in\n{FIRST}"},
    says="n_in was taken as the width of the hidden layers. Linear(n_in, width) leads to `width`, and from there on "
    "n_in plays no part.",
)
skip_in_place = mistake(
    "make_mlp",
    {ADDS: "x += super().forward(x)\nreturn x"},
    says=WRITES_OVER_X,
)
gain_of_the_activation = mistake(
    "make_mlp",
    {VARIANCE: f'{VARIANCE}\nif init == "he":\n    variance *= torch.nn.init.calculate_gain(activation) ** 2 / 2'},
    says="The gain of the activation is in He's weights, 1 for sigmoid and 5/3 for tanh. init='he' is "
    "sqrt(2 / fan_in) for every activation.",
)
