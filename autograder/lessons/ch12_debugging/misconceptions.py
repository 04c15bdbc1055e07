"""Wrong answers to ch12_debugging that learners write, and repairs of its programs that hide the symptom."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

# gradient_report

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
    says="With an even number of norms the lower of the middle two was taken, as torch.median does. The median is "
    "the mean of both.",
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

# first_nonfinite

FINITE_TENSOR = "return bool(output.isfinite().all())"
CONTAINERS = """\
if isinstance(output, dict):
    output = output.values()
elif not isinstance(output, tuple | list):
    return True
return all(finite(part) for part in output)"""
LEAVES = "leaves = [(name, module) for name, module in model.named_modules() if not list(module.children())]"
WATCH = "return lambda module, inputs, output: None if finite(output) else found.append(name)"
RUN = """\
try:
    with torch.no_grad():
        model(x)
finally:
    for hook in hooks:
        hook.remove()"""
FIRST = "return found[0] if found else None"

order_of_registration = mistake(
    "first_nonfinite",
    {FIRST: "return next((name for name, _ in leaves if name in found), None)"},
    says="The first in the order of named_modules() was returned. Modules need not run in the order in which they were "
    "registered: the first hook that fires with a bad output is the answer.",
)
last_one = mistake(
    "first_nonfinite",
    {FIRST: "return found[-1] if found else None"},
    says="The last bad module was returned. All that comes after the first one inherits its nan.",
)
all_modules_watched = mistake(
    "first_nonfinite",
    {
        "leaves = [(name, module) for name, module in model.named_modules() if not list(module.children())]": (
            "leaves = list(model.named_modules())"
        )
    },
    says="Modules that hold others are watched, too: what the model does with what its leaves gave is then laid to a "
    "container. Leaf modules alone are asked, those without children().",
)
nan_only = mistake(
    "first_nonfinite",
    {FINITE_TENSOR: "return not bool((output != output).any())"},
    says="Only nan was looked for. An inf comes first, as a rule, and becomes a nan later: inf − inf, 0 · inf.",
)
inf_only = mistake(
    "first_nonfinite",
    {FINITE_TENSOR: "return not bool((output.abs() == math.inf).any())"},
    says="Only inf was looked for. A nan is not finite either.",
)
all_entries_bad = mistake(
    "first_nonfinite",
    {FINITE_TENSOR: "return bool(output.isfinite().any())"},
    says="An output was called bad only if all of its entries are. One is enough.",
)
tensors_only = mistake(
    "first_nonfinite",
    {CONTAINERS: "return True"},
    says="Outputs that are tuples, lists or dicts were not looked into. An LSTM's output is a tuple with a tuple in "
    "it.",
)
tuples_only = mistake(
    "first_nonfinite",
    {CONTAINERS: "return all(finite(part) for part in output) if isinstance(output, tuple) else True"},
    says="Tuples were looked into, lists and dicts were not.",
)
first_level_only = mistake(
    "first_nonfinite",
    {
        "return all(finite(part) for part in output)": "return all(\n"
        "    bool(part.isfinite().all()) for part in output if isinstance(part, torch.Tensor)\n)"
    },
    says="Containers were looked into, and those inside of them were not. An LSTM's output is a tuple with a tuple "
    "in it.",
)
blocks_too = mistake(
    "first_nonfinite",
    {
        LEAVES: "leaves = [(name, module) for name, module in model.named_modules()]",
        FIRST: "return found[-1] if found else None",
    },
    says="Modules that have modules of their own were asked, too. A block is done after its layers, and the model "
    "last: the leaf is what is looked for.",
)
children_only = mistake(
    "first_nonfinite",
    {LEAVES: "leaves = list(model.named_children())"},
    says="Only the model's direct children were watched. named_modules() goes into them; leaves are those without "
    "children.",
)
outputs_looked_at_afterwards = mistake(
    "first_nonfinite",
    {
        WATCH: "return lambda module, inputs, output: found.append((name, output))",
        FIRST: "return next((name for name, output in found if not finite(output)), None)",
    },
    says="The outputs were collected and looked at after the run. The model may have written into them by then: look "
    "inside of the hook.",
)
inputs_looked_at = mistake(
    "first_nonfinite",
    {WATCH: "return lambda module, inputs, output: None if finite(inputs) else found.append(name)"},
    says="The inputs of the modules were looked at: that names the module after the one that is wrong.",
)
weights_looked_at = mistake(
    "first_nonfinite",
    {
        WATCH: "return lambda module, inputs, output: None",
        FIRST: "return next((name for name, m in leaves if not all(finite(p) for p in m.parameters())), None)",
    },
    says="The parameters were looked at. Finite weights can give an inf, and what counts is the outputs.",
)
last_name_for_all = mistake(
    "first_nonfinite",
    {
        "hooks = [module.register_forward_hook(watch(name)) for name, module in leaves]": """\
hooks = []
for name, module in leaves:
    hooks.append(module.register_forward_hook(lambda m, i, output: None if finite(output) else found.append(name)))"""
    },
    says="Every hook says the name that the loop ended with: a function looks a name up when it runs, not when it is "
    "made. Bind it: lambda module, inputs, output, name=name: …",
)
switched_to_eval = mistake(
    "first_nonfinite",
    {"model(x)": "model.eval()(x)"},
    says="The model was switched to eval mode, in which other things happen, and is left in it. Run it in the mode "
    "that it is in.",
)
hooks_left = mistake(
    "first_nonfinite",
    {RUN: "with torch.no_grad():\n    model(x)"},
    says="The hooks were not removed. Each later run fires them, and they keep what they refer to alive.",
)
hooks_left_when_it_raises = mistake(
    "first_nonfinite",
    {RUN: "with torch.no_grad():\n    model(x)\nfor hook in hooks:\n    hook.remove()"},
    says="Where the model raises, the hooks are left on it: put their removal into a finally block.",
)
exception_swallowed = mistake(
    "first_nonfinite",
    {RUN: "try:\n    model(x)\nexcept Exception:\n    pass\nfor hook in hooks:\n    hook.remove()"},
    says="The model's own exception was caught. Whoever calls must see it: finally, not except.",
)

top_level_alone = mistake(
    "first_nonfinite",
    {LEAVES: LEAVES.replace("model.named_modules()", "model.named_children()")},
    says="Only the model's own children are watched, and layers inside of blocks are not: named_modules() goes all the "
    "way down.",
)
empty_name_for_none = mistake(
    "first_nonfinite",
    {"return found[0] if found else None": "return (found[0] if found else None) or None"},
    says='A model that is a leaf itself has the name "", which is false: `or None` and `if name` take it for nothing. '
    "Ask `is None`.",
)

# anomaly_op

DETECT = "with torch.autograd.detect_anomaly():"
RERAISED = "if told is None:\n    raise"

mode_left_on = mistake(
    "anomaly_op",
    {DETECT: "torch.autograd.set_detect_anomaly(True)\nif True:"},
    says="Anomaly mode stays on after the call, and makes all that follows slow. As a context manager it ends by "
    "itself.",
)
mode_always_switched_off = mistake(
    "anomaly_op",
    {
        DETECT: "torch.autograd.set_detect_anomaly(True)\nif True:",
        "return told[1]": "torch.autograd.set_detect_anomaly(False)\nreturn told[1]",
        "return None": "torch.autograd.set_detect_anomaly(False)\nreturn None",
    },
    says="Anomaly mode is off after the call, also where the caller had it on. Leave it as it was: the context manager "
    "remembers.",
)
anything_swallowed = mistake(
    "anomaly_op",
    {RERAISED: "if told is None:\n    return None"},
    says="Every RuntimeError of the backward pass was taken for none at all. One that is no anomaly has to pass: "
    "raise.",
)
fn_inside_of_the_try = mistake(
    "anomaly_op",
    {
        "loss = fn()": "",
        "loss.backward()": "fn().backward()",
        RERAISED: "if told is None:\n    return None",
    },
    says="Every RuntimeError, also one of fn itself, was taken for none at all. What is no anomaly has to pass: raise.",
)
whole_message = mistake(
    "anomaly_op",
    {"return told[1]": "return str(error)"},
    says="The whole message was returned. The name of the node is the part in quotation marks.",
)
operation_not_node = mistake(
    "anomaly_op",
    {"return told[1]": 'return told[1].replace("Backward0", "").lower()'},
    says="The name was shortened to that of the operation. The node's is asked, as PyTorch writes it: SqrtBackward0.",
)
root_of_the_graph = mistake(
    "anomaly_op",
    {"return told[1]": "return loss.grad_fn.name()"},
    says="This is the loss's own node, where the backward pass begins. The one that made the nan is in the message.",
)
called_twice = mistake(
    "anomaly_op",
    {"loss = fn()": "fn()\nloss = fn()"},
    says="fn was called twice. It may be slow, or draw random numbers: call it once.",
)
checks_switched_off = mistake(
    "anomaly_op",
    {DETECT: "with torch.autograd.detect_anomaly(check_nan=False):"},
    says="Nothing looks for a nan while backward runs: anomaly mode is not on, or check_nan=False has it record where "
    "operations were called, and no more.",
)

name_cut = mistake(
    "anomaly_op",
    {"return told[1]": 'return told[1].removesuffix("Backward0")'},
    says="The name is cut. The node's whole name is asked, as PyTorch has it: SqrtBackward0.",
)


@misconception(
    "anomaly_op",
    says="The gradients of the leaves were looked at. Those tell that there was a nan on the way, and not which node "
    "made it: let anomaly mode find it.",
)
def leaves_looked_at(fn):
    loss = fn()
    loss.backward()
    node = loss.grad_fn
    while node is not None:
        following = [parent for parent, _ in node.next_functions if parent is not None]
        if not following:
            return None
        if hasattr(following[0], "variable"):
            grad = following[0].variable.grad
            return node.name() if grad is not None and grad.isnan().any() else None
        node = following[0]
    return None


# repeated_batches

EQUAL_TUPLES = "return len(a) == len(b) and all(equal(*pair) for pair in zip(a, b, strict=True))"
DIFFERENT = "if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.shape != b.shape:"
ENTRIES = "return bool(((a == b) | ((a != a) & (b != b))).all())"
PAIRS = "return [(i, j) for i in range(n) for j in range(i + 1, n) if equal(batches[i], batches[j])]"

nan_differs_from_itself = mistake(
    "repeated_batches",
    {ENTRIES: "return bool((a == b).all())"},
    says="A batch with a nan in it was not found again: a nan is not equal to itself. Ask also whether both are nan.",
)
dtypes_not_compared = mistake(
    "repeated_batches",
    {DIFFERENT: "if isinstance(a, tuple) or isinstance(b, tuple) or a.shape != b.shape:"},
    says="Integers and floats with the same values were called equal. The dtypes must be the same, too; == converts, "
    "and so does torch.equal.",
)
shapes_that_broadcast = mistake(
    "repeated_batches",
    {
        DIFFERENT: """\
def broadcasts(a, b):
    try:
        return torch.broadcast_shapes(a.shape, b.shape) is not None
    except RuntimeError:
        return False
if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or not broadcasts(a, b):"""
    },
    says="Batches of different shapes were called equal: == stretches a row over a matrix. Compare the shapes first.",
)
numbers_alone = mistake(
    "repeated_batches",
    {
        DIFFERENT: "if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.numel() != b.numel():",
        ENTRIES: "a, b = a.reshape(-1), b.reshape(-1)\nreturn bool(((a == b) | ((a != a) & (b != b))).all())",
    },
    says="Batches with the same numbers in another shape were called equal. Compare the shapes, too.",
)
first_tensor_alone = mistake(
    "repeated_batches",
    {EQUAL_TUPLES: "return len(a) == len(b) and equal(a[0], b[0])"},
    says="Only the first tensor of a tuple was compared. The same X with another y is another batch.",
)
one_equal_tensor_is_enough = mistake(
    "repeated_batches",
    {EQUAL_TUPLES: "return len(a) == len(b) and any(equal(*pair) for pair in zip(a, b, strict=True))"},
    says="Tuples were called equal when one of their tensors is. All must be.",
)
lengths_not_compared = mistake(
    "repeated_batches",
    {EQUAL_TUPLES: "return all(equal(*pair) for pair in zip(a, b))"},
    says="A tuple was called equal to a longer one that begins alike: zip ends at the shorter. Compare the lengths.",
)
almost_equal = mistake(
    "repeated_batches",
    {ENTRIES: "return torch.allclose(a.double(), b.double(), equal_nan=True)"},
    says="Batches that are close were called equal. A batch that is served twice is the same to the last bit.",
)
neighbours_only = mistake(
    "repeated_batches",
    {PAIRS: "return [(i, i + 1) for i in range(len(batches) - 1) if equal(batches[i], batches[i + 1])]"},
    says="Only neighbours were compared. A batch can come back at any time: every pair i < j is asked.",
)
nan_replaced_by_0 = mistake(
    "repeated_batches",
    {ENTRIES: "return torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))"},
    says="nan_to_num makes a 0 of a nan, and the largest number of an inf: batches with a 0 in that place are then "
    "equal to those with a nan. Compare first: a == b, or both are nan.",
)
first_occurrence_by_the_second = mistake(
    "repeated_batches",
    {
        PAIRS: """\
pairs = []
for j in range(n):
    for i in range(j):
        if equal(batches[i], batches[j]):
            pairs.append((i, j))
            break
return pairs"""
    },
    says="Each repeat was paired with the first of its kind alone, in the order of the repeats. Three equal batches "
    "are three pairs, (0, 1), (0, 2), (1, 2), in ascending order.",
)
first_occurrence_alone = mistake(
    "repeated_batches",
    {
        PAIRS: """\
firsts = [next(i for i in range(j + 1) if i == j or equal(batches[i], batches[j])) for j in range(len(batches))]
return sorted((i, j) for j, i in enumerate(firsts) if i < j)"""
    },
    says="Each repeat was paired with the first of its kind alone. Three equal batches are three pairs: (0, 1), (0, "
    "2), (1, 2).",
)
ordered_by_the_second = mistake(
    "repeated_batches",
    {PAIRS: "return [(i, j) for j in range(n) for i in range(j) if equal(batches[i], batches[j])]"},
    says="The pairs are right and in the order of j. Ascending, as sorted() has them, they are in the order of i.",
)
both_orders = mistake(
    "repeated_batches",
    {
        PAIRS: """\
return [(i, j) for i in range(n) for j in range(n) if i != j and equal(batches[i], batches[j])]"""
    },
    says="Each pair is there twice, once in either order. Only i < j is asked.",
)
with_itself = mistake(
    "repeated_batches",
    {
        PAIRS: """\
return [(i, j) for i in range(n) for j in range(i, n) if i == j or equal(batches[i], batches[j])]"""
    },
    says="Each batch was paired with itself. i < j is asked.",
)

# The programs

SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=lr)"
BACK = "loss.backward()"
ZERO = "optimizer.zero_grad()"


def _as_handed_out(what, where_to_look):
    return f"The program does what it did when it was handed out: {what}. {where_to_look}"


def _with_rate(factor):
    return {SGD: f"optimizer = torch.optim.SGD(model.parameters(), lr={factor} * lr)"}


SMALLER = (
    "A smaller learning rate makes a symptom smaller, and everything else slower. The bug is still there. Leave the "
    "learning rate as it is."
)

tuple_of_one_is_its_tensor = mistake(
    "repeated_batches",
    {
        "n = len(batches)": "batches = [batch if isinstance(batch, tuple) else (batch,) for batch in batches]\n"
        "n = len(batches)"
    },
    says="A tensor and a tuple with that tensor alone count as equal. They are two kinds of batch.",
)
sums_compared = mistake(
    "repeated_batches",
    {
        ENTRIES: "return bool((a.sum() == b.sum()) | (a.sum() != a.sum()) & (b.sum() != b.sum()))",
    },
    says="Only the sums were compared. Other numbers can have the same sum, and every nan has the sum nan: compare "
    "entry by entry.",
)
shapes_not_compared = mistake(
    "repeated_batches",
    {
        "if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.shape != b.shape:": "if "
        "isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype:"
    },
    says="Shapes were not compared, and == broadcasts: a row is then equal to a column of the same numbers. Compare "
    "a.shape and b.shape first.",
)

# fix_01

as_handed_out_01 = mistake(
    "fix_01",
    {ZERO: ""},
    says=_as_handed_out(
        "the loss falls and rises in waves",
        "Print the norm of a parameter's .grad before and after each backward().",
    ),
)
smaller_rate_01 = mistake("fix_01", {ZERO: "", **_with_rate(0.1)}, says=SMALLER)
rate_by_the_number_of_batches = mistake(
    "fix_01",
    {ZERO: 'optimizer.param_groups[0]["lr"] = lr / (len(losses) + 1)'},
    says="The step was divided by the number of batches so far: that makes a mean of all gradients since the start, "
    "taken at parameters that are long gone. A step needs the gradient of its own batch.",
)
emptied_before_the_step = mistake(
    "fix_01",
    {ZERO: "", BACK: f"{BACK}\n{ZERO}"},
    says="The gradients are emptied between backward() and step(): the step finds none, and nothing is learned.",
)
emptied_every_other_time = mistake(
    "fix_01",
    {ZERO: "if len(losses) % 2 == 0:\n    optimizer.zero_grad()"},
    says="The gradients are emptied after every other batch. Half of the steps still follow two batches.",
)
clipped_01 = mistake(
    "fix_01",
    {ZERO: "", BACK: f"{BACK}\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"},
    says="Clipping bounds the step and leaves its direction wrong: it is still that of the sum of all gradients.",
)
noted_after_the_step_01 = mistake(
    "fix_01",
    {"losses.append(loss.item())": "losses.append(F.mse_loss(model(X), y).item())"},
    says="The program learns as it should. But the losses are those after the step, and each is asked before its step.",
)
halved_01 = mistake(
    "fix_01",
    {
        ZERO: """\
for parameter in model.parameters():
    if parameter.grad is not None:
        parameter.grad *= 0.5"""
    },
    says="Half of the old gradients is kept: that is momentum, another algorithm. Plain SGD is asked.",
)

# fix_02

SUM = "branch = branch + h"

still_in_place = mistake(
    "fix_02",
    {SUM: "branch += h"},
    says="Something is still written into after an operation has saved it for its backward. The message names the "
    "operation that made it, and the line to change is the one that writes. (No help: no_grad around it, a copy made "
    "afterwards, retain_graph.)",
)
written_past_the_check = mistake(
    "fix_02",
    {SUM: "branch.data += h"},
    says=".data writes past the version counter: the error is gone, and tanh's backward reads the changed output. The "
    "gradients are wrong without a word. Make a new tensor.",
)
branch_detached = mistake(
    "fix_02",
    {SUM: "branch = branch.detach() + h"},
    says="The branch was detached: its layer gets no gradient any more, and does not learn.",
)
skip_detached = mistake(
    "fix_02",
    {SUM: "branch = branch + h.detach()"},
    says="The skip connection was detached: its gradient, the reason why there is one, is lost.",
)
skip_left_out = mistake(
    "fix_02",
    {SUM: ""},
    says="The skip connection is gone. That is another network; the architecture stays.",
)
tanh_around_both = mistake(
    "fix_02",
    {"branch = torch.tanh(layer(h))": "branch = layer(h)", SUM: "branch = torch.tanh(branch + h)"},
    says="The tanh is around the sum now. That is another network: h + tanh(layer(h)) is asked.",
)
error_caught_02 = mistake(
    "fix_02",
    {SUM: "branch += h", BACK: "try:\n    loss.backward()\nexcept RuntimeError:\n    pass"},
    says="The exception was caught, and the step that follows has no gradient, or only those of the layers behind the "
    "error. Mend its cause.",
)

# fix_03

FEATURES = "features = encoder(X)"
SGD_OF_BOTH = "optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=lr)"
HEAD_LOSS = "loss = F.cross_entropy(head(features), y)"

as_handed_out_03 = mistake(
    "fix_03",
    {FEATURES: "features = encoder(X).detach()"},
    says=_as_handed_out(
        "the loss falls a little and stalls",
        "Print the .grad of the encoder's parameters after backward(). (To set requires_grad on what the "
        "encoder gave, or to clone it, changes nothing about them.)",
    ),
)
faster_head = mistake(
    "fix_03",
    {
        FEATURES: "features = encoder(X).detach()",
        SGD_OF_BOTH: "optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=10 * lr)",
    },
    says="With another learning rate the head learns faster, on features that are still random. The encoder has no "
    "gradient.",
)
head_left_out = mistake(
    "fix_03",
    {SGD_OF_BOTH: "optimizer = torch.optim.SGD(encoder.parameters(), lr=lr)"},
    says="Now the head does not learn: its parameters are not with the optimizer. Both learn.",
)
detached_for_the_loss = mistake(
    "fix_03",
    {HEAD_LOSS: "loss = F.cross_entropy(head(features.detach()), y) + features.std()"},
    says="The encoder has a gradient, but not that of the cross-entropy: the features are still detached on the way to "
    "the head. The loss stays as it is.",
)
spread_after_the_step = mistake(
    "fix_03",
    {
        "spreads.append(features.std().item())": "",
        "losses.append(loss.item())": "losses.append(loss.item())\nspreads.append(encoder(X).std().item())",
    },
    says="The spreads are those after the step. They belong to the features that the loss was computed from.",
)

# fix_04

LOSS_OF = "return F.cross_entropy(model(X), y)"

as_handed_out_04 = mistake(
    "fix_04",
    {LOSS_OF: "with torch.no_grad():\n    return F.cross_entropy(model(X), y)"},
    says="There is still no graph: print loss.grad_fn behind the line that computes the loss. The innermost switch "
    "counts: no_grad inside of loss_of wins against enable_grad around its call.",
)
nothing_learns = mistake(
    "fix_04",
    {LOSS_OF: "with torch.no_grad():\n    loss = F.cross_entropy(model(X), y)\nreturn loss.requires_grad_()"},
    says="The error is gone and nothing learns. requires_grad_() makes a leaf of the loss: there is no graph behind "
    "it, no parameter gets a gradient, and no step changes anything. The same holds where backward() is "
    "skipped.",
)
last_layer_alone = mistake(
    "fix_04",
    {
        LOSS_OF: """\
with torch.no_grad():
    features = model[:-1](X)
return F.cross_entropy(model[-1](features), y)"""
    },
    says="Only the last layer learns: the others still run without a graph. With a single layer one does not notice.",
)
validation_before_the_step = mistake(
    "fix_04",
    {
        "validation_losses.append(loss_of(*validation).item())": "",
        "loss = loss_of(X, y)": "loss = loss_of(X, y)\nvalidation_losses.append(loss_of(*validation).item())",
    },
    says="The validation losses are those before the step. Noted after it, they are those of the trained model.",
)
trained_on_the_validation_set = mistake(
    "fix_04",
    {ZERO: f"{ZERO}\nloss_of(*validation).backward()"},
    says="The validation loss was sent backward, too: its gradient adds to that of the batch. The model is trained on "
    "what it is to be tested on.",
)

trained_on_the_validation_set_afterwards = mistake(
    "fix_04",
    {
        ZERO: "",
        "optimizer.step()": "optimizer.step()\noptimizer.zero_grad()",
        "validation_losses.append(loss_of(*validation).item())": "validation_loss = loss_of(*validation)\n"
        "validation_loss.backward()\nvalidation_losses.append(validation_loss.item())",
    },
    says="The validation loss is trained on: its backward() leaves gradients that the next step uses. Measure it "
    "without one.",
)

# fix_05

HIDDEN = "self.hidden = torch.nn.ModuleList(layers)"

as_handed_out_05 = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = layers"},
    says=_as_handed_out(
        "the loss stalls, and what is saved is not the whole network",
        "Print [name for name, _ in model.named_parameters()], and count. (A tuple or a dict of layers gives "
        "the same names.)",
    ),
)
optimizer_told = mistake(
    "fix_05",
    {
        HIDDEN: "self.hidden = layers",
        SGD: "hidden = [p for layer in model.hidden for p in layer.parameters()]\n"
        "optimizer = torch.optim.SGD([*model.parameters(), *hidden], lr=lr)",
    },
    says="The optimizer knows the hidden layers now, and the model still does not: state_dict(), to(device) and "
    "zero_grad() pass them over, and a network that is saved and loaded has other hidden layers.",
)
weights_alone = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = layers\nself.weights = torch.nn.ParameterList([layer.weight for layer in layers])"},
    says="The hidden layers' weights are registered, their biases are not: they neither learn nor are saved.",
)
one_layer_for_all = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = torch.nn.ModuleList([layers[0], *layers[-1:] * (depth - 1)])"},
    says="Fewer layers than `depth` have parameters of their own: one of them runs several times. The architecture "
    "stays.",
)
head_first = mistake(
    "fix_05",
    {
        "self.head = torch.nn.Linear(width, n_out)": "",
        "super().__init__()": "super().__init__()\nself.head = torch.nn.Linear(width, n_out)",
    },
    says="The head is made before the hidden layers, so that each draws other numbers at its start. The order stays: "
    "hidden layers first to last, then the head.",
)
one_relu = mistake(
    "fix_05",
    {
        HIDDEN: "self.hidden = torch.nn.Sequential(*layers)",
        "for layer in self.hidden:\n    x = torch.relu(layer(x))": "x = torch.relu(self.hidden(x))",
    },
    says="There is one ReLU behind all hidden layers. Each has its own; two linear maps without one between are one.",
)
registered_and_frozen = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = torch.nn.ModuleList(layers).requires_grad_(False)"},
    says="The hidden layers are registered and frozen: they are saved, and still do not learn.",
)
larger_rate_05 = mistake(
    "fix_05",
    {HIDDEN: "self.hidden = layers", **_with_rate(10)},
    says="With a larger learning rate the head learns faster, on features that are still random. Leave it as it is; "
    "the hidden layers are not found.",
)

one_layer_again_and_again = mistake(
    "fix_05",
    {
        "layers = [torch.nn.Linear(n_in if i == 0 else width, width) for i in range(depth)]": "layers = "
        "[torch.nn.Linear(n_in, width), *[torch.nn.Linear(width, width)] * (depth - 1)]",
    },
    says="`[layer] * n` is n times the same layer, with one weight for all. Make each anew: a list comprehension.",
)

# fix_06

NOTED = "validation_losses.append(validation_loss.item())"

as_handed_out_06 = mistake(
    "fix_06",
    {NOTED: "validation_losses.append(validation_loss)"},
    says=_as_handed_out(
        "memory climbs",
        "Print validation_losses[-1], all of it. (`del` of a name does not free what a list holds.)",
    ),
)
converted_at_the_end = mistake(
    "fix_06",
    {
        NOTED: "validation_losses.append(validation_loss)",
        "return losses, validation_losses": "return losses, [loss.item() for loss in validation_losses]",
    },
    says="The losses become numbers when all is over. Until then every graph is alive, and it is during the run that "
    "memory ends.",
)
last_one_kept = mistake(
    "fix_06",
    {NOTED: "validation_losses = [validation_loss.item()]"},
    says="Only the last validation loss is kept. All are asked; as numbers they need no memory to speak of.",
)
validated_once = mistake(
    "fix_06",
    {
        "validation_loss = F.mse_loss(model(X_val), y_val)": "",
        NOTED: "",
        "return losses, validation_losses": "last = F.mse_loss(model(X_val), y_val).item()\n"
        "return losses, [last] * len(losses)",
    },
    says="The validation loss is computed once, after the last step. That after each step is asked.",
)
some_left_out = mistake(
    "fix_06",
    {NOTED: "if len(losses) % 4 == 0:\n    validation_losses.append(validation_loss)"},
    says="The validation loss is noted less often. That makes the leak slower, does not end it, and the other losses"
    " are missing.",
)
training_without_graph = mistake(
    "fix_06",
    {
        NOTED: "validation_losses.append(validation_loss.item())\nmodel.requires_grad_(False)\nloss.requires_grad_()",
        BACK: "if loss.requires_grad:\n    loss.backward()",
    },
    says="The model was frozen to save memory, and stops learning after the first step.",
)

gradients_stay_off = mistake(
    "fix_06",
    {
        "validation_loss = F.mse_loss(model(X_val), y_val)": "torch.set_grad_enabled(False)\n"
        "validation_loss = F.mse_loss(model(X_val), y_val)",
    },
    says="Gradients are switched off for the measurement and stay off: the next batch has no graph. `with "
    "torch.no_grad():` switches them on again.",
)
measured_before_the_step = mistake(
    "fix_06",
    {
        "validation_loss = F.mse_loss(model(X_val), y_val)": "",
        NOTED: "",
        "loss = F.mse_loss(model(X), y)": "with torch.no_grad():\n"
        "    validation_losses.append(F.mse_loss(model(X_val), y_val).item())\nloss = F.mse_loss(model(X), y)",
    },
    says="The validation loss is measured before the step. It belongs behind it, where it was.",
)

# fix_07

RIGHT_LOSS = "loss = F.cross_entropy(model(X), y)"
PREDICTED = "return torch.softmax(model(X), dim=1)"

as_handed_out_07 = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(predict(X), y)"},
    says=_as_handed_out(
        "the loss stays far above 0",
        "Compute F.cross_entropy of a perfect prediction, [[1.0, 0.0]], with the target [0].",
    ),
)
no_softmax_at_all = mistake(
    "fix_07",
    {PREDICTED: "return model(X)"},
    says="The loss is right. But the softmax is gone from predict, and what is returned for X_new are no "
    "probabilities.",
)
log_probabilities = mistake(
    "fix_07",
    {PREDICTED: "return torch.log_softmax(model(X), dim=1)"},
    says="The loss is right: the softmax of log-probabilities gives the probabilities again. What is returned for "
    "X_new are the logarithms.",
)
probabilities_for_nll = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.nll_loss(predict(X), y)"},
    says="nll_loss takes log-probabilities. Of probabilities it gives −p, which has no logarithm in it.",
)
larger_rate_07 = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(predict(X), y)", **_with_rate(5)},
    says="A larger learning rate makes up for some of the slowness; the loss is still that of a softmax of "
    "probabilities.",
)
sharpened = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(10 * predict(X), y)"},
    says="Probabilities times 10 are still no logits: the loss can fall lower, and its gradient is another one.",
)
softmax_over_the_rows = mistake(
    "fix_07",
    {PREDICTED: "return torch.softmax(model(X), dim=0)"},
    says="The loss is right. But the softmax runs over the points: for each point the classes are to sum to 1, dim=1.",
)
squared_error = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.mse_loss(predict(X), F.one_hot(y, predict(X).shape[1]).float())"},
    says="The loss is a squared error now. The cross-entropy is asked.",
)

much_larger_rate_07 = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(predict(X), y)", **_with_rate(10)},
    says="A larger learning rate makes a slow symptom faster. The bug is still there: cross_entropy takes logits, and "
    "has a softmax of its own.",
)
minus_forgotten = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = torch.log_softmax(model(X), dim=1)[torch.arange(len(y)), y].mean()"},
    says="This is the mean log-probability, which one would have to raise. The loss is minus that.",
)

# fix_08

LOG_P = "log_p = torch.log_softmax(logits, dim=1)"
LOG_OF_P = "log_p = torch.log(p)"
ENTROPY = "entropy = -(p * log_p).sum(dim=1).mean()"
TOTAL = "loss = F.cross_entropy(logits, y) - beta * entropy"

as_handed_out_08 = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P},
    says=_as_handed_out(
        "the loss is nan where an action is forbidden",
        "Print p, log_p and p * log_p of such a row.",
    ),
)
nan_replaced = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P, ENTROPY: "entropy = -(p * log_p).nan_to_num(0.0).sum(dim=1).mean()"},
    says="The loss is finite and its gradient is nan. What replaces or skips the nan behind the logarithm (nan_to_num, "
    "torch.where, nansum; xlogy and entr do so inside) sends a 0 backward, and the logarithm multiplies it by 1/0. "
    "After one step all parameters are nan. Keep the 0 away from the logarithm.",
)
loss_replaced = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P, TOTAL: f"{TOTAL}\nloss = torch.nan_to_num(loss)"},
    says="A nan was replaced by 0 in the loss. The gradients are nan or 0 all the same: nothing is mended.",
)
batch_skipped_08 = mistake(
    "fix_08",
    {
        LOG_P: LOG_OF_P,
        TOTAL: f"{TOTAL}\nif loss.isnan():\n    losses.append(F.cross_entropy(logits, y).item())\n    continue",
    },
    says="Batches with a nan are skipped: those with forbidden actions, from which there is something to learn.",
)
batch_left_out_08 = mistake(
    "fix_08",
    {LOG_P: LOG_OF_P, TOTAL: f"{TOTAL}\nif loss.isnan():\n    continue"},
    says="Batches with a nan are left out: those with forbidden actions, from which there is something to learn.",
)
mask_left_out = mistake(
    "fix_08",
    {"logits = model(X).masked_fill(~allowed, -1e9)": "logits = model(X)"},
    says="The mask is gone: forbidden actions have a probability, and the model learns against them.",
)
entropy_without_the_mask = mistake(
    "fix_08",
    {
        "p = torch.softmax(logits, dim=1)": "p = torch.softmax(model(X), dim=1)",
        LOG_P: "log_p = torch.log_softmax(model(X), dim=1)",
    },
    says="The entropy is that of the model without the mask. Forbidden actions have the probability 0 in it, too.",
)
softmax_twice_08 = mistake(
    "fix_08",
    {LOG_P: "log_p = torch.log_softmax(p, dim=1)"},
    says="log_softmax takes logits, and was given probabilities: that is the softmax of a softmax.",
)
entropy_added = mistake(
    "fix_08",
    {TOTAL: "loss = F.cross_entropy(logits, y) + beta * entropy"},
    says="The entropy is added. It is subtracted, so that a less certain agent has the smaller loss.",
)
entropy_left_out = mistake(
    "fix_08",
    {LOG_P: "", ENTROPY: "", TOTAL: "loss = F.cross_entropy(logits, y)"},
    says="The entropy is gone from the loss. It stays; only its value at p = 0 is at fault.",
)
large_floor = mistake(
    "fix_08",
    {LOG_P: "log_p = torch.log(p.clamp(min=0.05))"},
    says="The floor for p is so large that honest probabilities lie below it: the entropy and its gradient change. The "
    "smallest positive float is enough: torch.finfo(p.dtype).tiny.",
)
softer_mask = mistake(
    "fix_08",
    {
        "logits = model(X).masked_fill(~allowed, -1e9)": "logits = model(X).masked_fill(~allowed, -3.0)",
        LOG_P: LOG_OF_P,
    },
    says="The mask is so soft that forbidden actions have a probability above 0. They are forbidden.",
)

gradients_replaced = mistake(
    "fix_08",
    {
        LOG_P: LOG_OF_P,
        ENTROPY: "entropy = -torch.nansum(p * log_p, dim=1).mean()",
        "loss.backward()": "loss.backward()\nfor parameter in model.parameters():\n"
        "    parameter.grad.nan_to_num_(nan=0.0)",
    },
    says="The nan in the gradients are set to 0: where an action is forbidden nothing is learned. It hides the "
    "symptom. Keep the logarithm away from 0: log_softmax of the logits.",
)
mask_of_minus_ten = mistake(
    "fix_08",
    {
        "logits = model(X).masked_fill(~allowed, -1e9)": "logits = model(X).masked_fill(~allowed, -10.0)",
        LOG_P: LOG_OF_P,
    },
    says="The mask is milder, so that forbidden actions have a probability again. It hides the symptom. The mask "
    "stays; the logarithm is what to mend: log_softmax of the logits.",
)

# fix_09

as_handed_out_09 = mistake(
    "fix_09",
    {"model.eval()": "", "model.train()": ""},
    says=_as_handed_out(
        "the validation loss jumps",
        "Compute it twice in a row, without a step in between: two numbers. torch.no_grad() switches off the "
        "graph, and what else?",
    ),
)
never_back_to_train = mistake(
    "fix_09",
    {"model.train()": ""},
    says="The first validation loss is right. From then on the model trains in eval mode, without Dropout and with "
    "frozen statistics: go back to train mode.",
)
eval_from_the_start = mistake(
    "fix_09",
    {"model.eval()": "", "model.train()": "", SGD: f"{SGD}\nmodel.eval()"},
    says="The model is in eval mode from the start, and trains in it: no Dropout, no batch statistics. Only the "
    "measurement is in eval mode.",
)
dropout_alone = mistake(
    "fix_09",
    {
        "model.eval()": "for module in model.modules():\n    if isinstance(module, torch.nn.Dropout):\n"
        "        module.eval()"
    },
    says="Dropout is off and BatchNorm still in train mode: each point is judged by the statistics of the validation"
    " set, which also move into the model. model.eval() reaches both.",
)
batchnorm_alone = mistake(
    "fix_09",
    {
        "model.eval()": "for module in model.modules():\n    if isinstance(module, torch.nn.BatchNorm1d):\n"
        "        module.eval()"
    },
    says="BatchNorm uses its running statistics, and Dropout still drops. model.eval() reaches both.",
)
dropout_removed = mistake(
    "fix_09",
    {"model.eval()": "model.eval()\nmodel[3].p = 0.0"},
    says="Dropout is gone from the model, in training too. The architecture stays.",
)

# fix_10

SCALED = "(loss / accumulate).backward()"
DECAYED = "optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05)"

as_handed_out_10 = mistake(
    "fix_10",
    {SCALED: BACK},
    says=_as_handed_out(
        "with more micro-batches to a step, training is less stable",
        "Compare the .grad before a step with that of one large batch of the same rows.",
    ),
)
rate_divided = mistake(
    "fix_10",
    {SCALED: BACK, DECAYED: "optimizer = torch.optim.SGD(model.parameters(), lr=lr / accumulate, weight_decay=0.05)"},
    says="The steps are right but for the weight decay, which is weaker by the factor `accumulate`: it was divided, or "
    "the learning rate was. Divide the loss alone; all else stays.",
)
log_scaled = mistake(
    "fix_10",
    {SCALED: "loss = loss / accumulate\nloss.backward()"},
    says="The gradients are right. But the losses that are returned are divided, too: they should be those of the "
    "micro-batches, whatever `accumulate` is.",
)
divided_by_all = mistake(
    "fix_10",
    {SCALED: "(loss / len(batches)).backward()"},
    says="The loss was divided by the number of all micro-batches. The mean of one step is asked: `accumulate` of "
    "them.",
)
divided_by_the_rows = mistake(
    "fix_10",
    {SCALED: "(loss / len(X)).backward()"},
    says="The loss was divided by the rows of a micro-batch. mse_loss is a mean over them already; it is the "
    "micro-batches of a step that are summed.",
)
divided_twice = mistake(
    "fix_10",
    {
        "optimizer.step()": "for parameter in model.parameters():\n    parameter.grad /= accumulate\noptimizer.step()",
    },
    says="The gradient was divided twice, once with the loss and once before the step.",
)
divided_in_the_loop = mistake(
    "fix_10",
    {SCALED: f"{BACK}\nfor parameter in model.parameters():\n    parameter.grad /= accumulate"},
    says="The sum so far is divided after each micro-batch, so that the first of them are divided again and again. "
    "Divide each loss, or the sum once, before the step.",
)
step_for_each = mistake(
    "fix_10",
    {
        SCALED: BACK,
        "if i % accumulate == 0:": "if True:",
    },
    says="Every micro-batch makes a step now. One step for `accumulate` of them is asked.",
)
clipped_10 = mistake(
    "fix_10",
    {
        SCALED: BACK,
        "optimizer.step()": "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()",
    },
    says="Clipping bounds the step. Its gradient is still a sum where that of the large batch is a mean.",
)
last_one_alone = mistake(
    "fix_10",
    {SCALED: "optimizer.zero_grad()\nloss.backward()"},
    says="The gradients are emptied for each micro-batch: a step follows the last one alone, and the others are lost.",
)
first_one_alone = mistake(
    "fix_10",
    {SCALED: "if (i - 1) % accumulate == 0:\n    loss.backward()"},
    says="Only one micro-batch of each step is sent backward. All count.",
)

rate_and_log_divided = mistake(
    "fix_10",
    {
        SCALED: BACK,
        DECAYED: "optimizer = torch.optim.SGD(model.parameters(), lr=lr / accumulate, weight_decay=0.05)",
        "losses.append(loss.item())": "losses.append(loss.item() / accumulate)",
    },
    says="The learning rate is divided, which weakens the weight decay as well, and the losses that are returned are "
    "divided, too. Divide the loss that backward() is called on, and nothing else.",
)
divided_step_for_each = mistake(
    "fix_10",
    {"if i % accumulate == 0:": "if True:"},
    says="There is a step for every micro-batch. A step comes after `accumulate` of them.",
)

# fix_11

SCALE = "scaler.scale(total / n_tokens).backward()"
STEP = "scaler.step(optimizer)"
ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=lr)"
UNSCALED = {'scaler = torch.amp.GradScaler("cpu")': "", "scaler.update()": "", STEP: "optimizer.step()"}
PLAIN = {**UNSCALED, SCALE: "(total / n_tokens).backward()"}
AUTOCAST = 'with torch.autocast("cpu", dtype=torch.float16):'


def _by_hand(scale, divided=True):
    step = f"for parameter in model.parameters():\n    parameter.grad /= {scale}\noptimizer.step()"
    return {
        **UNSCALED,
        SCALE: f"(total / n_tokens * {scale}).backward()",
        STEP: step if divided else "optimizer.step()",
    }


as_handed_out_11 = mistake(
    "fix_11",
    PLAIN,
    says=_as_handed_out(
        "most gradients are exactly 0",
        "Print them, and compare (p − y) / n_tokens with 2 ** -24, the smallest positive number of float16. (A "
        'GradScaler is for a GPU unless it is told otherwise, and does nothing without one: GradScaler("cpu").)',
    ),
)
in_float32 = mistake(
    "fix_11",
    {**PLAIN, AUTOCAST: "if True:"},
    says="The products run in float32 now: that needs twice the memory and more time, and is what float16 was there to "
    "save. Keep them in float16.",
)
in_bfloat16 = mistake(
    "fix_11",
    {**PLAIN, AUTOCAST: 'with torch.autocast("cpu", dtype=torch.bfloat16):'},
    says="bfloat16 has the range of float32, so nothing underflows. A fine choice where the machine has it; here the "
    "products stay in float16.",
)
not_divided_again = mistake(
    "fix_11",
    _by_hand("2.0**16", divided=False),
    says="The loss was scaled and the gradients were not divided again. Adam forgives most of that, but not its eps,"
    " which is then 65,536 times too small, and clipping or weight decay would not.",
)
factor_too_small = mistake(
    "fix_11",
    _by_hand("16.0"),
    says="The factor is too small: gradients that were 0 have a bit or two now. Ten bits more than the smallest one "
    "needs are a good beginning, and 2 ** 16 is GradScaler's.",
)
factor_too_large = mistake(
    "fix_11",
    _by_hand("1e13"),
    says="The factor is so large that gradients overflow: float16 ends at 65,504, and an inf divided by anything is "
    "inf.",
)
larger_rate_11 = mistake(
    "fix_11",
    {**PLAIN, ADAM: "optimizer = torch.optim.Adam(model.parameters(), lr=10 * lr)"},
    says="A larger learning rate multiplies zeros, too. They are lost in backward(), before the optimizer sees them.",
)
scaled_after_backward = mistake(
    "fix_11",
    {
        **PLAIN,
        "optimizer.zero_grad()": "optimizer.zero_grad()",
        STEP: "for parameter in model.parameters():\n    parameter.grad *= 1024.0\noptimizer.step()",
    },
    says="What is 0 after backward() stays 0, whatever multiplies it then, and however small Adam's eps is. Scale the "
    "loss, so that it does not become 0.",
)
never_normalised = mistake(
    "fix_11",
    {**UNSCALED, SCALE: "total.backward()"},
    says="The division by n_tokens is gone. Nothing underflows; but the gradients are those of another loss, some ten "
    "million times as large, and all machines together would add up to it.",
)

much_larger_rate_11 = mistake(
    "fix_11",
    {**PLAIN, ADAM: "optimizer = torch.optim.Adam(model.parameters(), lr=1000 * lr)"},
    says="A larger learning rate does not bring back what has become 0. Scale the loss before backward(), so that its "
    "gradients are no zeros in float16.",
)

# fix_12

CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"

as_handed_out_12 = mistake(
    "fix_12",
    {CLIP: ""},
    says=_as_handed_out(
        "one batch destroys what was learned",
        "Print the norm of all gradients together, in each step. What bounds it has to stand behind "
        "backward(), which makes them, and before step(), which uses them.",
    ),
)
clipped_by_value = mistake(
    "fix_12",
    {CLIP: "torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)"},
    says="Each entry was clipped by itself. That turns the gradient into another direction; max_norm is about the "
    "norm.",
)
each_by_itself = mistake(
    "fix_12",
    {CLIP: "for parameter in model.parameters():\n    torch.nn.utils.clip_grad_norm_(parameter, max_norm)"},
    says="Each parameter's gradient was clipped by its own norm. max_norm is about all of them together, with one "
    "factor.",
)
always_of_that_norm = mistake(
    "fix_12",
    {
        CLIP: """\
norm = torch.linalg.vector_norm(torch.cat([p.grad.flatten() for p in model.parameters()]))
for parameter in model.parameters():
    parameter.grad *= max_norm / norm"""
    },
    says="Every gradient gets the norm max_norm, small ones too. A gradient that is smaller stays as it is: the "
    "factor is min(1, max_norm / norm).",
)
another_norm = mistake(
    "fix_12",
    {CLIP: "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"},
    says="The norm is bounded by 1.0. By max_norm, which the program is given, it should be.",
)
parameters_used_up = mistake(
    "fix_12",
    {
        SGD: f"{SGD}\nparameters = model.parameters()",
        CLIP: "torch.nn.utils.clip_grad_norm_(parameters, max_norm)",
    },
    says="The gradients are bounded in the first step alone: model.parameters() is a generator, and used up after one "
    "walk through it. Call it anew in each step, or make a list.",
)
batch_left_out_12 = mistake(
    "fix_12",
    {
        CLIP: """\
if torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]) > max_norm:
    continue"""
    },
    says="Batches with a large gradient are left out. Each makes a step, one of bounded size.",
)
loss_capped = mistake(
    "fix_12",
    {CLIP: "", BACK: "loss.clamp(max=10.0).backward()"},
    says="The loss was capped: above the cap its gradient is 0, so the batch is left out without a word.",
)
batch_skipped_12 = mistake(
    "fix_12",
    {CLIP: "if loss > 10:\n    losses.append(loss.item())\n    continue"},
    says="The batch with the spike is skipped. No batch may be left out: it makes a step, one of bounded size.",
)
smaller_rate_12 = mistake("fix_12", {CLIP: "", **_with_rate(0.1)}, says=SMALLER)
another_loss = mistake(
    "fix_12",
    {CLIP: "", "loss = F.mse_loss(model(X), y)": "loss = F.smooth_l1_loss(model(X), y)"},
    says="The loss is another one now. A robust loss is a good idea for such data, and not this program: the squared "
    "error stays.",
)
data_clipped = mistake(
    "fix_12",
    {
        CLIP: "",
        "loss = F.mse_loss(model(X), y)": "X, y = X.clamp(-5, 5), y.clamp(-5, 5)\nloss = F.mse_loss(model(X), y)",
    },
    says="The data were clipped. They stay as they are; it is the gradient that is bounded.",
)

inputs_clamped = mistake(
    "fix_12",
    {CLIP: "", "loss = F.mse_loss(model(X), y)": "loss = F.mse_loss(model(X.clamp(-3, 3)), y)"},
    says="The data is clamped: that is another problem, and where the inputs are small the gradient can still be "
    "large. Clip the norm of the gradients.",
)
square_of_the_norm = mistake(
    "fix_12",
    {
        CLIP: """\
norm = sum(parameter.grad.square().sum() for parameter in model.parameters())
if norm > max_norm:
    for parameter in model.parameters():
        parameter.grad *= max_norm / norm"""
    },
    says="The sum of the squares is compared with max_norm. The norm is its square root.",
)
