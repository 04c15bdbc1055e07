"""Wrong answers to ch13_beyond_first_order that learners write."""

from __future__ import annotations

import torch

from autograder.diagnosis import misconception, mistake

# hvp

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
    {SECOND: f"{SECOND.replace(', v.detach()', ', torch.ones_like(x)')} * v"},
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

# hvp_forward_over_reverse

JVP = "_, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))"
TANGENT = "return tangent.detach()"

forward_row_sums = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("v.detach()", "torch.ones_like(x)")},
    says="The tangent is all ones, which gives the sums of H's rows. The direction is v.",
)
value_for_tangent = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("_, tangent", "tangent, _")},
    says="This is the gradient: torch.func.jvp returns the value first and the tangent second.",
)
SLOPE_OF_F = (
    "This is a JVP of f itself, the slope of f along v: a first derivative. Take the JVP of its gradient, "
    "torch.func.grad(f)."
)
jvp_of_f = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("torch.func.grad(f)", "f")},
    says=SLOPE_OF_F,
)
jvp_of_f_times_v = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("torch.func.grad(f)", "f"), TANGENT: "return tangent.detach() * v"},
    says=SLOPE_OF_F,
)
value_and_tangent = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("_, tangent", "both"), TANGENT: "return both"},
    says="torch.func.jvp returns two things, the gradient and its tangent. The tangent alone is H·v.",
)
BACK_TWICE = (
    "The product is right, but no tangent was carried forward: two backward passes give it as well, as H is symmetric, "
    "and so does the Hessian itself. The exercise is the other way: a JVP carries v forward through the gradient's "
    "computation."
)
twice_reverse = mistake(
    "hvp_forward_over_reverse",
    {JVP: "return hvp(f, x, v)", TANGENT: ""},
    says=BACK_TWICE,
)
vjp_of_gradient = mistake(
    "hvp_forward_over_reverse",
    {
        JVP: "_, back = torch.func.vjp(torch.func.grad(f), x.detach())",
        TANGENT: "return back(v.detach())[0].detach()",
    },
    says=BACK_TWICE,
)
graph_of_parameters_left = mistake(
    "hvp_forward_over_reverse",
    {TANGENT: "return tangent"},
    says="f's own parameters leave a graph behind the result, and with it all that it saved. Detach it.",
)
forward_differences = mistake(
    "hvp_forward_over_reverse",
    {JVP: "slope = torch.func.grad(f)\ntangent = (slope(x + 1e-4 * v) - slope(x - 1e-4 * v)) / 2e-4"},
    says="This is a difference of two gradients: some digits, and f is called twice. A tangent is exact.",
)
v_too_long = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("(v.detach(),)", "(v.detach() / v.norm(),)")},
    says="v was normalised. H·v is linear in v: its length counts.",
)

point_and_direction_swapped = mistake(
    "hvp_forward_over_reverse",
    {JVP: JVP.replace("(x.detach(),), (v.detach(),)", "(v.detach(),), (x.detach(),)")},
    says="Point and direction have changed places: this is the Hessian at v times x. jvp(function, (x,), (v,)).",
)

# hessian_trace

BITS = "z = 2 * torch.randint(2, x.shape, generator=generator, dtype=x.dtype) - 1"
SAMPLE = "total += (z * hvp(f, x, z)).sum().item()"
LOOP = "for _ in range(samples):"

GAUSSIAN = (
    "The probes are normal numbers. That is unbiased, too, with a larger variance: even a diagonal H gives other "
    "estimates than its trace. Signs, ±1, are asked."
)
gaussian_probes = mistake(
    "hessian_trace", {BITS: "z = torch.randn(x.shape, generator=generator, dtype=x.dtype)"}, says=GAUSSIAN
)
gaussian_probes_in_float32 = mistake(
    "hessian_trace", {BITS: "z = torch.randn(x.shape, generator=generator).to(x.dtype)"}, says=GAUSSIAN
)
BITS_ALONE = "The probes are zeros and ones: E[z zᵀ] is not the identity then. 2 · bits − 1 are signs."
zeros_and_ones = mistake(
    "hessian_trace", {BITS: "z = torch.randint(2, x.shape, generator=generator, dtype=x.dtype)"}, says=BITS_ALONE
)
zeros_and_ones_by_bernoulli = mistake(
    "hessian_trace",
    {BITS: "z = torch.bernoulli(torch.full(x.shape, 0.5), generator=generator).to(x.dtype)"},
    says=BITS_ALONE,
)
zeros_and_ones_by_a_threshold = mistake(
    "hessian_trace", {BITS: "z = (torch.rand(x.shape, generator=generator) > 0.5).to(x.dtype)"}, says=BITS_ALONE
)
zeros_and_minus_ones = mistake(
    "hessian_trace",
    {BITS: "z = torch.randint(-1, 1, x.shape, generator=generator, dtype=x.dtype)"},
    says="The probes are zeros and minus ones: randint(-1, 1) leaves its upper end out. 2 · bits − 1 are signs.",
)
zeros_among_the_signs = mistake(
    "hessian_trace",
    {BITS: "z = torch.randint(-1, 2, x.shape, generator=generator, dtype=x.dtype)"},
    says="randint(-1, 2) draws −1, 0 and 1: E[z²] is ⅔, and so is the estimate, on average. 2 · bits − 1 are signs.",
)
two_of_three = mistake(
    "hessian_trace",
    {BITS: "z = 2 * (torch.randint(3, x.shape, generator=generator) > 0).to(x.dtype) - 1"},
    says="A sign is 1 two times out of three. Then E[z_i z_j] is 1/9, and the estimate has a part of every entry of H: "
    "each sign has the probability ½.",
)
one_sign_for_a_column = mistake(
    "hessian_trace",
    {BITS: BITS.replace("x.shape", "x.shape[-1:]") + "\nz = z.expand(x.shape)"},
    says="All rows of x have the same signs. Draw one for each entry, in the shape of x.",
)
UNIFORM = "The probes are uniform between −1 and 1: E[z²] is ⅓, and so is the estimate, on average. Take the signs."
uniform_probes = mistake(
    "hessian_trace", {BITS: "z = 2 * torch.rand(x.shape, generator=generator, dtype=x.dtype) - 1"}, says=UNIFORM
)
uniform_probes_in_float32 = mistake(
    "hessian_trace", {BITS: "z = (2 * torch.rand(x.shape, generator=generator) - 1).to(x.dtype)"}, says=UNIFORM
)
global_generator = mistake(
    "hessian_trace",
    {BITS: BITS.replace("generator=generator, ", "")},
    says="The probes come from PyTorch's global generator. Pass generator=generator to whatever draws.",
)
seeded = mistake(
    "hessian_trace",
    {LOOP: f"generator.manual_seed(0)\n{LOOP}"},
    says="The generator is seeded, so every call has the same probes. It is the caller's: draw from it as it is.",
)
one_probe_for_all = mistake(
    "hessian_trace",
    {f"{LOOP}\n{BITS}": f"{BITS}\n{LOOP}"},
    says="One probe is used for all samples: the mean is that of a single one. Draw inside of the loop.",
)
one_sign_for_all = mistake(
    "hessian_trace",
    {BITS: BITS.replace("x.shape", "()") + "\nz = z.expand(x.shape)"},
    says="All entries of a probe have one sign: z·Hz is then the sum of all entries of H. Each entry has its own.",
)
sum_of_samples = mistake(
    "hessian_trace",
    {"return total / samples": "return total"},
    says="The samples are added up and not divided by their number. The mean is asked.",
)
mean_over_entries = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z * hvp(f, x, z)).mean().item()"},
    says="z·Hz is a sum over the entries of x, not their mean. (Where a probe is brought to length 1, it is divided by "
    "their number as well.)",
)
without_second_z = mistake(
    "hessian_trace",
    {SAMPLE: "total += hvp(f, x, z).sum().item()"},
    says="The entries of Hz were added up. The second z is missing: z·Hz.",
)
gradient_probed = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z * torch.func.grad(f)(x.detach())).sum().item()"},
    says="z was multiplied with the gradient. Multiply it with H·z, the product of the first exercise.",
)
trace_as_tensor = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z * hvp(f, x, z)).sum()"},
    says="The trace is a tensor. A Python float is asked: .item().",
)
vectors_only = mistake(
    "hessian_trace",
    {SAMPLE: "total += (z @ hvp(f, x, z)).item()"},
    says="z @ Hz is a dot product for vectors only. For x of any shape: (z * Hz).sum().",
)


every_basis_vector = mistake(
    "hessian_trace",
    {
        LOOP: "for i in range(x.numel()):",
        BITS: "z = torch.zeros(x.numel(), dtype=x.dtype)\nz[i] = 1\nz = z.reshape(x.shape)",
        "return total / samples": "return total",
    },
    says="This is the trace itself, from one product for each entry of x. Hutchinson's estimate takes `samples` "
    "products, whatever n is, with probes of ±1 from the generator.",
)

length_of_the_product = mistake(
    "hessian_trace",
    {SAMPLE: "total += hvp(f, x, z).square().sum().item()"},
    says="This is Hz · Hz, the squared length of Hz, whose mean is the trace of H². z · Hz is asked.",
)
one_probe_too_few = mistake(
    "hessian_trace",
    {LOOP: "for _ in range(max(1, samples - 1)):"},
    says="There is one probe too few: `samples` of them are drawn.",
)
divided_by_the_running_count = mistake(
    "hessian_trace",
    {
        LOOP: "for i in range(samples):",
        SAMPLE: "total += (z * hvp(f, x, z)).sum().item()\ntotal /= i + 1",
        "return total / samples": "return total",
    },
    says="The sum so far is divided in every round, so that what came first is divided again and again. Divide once, "
    "at the end.",
)


# maml_gradient

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
    says="The inner step was taken on query. It is on support.",
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
    says="A parameter that the support loss does not use has no gradient there: autograd raises. "
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

# score_function_gradient

SCORE = "return f(mu + sigma * eps) * eps / sigma"


def _score(expression):
    """Another estimate."""
    return {SCORE: f"return {expression}"}


times_sigma = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps * sigma"),
    says="The score is eps / sigma, not eps · sigma: a narrow density changes more when its mean moves.",
)
divided_by_variance = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps / sigma**2"),
    says="Divided by sigma once too often: (x − mu) / sigma² has one sigma in x − mu = sigma · eps already.",
)
x_minus_mu_not_divided = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps"),
    says="The score is (x − mu) / sigma² = eps / sigma. The division by sigma is missing.",
)
wrong_sign = mistake(
    "score_function_gradient",
    _score("-f(mu + sigma * eps) * eps / sigma"),
    says="The sign is the wrong way round: −(x − mu)² / (2 sigma²) grows with mu where x > mu.",
)
score_alone = mistake(
    "score_function_gradient",
    _score("eps / sigma"),
    says="This is the score alone, whose mean is 0. Multiply by f(x).",
)
f_of_eps = mistake(
    "score_function_gradient",
    _score("f(eps) * eps / sigma"),
    says="f was asked at eps. Its argument is x = mu + sigma · eps.",
)
f_at_the_mean = mistake(
    "score_function_gradient",
    _score("f(mu + 0 * eps) * eps / sigma"),
    says="f was asked at mu. That makes a mean of 0: ask it at x = mu + sigma · eps.",
)
baseline_of_the_batch = mistake(
    "score_function_gradient",
    {SCORE: "y = f(mu + sigma * eps)\nreturn (y - y.mean()) * eps / sigma"},
    says="The batch's mean was subtracted as a baseline. It contains the sample itself, which makes the estimate "
    "biased, by a factor of 1 − 1/n. No baseline is asked.",
)
mean_over_samples = mistake(
    "score_function_gradient",
    _score("np.full_like(eps, np.mean(f(mu + sigma * eps) * eps / sigma))"),
    says="This is the mean over the samples. One estimate for each sample is asked.",
)
log_density_itself = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * -(eps**2) / 2"),
    says="f(x) is multiplied by the log density itself. The score is its derivative with respect to mu, eps / sigma.",
)
score_by_x = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * (mu + sigma * eps) / sigma**2"),
    says="The score is (x − mu) / sigma², and the − mu is missing.",
)
score_of_sigma = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * (eps**2 - 1) / sigma"),
    says="(eps² − 1) / sigma is the score by sigma. By mu it is eps / sigma.",
)
variance_as_deviation = mistake(
    "score_function_gradient",
    _score("f(mu + sigma**2 * eps) * eps / sigma"),
    says="x was made with sigma². sigma is the standard deviation: x = mu + sigma · eps.",
)

one_number_for_all = mistake(
    "score_function_gradient",
    _score("(f(mu + sigma * eps) * eps / sigma).mean()"),
    says="This is one number, the mean over the samples. An estimate for each sample is asked.",
)
density_for_its_logarithm = mistake(
    "score_function_gradient",
    _score("f(mu + sigma * eps) * eps / sigma * np.exp(-(eps**2) / 2) / (sigma * np.sqrt(2 * np.pi))"),
    says="This is the derivative of the density. The score is that of its logarithm, eps / sigma: the density itself "
    "comes in by drawing.",
)
mean_of_the_scores = mistake(
    "score_function_gradient",
    _score("(f(mu + sigma * eps) * (eps / sigma).mean()).astype(eps.dtype)"),
    says="Every sample is multiplied by the mean of the scores. Each f(x) belongs to the score of its own sample.",
)
sample_without_sigma = mistake(
    "score_function_gradient",
    {SCORE: "return f(mu + eps) * eps / sigma**2"},
    says="The sample lacks sigma: x = mu + sigma · eps.",
)

# reparameterized_gradient

PATH = "return df(mu + sigma * eps)"


def _path(expression):
    """Another estimate."""
    return {PATH: f"return {expression}"}


path_times_sigma = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) * sigma"),
    says="A factor sigma too many: that is dx/deps. dx/dmu is 1.",
)
path_times_eps = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) * eps"),
    says="A factor eps too many: that is dx/dsigma, and the result d/dsigma E[f(x)]. dx/dmu is 1.",
)
path_divided_by_sigma = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) / sigma"),
    says="The division by sigma belongs to the score function. Here the chain rule has dx/dmu = 1.",
)
path_with_score = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps) * eps / sigma"),
    says="This multiplies df with the score: it estimates the second derivative, d²/dmu² E[f(x)]. dx/dmu is 1, and "
    "there is no other factor.",
)
df_of_eps = mistake(
    "reparameterized_gradient",
    _path("df(eps)"),
    says="df was asked at eps. Its argument is x = mu + sigma · eps.",
)
df_at_the_mean = mistake(
    "reparameterized_gradient",
    _path("df(mu + 0 * eps)"),
    says="df was asked at mu, the same for each sample. Ask it at x = mu + sigma · eps.",
)
path_mean = mistake(
    "reparameterized_gradient",
    _path("np.full_like(eps, np.mean(df(mu + sigma * eps)))"),
    says="This is the mean over the samples. One estimate for each sample is asked.",
)
path_of_one_number = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma * eps).mean()"),
    says="This is one number, the mean over the samples. An estimate for each sample is asked.",
)
path_of_variance = mistake(
    "reparameterized_gradient",
    _path("df(mu + sigma**2 * eps)"),
    says="x was made with sigma². sigma is the standard deviation: x = mu + sigma · eps.",
)

# gumbel_softmax_st

SCORES = "scores = logits + gumbels"
SOFT = "soft = torch.softmax(scores / tau, dim=-1)"
HARD = "hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])"
RESULT = "return hard + (soft - soft.detach())  # the bracket is exactly 0; hard + soft − soft is not exactly hard"

soft_forward = mistake(
    "gumbel_softmax_st",
    {RESULT: "return soft"},
    says="The result is soft in the forward pass, too. Straight-through: one-hot forward, and only the gradient is "
    "that of the softmax.",
)
hard_without_gradient = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard.to(logits.dtype)"},
    says="argmax and one_hot have no gradient, so nothing reaches the logits. Add soft − soft.detach(), which is 0 and "
    "has the gradient of soft.",
)
hard_times_soft = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard * soft"},
    says="The choice was multiplied by its probability: neither one-hot nor the gradient of the softmax.",
)
identity_backward = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + (scores - scores.detach())"},
    says="The gradient goes through as if nothing had happened, straight to the logits. It is to be that of the "
    "softmax at temperature tau: soft − soft.detach().",
)
tau_after_softmax = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(scores, dim=-1) / tau"},
    says="tau divides what comes out of the softmax. It divides what goes in: softmax((logits + gumbels) / tau).",
)
tau_forgotten = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(scores, dim=-1)"},
    says="tau is not used: softmax((logits + gumbels) / tau).",
)
times_tau = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(scores * tau, dim=-1)"},
    says="The scores were multiplied by tau. Divided, a small tau makes the softmax sharp.",
)
noise_after_tau = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(logits / tau + gumbels, dim=-1)"},
    says="tau divides the logits alone. It divides logits and noise together: (logits + gumbels) / tau.",
)
noise_alone_by_tau = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(logits + gumbels / tau, dim=-1)"},
    says="tau divides the noise alone: a division comes before a sum. Parentheses: (logits + gumbels) / tau.",
)
noise_not_in_the_choice = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "logits.argmax")},
    says="The choice is the largest logit, the same one always. It is a draw only with the noise: the largest of "
    "logits + gumbels.",
)
nothing_subtracted = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + soft"},
    says="The softmax is added and not taken off again, so the result is not one-hot: hard + (soft − soft.detach()).",
)
noise_not_scaled_in_choice = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "(logits / tau + gumbels).argmax")},
    says="The choice depends on tau: tau divides the logits alone there. Choose the largest of logits + gumbels.",
)
without_noise = mistake(
    "gumbel_softmax_st",
    {SCORES: "scores = logits"},
    says="The noise is not used. The choice is a draw only because of it: logits + gumbels.",
)
noise_in_the_choice_only = mistake(
    "gumbel_softmax_st",
    {SOFT: "soft = torch.softmax(logits / tau, dim=-1)"},
    says="The noise is in the choice and not in the softmax that gives the gradient. Both are of logits + gumbels.",
)
noise_subtracted = mistake(
    "gumbel_softmax_st",
    {SCORES: "scores = logits - gumbels"},
    says="The noise was subtracted. The Gumbel distribution is not symmetric: only logits + gumbels draws from the "
    "softmax.",
)
first_axis = mistake(
    "gumbel_softmax_st",
    {SOFT: SOFT.replace("dim=-1", "dim=0")},
    says="The softmax is along the first axis. The categories are along the last one: dim=-1.",
)
in_another_order = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + soft - soft.detach()"},
    says="hard + soft − soft is not exactly hard: the sum loses the last bits of soft. Take the difference first: "
    "hard + (soft − soft.detach()).",
)
NO_STOP = (
    "soft − soft is 0, and so is its gradient: nothing reaches the logits. Stop the gradient of the one that is "
    "subtracted: hard + (soft − soft.detach())."
)
no_stop_gradient = mistake("gumbel_softmax_st", {RESULT: "return hard + soft - soft"}, says=NO_STOP)
no_stop_gradient_in_the_bracket = mistake("gumbel_softmax_st", {RESULT: "return hard + (soft - soft)"}, says=NO_STOP)
no_stop_gradient_and_argmax_of_soft = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "soft.argmax"), RESULT: "return hard + soft - soft"},
    says=f"{NO_STOP} And take the argmax of logits + gumbels: with a large tau the softmax has equal entries.",
)
WRONG_ONE = "The gradient has the wrong sign: the soft that is added was detached. Detach the one that is subtracted."
subtracted_the_wrong_one = mistake("gumbel_softmax_st", {RESULT: "return hard + soft.detach() - soft"}, says=WRONG_ONE)
bracket_the_wrong_way = mistake("gumbel_softmax_st", {RESULT: "return hard + (soft.detach() - soft)"}, says=WRONG_ONE)
argmax_of_soft = mistake(
    "gumbel_softmax_st",
    {HARD: HARD.replace("scores.argmax", "soft.argmax")},
    says="The choice was taken from the softmax. With a large tau all its entries are the same number, and the first "
    "one is chosen. Take the argmax of logits + gumbels.",
)
largest_are_all_one = mistake(
    "gumbel_softmax_st",
    {HARD: "hard = (scores == scores.amax(dim=-1, keepdim=True)).to(logits.dtype)"},
    says="Where several scores are the largest, all of them are 1. One of them is chosen, the first: argmax and "
    "one_hot.",
)
threshold_at_half = mistake(
    "gumbel_softmax_st",
    {HARD: "hard = (soft > 0.5).to(logits.dtype)"},
    says="Chosen is what has more than half of the probability, and often that is nothing. The largest is chosen.",
)
hard_detached_all = mistake(
    "gumbel_softmax_st",
    {RESULT: "return hard + (soft - soft).detach()"},
    says="The whole difference was detached, so nothing reaches the logits. Detach only the soft that is subtracted.",
)
draws_its_own = mistake(
    "gumbel_softmax_st",
    {SCORES: "scores = logits - torch.log(-torch.log(torch.rand_like(logits)))"},
    says="This draws noise of its own. The samples are given: gumbels.",
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


everything_along_the_first_axis = mistake(
    "gumbel_softmax_st",
    {
        SOFT: SOFT.replace("dim=-1", "dim=0"),
        HARD: "hard = torch.zeros_like(soft).scatter(0, scores.argmax(0, keepdim=True), 1.0)",
    },
    says="Softmax and choice go along the first axis. The categories are along the last one: dim=-1.",
)
