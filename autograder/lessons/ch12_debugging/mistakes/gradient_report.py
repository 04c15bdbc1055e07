"""Wrong answers to gradient_report, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

GRADS = "grads = {name: parameter.grad for name, parameter in model.named_parameters()}"
NORMS = "norms = {name: None if grad is None else grad.double().norm().item() for name, grad in grads.items()}"
FINITE = "finite = [norm for norm in norms.values() if norm is not None and 0 < norm < math.inf]"
LIMIT = "limit = 1000 * statistics.median(finite) if finite else math.inf"


def _norm(expression):
    return {NORMS: f"norms = {{name: None if grad is None else {expression} for name, grad in grads.items()}}"}


norm_in_the_dtype_of_the_gradient = mistake(
    "gradient_report",
    _norm("grad.norm().item()"),
    says="The norm was taken in the dtype of the gradient. In float32 the square of 1e-27 is 0 and that of 1e30 is "
    "inf: a small gradient then looks like zero, a large one like inf. To convert the norm comes too late. Convert the "
    "gradient: grad.double().norm().",
)
norm_in_float32 = mistake(
    "gradient_report",
    _norm("grad.float().norm().item()"),
    says="The norm was taken in float32, where the square of 1e-27 is 0 and that of 1e30 is inf. Convert to float64: "
    "grad.double().norm().",
)
norm_squared = mistake(
    "gradient_report",
    _norm("grad.double().square().sum().item()"),
    says="This is the sum of the squares. The norm is its square root.",
)
largest_entry = mistake(
    "gradient_report",
    _norm("(grad.double().abs().max().item() if grad.numel() else 0.0)"),
    says="This is the largest entry. The root of the sum of squares is asked.",
)
none_taken_for_zero = mistake(
    "gradient_report",
    {
        NORMS: "norms = {name: 0.0 if grad is None else grad.double().norm().item() for name, grad in grads.items()}",
    },
    says="A parameter without a gradient was reported with a norm of 0. None and 0 have different causes: None is a "
    'path that is cut, zeros are a path that carries nothing. Its norm is None and its status "none".',
)
zero_called_none = mistake(
    "gradient_report",
    {'if norm is None:\n    return "none"': 'if not norm:\n    return "none"'},
    says='A gradient of zeros was called "none": 0.0 is as false as None. Ask "is None".',
)
parameters_without_gradient_left_out = mistake(
    "gradient_report",
    {GRADS: "grads = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}"},
    says='Parameters without a gradient are not in the report. They are what one looks for: status "none".',
)
frozen_left_out = mistake(
    "gradient_report",
    {GRADS: "grads = {name: p.grad for name, p in model.named_parameters() if p.requires_grad}"},
    says="Parameters that do not require a gradient were left out. Every parameter of named_parameters() is asked, "
    "with what is in its .grad.",
)
frozen_called_none = mistake(
    "gradient_report",
    {GRADS: "grads = {name: p.grad if p.requires_grad else None for name, p in model.named_parameters()}"},
    says="A frozen parameter was taken for one without a gradient. It may have been frozen after backward(): what "
    "counts is what is in its .grad.",
)
parameter_not_gradient = mistake(
    "gradient_report",
    {GRADS: "grads = {name: None if p.grad is None else p.detach() for name, p in model.named_parameters()}"},
    says="This is the norm of the parameter itself. That of its .grad is asked.",
)
always_ok = mistake(
    "gradient_report",
    {'if norm is None:\n    return "none"': 'return "none" if norm is None else "ok"'},
    says='Every status is "ok" where there is a gradient: the others are not told apart yet.',
)
zeros_in_the_median = mistake(
    "gradient_report",
    {FINITE: "finite = [norm for norm in norms.values() if norm is not None and 0 <= norm < math.inf]"},
    says="Norms of 0 count in the median, so that where half the gradients are 0 every other one explodes. The "
    "median is that of the finite norms that are not 0.",
)
infinite_in_the_median = mistake(
    "gradient_report",
    {FINITE: "finite = [norm for norm in norms.values() if norm is not None and norm > 0]"},
    says="inf counts in the median. The median is that of the finite norms that are not 0.",
)
mean_for_the_median = mistake(
    "gradient_report",
    {LIMIT: "limit = 1000 * statistics.mean(finite) if finite else math.inf"},
    says="Norms were compared with their mean. One that explodes raises the mean, and with fewer than 1,000 parameters "
    "none can be 1,000 times it. Take the median.",
)
lower_median = mistake(
    "gradient_report",
    {LIMIT: "limit = 1000 * statistics.median_low(finite) if finite else math.inf"},
    says="With an even number of norms your median is the lower of the middle two, as torch.median's would be. It is "
    "the mean of both, over all norms.",
)
upper_median = mistake(
    "gradient_report",
    {LIMIT: "limit = 1000 * statistics.median_high(finite) if finite else math.inf"},
    says="With an even number of norms the upper of the middle two was taken. The median is the mean of both.",
)
smallest_for_the_median = mistake(
    "gradient_report",
    {LIMIT: "limit = 1000 * min(finite) if finite else math.inf"},
    says="Norms were compared with the smallest one. The median is asked.",
)
absolute_limit = mistake(
    "gradient_report",
    {LIMIT: "limit = 1000"},
    says="The limit is a fixed number. What is large depends on the model: 1,000 times the median of its norms.",
)
nan_alone = mistake(
    "gradient_report",
    {'if not math.isfinite(norm):\n    return "nonfinite"': 'if math.isnan(norm):\n    return "nonfinite"'},
    says='Only nan was looked for. An inf is "nonfinite", too.',
)
infinite_called_exploding = mistake(
    "gradient_report",
    {
        'if not math.isfinite(norm):\n    return "nonfinite"': 'if norm == math.inf:\n    return "exploding"\n'
        'if math.isnan(norm):\n    return "nonfinite"'
    },
    says='An inf was called "exploding". It has a status of its own, "nonfinite": what is inf has no norm to compare.',
)

hundred_times_the_median = mistake(
    "gradient_report",
    {LIMIT: "limit = 100 * statistics.median(finite) if finite else math.inf"},
    says='"exploding" begins at 100 times the median here. The limit is 1,000 times.',
)
