"""Wrong answers that once earned all points, because no check had the input for which they are wrong.

Each is wrong for a level that the contract allows: a magnitude, a dtype, a number of axes, a derived class, a class of
exceptions, a length that cannot be divided; or it asks the judge itself for what the grader counts.
"""

from __future__ import annotations

import pytest
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
    "ch12_debugging": [
        Wrong(
            "gradient_report",
            "gradient_report",
            "norms = {name: None if grad is None else grad.double().norm().item() for name, grad in grads.items()}",
            "norms = {name: None if grad is None else grad.view(-1).double().norm().item() "
            "for name, grad in grads.items()}",
            "test_norms",
            0.95,
        ),
        Wrong(
            "gradient_report",
            "gradient_report",
            "grads = {name: parameter.grad for name, parameter in model.named_parameters()}",
            "model.train()\ngrads = {name: parameter.grad for name, parameter in model.named_parameters()}",
            "test_norms",
            0.95,
        ),
        Wrong(
            "repeated_batches",
            "repeated_batches",
            "return [(i, j) for i in range(n) for j in range(i + 1, n) if equal(batches[i], batches[j])]",
            "return [(i, j) for i in range(n) for j in range(i + 1, n) if batches[i] is not batches[j] and "
            "equal(batches[i], batches[j])]",
            "test_pairs_of_tuples",
            0.95,
        ),
        Wrong(
            "repeated_batches",
            "repeated_batches",
            "return [(i, j) for i in range(n) for j in range(i + 1, n) if equal(batches[i], batches[j])]",
            "lies = [[of.stride() for of in (one if isinstance(one, tuple) else (one,))] for one in batches]\n"
            "return [(i, j) for i in range(n) for j in range(i + 1, n) if lies[i] == lies[j] and "
            "equal(batches[i], batches[j])]",
            "test_pairs_of_tuples",
            0.95,
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "return bool(output.isfinite().all())",
            "return bool(output.view(-1).isfinite().all())",
            "test_finite_outputs_of_all_sizes",
            0.95,
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "return found[0] if found else None",
            "model.requires_grad_(True)\nreturn found[0] if found else None",
            "test_no_hook_is_left",
            0.95,
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "return found[0] if found else None",
            "for parameter in model.parameters():\n"
            "    parameter.grad = parameter.grad if parameter.requires_grad else None\n"
            "return found[0] if found else None",
            "test_no_hook_is_left",
            0.95,
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "elif not isinstance(output, tuple | list):",
            "elif type(output) not in (tuple, list):",
            "test_outputs_of_all_kinds",
            0.95,
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "if isinstance(output, dict):",
            "if type(output) is dict:",
            "test_outputs_of_all_kinds",
            0.95,
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "leaves = [(name, module) for name, module in model.named_modules() if not list(module.children())]",
            "other = torch.nn.Identity | torch.nn.Dropout | torch.nn.Flatten\n"
            "leaves = [(name, of) for name, of in model.named_modules() if not [*of.children()] and not "
            "isinstance(of, other)]",
            "test_leaves_inside_of_modules",
            0.95,
        ),
    ],
    "ch13_beyond_first_order": [
        Wrong(
            "gumbel_softmax_st",
            "gumbel_softmax_st",
            "hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])",
            "hard = torch.nn.functional.one_hot((scores / tau).argmax(dim=-1), scores.shape[-1])",
            "test_temperatures",
            0.95,
        ),
        Wrong(
            "gumbel_softmax_st",
            "gumbel_softmax_st",
            "hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])",
            "hard = torch.nn.functional.one_hot(torch.softmax(scores, -1).argmax(dim=-1), scores.shape[-1])",
            "test_scores_that_hardly_differ",
            0.95,
        ),
        Wrong(
            "hvp_forward_over_reverse",
            "hvp_forward_over_reverse",
            "_, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))",
            "if x.dim() > 3:\n"
            "    return hvp(f, x, v)\n"
            "_, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))",
            "test_tangent_goes_forward",
            0.95,
        ),
        Wrong(
            "score_function_gradient",
            "score_function_gradient",
            "return f(mu + sigma * eps) * eps / sigma",
            "return f(mu + sigma * eps) * eps / sigma if eps.ndim < 4 else eps",
            "test_shapes_of_eps",
            0.95,
        ),
    ],
    "ch14_scaling_out": [
        Wrong(
            "all_reduce_gradients",
            "all_reduce_gradients",
            "n_rows = torch.tensor(n_local)",
            "n_rows = torch.tensor(n_local, dtype=torch.float16)",
            "test_many_rows",
            0.95,
        ),
        Wrong(
            "all_reduce_gradients",
            "all_reduce_gradients",
            "n_rows = torch.tensor(n_local)",
            "n_rows = torch.tensor(float(n_local), dtype=next(model.parameters()).dtype)",
            "test_many_rows",
            0.95,
        ),
        Wrong(
            "bucketed_all_reduce",
            "bucketed_all_reduce",
            "if not buckets or grad.dtype != buckets[-1][0].dtype or n_bytes > room:",
            "if not buckets or grad.element_size() != buckets[-1][0].element_size() or n_bytes > room:",
            "test_mixed_dtypes",
            0.95,
        ),
        Wrong(
            "ColumnParallelLinear",
            "ColumnParallelLinear.forward",
            "return torch.nn.functional.linear(SumOfGradients.apply(x, self.group), self.weight, self.bias)",
            "x = x.reshape(-1, x.shape[-1]) if x.dim() > 3 else x\n"
            "return torch.nn.functional.linear(SumOfGradients.apply(x, self.group), self.weight, self.bias)",
            "test_column_gradients",
            0.95,
        ),
        Wrong(
            "RowParallelLinear",
            "RowParallelLinear",
            "if n_in % group.size:",
            "if n_in < group.size:",
            "test_uneven_parts",
            0.95,
        ),
        Wrong(
            "RowParallelLinear",
            "RowParallelLinear",
            "if n_in % group.size:",
            "if n_in % group.size or len(weight) % group.size:",
            "test_parts",
            0.95,
        ),
        Wrong(
            "chunked_attention",
            "chunked_attention",
            "largest = torch.full_like(q[..., :1], -torch.inf)",
            "largest = torch.full_like(q[..., :1], -1e4)",
            "test_large_scores",
            0.95,
        ),
        Wrong(
            "chunked_attention",
            "chunked_attention",
            "scale = q.shape[-1] ** -0.5",
            "scale = q.shape[-1] ** -0.5\n"
            "if q.dim() > 2:\n"
            "    scores = scale * q @ k.mT\n"
            "    out = scores.softmax(-1) @ v\n"
            "    return (out, scores.logsumexp(-1)) if return_lse else out",
            "test_memory_of_attention",
            0.0,
        ),
        Wrong(
            "chunked_attention_vjp",
            "chunked_attention_vjp",
            "scale = q.shape[-1] ** -0.5",
            "scale = q.shape[-1] ** -0.5\nblock = k.shape[-2] if q.dim() > 2 else block",
            "test_memory_of_the_gradients",
            0.0,
        ),
    ],
}


@pytest.mark.parametrize("slug", WRONG)
def test_refused(slug: str) -> None:
    expect_refused(slug, WRONG[slug])
