"""Wrong answers to the last three lessons for `test_wrong_for_rare_inputs`."""

from __future__ import annotations

from test_wrong_answers import Wrong

LAST_LESSONS = {
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
