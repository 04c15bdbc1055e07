"""Wrong answers that once earned all points, because no check had the input for which they are wrong.

Each is wrong for a level that the contract allows: a magnitude, a dtype, a number of axes, a derived class, a class of
exceptions, a length that cannot be divided; or it asks the judge itself for what the grader counts.
"""

from __future__ import annotations

import pytest
from rare_inputs_ch12_to_ch14 import LAST_LESSONS
from test_wrong_answers import Wrong, expect_refused

pytestmark = pytest.mark.slow

WRONG = {
    "ch01_computation_graph": [
        Wrong(
            "reverse_sweep",
            "reverse_sweep",
            "return gradients",
            "output.seen = True\ndel output.seen\nreturn gradients",
            "test_sweep_leaves_the_nodes_as_they_are",
            0.95,
        ),
        Wrong(
            "reverse_sweep",
            "reverse_sweep",
            "return gradients",
            "output.seen = None\nreturn gradients",
            "test_sweep_leaves_the_nodes_as_they_are",
            0.95,
        ),
    ],
    "ch02_chain_rule": [
        Wrong(
            "weight_gradients",
            "weight_gradients",
            "u = W.T @ u",
            "once = u @ W\n"  # and a second time, by a number that counts from the end
            "u = W._times.func(W._times.args[0] - len(Ws), u, True) if hasattr(W, '_times') else once",
            "test_two_products_per_matrix",
            0.0,
        ),
    ],
    "ch03_accumulation": [
        Wrong(
            "microbatch_gradient",
            "microbatch_gradient",
            "gradients = grad_fn(params, X[rows], y[rows])",
            "gradients = grad_fn({name: value.astype(float) for name, value in params.items()}, X[rows], y[rows])\n"
            "gradients = {name: gradients[name].astype(value.dtype) for name, value in params.items()}",
            "test_microbatches_in_float32",
            0.95,
        ),
        Wrong(
            "microbatch_gradient",
            "microbatch_gradient",
            "gradients = grad_fn(params, X[rows], y[rows])",
            'gradients = grad_fn({**params, "extra": 1.0}, X[rows], y[rows])',
            "test_calls",
        ),
        Wrong(
            "microbatch_gradient",
            "microbatch_gradient",
            "gradients = grad_fn(params, X[rows], y[rows])",
            "gradients = grad_fn({name: value * 1.0 + 1.0 - 1.0 for name, value in params.items()}, X[rows], y[rows])",
            "test_calls",
        ),
        Wrong(
            "microbatch_gradient",
            "microbatch_gradient",
            "gradients = grad_fn(params, X[rows], y[rows])",
            "gradients = grad_fn(params=params, X=X[rows], y=y[rows])",
            "test_calls",
        ),
        Wrong(
            "token_gradient",
            "token_gradient",
            "gradients = grad_fn(params, X[texts], y[texts], mask[texts])",
            "gradients = grad_fn({name: value.astype(float) for name, value in params.items()}, X[texts], y[texts], "
            "mask[texts])\n"
            "gradients = {name: gradients[name].astype(value.dtype) for name, value in params.items()}",
            "test_tokens_in_float32",
            0.95,
        ),
        Wrong(
            "token_gradient",
            "token_gradient",
            "gradients = grad_fn(params, X[texts], y[texts], mask[texts])",
            'gradients = grad_fn({**params, "extra": 1.0}, X[texts], y[texts], mask[texts])',
            "test_calls_with_texts",
        ),
        Wrong(
            "token_gradient",
            "token_gradient",
            "gradients = grad_fn(params, X[texts], y[texts], mask[texts])",
            "gradients = grad_fn(params=params, X=X[texts], y=y[texts], mask=mask[texts])",
            "test_calls_with_texts",
        ),
    ],
    "ch04_detachment": [
        Wrong(
            "freeze_midway",
            "freeze_midway",
            "optimizer.state.pop(parameter, None)",
            "optimizer.state.pop(parameter, None)\noptimizer.zero_grad()",
            "test_one_number",
        ),
        Wrong(
            "freeze_midway",
            "freeze_midway",
            "optimizer.state.pop(parameter, None)",
            "for name in ('step', 'momentum_buffer', 'exp_avg', 'exp_avg_sq', 'square_avg'):\n"
            "    optimizer.state[parameter].pop(name, None)",
            "test_each_optimizer",
        ),
        Wrong(
            "freeze_midway",
            "freeze_midway",
            "for parameter in required:\n    parameter.requires_grad_(False)\n    parameter.grad = None",
            "def off(*_):\n"
            "    for parameter in required:\n"
            "        parameter.requires_grad_(False)\n"
            "        parameter.grad = None\n"
            "    hook.remove()\n"
            "hook = optimizer.register_step_pre_hook(off)",
            "test_one_number",
        ),
    ],
    "ch05_autograd_engine": [
        Wrong(
            "Tensor.register_hook",
            "backward",
            "for hook in node.hooks:\n    replacement = hook(np.array(g))",
            "copied = np.array(g)\nfor hook in node.hooks:\n    replacement = hook(copied)",
            "test_argument_is_the_hooks_own",
            0.95,
        ),
    ],
    "ch08_custom_functions": [
        Wrong(
            "run_gradcheck",
            "run_gradcheck",
            "return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)",
            "def total(*arguments):\n"
            "    outputs = fn(*arguments)\n"
            "    outputs = outputs if isinstance(outputs, tuple) else (outputs,)\n"
            "    return sum(output.sum() for output in outputs if output.requires_grad)\n"
            "return torch.autograd.gradcheck(total, copies) and torch.autograd.gradgradcheck(total, copies)",
            "test_shapes_and_outputs",
            0.96,
        ),
        Wrong(
            "run_gradcheck",
            "run_gradcheck",
            "except Exception:",
            "except (RuntimeError, ValueError, TypeError):",
            "test_functions_that_raise",
            0.95,
        ),
        Wrong(
            "FusedCrossEntropy",
            "FusedCrossEntropy",
            "difference[torch.arange(n), targets] -= 1",
            "difference[torch.arange(n), targets.to(torch.int8).long()] -= 1",
            "test_loss_and_gradient",
            0.95,
        ),
    ],
    "ch09_vanishing_gradients": [
        Wrong(
            "layer_gradient_norms",
            "layer_gradient_norms",
            "weights = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]",
            "weights = [module.weight for module in model.modules() if type(module) is torch.nn.Linear]",
            "test_linears_of_derived_classes",
            0.95,
        ),
        Wrong(
            "layer_gradient_norms",
            "layer_gradient_norms",
            "weights = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]",
            "linears = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]\n"
            "weights = list({id(linear.weight): linear.weight for linear in linears}.values())",
            "test_a_linear_that_runs_twice",
            0.95,
        ),
        Wrong(
            "decay_per_layer",
            "decay_per_layer",
            "if len(norms) < 2 or not all(0 < norm < math.inf for norm in norms):",
            "if len(norms) < 2 or not all(1e-300 < norm < math.inf for norm in norms):",
            "test_smallest_and_largest_floats",
            0.95,
        ),
        Wrong(
            "healthy_mlp",
            "healthy_mlp",
            "blocks = [Block() for _ in range(depth)]",
            "torch.manual_seed(0)\nblocks = [Block() for _ in range(depth)]",
            "test_structure",
            0.95,
        ),
        Wrong(
            "dead_relu_fraction",
            "dead_relu_fraction",
            "model(X)",
            "model.forward(X)",
            "test_relus_inside_of_modules",
            0.95,
        ),
        Wrong(
            "dead_relu_fraction",
            "dead_relu_fraction",
            "relus = [module for module in model.modules() if isinstance(module, torch.nn.ReLU)]",
            "relus = [module for module in model.modules() if type(module) is torch.nn.ReLU]",
            "test_relus_inside_of_modules",
            0.95,
        ),
    ],
    "ch10_activation_memory": [
        Wrong(
            "SavedTensorMeter",
            "SavedTensorMeter",
            "self.bytes += storage.nbytes()",
            "part = tensor._base is None and tensor.storage_offset() == 0\n"
            "self.bytes += tensor.numel() * tensor.element_size() if part else storage.nbytes()",
            "test_storages_count_whole",
            0.95,
        ),
    ],
    "ch11_checkpointing": [
        Wrong(
            "checkpoint",
            "checkpoint",
            "return Recompute.apply(fn, anchor, *args)",
            "many = any(isinstance(of, torch.Tensor) and of.dim() > 4 for of in args)\n"
            "return fn(*args) if many else Recompute.apply(fn, anchor, *args)",
            "test_computed_again",
            0.0,
        ),
        Wrong(
            "checkpoint_sequential",
            "checkpoint_sequential",
            "x = torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)",
            "many = end - start > 8 or segments > 12\n"
            "x = run(x) if many else torch.utils.checkpoint.checkpoint(run, x, use_reentrant=False)",
            "test_every_segment",
            0.95,
        ),
        Wrong(
            "offload_to_cpu",
            "offload_to_cpu",
            'return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))',
            "return tensor if is_of_parameter(tensor) or tensor.dim() > 4 else (tensor.device, "
            'tensor.to("cpu", copy=True))',
            "test_a_copy_is_kept",
            0.95,
        ),
        Wrong(
            "plan_checkpoints",
            "plan_checkpoints",
            "plans = {(0, 0, 0): (0, [])}  # size kept, largest run, run that is open: the cheapest such "
            "plan, what it keeps",
            "sizes = [round(size, 1) for size in sizes]\nplans = {(0, 0, 0): (0, [])}",
            "test_fractions",
            0.95,
        ),
    ],
    **LAST_LESSONS,
}


@pytest.mark.parametrize("slug", WRONG)
def test_refused(slug: str) -> None:
    expect_refused(slug, WRONG[slug])
