"""Wrong answers to ch09_vanishing_gradients that learners write."""

from __future__ import annotations

import itertools
import math
import statistics

import torch

from autograder.diagnosis import misconception

# layer_gradient_norms


def _linears(model):
    return [module for module in model.modules() if isinstance(module, torch.nn.Linear)]


def _gradients(model, X, y, parameters):
    """What is right, for the mistakes that are elsewhere."""
    return torch.autograd.grad(torch.nn.functional.cross_entropy(model(X), y), parameters)


def _weight_gradients(model, X, y):
    return _gradients(model, X, y, [linear.weight for linear in _linears(model)])


@misconception(
    "layer_gradient_norms",
    says="The norm was taken in float32: the square of 1e-27 is 0.0 there, so a gradient that is not zero prints as "
    "0.0. Convert before the norm: gradient.double().norm().",
)
def norm_in_float32(model, X, y):
    return [gradient.norm().item() for gradient in _weight_gradients(model, X, y)]


@misconception(
    "layer_gradient_norms",
    says="backward() adds to what is in .grad, from the call before or from the caller. torch.autograd.grad returns "
    "the gradients and leaves .grad alone.",
)
def added_to_grad(model, X, y):
    torch.nn.functional.cross_entropy(model(X), y).backward()
    return [linear.weight.grad.double().norm().item() for linear in _linears(model)]


@misconception(
    "layer_gradient_norms",
    says="The norms are right, but the .grad that the caller had is gone: zero_grad(), before or after, and backward() "
    "write into it. torch.autograd.grad does not.",
)
def grad_of_the_caller_overwritten(model, X, y):
    model.zero_grad()
    torch.nn.functional.cross_entropy(model(X), y).backward()
    return [linear.weight.grad.double().norm().item() for linear in _linears(model)]


@misconception(
    "layer_gradient_norms",
    says="Biases have a norm of their own in the list. One number for each Linear is asked: its weight's.",
)
def biases_in_the_list(model, X, y):
    parameters = [parameter for linear in _linears(model) for parameter in linear.parameters()]
    return [gradient.double().norm().item() for gradient in _gradients(model, X, y, parameters)]


@misconception(
    "layer_gradient_norms",
    says="Every parameter of the model is in the list. Only the weights of the nn.Linear modules count.",
)
def every_parameter(model, X, y):
    gradients = _gradients(model, X, y, list(model.parameters()))
    return [gradient.double().norm().item() for gradient in gradients]


@misconception(
    "layer_gradient_norms",
    says="The bias's gradient is part of the norm. Only the weight's counts.",
)
def weight_and_bias_together(model, X, y):
    norms = iter(biases_in_the_list(model, X, y))
    return [math.hypot(weight, next(norms)) for weight in norms]


@misconception(
    "layer_gradient_norms",
    says="Everything that is called weight was taken. LayerNorm, convolutions and others have weights, too: ask "
    "isinstance(module, torch.nn.Linear).",
)
def all_that_is_called_weight(model, X, y):
    weights = [parameter for name, parameter in model.named_parameters() if name.endswith("weight")]
    return [gradient.double().norm().item() for gradient in _gradients(model, X, y, weights)]


@misconception(
    "layer_gradient_norms",
    says="Everything with more than one dimension was taken for a Linear's weight. A convolution's has three: ask "
    "isinstance(module, torch.nn.Linear).",
)
def more_than_one_dimension(model, X, y):
    weights = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    return [gradient.double().norm().item() for gradient in _gradients(model, X, y, weights)]


@misconception(
    "layer_gradient_norms",
    says="A Linear that the model holds under two names is in the list twice. modules() finds it once.",
)
def every_name_of_a_linear(model, X, y):
    linears = [m for _, m in model.named_modules(remove_duplicate=False) if isinstance(m, torch.nn.Linear)]
    gradients = _gradients(model, X, y, [linear.weight for linear in linears])
    return [gradient.double().norm().item() for gradient in gradients]


@misconception(
    "layer_gradient_norms",
    says="children() finds the modules directly below the model. modules() goes into them and begins with the model "
    "itself.",
)
def children_only(model, X, y):
    linears = [module for module in model.children() if isinstance(module, torch.nn.Linear)]
    gradients = _gradients(model, X, y, [linear.weight for linear in linears])
    return [gradient.double().norm().item() for gradient in gradients]


@misconception(
    "layer_gradient_norms", says="The list begins with the last layer. First to last, as modules() has them."
)
def last_to_first(model, X, y):
    return [gradient.double().norm().item() for gradient in _weight_gradients(model, X, y)][::-1]


@misconception(
    "layer_gradient_norms",
    says="The Linears are in the order in which they run. The order of modules() is asked, in which they were "
    "assigned.",
)
def order_of_execution(model, X, y):
    order: list[torch.nn.Linear] = []

    def note(module, inputs):
        if module not in order:
            order.append(module)

    hooks = [linear.register_forward_pre_hook(note) for linear in _linears(model)]
    loss = torch.nn.functional.cross_entropy(model(X), y)
    for hook in hooks:
        hook.remove()
    gradients = torch.autograd.grad(loss, [linear.weight for linear in order])
    return [gradient.double().norm().item() for gradient in gradients]


@misconception("layer_gradient_norms", says="These are the norms of the weights. Their gradients' norms are asked.")
def norms_of_the_weights(model, X, y):
    return [linear.weight.detach().double().norm().item() for linear in _linears(model)]


@misconception(
    "layer_gradient_norms",
    says="The losses of the batch were added up. cross_entropy's mean, its default, is asked.",
)
def sum_over_the_batch(model, X, y):
    loss = torch.nn.functional.cross_entropy(model(X), y, reduction="sum")
    gradients = torch.autograd.grad(loss, [linear.weight for linear in _linears(model)])
    return [gradient.double().norm().item() for gradient in gradients]


@misconception(
    "layer_gradient_norms",
    says="cross_entropy has the softmax in it: it takes logits. Another one in front of it flattens the loss.",
)
def softmax_twice(model, X, y):
    loss = torch.nn.functional.cross_entropy(model(X).softmax(dim=1), y)
    gradients = torch.autograd.grad(loss, [linear.weight for linear in _linears(model)])
    return [gradient.double().norm().item() for gradient in gradients]


@misconception("layer_gradient_norms", says="These are squared norms. The square root is missing.")
def squared_norms(model, X, y):
    return [gradient.double().square().sum().item() for gradient in _weight_gradients(model, X, y)]


@misconception("layer_gradient_norms", says="This is the mean of |dL/dW|. The root of the sum of squares is asked.")
def mean_of_magnitudes(model, X, y):
    return [gradient.double().abs().mean().item() for gradient in _weight_gradients(model, X, y)]


@misconception(
    "layer_gradient_norms",
    says="This is the root of the mean of the squares: the norm divided by the root of the number of entries. Their "
    "sum is asked.",
)
def root_mean_square(model, X, y):
    return [gradient.double().square().mean().sqrt().item() for gradient in _weight_gradients(model, X, y)]


@misconception("layer_gradient_norms", says="This is the largest entry. The root of the sum of squares is asked.")
def largest_entry(model, X, y):
    return [gradient.double().abs().max().item() for gradient in _weight_gradients(model, X, y)]


@misconception(
    "layer_gradient_norms",
    says="This is the spectral norm, the largest singular value. The Frobenius norm is asked: all entries squared, "
    "added, and the root.",
)
def spectral_norm(model, X, y):
    return [torch.linalg.matrix_norm(gradient.double(), ord=2).item() for gradient in _weight_gradients(model, X, y)]


@misconception(
    "layer_gradient_norms",
    says="The model was switched to eval mode: BatchNorm then uses other statistics, and the caller finds the model "
    "changed. Run it in the mode that it is in.",
)
def switched_to_eval(model, X, y):
    model.eval()
    return [gradient.double().norm().item() for gradient in _weight_gradients(model, X, y)]


@misconception(
    "layer_gradient_norms",
    says="The model was switched to train mode: BatchNorm then uses other statistics, and the caller finds the model "
    "changed. Run it in the mode that it is in.",
)
def switched_to_train(model, X, y):
    model.train()
    return [gradient.double().norm().item() for gradient in _weight_gradients(model, X, y)]


@misconception(
    "layer_gradient_norms",
    says="model.double() converts the caller's own model. Convert the gradients, one by one, or a copy.",
)
def model_converted(model, X, y):
    model.double()
    return [gradient.norm().item() for gradient in _weight_gradients(model, X.double(), y)]


# decay_per_layer


def _refuse(norms):
    """What is right, for the mistakes that are elsewhere."""
    if len(norms) < 2 or not all(0 < norm < math.inf for norm in norms):
        raise ValueError("two or more positive, finite norms expected")


def _log_ratios(norms):
    return [math.log(one) - math.log(following) for one, following in itertools.pairwise(norms)]


@misconception(
    "decay_per_layer",
    says="The ratios are upside down: this is norms[i + 1] / norms[i]. With norms[i] / norms[i + 1] the factor is "
    "below 1 where the gradient vanishes towards the first layer.",
)
def upside_down(norms):
    _refuse(norms)
    return math.exp(-statistics.fmean(_log_ratios(norms)))


@misconception(
    "decay_per_layer",
    says="This is the arithmetic mean of the ratios. Factors multiply: the geometric mean is asked, the root of their "
    "product.",
)
def arithmetic_mean(norms):
    _refuse(norms)
    return statistics.fmean(math.exp(min(ratio, 700.0)) for ratio in _log_ratios(norms))


@misconception(
    "decay_per_layer",
    says="n norms have n − 1 ratios between them: the root is the (n − 1)-th, not the n-th.",
)
def root_of_n(norms):
    _refuse(norms)
    return math.exp(sum(_log_ratios(norms)) / len(norms))


@misconception(
    "decay_per_layer",
    says="n norms have n − 1 ratios between them: the root is the (n − 1)-th, not the n-th. And the first norm over "
    "the last can be too small or too large for a float: subtract logarithms.",
)
def root_of_n_of_the_quotient(norms):
    _refuse(norms)
    return (norms[0] / norms[-1]) ** (1 / len(norms))


@misconception(
    "decay_per_layer",
    says="This is the whole change from the last layer to the first. The factor per layer is its (n − 1)-th root.",
)
def no_root(norms):
    _refuse(norms)
    return math.exp(min(sum(_log_ratios(norms)), 700.0))


@misconception(
    "decay_per_layer",
    says="This is the (n − 1)-th part of the whole change. Factors multiply, so it is the (n − 1)-th root.",
)
def divided_instead_of_rooted(norms):
    _refuse(norms)
    return math.exp(min(sum(_log_ratios(norms)), 700.0)) / (len(norms) - 1)


@misconception("decay_per_layer", says="This is the mean of the logarithms. Take exp of it.")
def no_exp(norms):
    _refuse(norms)
    return statistics.fmean(_log_ratios(norms))


@misconception(
    "decay_per_layer", says="The logarithms are to base 10 and exp undoes those to base e. Use one base for both."
)
def two_bases(norms):
    _refuse(norms)
    return math.exp(sum(_log_ratios(norms)) / math.log(10) / (len(norms) - 1))


@misconception(
    "decay_per_layer",
    says="The product of all ratios, which is the first norm over the last, can be too small or too large for a float "
    "although the factor per layer is not. Subtract logarithms, divide by n − 1, then exp.",
)
def quotient_first(norms):
    _refuse(norms)
    return (norms[0] / norms[-1]) ** (1 / (len(norms) - 1))


@misconception(
    "decay_per_layer",
    says="Two things are missing. The first norm over the last can be too small or too large for a float although the "
    "factor per layer is not: subtract logarithms. And norms that have no ratio are a ValueError.",
)
def quotient_without_a_look_at_the_norms(norms):
    return (norms[0] / norms[-1]) ** (1 / (len(norms) - 1))


@misconception(
    "decay_per_layer",
    says="A small number was added to the norms against division by 0. It hides what is to be seen: gradients of "
    "1e-27. A norm of 0 is a ValueError.",
)
def small_number_added(norms):
    _refuse(norms)
    return math.exp((math.log(norms[0] + 1e-12) - math.log(norms[-1] + 1e-12)) / (len(norms) - 1))


@misconception("decay_per_layer", says="Only the first two layers were compared. All n − 1 ratios count.")
def first_ratio_only(norms):
    _refuse(norms)
    return norms[0] / norms[1]


@misconception(
    "decay_per_layer", says="This is the median of the ratios. The geometric mean is asked, the root of their product."
)
def median_of_ratios(norms):
    _refuse(norms)
    return math.exp(statistics.median(_log_ratios(norms)))


@misconception(
    "decay_per_layer",
    says="The largest norm was compared with the smallest. The first layer and the last are meant: a gradient that "
    "explodes has to give more than 1.",
)
def smallest_over_largest(norms):
    _refuse(norms)
    return math.exp((math.log(min(norms)) - math.log(max(norms))) / (len(norms) - 1))


@misconception(
    "decay_per_layer",
    says="Norms that have no ratio went through. Fewer than two norms, and any that is 0, negative, inf or nan, are a "
    "ValueError: look at all of them.",
)
def only_the_ends_refused(norms):
    if len(norms) < 2 or not (0 < norms[0] < math.inf and 0 < norms[-1] < math.inf):
        raise ValueError
    return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))


@misconception(
    "decay_per_layer",
    says="Zeros were left out. A norm of 0 has no ratio and is a ValueError; most often it is a square that "
    "underflowed.",
)
def zeros_left_out(norms):
    _refuse([norm for norm in norms if norm != 0])
    kept = [norm for norm in norms if norm != 0]
    return math.exp((math.log(kept[0]) - math.log(kept[-1])) / (len(kept) - 1))


@misconception(
    "decay_per_layer",
    says="A norm of 0 gave the factor 0. It has no ratio to its neighbours: that is a ValueError.",
)
def zero_for_a_zero(norms):
    if any(norm == 0 for norm in norms):
        return 0.0
    _refuse(norms)
    return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))


@misconception(
    "decay_per_layer",
    says="nan and inf went through: nan <= 0 is False, and so is inf <= 0. Ask for what is wanted, 0 < norm < "
    "math.inf.",
)
def nan_let_through(norms):
    if len(norms) < 2 or any(norm <= 0 for norm in norms):
        raise ValueError
    return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))


@misconception(
    "decay_per_layer", says="A single norm gave 1. It has no neighbour and so no ratio: that is a ValueError."
)
def one_for_a_single_norm(norms):
    if len(norms) == 1 and 0 < norms[0] < math.inf:
        return 1.0
    _refuse(norms)
    return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))


# xavier_std


@misconception("xavier_std", says="This is the variance, 2 / (fan_in + fan_out). The standard deviation is its root.")
def xavier_variance(fan_in, fan_out):
    return 2 / (fan_in + fan_out)


@misconception(
    "xavier_std",
    says="This is the bound of the uniform distribution, sqrt(6 / (fan_in + fan_out)). Its standard deviation is the "
    "bound over sqrt(3).",
)
def xavier_uniform_bound(fan_in, fan_out):
    return math.sqrt(6 / (fan_in + fan_out))


@misconception(
    "xavier_std", says="The 2 is missing: one over the mean of the fans is 2 / (fan_in + fan_out), under the root."
)
def one_over_the_sum(fan_in, fan_out):
    return math.sqrt(1 / (fan_in + fan_out))


@misconception("xavier_std", says="This is 1/sqrt(fan_in), LeCun's. Xavier takes both fans, for the way back as well.")
def xavier_of_fan_in_alone(fan_in, fan_out):
    return math.sqrt(1 / fan_in)


@misconception("xavier_std", says="This is He's sqrt(2 / fan_in). Xavier's has the sum of both fans below the 2.")
def he_for_xavier(fan_in, fan_out):
    return math.sqrt(2 / fan_in)


@misconception("xavier_std", says="The 2 is outside of the root: sqrt(2 / (fan_in + fan_out)) has it inside.")
def two_outside_the_root(fan_in, fan_out):
    return 2 / math.sqrt(fan_in + fan_out)


@misconception("xavier_std", says="The fans were multiplied. Their mean is (fan_in + fan_out) / 2.")
def product_of_fans(fan_in, fan_out):
    return 1 / math.sqrt(fan_in * fan_out)


@misconception(
    "xavier_std", says="The mean was taken of 1/fan_in and 1/fan_out. One over the mean of the fans is asked."
)
def mean_of_the_variances(fan_in, fan_out):
    return math.sqrt((1 / fan_in + 1 / fan_out) / 2)


@misconception("xavier_std", says="`//` throws the fraction away: 2 // (fan_in + fan_out) is 0. Use `/`.")
def xavier_whole_numbers(fan_in, fan_out):
    return math.sqrt(2 // (fan_in + fan_out))


@misconception(
    "xavier_std",
    says="`//` throws the half away: the mean of an odd number of fans, (fan_in + fan_out) / 2, is no whole number. "
    "Use `/`.",
)
def xavier_whole_mean(fan_in, fan_out):
    return math.sqrt(1 / ((fan_in + fan_out) // 2))


@misconception("xavier_std", says="There is a gain in it, 5/3 for tanh. Without a gain is asked.")
def xavier_with_a_gain(fan_in, fan_out):
    return 5 / 3 * math.sqrt(2 / (fan_in + fan_out))


# he_std


@misconception("he_std", says="This is the variance, 2 / fan_in. The standard deviation is its root.")
def he_variance(fan_in):
    return 2 / fan_in


@misconception(
    "he_std", says="This is 1/sqrt(fan_in). ReLU throws half of the mean square away: the variance is 2 / fan_in."
)
def without_the_two(fan_in):
    return math.sqrt(1 / fan_in)


@misconception(
    "he_std",
    says="This is the bound of the uniform distribution, sqrt(6 / fan_in). The standard deviation is sqrt(2 / fan_in).",
)
def he_uniform_bound(fan_in):
    return math.sqrt(6 / fan_in)


@misconception("he_std", says="The 2 is outside of the root: sqrt(2 / fan_in) has it inside.")
def he_two_outside(fan_in):
    return 2 / math.sqrt(fan_in)


@misconception("he_std", says="fan_in is outside of the root: sqrt(2 / fan_in) has it inside.")
def he_fan_outside(fan_in):
    return math.sqrt(2) / fan_in


@misconception("he_std", says="The fraction is upside down: sqrt(2 / fan_in), smaller the more inputs there are.")
def he_upside_down(fan_in):
    return math.sqrt(fan_in / 2)


@misconception("he_std", says="`//` throws the fraction away: 2 // fan_in is 0 from 3 on. Use `/`.")
def he_whole_numbers(fan_in):
    return math.sqrt(2 // fan_in)


@misconception(
    "he_std",
    says="This is what torch.nn.Linear does by default, 1/sqrt(3 fan_in): its call of kaiming_uniform_ has a = "
    "sqrt(5), which is not He's. The variance is 2 / fan_in.",
)
def default_of_linear(fan_in):
    return math.sqrt(1 / (3 * fan_in))


@misconception("he_std", says="The 2 is below the line: ½ fan_in is what ReLU leaves, and one over it is 2 / fan_in.")
def half_the_wrong_way(fan_in):
    return math.sqrt(1 / (2 * fan_in))


# make_mlp

_ACTIVATIONS = {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}


class _Residual(torch.nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def _refuse_options(activation, init):
    """What is right, for the mistakes that are elsewhere."""
    if activation not in _ACTIVATIONS or init not in ("default", "xavier", "he"):
        raise ValueError


def _std(init, fan_in, fan_out):
    return math.sqrt(2 / (fan_in + fan_out)) if init == "xavier" else math.sqrt(2 / fan_in)


def _initialise(model, init, std=_std, bias=0.0):
    if init != "default":
        for linear in _linears(model):
            torch.nn.init.normal_(linear.weight, std=std(init, linear.in_features, linear.out_features))
            if bias is not None and linear.bias is not None:
                torch.nn.init.constant_(linear.bias, bias)
    return model


def _blocks(depth, width, activation, residual, norm, kind=None):
    kind = kind or (_Residual if residual else torch.nn.Sequential)
    found = []
    for _ in range(depth):
        norms = [torch.nn.BatchNorm1d(width)] if norm else []
        found.append(kind(torch.nn.Linear(width, width), *norms, _ACTIVATIONS[activation]()))
    return found


def _with_blocks(n_in, n_out, width, blocks):
    return torch.nn.Sequential(torch.nn.Linear(n_in, width), *blocks, torch.nn.Linear(width, n_out))


def _right(n_in, n_out, depth, width, activation, init, residual, norm, std=_std, bias=0.0):
    _refuse_options(activation, init)
    model = _with_blocks(n_in, n_out, width, _blocks(depth, width, activation, residual, norm))
    return _initialise(model, init, std, bias)


@misconception(
    "make_mlp",
    says="There is one block too few: `depth` counts the hidden blocks alone, without the input layer.",
)
def input_layer_counted(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    return _right(n_in, n_out, depth - 1, width, activation, init, residual, norm)


@misconception(
    "make_mlp",
    says="The list has `depth` times the same block in it, and all layers share their weights. Build each anew, in a "
    "loop or a comprehension.",
)
def the_same_block_again(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    blocks = _blocks(1, width, activation, residual, norm) * depth
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


class _PlainList(torch.nn.Module):
    def __init__(self, n_in, n_out, width, blocks):
        super().__init__()
        self.first = torch.nn.Linear(n_in, width)
        self.blocks = list(blocks)
        self.last = torch.nn.Linear(width, n_out)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


@misconception(
    "make_mlp",
    says="The blocks are in a plain Python list, which modules() and parameters() do not look into: nothing in them "
    "would be trained. Use nn.ModuleList or nn.Sequential.",
)
def blocks_in_a_plain_list(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    model = _PlainList(n_in, n_out, width, _blocks(depth, width, activation, residual, norm))
    return _initialise(model, init)


@misconception(
    "make_mlp",
    says="An activation comes after the input layer, too. It is in the hidden blocks only.",
)
def activation_after_the_input_layer(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    blocks = [_ACTIVATIONS[activation](), *_blocks(depth, width, activation, residual, norm)]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception(
    "make_mlp",
    says="An activation comes after the output layer, too. The results are logits: the last Linear has nothing "
    "after it.",
)
def activation_after_the_output_layer(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    model = _right(n_in, n_out, depth, width, activation, init, residual, norm)
    return model.append(_ACTIVATIONS[activation]())


@misconception(
    "make_mlp",
    says="There is a softmax at the end. The results are logits: cross_entropy has the softmax in it.",
)
def softmax_at_the_end(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    return _right(n_in, n_out, depth, width, activation, init, residual, norm).append(torch.nn.Softmax(dim=1))


class _AddsBeforeTheActivation(torch.nn.Sequential):
    def forward(self, x):
        *before, activation = self
        h = x
        for module in before:
            h = module(h)
        return activation(x + h)


@misconception(
    "make_mlp",
    says="x is added before the activation, so it does not get past it. The block gives x + f(x), with the activation "
    "in f.",
)
def added_before_the_activation(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    kind = _AddsBeforeTheActivation if residual else None
    blocks = _blocks(depth, width, activation, residual, norm, kind)
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


class _FromTheStart(torch.nn.Module):
    def __init__(self, n_in, n_out, width, blocks):
        super().__init__()
        self.first = torch.nn.Linear(n_in, width)
        self.blocks = torch.nn.ModuleList(blocks)
        self.last = torch.nn.Linear(width, n_out)

    def forward(self, x):
        start = h = self.first(x)
        for block in self.blocks:
            h = start + block(h)
        return self.last(h)


@misconception(
    "make_mlp",
    says="Every block adds what came out of the input layer. A residual connection adds the block's own input.",
)
def adds_the_first_x(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    if not residual:
        return _right(n_in, n_out, depth, width, activation, init, residual, norm)
    blocks = _blocks(depth, width, activation, False, norm)
    return _initialise(_FromTheStart(n_in, n_out, width, blocks), init)


@misconception(
    "make_mlp",
    says="One connection leads around all blocks together. Each block adds its own input.",
)
def one_skip_around_everything(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    blocks = _blocks(depth, width, activation, False, norm)
    if residual:
        blocks = [_Residual(*blocks)]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


class _DetachedSkip(torch.nn.Sequential):
    def forward(self, x):
        return x.detach() + super().forward(x)


@misconception(
    "make_mlp",
    says="The outputs are right, and the gradient does not go back through x: it is detached in x + f(x), where it is "
    "needed most.",
)
def detached_skip(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    blocks = _blocks(depth, width, activation, residual, norm, _DetachedSkip if residual else None)
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception("make_mlp", says="`residual` changes nothing. With it a block gives x + f(x).")
def residual_ignored(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, width, activation, init, False, norm)


@misconception("make_mlp", says="The blocks add their input without being asked: `residual` is False by default.")
def always_residual(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, width, activation, init, True, norm)


@misconception("make_mlp", says="`norm` changes nothing. With it each block has a BatchNorm1d(width).")
def norm_ignored(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, width, activation, init, residual, False)


@misconception(
    "make_mlp",
    says="BatchNorm comes after the activation. It stands between the Linear and the activation.",
)
def norm_after_the_activation(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    kind = _Residual if residual else torch.nn.Sequential
    blocks = [
        kind(
            torch.nn.Linear(width, width),
            _ACTIVATIONS[activation](),
            *([torch.nn.BatchNorm1d(width)] if norm else []),
        )
        for _ in range(depth)
    ]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception(
    "make_mlp",
    says="BatchNorm comes before the Linear. It stands between the Linear and the activation.",
)
def norm_before_the_linear(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    kind = _Residual if residual else torch.nn.Sequential
    blocks = [
        kind(
            *([torch.nn.BatchNorm1d(width)] if norm else []),
            torch.nn.Linear(width, width),
            _ACTIVATIONS[activation](),
        )
        for _ in range(depth)
    ]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception(
    "make_mlp",
    says="This is LayerNorm, which normalises each row by itself. BatchNorm1d is asked.",
)
def layernorm_for_batchnorm(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    kind = _Residual if residual else torch.nn.Sequential
    blocks = [
        kind(
            torch.nn.Linear(width, width),
            *([torch.nn.LayerNorm(width)] if norm else []),
            _ACTIVATIONS[activation](),
        )
        for _ in range(depth)
    ]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception(
    "make_mlp",
    says="One BatchNorm1d stands after all blocks. Each block has its own, between the Linear and the activation.",
)
def one_norm_for_all(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    blocks = _blocks(depth, width, activation, residual, False)
    blocks += [torch.nn.BatchNorm1d(width)] if norm else []
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception("make_mlp", says="The hidden Linears have no bias. All Linears have one, also before a BatchNorm.")
def no_bias(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    kind = _Residual if residual else torch.nn.Sequential
    blocks = [
        kind(
            torch.nn.Linear(width, width, bias=False),
            *([torch.nn.BatchNorm1d(width)] if norm else []),
            _ACTIVATIONS[activation](),
        )
        for _ in range(depth)
    ]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


class _Function(torch.nn.Module):
    """An activation that is no module of its own."""

    def __init__(self, name):
        super().__init__()
        self.function = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[name]

    def forward(self, x):
        return self.function(x)


@misconception(
    "make_mlp",
    says="The activation is a function call in forward, which modules() cannot find. Give each block a torch.nn.ReLU() "
    "or the like.",
)
def activations_as_functions(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    kind = _Residual if residual else torch.nn.Sequential
    blocks = [
        kind(
            torch.nn.Linear(width, width),
            *([torch.nn.BatchNorm1d(width)] if norm else []),
            _Function(activation),
        )
        for _ in range(depth)
    ]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception("make_mlp", says="One activation module is shared by all blocks. Each block has one of its own.")
def one_activation_for_all(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    kind = _Residual if residual else torch.nn.Sequential
    shared = _ACTIVATIONS[activation]()
    blocks = [
        kind(torch.nn.Linear(width, width), *([torch.nn.BatchNorm1d(width)] if norm else []), shared)
        for _ in range(depth)
    ]
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception("make_mlp", says="The activation is always sigmoid. `activation` says which one.")
def always_sigmoid(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    return _right(n_in, n_out, depth, width, "sigmoid", init, residual, norm)


@misconception("make_mlp", says="The hidden layers are always 64 wide. `width` says how wide.")
def width_ignored(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, 64, activation, init, residual, norm)


@misconception(
    "make_mlp",
    says="There is no output layer: the last block has to be followed by Linear(width, n_out).",
)
def no_output_layer(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, width, activation, init, residual, norm)[:-1]


@misconception("make_mlp", says="`init` changes nothing: these are the weights that torch.nn.Linear makes by itself.")
def init_ignored(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    return _right(n_in, n_out, depth, width, activation, "default", residual, norm)


@misconception(
    "make_mlp",
    says="Without being asked, the weights are those of Xavier. init='default' leaves them as torch.nn.Linear makes "
    "them.",
)
def xavier_by_default(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    return _right(n_in, n_out, depth, width, activation, "he" if init == "he" else "xavier", residual, norm)


@misconception("make_mlp", says="Xavier and He are swapped.")
def xavier_and_he_swapped(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    other = {"default": "default", "xavier": "he", "he": "xavier"}[init]
    return _right(n_in, n_out, depth, width, activation, other, residual, norm)


@misconception(
    "make_mlp",
    says="The variance was given for the standard deviation: normal_(weight, 0, std) takes the root.",
)
def variance_for_std(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(
        n_in, n_out, depth, width, activation, init, residual, norm, std=lambda *of: _std(*of) ** 2
    )  # fmt: skip


@misconception(
    "make_mlp",
    says="The standard deviation was taken for the bound of a uniform distribution: uniform up to ±b has the standard "
    "deviation b/sqrt(3), so the weights are too small by sqrt(3).",
)
def std_as_a_bound(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    model = _right(n_in, n_out, depth, width, activation, init, residual, norm)
    for linear in _linears(model) if init != "default" else []:
        bound = _std(init, linear.in_features, linear.out_features)
        torch.nn.init.uniform_(linear.weight, -bound, bound)
    return model


@misconception(
    "make_mlp",
    says="He's standard deviation is upside down, sqrt(fan_in / 2), so the signal explodes. It is sqrt(2 / fan_in).",
)
def he_weights_upside_down(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    return _right(
        n_in, n_out, depth, width, activation, init, residual, norm,
        std=lambda init, fan_in, fan_out: math.sqrt(fan_in / 2) if init == "he" else _std(init, fan_in, fan_out),
    )  # fmt: skip


@misconception(
    "make_mlp",
    says="weight.shape is (fan_out, fan_in), the outputs first. Fan_in and fan_out are swapped here, which He's "
    "initialisation notices.",
)
def fans_swapped(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(
        n_in, n_out, depth, width, activation, init, residual, norm,
        std=lambda init, fan_in, fan_out: _std(init, fan_out, fan_in),
    )  # fmt: skip


@misconception(
    "make_mlp",
    says="Every Linear got the standard deviation of a hidden layer. The first and the last one have fans of their "
    "own.",
)
def width_for_every_fan(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    return _right(
        n_in, n_out, depth, width, activation, init, residual, norm,
        std=lambda init, fan_in, fan_out: _std(init, width, width),
    )  # fmt: skip


@misconception(
    "make_mlp",
    says="Only the hidden Linears were initialised. The first and the last one are Linears, too.",
)
def hidden_layers_only(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    model = _right(n_in, n_out, depth, width, activation, "default", residual, norm)
    _refuse_options(activation, init)
    for block in list(model)[1:-1]:
        _initialise(block, init)
    return model


@misconception(
    "make_mlp",
    says="kaiming_uniform_ with a = sqrt(5) is what torch.nn.Linear does by default, 1/sqrt(3 fan_in). He's standard "
    "deviation is sqrt(2 / fan_in): leave `a` at 0.",
)
def he_as_linear_has_it(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    model = _right(n_in, n_out, depth, width, activation, init, residual, norm)
    for linear in _linears(model) if init == "he" else []:
        torch.nn.init.kaiming_uniform_(linear.weight, a=math.sqrt(5))
    return model


@misconception(
    "make_mlp",
    says="The gain of tanh, 5/3, is in Xavier's standard deviation. Without a gain is asked: xavier_std.",
)
def gain_of_tanh(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    def with_gain(init, fan_in, fan_out):
        gain = torch.nn.init.calculate_gain(activation) if init == "xavier" else 1.0
        return gain * _std(init, fan_in, fan_out)

    return _right(n_in, n_out, depth, width, activation, init, residual, norm, std=with_gain)


@misconception("make_mlp", says="With 'xavier' and 'he' the biases are 0: zeros_ was left out.")
def biases_left(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, width, activation, init, residual, norm, bias=None)


@misconception(
    "make_mlp",
    says="The generator is seeded in make_mlp, so that all networks are one and the same, and so is what the caller "
    "draws afterwards. Leave it alone.",
)
def seeded(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    torch.manual_seed(0)
    return _right(n_in, n_out, depth, width, activation, init, residual, norm)


@misconception(
    "make_mlp",
    says="The generator is seeded for each layer, so that all hidden layers have the same weights. Leave it alone.",
)
def seeded_for_each_layer(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    def same_again(*of):
        torch.manual_seed(1)
        return _std(*of)

    return _right(n_in, n_out, depth, width, activation, init, residual, norm, std=same_again)


@misconception(
    "make_mlp",
    says="An unknown activation gave another exception than ValueError, or none. Look at the options first.",
)
def key_error_for_an_activation(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    if activation not in _ACTIVATIONS:
        raise KeyError(activation)
    return _right(n_in, n_out, depth, width, activation, init, residual, norm)


@misconception("make_mlp", says="An unknown `init` went through as 'default'. It is a ValueError.")
def unknown_init_as_default(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    init = init if init in ("xavier", "he") else "default"
    return _right(n_in, n_out, depth, width, activation, init, residual, norm)


@misconception("make_mlp", says="An unknown activation was taken for ReLU. It is a ValueError.")
def else_relu(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    activation = activation if activation in ("sigmoid", "tanh") else "relu"
    return _right(n_in, n_out, depth, width, activation, init, residual, norm)


class _OutputFirst(torch.nn.Module):
    def __init__(self, n_in, n_out, width, blocks):
        super().__init__()
        self.first = torch.nn.Linear(n_in, width)
        self.last = torch.nn.Linear(width, n_out)
        self.blocks = torch.nn.Sequential(*blocks)

    def forward(self, x):
        return self.last(self.blocks(self.first(x)))


@misconception(
    "make_mlp",
    says="The output layer was made before the blocks: modules() lists modules in the order in which __init__ assigns "
    "them. Make it last.",
)
def output_layer_made_first(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    _refuse_options(activation, init)
    return _initialise(_OutputFirst(n_in, n_out, width, _blocks(depth, width, activation, residual, norm)), init)


@misconception(
    "make_mlp",
    says="n_in was taken as the width of the hidden layers. Linear(n_in, width) leads to `width`, and from there on "
    "n_in plays no part.",
)
def n_in_for_width(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    return _right(n_in, n_out, depth, n_in, activation, init, residual, norm)


class _InPlace(torch.nn.Sequential):
    def forward(self, x):
        x += super().forward(x)
        return x


@misconception(
    "make_mlp",
    says="`x += f(x)` writes over the x that the backward pass needs. Write x = x + f(x).",
)
def skip_in_place(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    _refuse_options(activation, init)
    blocks = _blocks(depth, width, activation, residual, norm, _InPlace if residual else None)
    return _initialise(_with_blocks(n_in, n_out, width, blocks), init)


@misconception(
    "make_mlp",
    says="The gain of the activation is in He's weights, 1 for sigmoid and 5/3 for tanh. init='he' is "
    "sqrt(2 / fan_in) for every activation.",
)
def gain_of_the_activation(
    n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False
):
    def with_gain(init, fan_in, fan_out):
        gain = torch.nn.init.calculate_gain(activation) / math.sqrt(2) if init == "he" else 1.0
        return gain * _std(init, fan_in, fan_out)

    return _right(n_in, n_out, depth, width, activation, init, residual, norm, std=with_gain)


# healthy_mlp


@misconception(
    "healthy_mlp",
    says="This is the sigmoid network that collapses. ReLU, residual connections and BatchNorm are asked, together.",
)
def the_sigmoid_network(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "sigmoid", "default", False, False)


@misconception(
    "healthy_mlp",
    says="ReLU alone does not cure it: with PyTorch's default weights each layer makes the gradient 0.43 times as "
    "large. Residual connections and BatchNorm are missing.",
)
def relu_alone(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "relu", "default", False, False)


@misconception(
    "healthy_mlp",
    says="ReLU with He's weights keeps the gradient, and little else: residual connections and BatchNorm are missing.",
)
def relu_and_he(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "relu", "he", False, False)


@misconception(
    "healthy_mlp",
    says="BatchNorm without residual connections makes gradients explode: 1.2 times as large with each layer, 200 "
    "times over 30. Add the block's input to what it gives.",
)
def no_residual(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "relu", "default", False, True)


@misconception(
    "healthy_mlp",
    says="Residual connections without BatchNorm: each block adds to the signal, which explodes on the way "
    "forward. Put a BatchNorm1d into every block.",
)
def no_norm(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "relu", "he", True, False)


@misconception(
    "healthy_mlp",
    says="Residual connections without BatchNorm: each block adds to the signal. Put a BatchNorm1d into every block.",
)
def no_norm_default_weights(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "relu", "default", True, False)


@misconception(
    "healthy_mlp",
    says="The activation is not ReLU. Residual connections and BatchNorm help sigmoid and others, too, but ReLU is "
    "asked.",
)
def sigmoid_with_the_rest(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "sigmoid", "default", True, True)


class _ForgetsItsNorm(torch.nn.Sequential):
    def forward(self, x):
        linear, _, relu = self
        return x + relu(linear(x))


@misconception(
    "healthy_mlp",
    says="The BatchNorm1d is made in __init__ and not called in forward. What is not called does nothing.",
)
def norm_never_called(n_in, n_out, depth=30, width=64):
    return _with_blocks(n_in, n_out, width, _blocks(depth, width, "relu", True, True, _ForgetsItsNorm))


@misconception(
    "healthy_mlp",
    says="This is LayerNorm, which normalises each row by itself. BatchNorm1d is asked.",
)
def healthy_layernorm(n_in, n_out, depth=30, width=64):
    blocks = [
        _Residual(torch.nn.Linear(width, width), torch.nn.LayerNorm(width), torch.nn.ReLU()) for _ in range(depth)
    ]
    return _with_blocks(n_in, n_out, width, blocks)


@misconception(
    "healthy_mlp",
    says="`x += f(x)` writes over the x that the backward pass needs. Write x = x + f(x).",
)
def healthy_in_place(n_in, n_out, depth=30, width=64):
    return _with_blocks(n_in, n_out, width, _blocks(depth, width, "relu", True, True, _InPlace))


class _AfterTheAddition(torch.nn.Sequential):
    def forward(self, x):
        linear, norm, relu = self
        return relu(x + norm(linear(x)))


@misconception(
    "healthy_mlp",
    says="ReLU or BatchNorm comes after the addition, and x does not get past it as it is. A block gives x + f(x), "
    "with both of them in f.",
)
def healthy_after_the_addition(n_in, n_out, depth=30, width=64):
    return _with_blocks(n_in, n_out, width, _blocks(depth, width, "relu", True, True, _AfterTheAddition))


@misconception(
    "healthy_mlp",
    says="`depth` and `width` are not passed on: the network is always 30 blocks deep and 64 wide.",
)
def depth_and_width_not_passed_on(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, 30, 64, "relu", "he", True, True)


@misconception(
    "healthy_mlp",
    says="The branches begin at 0, so their gradients are exactly 0 and have no ratio. Elsewhere that is an honest "
    "choice; for this exercise leave the BatchNorm weights as they are.",
)
def branches_begin_at_zero(n_in, n_out, depth=30, width=64):
    model = _right(n_in, n_out, depth, width, "relu", "he", True, True)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            torch.nn.init.zeros_(module.weight)
    return model


@misconception("healthy_mlp", says="There is a softmax at the end. Return logits: the loss has the softmax in it.")
def healthy_softmax(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, depth, width, "relu", "default", True, True).append(torch.nn.Softmax(dim=1))


@misconception(
    "healthy_mlp",
    says="One connection leads around all blocks together. Within them the gradient explodes as if there were "
    "none: each block adds its own input.",
)
def healthy_one_skip(n_in, n_out, depth=30, width=64):
    blocks = _blocks(depth, width, "relu", False, True)
    return _with_blocks(n_in, n_out, width, [_Residual(*blocks)])


@misconception(
    "healthy_mlp",
    says="Every block adds what came out of the input layer. A residual connection adds the block's own input: so the "
    "gradient has a way back past each block.",
)
def healthy_adds_the_first_x(n_in, n_out, depth=30, width=64):
    return _FromTheStart(n_in, n_out, width, _blocks(depth, width, "relu", False, True))


@misconception(
    "healthy_mlp",
    says="The blocks are in a plain Python list, which parameters() does not look into: no optimiser trains them. Use "
    "nn.ModuleList or nn.Sequential.",
)
def healthy_plain_list(n_in, n_out, depth=30, width=64):
    return _PlainList(n_in, n_out, width, _blocks(depth, width, "relu", True, True))


@misconception(
    "healthy_mlp",
    says="The network has fewer blocks than `depth` says. A shallow network is healthy, and not what is asked.",
)
def shallow(n_in, n_out, depth=30, width=64):
    return _right(n_in, n_out, min(depth, 3), width, "relu", "he", True, True)


@misconception(
    "healthy_mlp",
    says="The weights of the output layer are 0: at the start no gradient gets into the blocks at all.",
)
def output_layer_of_zeros(n_in, n_out, depth=30, width=64):
    model = _right(n_in, n_out, depth, width, "relu", "he", True, True)
    torch.nn.init.zeros_(model[-1].weight)
    return model


@misconception("healthy_mlp", says="One BatchNorm1d stands before the output. Every block needs its own.")
def healthy_one_norm(n_in, n_out, depth=30, width=64):
    blocks = _blocks(depth, width, "relu", True, False)
    return _with_blocks(n_in, n_out, width, [*blocks, torch.nn.BatchNorm1d(width)])


# clip_grad_norm


def _norm(grads):
    """What is right, for the mistakes that are elsewhere."""
    total = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if not math.isfinite(total):
        raise ValueError
    return total


@misconception(
    "clip_grad_norm",
    says="There is an epsilon in the denominator, as in PyTorch: the clipped norm is a little less than max_norm, and "
    "much less where the gradients are small. Leave it out.",
)
def epsilon_in_the_denominator(grads, max_norm):
    total = _norm(grads)
    return [grad * min(1.0, max_norm / (total + 1e-6)) for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="Each gradient was clipped by its own norm, which changes the direction of the step. One norm of all of them, "
    "one factor for all.",
)
def each_by_itself(grads, max_norm):
    clipped = [grad * (max_norm / own) if (own := _norm([grad])) > max_norm else grad for grad in grads]
    return clipped, _norm(grads)


@misconception(
    "clip_grad_norm",
    says="The entries were cut off at ±max_norm: that is clipping by value, and it changes the direction. Scale all of "
    "them by one factor.",
)
def clipped_by_value(grads, max_norm):
    return [grad.clamp(-max_norm, max_norm) for grad in grads], _norm(grads)


@misconception(
    "clip_grad_norm",
    says="Gradients below max_norm were scaled up. The factor is at most 1: min(1, max_norm / total_norm).",
)
def scaled_up(grads, max_norm):
    total = _norm(grads)
    return [grad * (max_norm / total) if total else grad for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="The norms of the tensors were added up. Their squares add up, then the root: the norm of everything in one "
    "row.",
)
def norms_added(grads, max_norm):
    total = sum(_norm([grad]) for grad in grads)
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], float(total)


@misconception("clip_grad_norm", says="This is the largest of the tensors' norms. All entries count together.")
def largest_norm(grads, max_norm):
    _norm(grads)
    total = max((_norm([grad]) for grad in grads), default=0.0)
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception("clip_grad_norm", says="The norm is squared. Take the root of the sum of squares.")
def squared_norm(grads, max_norm):
    total = _norm(grads) ** 2
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="total_norm is the norm after clipping. The one before is asked: it says how large the gradients were.",
)
def norm_afterwards(grads, max_norm):
    total = _norm(grads)
    clipped = [grad * (max_norm / total) if total > max_norm else grad for grad in grads]
    return clipped, min(total, max_norm)


@misconception(
    "clip_grad_norm",
    says="The gradients were scaled in place. Return new tensors: grad * factor, not grad.mul_(factor).",
)
def clipped_in_place(grads, max_norm):
    total = _norm(grads)
    for grad in grads if total > max_norm else []:
        grad.mul_(max_norm / total)
    return grads, total


@misconception(
    "clip_grad_norm",
    says="The norm was taken in float32 (or float16): squares of 1e-27 are 0 there, and those of 1e30 are inf. Convert "
    "first, grad.double().",
)
def norm_in_the_dtype_of_the_gradients(grads, max_norm):
    total = math.sqrt(sum(grad.square().sum().item() for grad in grads))
    if not math.isfinite(total):
        raise ValueError
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="The norm was taken in float32 (or float16): squares of 1e-27 are 0 there, and those of 1e30 are inf. Convert "
    "first, grad.double().",
)
def norm_method_of_the_gradients(grads, max_norm):
    total = math.hypot(*[grad.norm().item() for grad in grads])
    if not math.isfinite(total):
        raise ValueError
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="The clipped gradients are float64. Take the norm in float64 and scale the gradient itself: it keeps its "
    "dtype.",
)
def clipped_in_float64(grads, max_norm):
    total = _norm(grads)
    return [grad.double() * min(1.0, max_norm / total if total else 1.0) for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="A norm of 0 was divided by. Where the norm is not above max_norm the factor is 1, and nothing is to be "
    "divided.",
)
def divided_by_zero(grads, max_norm):
    total = _norm(grads)
    factor = min(1.0, (torch.tensor(max_norm, dtype=torch.float64) / total).item())
    return [grad * (factor if total else math.nan) for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="A norm of 0 was divided by. Where the norm is not above max_norm the factor is 1, and nothing is to be "
    "divided.",
)
def division_that_raises(grads, max_norm):
    total = _norm(grads)
    factor = min(1.0, max_norm / total)
    return [grad * factor for grad in grads], total


@misconception(
    "clip_grad_norm",
    says="A norm that is inf or nan went through: the clipped gradients are then 0 or nan, and training goes on with "
    "them. It is a ValueError.",
)
def not_finite_let_through(grads, max_norm):
    total = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception("clip_grad_norm", says="nan was found, inf was not. math.isfinite knows both.")
def inf_let_through(grads, max_norm):
    total = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if math.isnan(total):
        raise ValueError
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception("clip_grad_norm", says="inf was found, nan was not: nan == inf is False. math.isfinite knows both.")
def nan_norm_let_through(grads, max_norm):
    total = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if total == math.inf:
        raise ValueError
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception(
    "clip_grad_norm", says="An empty list was refused. Its norm is 0.0, and there is nothing to clip: ([], 0.0)."
)
def empty_list_refused(grads, max_norm):
    if not grads:
        raise ValueError
    total = _norm(grads)
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads], total


@misconception("clip_grad_norm", says="The two results are in the wrong order: (clipped, total_norm).")
def results_swapped(grads, max_norm):
    total = _norm(grads)
    return total, [grad * (max_norm / total) if total > max_norm else grad for grad in grads]


@misconception("clip_grad_norm", says="Only the gradients were returned. The norm before clipping comes with them.")
def norm_not_returned(grads, max_norm):
    total = _norm(grads)
    return [grad * (max_norm / total) if total > max_norm else grad for grad in grads]


# dead_relu_fraction


def _relus(model):
    return [module for module in model.modules() if isinstance(module, torch.nn.ReLU)]


def _outputs(model, X, look, relus=None):
    """What `look` makes of each output of a ReLU."""
    seen = []
    relus = _relus(model) if relus is None else relus
    hooks = [relu.register_forward_hook(lambda module, inputs, output: seen.append(look(output))) for relu in relus]
    try:
        with torch.no_grad():
            model(X)
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def _dead(output):
    return (output == 0).all(dim=0)


def _share(dead):
    return torch.cat(dead).double().mean().item() if dead else 0.0


@misconception(
    "dead_relu_fraction",
    says="This is the share of zeros. ReLU gives many; a unit is dead only if it is 0 on every row: all over the rows, "
    "then the mean over the units.",
)
def share_of_zeros(model, X):
    zeros = _outputs(model, X, lambda output: (output == 0).double().flatten())
    return _share(zeros)


@misconception(
    "dead_relu_fraction",
    says="A unit that is 0 on some row was counted. Dead means 0 on every row: all, not any.",
)
def zero_on_any_row(model, X):
    return _share(_outputs(model, X, lambda output: (output == 0).any(dim=0)))


@misconception(
    "dead_relu_fraction",
    says="This looks for rows on which all units are 0. A unit is a column: all over dim 0.",
)
def rows_for_units(model, X):
    return _share(_outputs(model, X, lambda output: (output == 0).all(dim=1)))


@misconception(
    "dead_relu_fraction",
    says="This is the mean of the layers' shares. Units count alike, wherever they are: all dead units by all units.",
)
def mean_of_the_layers(model, X):
    shares = _outputs(model, X, lambda output: _dead(output).double().mean().item())
    return statistics.fmean(shares) if shares else 0.0


@misconception("dead_relu_fraction", says="This is the share of the units that are alive. One minus it is asked.")
def share_of_the_living(model, X):
    dead = _outputs(model, X, _dead)
    return 1 - _share(dead) if dead else 0.0


@misconception("dead_relu_fraction", says="This is how many units are dead. Divide by how many there are.")
def number_of_dead_units(model, X):
    return float(sum(dead.sum().item() for dead in _outputs(model, X, _dead)))


@misconception("dead_relu_fraction", says="Only the last ReLU was looked at. All of them count.")
def last_relu_only(model, X):
    return _share(_outputs(model, X, _dead)[-1:])


@misconception("dead_relu_fraction", says="Only the first ReLU was looked at. All of them count.")
def first_relu_only(model, X):
    return _share(_outputs(model, X, _dead)[:1])


@misconception(
    "dead_relu_fraction",
    says="children() finds the modules directly below the model. ReLUs inside of these are found by modules().",
)
def relus_of_the_children(model, X):
    return _share(_outputs(model, X, _dead, [m for m in model.children() if isinstance(m, torch.nn.ReLU)]))


@misconception(
    "dead_relu_fraction",
    says="The outputs were kept by module, so that a ReLU that runs twice shows its last run only. Append to a list.",
)
def one_output_per_module(model, X):
    dead = {}

    def look(module, inputs, output):
        dead[module] = _dead(output)

    hooks = [relu.register_forward_hook(look) for relu in _relus(model)]
    try:
        model(X)
    finally:
        for hook in hooks:
            hook.remove()
    return _share(list(dead.values()))


@misconception(
    "dead_relu_fraction",
    says="The outputs were looked at after the run, when the model had written into them (h += 1). Decide inside "
    "of the hook, or keep a copy.",
)
def looked_after_the_run(model, X):
    return _share([_dead(output) for output in _outputs(model, X, lambda output: output)])


@misconception(
    "dead_relu_fraction",
    says="The hooks are still on the model, and every later run of it goes through them. Keep what "
    "register_forward_hook returns and remove() it.",
)
def hooks_left(model, X):
    dead = []
    for relu in _relus(model):
        relu.register_forward_hook(lambda module, inputs, output: dead.append(_dead(output)))
    with torch.no_grad():
        model(X)
    return _share(dead)


@misconception(
    "dead_relu_fraction",
    says="When the model raises, the hooks stay: what removes them was not reached. Put it into a finally block.",
)
def hooks_left_when_it_raises(model, X):
    dead = []
    hooks = [
        relu.register_forward_hook(lambda module, inputs, output: dead.append(_dead(output))) for relu in _relus(model)
    ]
    with torch.no_grad():
        model(X)
    for hook in hooks:
        hook.remove()
    return _share(dead)


@misconception(
    "dead_relu_fraction",
    says="All hooks of the ReLUs were removed, those of other people too. Remove the ones that you registered.",
)
def all_hooks_removed(model, X):
    dead = []
    for relu in _relus(model):
        relu.register_forward_hook(lambda module, inputs, output: dead.append(_dead(output)))
    try:
        with torch.no_grad():
            model(X)
    finally:
        for relu in _relus(model):
            relu._forward_hooks.clear()
    return _share(dead)


@misconception(
    "dead_relu_fraction",
    says="The model's exception was caught. It is not yours: let it pass, with the hooks removed on the way.",
)
def exception_caught(model, X):
    try:
        return _share(_outputs(model, X, _dead))
    except Exception:
        return 0.0


@misconception(
    "dead_relu_fraction",
    says="The model was switched to eval mode. Other units are dead there, and the caller finds the model changed: run "
    "it in the mode that it is in.",
)
def dead_in_eval_mode(model, X):
    model.eval()
    return _share(_outputs(model, X, _dead))


@misconception(
    "dead_relu_fraction",
    says="The model was switched to eval mode for the run, and back. Other units are dead there: run it in the "
    "mode that it is in.",
)
def eval_mode_and_back(model, X):
    training = model.training
    model.eval()
    share = _share(_outputs(model, X, _dead))
    model.train(training)
    return share


@misconception(
    "dead_relu_fraction",
    says="Units that are almost 0 were counted. Dead is exactly 0: a unit of 1e-6 has a gradient.",
)
def almost_zero(model, X):
    return _share(_outputs(model, X, lambda output: (output.abs() < 1e-4).all(dim=0)))


@misconception(
    "dead_relu_fraction",
    says="The mean over the rows was taken before comparing with a small number. A unit that is alive on one row has a "
    "small mean, too: exactly 0 on every row.",
)
def mean_almost_zero(model, X):
    return _share(_outputs(model, X, lambda output: output.mean(dim=0) < 1e-4))


@misconception(
    "dead_relu_fraction",
    says="A model in which no ReLU runs raised an exception. The share is 0.0 there.",
)
def no_relu_refused(model, X):
    dead = _outputs(model, X, _dead)
    if not dead:
        raise ValueError
    return _share(dead)


@misconception(
    "dead_relu_fraction",
    says="0 by 0 units is nan here. Where no ReLU runs the share is 0.0.",
)
def nan_without_relus(model, X):
    dead = _outputs(model, X, _dead)
    return _share(dead) if dead else math.nan


@misconception(
    "dead_relu_fraction",
    says="The outputs of the Linears were looked at. What is behind the nn.ReLU modules counts; others may stand "
    "between.",
)
def negative_linears(model, X):
    relus = _relus(model)
    if not relus:
        return 0.0
    linears = _linears(model)[:-1]
    return _share(_outputs(model, X, lambda output: (output <= 0).all(dim=0), linears))
