"""Wrong answers to hvp, with what is said of them."""

from __future__ import annotations

import torch

from autograder.diagnosis import misconception, mistake

LEAF = "x = x.detach().requires_grad_()"
GRADIENT = "(gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)"
SECOND = "return torch.autograd.grad(gradient, x, v.detach(), materialize_grads=True)[0]"
CONSTANT = "if not y.requires_grad:  # f does not depend on x\n    return torch.zeros_like(x)"
LINEAR = "if not gradient.requires_grad:  # f is linear\n    return torch.zeros_like(x)"

ROW_SUMS = (
    "This is H times ones, the sums of H's rows: the gradient was added up without v. Multiply by v first: the "
    "gradient of (∇f · v).sum(), or v as the upstream gradient."
)
DETACHED_ZERO = (
    "The gradient has lost its graph (create_graph was forgotten, or it was detached), and the result is zeros "
    "wherever f is not linear. create_graph=True keeps the graph that the second pass goes through."
)
FORMED = "The Hessian is formed, row by row: n backward passes and n² numbers. One product needs neither."
IN_PLACE_FLAG = (
    "requires_grad_() was called on the caller's own x, which requires a gradient from then on. "
    "x.detach().requires_grad_() is a tensor of your own."
)

row_sums = mistake(
    "hvp",
    {SECOND: "return torch.autograd.grad(gradient.sum(), x, materialize_grads=True)[0]"},
    says=ROW_SUMS,
)
create_graph_forgotten = mistake(
    "hvp",
    {GRADIENT: GRADIENT.replace("create_graph=True", "create_graph=False")},
    says=DETACHED_ZERO,
)
no_graph_for_the_second_pass = mistake(
    "hvp",
    {
        CONSTANT: "",
        GRADIENT: "(gradient,) = torch.autograd.grad(y, x)",
        LINEAR: "",
        SECOND: "return torch.autograd.grad((gradient * v).sum(), x)[0]",
    },
    says="The gradient has no graph: create_graph=True was forgotten, or it was detached. It is a constant then, and "
    "the second pass has nothing to go back through.",
)
no_zeros = mistake(
    "hvp",
    {
        CONSTANT: "",
        GRADIENT: GRADIENT.replace(", materialize_grads=True", ""),
        LINEAR: "",
        SECOND: "return torch.autograd.grad((gradient * v).sum(), x)[0]",
    },
    says="Right where f curves. Where f is linear its gradient is a constant without a graph, where f does not depend "
    "on x there is none at all, and autograd raises. Ask requires_grad, and return zeros there.",
)
gradient_times_v = mistake(
    "hvp",
    {SECOND: "return (gradient * v).detach()"},
    says="This is the gradient times v, entry by entry. Differentiate the number ∇f · v once more.",
)
diagonal_only = mistake(
    "hvp",
    {SECOND: f"{SECOND.replace(', v.detach()', ', torch.ones_like(x)')} * v.detach()"},
    says="The sums of H's rows are multiplied by v, entry by entry: right only where H is diagonal. v belongs into the "
    "second pass, as its upstream gradient.",
)
first_entry_only = mistake(
    "hvp",
    {
        SECOND: "return torch.autograd.grad(gradient.reshape(-1)[0] * v.reshape(-1)[0], x, materialize_grads=True)[0]",
    },
    says="Only the first entry of the gradient was differentiated. The whole dot product ∇f · v is, or the gradient "
    "with v as the upstream gradient.",
)
times_v_afterwards = mistake(
    "hvp",
    {SECOND: "return torch.autograd.grad((gradient * v).mean(), x, materialize_grads=True)[0]"},
    says="The products of the gradient's entries and v's were averaged. They are added up: sum, not mean.",
)
divided_differences = mistake(
    "hvp",
    {
        GRADIENT: """\
slope = lambda at: torch.autograd.grad(f(at), at)[0]
step = 1e-4 * v
ahead, behind = (x.detach() + sign * step for sign in (1, -1))
return (slope(ahead.requires_grad_()) - slope(behind.requires_grad_())) / 2e-4""",
        LINEAR: "",
        SECOND: "",
    },
    says="This is a difference of two gradients: some digits, and f is called again. The product by autograd is exact.",
)
linear_raises = mistake(
    "hvp",
    {LINEAR: ""},
    says="Where f is linear its gradient is a constant, which has no graph, and autograd raises. Ask "
    "gradient.requires_grad, and return zeros.",
)
constant_raises = mistake(
    "hvp",
    {CONSTANT: ""},
    says="Where f does not depend on x, f(x) has no graph, and autograd raises. Ask f(x).requires_grad, and return "
    "zeros.",
)
nones_of_parameters = mistake(
    "hvp",
    {SECOND: SECOND.replace(", materialize_grads=True", "")},
    says="The gradient may have a graph, by f's parameters, and not depend on x: autograd then raises, or gives None. "
    "materialize_grads=True gives zeros.",
)
nones_of_first_pass = mistake(
    "hvp",
    {GRADIENT: GRADIENT.replace(", materialize_grads=True", "")},
    says="f(x) may have a graph, by f's parameters, and not depend on x: autograd then raises, or gives None, "
    "already in the first pass. materialize_grads=True gives zeros.",
)
flag_of_the_caller = mistake("hvp", {LEAF: "x.requires_grad_()"}, says=IN_PLACE_FLAG)
INTO_GRAD = (
    "backward() adds to the .grad of every leaf on its way, f's parameters included. torch.autograd.grad gives what it "
    "is asked for, and leaves .grad alone."
)
backward_into_grad = mistake(
    "hvp",
    {SECOND: "gradient.backward(v.detach())\nreturn torch.zeros_like(x) if x.grad is None else x.grad"},
    says=INTO_GRAD,
)
backward_of_the_product = mistake(
    "hvp",
    {SECOND: "(gradient * v).sum().backward()\nreturn torch.zeros_like(x) if x.grad is None else x.grad"},
    says=INTO_GRAD,
)
INTO_ONE_GRAD = (
    "This is ∇f + H·v: backward() adds to x.grad, where the gradient of the first pass still is. torch.autograd.grad "
    "gives what it is asked for, and adds to nothing."
)
added_to_the_gradient = mistake(
    "hvp",
    {
        GRADIENT: "y.backward(create_graph=True)\ngradient = x.grad",
        SECOND: "(gradient * v).sum().backward()\nreturn x.grad.detach()",
    },
    says=INTO_ONE_GRAD,
)
kept_the_graph = mistake(
    "hvp",
    {SECOND: SECOND.replace("materialize_grads=True", "create_graph=True, materialize_grads=True")},
    says="The result has a graph behind it, and keeps all that this holds alive: from create_graph=True in the second "
    "pass, or from parameters of f. Nobody asked for a third derivative: detach it.",
)
hessian_row_by_row = mistake(
    "hvp",
    {
        SECOND: """\
rows = []
for entry in gradient.reshape(-1):
    (row,) = torch.autograd.grad(entry, x, retain_graph=True, materialize_grads=True)
    rows.append(row.reshape(-1))
return (torch.stack(rows) @ v.reshape(-1)).reshape(x.shape)"""
    },
    says=FORMED,
)
tangent_forward = mistake(
    "hvp",
    {
        LEAF: "return torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))[1].detach()",
        "y = f(x)": "",
        CONSTANT: "",
        GRADIENT: "",
        LINEAR: "",
        SECOND: "",
    },
    says="A tangent goes forward through f, which is the other exercise. Operations without a forward mode refuse it: "
    "go back twice.",
)
shape_flattened = mistake(
    "hvp",
    {SECOND: f"{SECOND}.reshape(-1)"},
    says="The result is a vector. It has the shape of x.",
)

product_of_vectors = mistake(
    "hvp",
    {SECOND: "return torch.autograd.grad(gradient @ v.detach(), x, materialize_grads=True)[0]"},
    says="gradient @ v is for vectors. x may have any shape: (gradient * v).sum(), or v as grad_outputs.",
)
no_leaf_of_its_own = mistake(
    "hvp",
    {LEAF: ""},
    says="The gradient is asked by the caller's x, which may require none. Take a leaf of your own: "
    "x.detach().requires_grad_().",
)


@misconception("hvp", says=INTO_ONE_GRAD)
def added_to_the_callers_grad(f, x, v):
    x.requires_grad_()
    f(x).backward(create_graph=True)
    (x.grad * v).sum().backward()
    return x.grad


@misconception("hvp", says=FORMED + " (All rows in one batched pass are as many.)")
def hessian_in_one_batch(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros_like(x)
    n = x.numel()
    basis = torch.eye(n, dtype=x.dtype).reshape(n, *x.shape)
    rows = torch.autograd.grad(gradient, x, basis, is_grads_batched=True, allow_unused=True)[0]
    if rows is None:
        return torch.zeros_like(x)
    return (rows.reshape(n, n) @ v.reshape(-1)).reshape(x.shape)
