"""Wrong answers to maml_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

OWN = "params = {name: value.detach().requires_grad_() for name, value in params.items()}"
INNER = "inner = torch.autograd.grad(loss_fn(params, support), leaves, create_graph=True, materialize_grads=True)"
STEP = "adapted = {name: value - inner_lr * g for (name, value), g in zip(params.items(), inner, strict=True)}"
OUTER = "outer = torch.autograd.grad(loss_fn(adapted, query), leaves, materialize_grads=True)"

first_order = mistake(
    "maml_gradient",
    {INNER: INNER.replace("create_graph=True", "create_graph=False")},
    says="This is the first-order shortcut: without create_graph=True the inner gradient counts as a constant, and the "
    "part through it, −inner_lr · H · g, is missing.",
)
by_the_adapted = mistake(
    "maml_gradient",
    {OUTER: OUTER.replace("leaves", "list(adapted.values())")},
    says="This is the gradient by the adapted parameters, the first-order shortcut under another name. Ask for that by "
    "params: it goes back through the step.",
)
uphill = mistake(
    "maml_gradient",
    {STEP: STEP.replace("value - inner_lr", "value + inner_lr")},
    says="The inner step goes uphill: params minus inner_lr times the gradient.",
)
no_inner_lr = mistake(
    "maml_gradient",
    {STEP: STEP.replace("inner_lr * g", "g")},
    says="The inner step has no inner_lr.",
)
no_inner_step = mistake(
    "maml_gradient",
    {OUTER: OUTER.replace("adapted", "params")},
    says="The query loss was taken at params. Take it at the adapted parameters.",
)
sets_swapped = mistake(
    "maml_gradient",
    {INNER: INNER.replace("support", "query"), OUTER: OUTER.replace("query", "support")},
    says="The data sets are swapped: the inner step is on support, the gradient that is asked on query.",
)
query_twice = mistake(
    "maml_gradient",
    {INNER: INNER.replace("support", "query")},
    says="support is not used: the inner step is taken on support, and the loss after it on query.",
)
support_twice = mistake(
    "maml_gradient",
    {OUTER: OUTER.replace("query", "support")},
    says="The loss after the step was taken on support. It is on query.",
)
losses_added = mistake(
    "maml_gradient",
    {OUTER: OUTER.replace("loss_fn(adapted, query)", "loss_fn(adapted, query) + loss_fn(params, support)")},
    says="The support loss was added to the query loss. It only makes the step.",
)
in_place_step = mistake(
    "maml_gradient",
    {
        OWN: "for value in params.values():\n    value.requires_grad_()",
        STEP: """\
with torch.no_grad():
    for value, g in zip(leaves, inner, strict=True):
        value -= inner_lr * g
adapted = params""",
    },
    says="The inner step was taken in place, on the caller's parameters and out of the graph. Make new tensors: "
    "p - inner_lr * g.",
)
flags_of_the_caller = mistake(
    "maml_gradient",
    {OWN: "for value in params.values():\n    value.requires_grad_()"},
    says="requires_grad_() was called on the caller's own parameters. Work on p.detach().requires_grad_().",
)
unused_raises = mistake(
    "maml_gradient",
    {INNER: INNER.replace(", materialize_grads=True", "")},
    says="A parameter that one of the two losses does not use has no gradient there: autograd raises. "
    "materialize_grads=True gives zeros.",
)
first_order_and_unused_raises = mistake(
    "maml_gradient",
    {
        INNER: INNER.replace("create_graph=True", "create_graph=False").replace(", materialize_grads=True", ""),
        OUTER: OUTER.replace(", materialize_grads=True", ""),
    },
    says="This is the first-order shortcut: without create_graph=True the inner gradient counts as a constant. And "
    "where a loss does not use a parameter, autograd raises: materialize_grads=True gives zeros.",
)
unused_in_the_query = mistake(
    "maml_gradient",
    {OUTER: OUTER.replace(", materialize_grads=True", ", allow_unused=True")},
    says="The gradient of a parameter that has no part in the query loss is None. Zeros are asked: "
    "materialize_grads=True.",
)
adapted_parameters = mistake(
    "maml_gradient",
    {
        "return dict(zip(params, outer, strict=True))": """\
return {name: value.detach() for name, value in adapted.items()}"""
    },
    says="These are the adapted parameters. The gradient of the query loss is asked.",
)
graph_left = mistake(
    "maml_gradient",
    {OUTER: OUTER.replace("materialize_grads=True", "create_graph=True, materialize_grads=True")},
    says="The outer gradient has create_graph=True as well, so the results keep all graphs alive.",
)

adapted_detached = mistake(
    "maml_gradient",
    {STEP: STEP.replace("value - inner_lr * g", "(value - inner_lr * g).detach().requires_grad_()")},
    says="The adapted parameters are detached, so that nothing of the query loss reaches params. Leave their graph: "
    "value − inner_lr · g.",
)
