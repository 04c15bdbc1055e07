"""Edits of the solutions of ch12 to ch14 that only an unusual argument shows: see test_unusual.py."""

from __future__ import annotations

LAST_LESSONS: dict[str, dict[str, tuple[str, ...]]] = {
    "ch12_debugging": {
        "gradient_report__buffers_as_well": (
            "    grads = {name: parameter.grad for name, parameter in model.named_parameters()}\n",
            "    once = {}\n    for name, one in model.state_dict(keep_vars=True).items():\n"
            "        once.setdefault(id(one), (name, one))\n"
            "    grads = {name: parameter.grad for name, parameter in once.values()}\n",
        ),
        "gradient_report__as_it_lies_in_memory": (
            "grad.double().norm()",
            "grad.as_strided((grad.numel(),), (1,)).double().norm()",
        ),
        "first_nonfinite__no_gradient_for_x": (
            "    found = []\n\n    def finite",
            "    found = []\n    x = x.requires_grad_(False) if x.is_leaf else x\n\n    def finite",
        ),
        "first_nonfinite__x_without_its_grad": (
            "    found = []\n\n    def finite",
            "    found = []\n    if x.is_leaf:\n        x.grad = None\n\n    def finite",
        ),
        "first_nonfinite__x_cut_in_place": ("            model(x)\n", "            model(x.detach_())\n"),
        "first_nonfinite__buffers_as_well": (
            "None if finite(output) else",
            "None if finite(output) and finite(list(module.buffers())) else",
        ),
        "anomaly_op__clears_grads": (
            "            loss = fn()\n",
            "            loss = fn()\n            nodes = [loss.grad_fn]\n            while nodes:\n"
            "                node = nodes.pop()\n                if hasattr(node, 'variable'):\n"
            "                    node.variable.grad = None\n"
            "                nodes += [parent for parent, _ in getattr(node, 'next_functions', ()) if parent]\n",
        ),
        "repeated_batches__nearly_equal": (
            "((a == b) | ((a != a) & (b != b)))",
            "torch.isclose(a, b, rtol=0.0, atol=1e-12, equal_nan=True)",
        ),
    },
    "ch13_beyond_first_order": {
        "hvp__flat_gradient_is_no_curvature": (
            "    if not gradient.requires_grad:  # f is linear\n",
            "    if not gradient.any():\n",
            "    return torch.autograd.grad(gradient, x, v.detach(), materialize_grads=True)[0]\n",
            "    if not gradient.requires_grad:\n        return torch.zeros_like(x)\n"
            "    return torch.autograd.grad(gradient, x, v.detach(), materialize_grads=True)[0]\n",
        ),
        "hvp__on_x_itself": (
            "    x = x.detach().requires_grad_()\n    y = f(x)\n",
            "    asked = x.requires_grad\n    x.requires_grad_()\n    y = f(x)\n",
            "    if not y.requires_grad:  # f does not depend on x\n        return torch.zeros_like(x)\n"
            "    (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)\n"
            "    if not gradient.requires_grad:  # f is linear\n        return torch.zeros_like(x)\n"
            "    return torch.autograd.grad(gradient, x, v.detach(), materialize_grads=True)[0]\n",
            "    zeros = torch.zeros_like(x).detach()\n"
            "    if y.requires_grad:\n"
            "        (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)\n"
            "        if gradient.requires_grad:\n"
            "            zeros = torch.autograd.grad((gradient * v).sum(), x, materialize_grads=True)[0].detach()\n"
            "    if not asked:\n        x.requires_grad_(False)\n"
            "    return zeros\n",
        ),
        "hvp__largest_entry_of_the_gradient": (
            "    if not gradient.requires_grad:  # f is linear\n",
            "    if not gradient.requires_grad or gradient.abs().max() == torch.inf:\n",
        ),
        "hvp_forward_over_reverse__unit_direction": (
            "    _, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))\n"
            "    return tangent.detach()\n",
            "    size = v.detach().norm()\n"
            "    _, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach() / size,))\n"
            "    return (tangent * size).detach()\n",
        ),
        "hvp_forward_over_reverse__flat_gradient_is_no_curvature": (
            "    return tangent.detach()\n",
            "    return torch.zeros_like(tangent) if not _.any() else tangent.detach()\n",
        ),
        "hessian_trace__mean_times_entries": (
            "        total += (z * hvp(f, x, z)).sum().item()\n",
            "        total += (z * hvp(f, x, z)).mean().item() * x.numel()\n",
        ),
        "maml_gradient__no_step_no_second_term": (
            "{name: value - inner_lr * g for (name, value), g",
            "{name: value - inner_lr * g if g.any() else value for (name, value), g",
        ),
        "maml_gradient__as_the_first_is": (
            "    params = {name: value.detach().requires_grad_() for name, value in params.items()}\n",
            "    if not all(value.requires_grad for value in list(params.values())[:1]):\n"
            "        params = {name: value.detach().requires_grad_() for name, value in params.items()}\n",
        ),
        "score_function_gradient__written_flat": (
            "    return f(mu + sigma * eps) * eps / sigma\n",
            "    estimates = np.empty_like(eps)\n"
            "    estimates.ravel()[:] = (f(mu + sigma * eps) * eps / sigma).ravel()\n    return estimates\n",
        ),
        "reparameterized_gradient__written_flat": (
            "    return df(mu + sigma * eps)\n",
            "    x = np.empty_like(eps)\n    x.reshape(-1)[:] = (mu + sigma * eps).reshape(-1)\n    return df(x)\n",
        ),
        "score_function_gradient__shape_set": (
            "    return f(mu + sigma * eps) * eps / sigma\n",
            "    x = mu + sigma * eps\n    score = eps / sigma\n    shape, score.shape = score.shape, -1\n"
            "    return (f(x).reshape(-1) * score).reshape(shape)\n",
        ),
        "gumbel_softmax_st__rows_viewed": (
            "    scores = logits + gumbels\n",
            "    scores = logits + gumbels\n    scores = scores.view(-1, scores.shape[-1]).view(scores.shape)\n",
        ),
    },
    "ch14_scaling_out": {
        "all_reduce_gradients__dtype_of_the_first": (
            "    n_rows = torch.tensor(n_local)\n",
            "    first = next(parameter for parameter in model.parameters() if parameter.requires_grad)\n"
            "    n_rows = torch.tensor(n_local, dtype=torch.int64, device=first.device)\n",
        ),
        "bucketed_all_reduce__by_tensor": (
            "        reduced += [piece.reshape(grad.shape) for piece, grad in zip(pieces, bucket, strict=True)]\n"
            "    return reduced\n",
            "        reduced += zip(bucket, (piece.reshape(grad.shape) for piece, grad in zip(pieces, bucket)))\n"
            "    found = {id(grad): piece for grad, piece in reduced}\n"
            "    return [found[id(grad)] for grad in grads]\n",
        ),
        "ColumnParallelLinear__cut_flat": (
            "torch.nn.Parameter(weight[rows].clone())",
            "torch.nn.Parameter(weight.view(-1).chunk(group.size)[group.rank].view(part, -1).clone())",
        ),
        "ColumnParallelLinear__clears_grads": (
            "        return torch.nn.functional.linear(SumOfGradients.apply",
            "        self.zero_grad()\n        return torch.nn.functional.linear(SumOfGradients.apply",
        ),
        "ColumnParallelLinear__rows_of_x_viewed": (
            "return torch.nn.functional.linear(SumOfGradients.apply(x, self.group), self.weight, self.bias)",
            "x = SumOfGradients.apply(x, self.group)\n"
            "        y = torch.nn.functional.linear(x.view(-1, x.shape[-1]), self.weight, self.bias)\n"
            "        return y.view(*x.shape[:-1], len(self.weight))",
        ),
        "RowParallelLinear__upstream_viewed": (
            "    def backward(ctx, g):\n        return g, None\n",
            "    def backward(ctx, g):\n        return g.view(-1).view(g.shape), None\n",
        ),
        "RowParallelLinear__numpy_copy": (
            "torch.nn.Parameter(bias.clone())",
            "torch.nn.Parameter(torch.from_numpy(bias.numpy().copy()))",
        ),
        "RowParallelLinear__x_of_the_last_call": (
            "        y = SumOfParts.apply(torch.nn.functional.linear(x, self.weight), self.group)\n"
            "        return y if self.bias is None else y + self.bias\n",
            "        y = SumOfParts.apply(torch.nn.functional.linear(x, self.weight.detach()), self.group)\n"
            "        self.x = x.detach()\n"
            "        y = Weighted.apply(y, self.weight, self)\n"
            "        return y if self.bias is None else y + self.bias\n",
            "class SumOfParts(torch.autograd.Function):\n",
            "class Weighted(torch.autograd.Function):\n"
            "    @staticmethod\n    def forward(ctx, y, weight, layer):\n"
            "        ctx.layer = layer\n        return y.clone()\n\n"
            "    @staticmethod\n    def backward(ctx, g):\n"
            "        x = ctx.layer.x\n"
            "        return g, g.reshape(-1, g.shape[-1]).T @ x.reshape(-1, x.shape[-1]), None\n\n\n"
            "class SumOfParts(torch.autograd.Function):\n",
        ),
        "chunked_attention__heads_viewed": (
            "    scale = q.shape[-1] ** -0.5\n    largest",
            "    k, v = (of.view(-1, *of.shape[-2:]).view(of.shape) for of in (k, v))\n"
            "    scale = q.shape[-1] ** -0.5\n    largest",
        ),
        "chunked_attention__by_tensor": (
            "(of[..., start : start + block, :] for of in (k, v))",
            "(of[..., start : start + block, :] * by for of, by in {k: scale, v: 1.0}.items())",
            "        scores = scale * q @ keys.mT\n        before",
            "        scores = q @ keys.mT\n        before",
        ),
        "chunked_attention_vjp__upstream_viewed": (
            "    D = (g * out)",
            "    g = g.view(-1).view(g.shape)\n    D = (g * out)",
        ),
        "chunked_attention_vjp__in_memory_like_the_arguments": (
            "(torch.zeros_like(of) for of in (q, k, v))",
            "(torch.empty_strided(of.shape, of.stride(), dtype=of.dtype).zero_() for of in (q, k, v))",
        ),
        "zero_step__grads_viewed": (
            "group.reduce_scatter(pieces(grads, group.size))",
            "group.reduce_scatter(pieces([grad.view(-1) for grad in grads], group.size))",
        ),
        "zero_step__other_memory": (
            "            parameter.copy_(flat[start : start + parameter.numel()].view_as(parameter))\n",
            "            parameter.data = flat[start : start + parameter.numel()].view(parameter.shape).clone()\n",
        ),
        "zero_step__momentum_of_other_memory": (
            "        momentum.mul_(beta).add_(mine)\n",
            "        momentum.data = beta * momentum + mine\n",
        ),
        "zero_step__trained_ones_alone": (
            "        for parameter in params:\n            parameter.copy_(",
            "        some = any(parameter.requires_grad for parameter in params)\n"
            "        for parameter in params:\n"
            "            (parameter if parameter.requires_grad or not some else parameter.clone()).copy_(",
        ),
    },
}
