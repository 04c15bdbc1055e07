"""Wrong answers to layer_gradient_norms, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

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
    says="Biases have a norm of their own in the list. Return one number for each Linear, that of its weight.",
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
    says="Everything that is called weight was taken. LayerNorm, convolutions and others have weights too: test "
    "isinstance(module, torch.nn.Linear).",
)
more_than_one_dimension = mistake(
    "layer_gradient_norms",
    {WEIGHTS: "weights = [p for p in model.parameters() if p.dim() > 1]"},
    says="Everything with more than one dimension was taken for a Linear's weight. A convolution's has three: test "
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
    says="The Linears are in the order in which they run. Take the order of modules(), in which they were assigned.",
)
norms_of_the_weights = mistake(
    "layer_gradient_norms",
    {LOSS: "", NORMS: "return [weight.detach().double().norm().item() for weight in weights]"},
    says="These are the norms of the weights. Take the norms of their gradients.",
)
sum_over_the_batch = mistake(
    "layer_gradient_norms",
    {LOSS: 'loss = torch.nn.functional.cross_entropy(model(X), y, reduction="sum")'},
    says="The losses of the batch were added up. Take cross_entropy's mean, its default.",
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
    says="This is the mean of |dL/dW|. Take the root of the sum of squares.",
)
root_mean_square = mistake(
    "layer_gradient_norms",
    _norm("gradient.double().square().mean().sqrt()"),
    says="This is the root of the mean of the squares: the norm divided by the root of the number of entries. Take "
    "the root of their sum.",
)
largest_entry = mistake(
    "layer_gradient_norms",
    _norm("gradient.double().abs().max()"),
    says="This is the largest entry. Take the root of the sum of squares.",
)
spectral_norm = mistake(
    "layer_gradient_norms",
    _norm("torch.linalg.matrix_norm(gradient.double(), ord=2)"),
    says="This is the spectral norm, the largest singular value. Take the Frobenius norm: all entries squared, "
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
