"""Wrong answers to ch09_vanishing_gradients that learners write."""

from __future__ import annotations

from autograder.diagnosis import mistake

# layer_gradient_norms


WEIGHTS = "weights = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]"
LOSS = "loss = torch.nn.functional.cross_entropy(model(X), y)"
NORMS = "return [gradient.double().norm().item() for gradient in torch.autograd.grad(loss, weights)]"
NORMS_OF_GRAD = "loss.backward()\nreturn [weight.grad.double().norm().item() for weight in weights]"
ALL_PARAMETERS_OF_LINEARS = (
    "weights = [p for m in model.modules() if isinstance(m, torch.nn.Linear) for p in m.parameters()]"
)


def _norm(expression):
    """An edit: another number for each gradient."""
    return {NORMS: f"return [{expression}.item() for gradient in torch.autograd.grad(loss, weights)]"}


def _switched_to(mode):
    return (
        f"The model was switched to {mode} mode: BatchNorm then uses other statistics, and the caller finds the model "
        "changed. Run it in the mode that it is in."
    )


norm_in_float32 = mistake(
    "layer_gradient_norms",
    _norm("gradient.norm()"),
    says="The norm was taken in float32: the square of 1e-27 is 0.0 there, so a gradient that is not zero prints as "
    "0.0. Convert before the norm: gradient.double().norm().",
)
added_to_grad = mistake(
    "layer_gradient_norms",
    {NORMS: NORMS_OF_GRAD},
    says="backward() adds to what is in .grad, from the call before or from the caller. torch.autograd.grad returns "
    "the gradients and leaves .grad alone.",
)
grad_of_the_caller_overwritten = mistake(
    "layer_gradient_norms",
    {NORMS: f"model.zero_grad()\n{NORMS_OF_GRAD}"},
    says="The norms are right, but the .grad that the caller had is gone: zero_grad(), before or after, and backward() "
    "write into it. torch.autograd.grad does not.",
)
biases_in_the_list = mistake(
    "layer_gradient_norms",
    {WEIGHTS: ALL_PARAMETERS_OF_LINEARS},
    says="Biases have a norm of their own in the list. One number for each Linear is asked: its weight's.",
)
every_parameter = mistake(
    "layer_gradient_norms",
    {WEIGHTS: "weights = list(model.parameters())"},
    says="Every parameter of the model is in the list. Only the weights of the nn.Linear modules count.",
)
weight_and_bias_together = mistake(
    "layer_gradient_norms",
    {
        WEIGHTS: ALL_PARAMETERS_OF_LINEARS,
        NORMS: """\
norms = iter([gradient.double().norm().item() for gradient in torch.autograd.grad(loss, weights)])
return [math.hypot(weight, next(norms)) for weight in norms]""",
    },
    says="The bias's gradient is part of the norm. Only the weight's counts.",
)
all_that_is_called_weight = mistake(
    "layer_gradient_norms",
    {WEIGHTS: 'weights = [p for name, p in model.named_parameters() if name.endswith("weight")]'},
    says="Everything that is called weight was taken. LayerNorm, convolutions and others have weights, too: ask "
    "isinstance(module, torch.nn.Linear).",
)
more_than_one_dimension = mistake(
    "layer_gradient_norms",
    {WEIGHTS: "weights = [p for p in model.parameters() if p.dim() > 1]"},
    says="Everything with more than one dimension was taken for a Linear's weight. A convolution's has three: ask "
    "isinstance(module, torch.nn.Linear).",
)
every_name_of_a_linear = mistake(
    "layer_gradient_norms",
    {
        WEIGHTS: """\
named = model.named_modules(remove_duplicate=False)
weights = [module.weight for name, module in named if isinstance(module, torch.nn.Linear)]"""
    },
    says="A Linear that the model holds under two names is in the list twice. modules() finds it once.",
)
children_only = mistake(
    "layer_gradient_norms",
    {WEIGHTS: "weights = [module.weight for module in model.children() if isinstance(module, torch.nn.Linear)]"},
    says="children() finds the modules directly below the model. modules() goes into them and begins with the model "
    "itself.",
)
last_to_first = mistake(
    "layer_gradient_norms",
    {NORMS: f"{NORMS}[::-1]"},
    says="The list begins with the last layer. First to last, as modules() has them.",
)
order_of_execution = mistake(
    "layer_gradient_norms",
    {
        WEIGHTS: """\
order = []
linears = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
hooks = [linear.register_forward_pre_hook(lambda module, inputs: order.append(module)) for linear in linears]""",
        LOSS: f"""\
{LOSS}
for hook in hooks:
    hook.remove()
weights = [linear.weight for linear in dict.fromkeys(order)]""",
    },
    says="The Linears are in the order in which they run. The order of modules() is asked, in which they were "
    "assigned.",
)
norms_of_the_weights = mistake(
    "layer_gradient_norms",
    {LOSS: "", NORMS: "return [weight.detach().double().norm().item() for weight in weights]"},
    says="These are the norms of the weights. Their gradients' norms are asked.",
)
sum_over_the_batch = mistake(
    "layer_gradient_norms",
    {LOSS: 'loss = torch.nn.functional.cross_entropy(model(X), y, reduction="sum")'},
    says="The losses of the batch were added up. cross_entropy's mean, its default, is asked.",
)
loss_of_log_probabilities = mistake(
    "layer_gradient_norms",
    {LOSS: "loss = torch.nn.functional.nll_loss(model(X), y)"},
    says="nll_loss takes log-probabilities. The model gives logits: cross_entropy has the log-softmax in it.",
)
softmax_twice = mistake(
    "layer_gradient_norms",
    {LOSS: "loss = torch.nn.functional.cross_entropy(model(X).softmax(dim=1), y)"},
    says="cross_entropy has the softmax in it: it takes logits. Another one in front of it flattens the loss.",
)
squared_norms = mistake(
    "layer_gradient_norms",
    _norm("gradient.double().square().sum()"),
    says="These are squared norms. The square root is missing.",
)
mean_of_magnitudes = mistake(
    "layer_gradient_norms",
    _norm("gradient.double().abs().mean()"),
    says="This is the mean of |dL/dW|. The root of the sum of squares is asked.",
)
root_mean_square = mistake(
    "layer_gradient_norms",
    _norm("gradient.double().square().mean().sqrt()"),
    says="This is the root of the mean of the squares: the norm divided by the root of the number of entries. Their "
    "sum is asked.",
)
largest_entry = mistake(
    "layer_gradient_norms",
    _norm("gradient.double().abs().max()"),
    says="This is the largest entry. The root of the sum of squares is asked.",
)
spectral_norm = mistake(
    "layer_gradient_norms",
    _norm("torch.linalg.matrix_norm(gradient.double(), ord=2)"),
    says="This is the spectral norm, the largest singular value. The Frobenius norm is asked: all entries squared, "
    "added, and the root.",
)
switched_to_eval = mistake(
    "layer_gradient_norms",
    {LOSS: f"model.eval()\n{LOSS}"},
    says=_switched_to("eval"),
)
switched_to_train = mistake(
    "layer_gradient_norms",
    {LOSS: f"model.train()\n{LOSS}"},
    says=_switched_to("train"),
)
model_converted = mistake(
    "layer_gradient_norms",
    {
        LOSS: "model.double()\nloss = torch.nn.functional.cross_entropy(model(X.double()), y)",
        **_norm("gradient.norm()"),
    },
    says="model.double() converts the caller's own model. Convert the gradients, one by one, or a copy.",
)


# decay_per_layer


REFUSES = "if len(norms) < 2 or not all(0 < norm < math.inf for norm in norms):"
RAISES = 'raise ValueError("two or more positive, finite norms expected")'
POWER_OF_ONE = "`x ** 1 / 2` is half of x: ** comes before /. Write math.sqrt, or ** 0.5, or ** (1 / 2)."
DECAY = "return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))"
LOG_RATIOS = "logs = [math.log(one) - math.log(following) for one, following in zip(norms, norms[1:])]"
ROOT_OF_THE_QUOTIENT = "return (norms[0] / norms[-1]) ** (1 / (len(norms) - 1))"
NOT_THE_NTH_ROOT = "n norms have n − 1 ratios between them: the root is the (n − 1)-th, not the n-th."

upside_down = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(norms[-1]) - math.log(norms[0])) / (len(norms) - 1))"},
    says="The ratios are upside down: this is norms[i + 1] / norms[i]. With norms[i] / norms[i + 1] the factor is "
    "below 1 where the gradient vanishes towards the first layer.",
)
arithmetic_mean = mistake(
    "decay_per_layer",
    {DECAY: f"{LOG_RATIOS}\nreturn sum(math.exp(min(log, 700.0)) for log in logs) / len(logs)"},
    says="This is the arithmetic mean of the ratios. Factors multiply: the geometric mean is asked, the root of their "
    "product.",
)
root_of_n = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(norms[0]) - math.log(norms[-1])) / len(norms))"},
    says=NOT_THE_NTH_ROOT,
)
root_of_n_of_the_quotient = mistake(
    "decay_per_layer",
    {DECAY: "return (norms[0] / norms[-1]) ** (1 / len(norms))"},
    says=f"{NOT_THE_NTH_ROOT} And the first norm over the last can be too small or too large for a float: subtract "
    "logarithms.",
)
no_root = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp(min(math.log(norms[0]) - math.log(norms[-1]), 700.0))"},
    says="This is the whole change from the last layer to the first. The factor per layer is its (n − 1)-th root.",
)
divided_instead_of_rooted = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp(min(math.log(norms[0]) - math.log(norms[-1]), 700.0)) / (len(norms) - 1)"},
    says="This is the (n − 1)-th part of the whole change. Factors multiply, so it is the (n − 1)-th root.",
)
no_exp = mistake(
    "decay_per_layer",
    {DECAY: "return (math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1)"},
    says="This is the mean of the logarithms. Take exp of it.",
)
two_bases = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log10(norms[0]) - math.log10(norms[-1])) / (len(norms) - 1))"},
    says="The logarithms are to base 10 and exp undoes those to base e. Use one base for both.",
)
quotient_first = mistake(
    "decay_per_layer",
    {DECAY: ROOT_OF_THE_QUOTIENT},
    says="The product of all ratios, which is the first norm over the last, can be too small or too large for a float "
    "although the factor per layer is not. Subtract logarithms, divide by n − 1, then exp.",
)
quotient_without_a_look_at_the_norms = mistake(
    "decay_per_layer",
    {f"{REFUSES}\n{RAISES}": "", DECAY: ROOT_OF_THE_QUOTIENT},
    says="Two things are missing. The first norm over the last can be too small or too large for a float although the "
    "factor per layer is not: subtract logarithms. And norms that have no ratio are a ValueError.",
)
small_number_added = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(norms[0] + 1e-12) - math.log(norms[-1] + 1e-12)) / (len(norms) - 1))"},
    says="A small number was added to the norms against division by 0. It hides what is to be seen: gradients of "
    "1e-27. A norm of 0 is a ValueError.",
)
first_ratio_only = mistake(
    "decay_per_layer",
    {DECAY: "return norms[0] / norms[1]"},
    says="Only the first two layers were compared. All n − 1 ratios count.",
)
median_of_ratios = mistake(
    "decay_per_layer",
    {DECAY: f"import statistics\n\n{LOG_RATIOS}\nreturn math.exp(statistics.median(logs))"},
    says="This is the median of the ratios. The geometric mean is asked, the root of their product.",
)
smallest_over_largest = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp((math.log(min(norms)) - math.log(max(norms))) / (len(norms) - 1))"},
    says="The largest norm was compared with the smallest. The first layer and the last are meant: a gradient that "
    "explodes has to give more than 1.",
)
only_the_ends_refused = mistake(
    "decay_per_layer",
    {REFUSES: "if len(norms) < 2 or not (0 < norms[0] < math.inf and 0 < norms[-1] < math.inf):"},
    says="Norms that have no ratio went through. Fewer than two norms, and any that is 0, negative, inf or nan, are a "
    "ValueError: look at all of them.",
)
zeros_left_out = mistake(
    "decay_per_layer",
    {REFUSES: f"norms = [norm for norm in norms if norm != 0]\n{REFUSES}"},
    says="Zeros were left out. A norm of 0 has no ratio and is a ValueError; most often it is a square that "
    "underflowed.",
)
zero_for_a_zero = mistake(
    "decay_per_layer",
    {REFUSES: f"if any(norm == 0 for norm in norms):\n    return 0.0\n{REFUSES}"},
    says="A norm of 0 gave the factor 0. It has no ratio to its neighbours: that is a ValueError.",
)
nan_let_through = mistake(
    "decay_per_layer",
    {REFUSES: "if len(norms) < 2 or any(norm <= 0 for norm in norms):"},
    says="nan and inf went through: nan <= 0 is False, and so is inf <= 0. Ask for what is wanted, 0 < norm < "
    "math.inf.",
)
one_for_a_single_norm = mistake(
    "decay_per_layer",
    {REFUSES: f"if len(norms) == 1 and 0 < norms[0] < math.inf:\n    return 1.0\n{REFUSES}"},
    says="A single norm gave 1. It has no neighbour and so no ratio: that is a ValueError.",
)


last_logarithm_divided = mistake(
    "decay_per_layer",
    {DECAY: "return math.exp(min(math.log(norms[0]) - math.log(norms[-1]) / (len(norms) - 1), 700.0))"},
    says="Only the last logarithm is divided, as / comes before −. Put the difference into parentheses.",
)
power_of_one = mistake(
    "decay_per_layer",
    {DECAY: "return (norms[0] / norms[-1]) ** 1 / (len(norms) - 1)"},
    says=f"{POWER_OF_ONE} Here the root is the power (1 / (n − 1)).",
)
power_of_ten = mistake(
    "decay_per_layer",
    {DECAY: DECAY.replace("math.exp(", "10 ** (")},
    says="10 ** was taken of natural logarithms. math.exp undoes math.log; 10 ** undoes math.log10.",
)

# xavier_std


XAVIER = "return math.sqrt(2 / (fan_in + fan_out))"

xavier_variance = mistake(
    "xavier_std",
    {XAVIER: "return 2 / (fan_in + fan_out)"},
    says="This is the variance, 2 / (fan_in + fan_out). The standard deviation is its root.",
)
xavier_uniform_bound = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(6 / (fan_in + fan_out))"},
    says="This is the bound of the uniform distribution, sqrt(6 / (fan_in + fan_out)). Its standard deviation is the "
    "bound over sqrt(3).",
)
one_over_the_sum = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / (fan_in + fan_out))"},
    says="The 2 is missing: one over the mean of the fans is 2 / (fan_in + fan_out), under the root.",
)
half_of_the_variance = mistake(
    "xavier_std",
    {XAVIER: "return (2 / (fan_in + fan_out)) ** 1 / 2"},
    says=POWER_OF_ONE,
)
fan_in_alone_divides = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(2 / fan_in + fan_out)"},
    says="fan_out is added to the quotient, as / comes before +. The sum of the fans needs parentheses.",
)
half_of_one_over_the_sum = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / (fan_in + fan_out) / 2)"},
    says="1 / (fan_in + fan_out) / 2 is half of one over the sum. The mean has its own parentheses: 1 / ((fan_in + "
    "fan_out) / 2).",
)
xavier_of_fan_in_alone = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / fan_in)"},
    says="This is 1/sqrt(fan_in), LeCun's. Xavier takes both fans, for the way back as well.",
)
he_for_xavier = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(2 / fan_in)"},
    says="This is He's sqrt(2 / fan_in). Xavier's has the sum of both fans below the 2.",
)
two_outside_the_root = mistake(
    "xavier_std",
    {XAVIER: "return 2 / math.sqrt(fan_in + fan_out)"},
    says="The 2 is outside of the root: sqrt(2 / (fan_in + fan_out)) has it inside.",
)
product_of_fans = mistake(
    "xavier_std",
    {XAVIER: "return 1 / math.sqrt(fan_in * fan_out)"},
    says="The fans were multiplied. Their mean is (fan_in + fan_out) / 2.",
)
mean_of_the_variances = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt((1 / fan_in + 1 / fan_out) / 2)"},
    says="The mean was taken of 1/fan_in and 1/fan_out. One over the mean of the fans is asked.",
)
xavier_whole_numbers = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(2 // (fan_in + fan_out))"},
    says="`//` throws the fraction away: 2 // (fan_in + fan_out) is 0. Use `/`.",
)
xavier_whole_mean = mistake(
    "xavier_std",
    {XAVIER: "return math.sqrt(1 / ((fan_in + fan_out) // 2))"},
    says="`//` throws the half away: the mean of an odd number of fans, (fan_in + fan_out) / 2, is no whole number. "
    "Use `/`.",
)
xavier_with_a_gain = mistake(
    "xavier_std",
    {XAVIER: "return 5 / 3 * math.sqrt(2 / (fan_in + fan_out))"},
    says="There is a gain in it, 5/3 for tanh. Without a gain is asked.",
)


# he_std


HE = "return math.sqrt(2 / fan_in)"

half_of_hes_variance = mistake(
    "he_std",
    {HE: "return (2 / fan_in) ** 1 / 2"},
    says=POWER_OF_ONE,
)

he_variance = mistake(
    "he_std",
    {HE: "return 2 / fan_in"},
    says="This is the variance, 2 / fan_in. The standard deviation is its root.",
)
without_the_two = mistake(
    "he_std",
    {HE: "return math.sqrt(1 / fan_in)"},
    says="This is 1/sqrt(fan_in). ReLU throws half of the mean square away: the variance is 2 / fan_in.",
)
he_uniform_bound = mistake(
    "he_std",
    {HE: "return math.sqrt(6 / fan_in)"},
    says="This is the bound of the uniform distribution, sqrt(6 / fan_in). The standard deviation is sqrt(2 / fan_in).",
)
he_two_outside = mistake(
    "he_std",
    {HE: "return 2 / math.sqrt(fan_in)"},
    says="The 2 is outside of the root: sqrt(2 / fan_in) has it inside.",
)
he_fan_outside = mistake(
    "he_std",
    {HE: "return math.sqrt(2) / fan_in"},
    says="fan_in is outside of the root: sqrt(2 / fan_in) has it inside.",
)
he_upside_down = mistake(
    "he_std",
    {HE: "return math.sqrt(fan_in / 2)"},
    says="The fraction is upside down: sqrt(2 / fan_in), smaller the more inputs there are.",
)
he_whole_numbers = mistake(
    "he_std",
    {HE: "return math.sqrt(2 // fan_in)"},
    says="`//` throws the fraction away: 2 // fan_in is 0 from 3 on. Use `/`.",
)
default_of_linear = mistake(
    "he_std",
    {HE: "return math.sqrt(1 / (3 * fan_in))"},
    says="This is what torch.nn.Linear does by default, 1/sqrt(3 fan_in): its call of kaiming_uniform_ has a = "
    "sqrt(5), which is not He's. The variance is 2 / fan_in.",
)
half_the_wrong_way = mistake(
    "he_std",
    {HE: "return math.sqrt(1 / (2 * fan_in))"},
    says="The 2 is below the line: ½ fan_in is what ReLU leaves, and one over it is 2 / fan_in.",
)


# make_mlp


OPTIONS = 'if activation not in activations or init not in ("default", "xavier", "he"):'
ADDS = "return x + super().forward(x)"
KIND = "kind = Residual if residual else torch.nn.Sequential"
FIRST = "layers = [torch.nn.Linear(n_in, width)]"
LOOP = "for _ in range(depth):"
NORM = "norms = [torch.nn.BatchNorm1d(width)] if norm else []"
LAST = "layers.append(torch.nn.Linear(width, n_out))"
ENDS_MADE_LAST = {
    FIRST: "layers = []",
    LAST: "layers = [torch.nn.Linear(n_in, width), *layers, torch.nn.Linear(width, n_out)]",
}
"""Right as well. Layers that are made in another order get other random weights."""
MODEL = "model = torch.nn.Sequential(*layers)"
MODULES = "for module in model.modules():"
INITIALISED = 'if isinstance(module, torch.nn.Linear) and init != "default":'
FANS = "fans = module.in_features + module.out_features"
VARIANCE = 'variance = 2 / fans if init == "xavier" else 2 / module.in_features'
WEIGHT = "torch.nn.init.normal_(module.weight, std=math.sqrt(variance))"
BIAS = "torch.nn.init.zeros_(module.bias)"
RETURN = "return model"


def _block(modules):
    return f"layers.append(kind({modules}))"


BLOCK = _block("torch.nn.Linear(width, width), *norms, activations[activation]()")


def _hidden(blocks, h):
    """A module of all blocks: where it keeps them, and what h is after each of them."""
    return f"""\
class Hidden(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = {blocks}

    def forward(self, x):
        h = x
        for block in self.blocks:
            h = {h}
        return h"""


WRITES_OVER_X = "`x += f(x)` writes over the x that the backward pass needs. Write x = x + f(x)."
LAYERNORM = "This is LayerNorm, which normalises each row by itself. BatchNorm1d is asked."

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
{_hidden("layers[1:-1]", "block(h)")}

model = torch.nn.Sequential(layers[0], Hidden(), layers[-1])"""
    },
    says="The blocks are in a plain Python list, which modules() and parameters() do not look into: nothing in them "
    "would be trained. Use nn.ModuleList or nn.Sequential.",
)
activation_after_the_input_layer = mistake(
    "make_mlp",
    {FIRST: f"{FIRST}\nlayers.append(activations[activation]())"},
    says="An activation comes after the input layer, too. It is in the hidden blocks only.",
)
activation_after_the_output_layer = mistake(
    "make_mlp",
    {LAST: f"{LAST}\nlayers.append(activations[activation]())"},
    says="An activation comes after the output layer, too. The results are logits: the last Linear has nothing "
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
    says="x is added before the activation, so it does not get past it. The block gives x + f(x), with the activation "
    "in f.",
)
adds_the_first_x = mistake(
    "make_mlp",
    {
        KIND: "kind = torch.nn.Sequential",
        MODEL: f"""\
{_hidden("torch.nn.ModuleList(layers[1:-1])", "x + block(h) if residual else block(h)")}

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
    says="`residual` changes nothing. With it a block gives x + f(x).",
)
always_residual = mistake(
    "make_mlp",
    {KIND: "kind = Residual"},
    says="The blocks add their input without being asked: `residual` is False by default.",
)
norm_ignored = mistake(
    "make_mlp",
    {NORM: "norms = []"},
    says="`norm` changes nothing. With it each block has a BatchNorm1d(width).",
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
    says="The gain of tanh, 5/3, is in Xavier's standard deviation. Without a gain is asked: xavier_std.",
)
biases_left = mistake(
    "make_mlp",
    {BIAS: ""},
    says="With 'xavier' and 'he' the biases are 0: zeros_ was left out.",
)
seeded = mistake(
    "make_mlp",
    {OPTIONS: f"torch.manual_seed(0)\n{OPTIONS}"},
    says="The generator is seeded in make_mlp, so that all networks are one and the same, and so is what the caller "
    "draws afterwards. Leave it alone.",
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


# healthy_mlp


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
    says="This is the sigmoid network that collapses. ReLU, residual connections and BatchNorm are asked, together.",
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
    "times over 30. Add the block's input to what it gives.",
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
    says="The activation is not ReLU. Residual connections and BatchNorm help sigmoid and others, too, but ReLU is "
    "asked.",
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
    says="ReLU or BatchNorm comes after the addition, and x does not get past it as it is. A block gives x + f(x), "
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
    says="One connection leads around all blocks together. Within them the gradient explodes as if there were "
    "none: each block adds its own input.",
)
healthy_adds_the_first_x = mistake(
    "healthy_mlp",
    {X_PLUS_F: F_ALONE, NETWORK: f"{_hidden('torch.nn.ModuleList(blocks)', 'x + block(h)')}\n\n{_network('Hidden()')}"},
    says="Every block adds what came out of the input layer. A residual connection adds the block's own input: so the "
    "gradient has a way back past each block.",
)
healthy_plain_list = mistake(
    "healthy_mlp",
    {NETWORK: f"{_hidden('blocks', 'block(h)')}\n\n{_network('Hidden()')}"},
    says="The blocks are in a plain Python list, which parameters() does not look into: no optimiser trains them. Use "
    "nn.ModuleList or nn.Sequential.",
)
shallow = mistake(
    "healthy_mlp",
    {"blocks = [Block() for _ in range(depth)]": "blocks = [Block() for _ in range(min(depth, 3))]"},
    says="The network has fewer blocks than `depth` says. A shallow network is healthy, and not what is asked.",
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


# clip_grad_norm


TOTAL = "total_norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))"
NOT_FINITE = "if not math.isfinite(total_norm):"
NO_DIRECTION = 'raise ValueError(f"the gradients have the norm {total_norm}")'
BELOW = "if total_norm <= max_norm:"
UNCLIPPED = "return list(grads), total_norm"
CLIPPED = "return [grad * (max_norm / total_norm) for grad in grads], total_norm"

NORM_NOT_IN_FLOAT64 = (
    "The norm was taken in float32 (or float16): squares of 1e-27 are 0 there, and those of 1e30 are inf. Convert "
    "first, grad.double()."
)
DIVIDED_BY_ZERO = (
    "A norm of 0 was divided by. Where the norm is not above max_norm the factor is 1, and nothing is to be divided."
)

epsilon_in_the_denominator = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "",
        CLIPPED: "return [grad * min(1.0, max_norm / (total_norm + 1e-6)) for grad in grads], total_norm",
    },
    says="There is an epsilon in the denominator, as in PyTorch: the clipped norm is a little less than max_norm, and "
    "much less where the gradients are small. Leave it out.",
)
each_by_itself = mistake(
    "clip_grad_norm",
    {
        CLIPPED: """\
norms = [grad.double().norm().item() for grad in grads]
return [grad * min(1.0, max_norm / norm) if norm else grad for grad, norm in zip(grads, norms)], total_norm"""
    },
    says="Each gradient was clipped by its own norm, which changes the direction of the step. One norm of all of them, "
    "one factor for all.",
)
clipped_by_value = mistake(
    "clip_grad_norm",
    {CLIPPED: "return [grad.clamp(-max_norm, max_norm) for grad in grads], total_norm"},
    says="The entries were cut off at ±max_norm: that is clipping by value, and it changes the direction. Scale all of "
    "them by one factor.",
)
scaled_up = mistake(
    "clip_grad_norm",
    {BELOW: "if total_norm == 0:"},
    says="Gradients below max_norm were scaled up. The factor is at most 1: min(1, max_norm / total_norm).",
)
norms_added = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = float(sum(grad.double().norm().item() for grad in grads))"},
    says="The norms of the tensors were added up. Their squares add up, then the root: the norm of everything in one "
    "row.",
)
largest_norm = mistake(
    "clip_grad_norm",
    {BELOW: f"total_norm = max((grad.double().norm().item() for grad in grads), default=0.0)\n{BELOW}"},
    says="This is the largest of the tensors' norms. All entries count together.",
)
norm_halved = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = sum(grad.double().square().sum().item() for grad in grads) ** 1 / 2"},
    says=POWER_OF_ONE,
)
mean_squares = mistake(
    "clip_grad_norm",
    {TOTAL: TOTAL.replace(".square().sum()", ".square().mean()")},
    says="The mean of each tensor's squares was taken. The norm has the sum of all squares.",
)
factor_upside_down = mistake(
    "clip_grad_norm",
    {CLIPPED: CLIPPED.replace("max_norm / total_norm", "total_norm / max_norm")},
    says="The factor is upside down, and gradients that are too large become larger: max_norm / total_norm.",
)
squared_norm = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = float(sum(grad.double().square().sum().item() for grad in grads))"},
    says="The norm is squared. Take the root of the sum of squares.",
)
norm_afterwards = mistake(
    "clip_grad_norm",
    {CLIPPED: "return [grad * (max_norm / total_norm) for grad in grads], max_norm"},
    says="total_norm is the norm after clipping. The one before is asked: it says how large the gradients were.",
)
clipped_in_place = mistake(
    "clip_grad_norm",
    {CLIPPED: "for grad in grads:\n    grad.mul_(max_norm / total_norm)\nreturn grads, total_norm"},
    says="The gradients were scaled in place. Return new tensors: grad * factor, not grad.mul_(factor).",
)
norm_in_the_dtype_of_the_gradients = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = math.sqrt(sum(grad.square().sum().item() for grad in grads))"},
    says=NORM_NOT_IN_FLOAT64,
)
norm_method_of_the_gradients = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = math.hypot(*[grad.norm().item() for grad in grads])"},
    says=NORM_NOT_IN_FLOAT64,
)
clipped_in_float64 = mistake(
    "clip_grad_norm",
    {
        UNCLIPPED: "return [grad.double() for grad in grads], total_norm",
        CLIPPED: "return [grad.double() * (max_norm / total_norm) for grad in grads], total_norm",
    },
    says="The clipped gradients are float64. Take the norm in float64 and scale the gradient itself: it keeps its "
    "dtype.",
)
divided_by_zero = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "",
        CLIPPED: "return [grad / total_norm * min(total_norm, max_norm) for grad in grads], total_norm",
    },
    says=DIVIDED_BY_ZERO,
)
division_that_raises = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "factor = min(1.0, max_norm / total_norm)",
        CLIPPED: "return [grad * factor for grad in grads], total_norm",
    },
    says=DIVIDED_BY_ZERO,
)
not_finite_let_through = mistake(
    "clip_grad_norm",
    {f"{NOT_FINITE}\n{NO_DIRECTION}": ""},
    says="A norm that is inf or nan went through: the clipped gradients are then 0 or nan, and training goes on with "
    "them. It is a ValueError.",
)
inf_let_through = mistake(
    "clip_grad_norm",
    {NOT_FINITE: "if math.isnan(total_norm):"},
    says="nan was found, inf was not. math.isfinite knows both.",
)
nan_norm_let_through = mistake(
    "clip_grad_norm",
    {NOT_FINITE: "if total_norm == math.inf:"},
    says="inf was found, nan was not: nan == inf is False. math.isfinite knows both.",
)
empty_list_refused = mistake(
    "clip_grad_norm",
    {NOT_FINITE: "if not grads or not math.isfinite(total_norm):"},
    says="An empty list was refused. Its norm is 0.0, and there is nothing to clip: ([], 0.0).",
)
results_swapped = mistake(
    "clip_grad_norm",
    {
        UNCLIPPED: "return total_norm, list(grads)",
        CLIPPED: "return total_norm, [grad * (max_norm / total_norm) for grad in grads]",
    },
    says="The two results are in the wrong order: (clipped, total_norm).",
)
norm_not_returned = mistake(
    "clip_grad_norm",
    {UNCLIPPED: "return list(grads)", CLIPPED: "return [grad * (max_norm / total_norm) for grad in grads]"},
    says="Only the gradients were returned. The norm before clipping comes with them.",
)


# dead_relu_fraction


DEAD = "dead.append((output == 0).all(dim=0))"
RELUS = "relus = [module for module in model.modules() if isinstance(module, torch.nn.ReLU)]"
HOOKS = "hooks = [relu.register_forward_hook(look) for relu in relus]"
RUN = "with torch.no_grad():\n    model(X)"
REMOVE = "for hook in hooks:\n    hook.remove()"
RUN_AND_REMOVE = f"try:\n{RUN}\nfinally:\n{REMOVE}"
SHARE = "return torch.cat(dead).double().mean().item() if dead else 0.0"

share_of_zeros = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).flatten())"},
    says="This is the share of zeros. ReLU gives many; a unit is dead only if it is 0 on every row: all over the rows, "
    "then the mean over the units.",
)
zero_on_any_row = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).any(dim=0))"},
    says="A unit that is 0 on some row was counted. Dead means 0 on every row: all, not any.",
)
rows_for_units = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).all(dim=1))"},
    says="This looks for rows on which all units are 0. A unit is a column: all over dim 0.",
)
mean_of_the_layers = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).all(dim=0).double().mean(dim=0, keepdim=True))"},
    says="This is the mean of the layers' shares. Units count alike, wherever they are: all dead units by all units.",
)
share_of_the_living = mistake(
    "dead_relu_fraction",
    {SHARE: "return 1 - torch.cat(dead).double().mean().item() if dead else 0.0"},
    says="This is the share of the units that are alive. One minus it is asked.",
)
divided_by_the_rows = mistake(
    "dead_relu_fraction",
    {
        DEAD: "dead.append((output == 0).all(dim=0))\nrows.append(len(output))",
        "dead = []": "dead, rows = [], []",
        SHARE: "return torch.cat(dead).sum().item() / sum(rows) if dead else 0.0",
    },
    says="The dead units were divided by the number of rows. Divide by the number of units: output.shape[1].",
)
number_of_dead_units = mistake(
    "dead_relu_fraction",
    {SHARE: "return float(torch.cat(dead).sum().item()) if dead else 0.0"},
    says="This is how many units are dead. Divide by how many there are.",
)
last_relu_only = mistake(
    "dead_relu_fraction",
    {SHARE: "return dead[-1].double().mean().item() if dead else 0.0"},
    says="Only the last ReLU was looked at. All of them count.",
)
first_relu_only = mistake(
    "dead_relu_fraction",
    {SHARE: "return dead[0].double().mean().item() if dead else 0.0"},
    says="Only the first ReLU was looked at. All of them count.",
)
relus_of_the_children = mistake(
    "dead_relu_fraction",
    {RELUS: "relus = [module for module in model.children() if isinstance(module, torch.nn.ReLU)]"},
    says="children() finds the modules directly below the model. ReLUs inside of these are found by modules().",
)
one_output_per_module = mistake(
    "dead_relu_fraction",
    {
        "dead = []": "dead = {}",
        DEAD: "dead[module] = (output == 0).all(dim=0)",
        SHARE: "return torch.cat(list(dead.values())).double().mean().item() if dead else 0.0",
    },
    says="The outputs were kept by module, so that a ReLU that runs twice shows its last run only. Append to a list.",
)
looked_after_the_run = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append(output)", SHARE: f"dead = [(output == 0).all(dim=0) for output in dead]\n{SHARE}"},
    says="The outputs were looked at after the run, when the model had written into them (h += 1). Decide inside "
    "of the hook, or keep a copy.",
)
hooks_left = mistake(
    "dead_relu_fraction",
    {RUN_AND_REMOVE: RUN},
    says="The hooks are still on the model, and every later run of it goes through them. Keep what "
    "register_forward_hook returns and remove() it.",
)
hooks_left_when_it_raises = mistake(
    "dead_relu_fraction",
    {RUN_AND_REMOVE: f"{RUN}\n{REMOVE}"},
    says="When the model raises, the hooks stay: what removes them was not reached. Put it into a finally block.",
)
all_hooks_removed = mistake(
    "dead_relu_fraction",
    {REMOVE: "for relu in relus:\n    relu._forward_hooks.clear()"},
    says="All hooks of the ReLUs were removed, those of other people too. Remove the ones that you registered.",
)
exception_caught = mistake(
    "dead_relu_fraction",
    {"finally:": "except Exception:\n    return 0.0\nfinally:"},
    says="The model's exception was caught. It is not yours: let it pass, with the hooks removed on the way.",
)
dead_in_eval_mode = mistake(
    "dead_relu_fraction",
    {RELUS: f"model.eval()\n{RELUS}"},
    says="The model was switched to eval mode. Other units are dead there, and the caller finds the model changed: run "
    "it in the mode that it is in.",
)
eval_mode_and_back = mistake(
    "dead_relu_fraction",
    {"model(X)": "training = model.training\nmodel.eval()\nmodel(X)\nmodel.train(training)"},
    says="The model was switched to eval mode for the run, and back. Other units are dead there: run it in the "
    "mode that it is in.",
)
almost_zero = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output.abs() < 1e-4).all(dim=0))"},
    says="Units that are almost 0 were counted. Dead is exactly 0: a unit of 1e-6 has a gradient.",
)
mean_almost_zero = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append(output.mean(dim=0) < 1e-4)"},
    says="The mean over the rows was taken before comparing with a small number. A unit that is alive on one row has a "
    "small mean, too: exactly 0 on every row.",
)
no_relu_refused = mistake(
    "dead_relu_fraction",
    {SHARE: f'if not dead:\n    raise ValueError("no ReLU runs")\n{SHARE}'},
    says="A model in which no ReLU runs raised an exception. The share is 0.0 there.",
)
nan_without_relus = mistake(
    "dead_relu_fraction",
    {SHARE: "return torch.cat(dead).double().mean().item() if dead else math.nan"},
    says="0 by 0 units is nan here. Where no ReLU runs the share is 0.0.",
)
negative_linears = mistake(
    "dead_relu_fraction",
    {
        DEAD: "dead.append((output <= 0).all(dim=0))",
        HOOKS: """\
linears = [module for module in model.modules() if isinstance(module, torch.nn.Linear)][:-1]
hooks = [linear.register_forward_hook(look) for linear in linears if relus]""",
    },
    says="The outputs of the Linears were looked at. What is behind the nn.ReLU modules counts; others may stand "
    "between.",
)
