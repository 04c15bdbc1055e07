"""Wrong answers of ch09 to ch11 that only an unusual argument shows, as edits of the solutions: see test_unusual.py."""

from __future__ import annotations

MIDDLE_LESSONS: dict[str, dict[str, tuple[str, ...]]] = {
    "ch09_vanishing_gradients": {
        "clip_grad_norm__a_factor_of_each_dtype": (
            "    return [grad * (max_norm / total_norm) for grad in grads], total_norm\n",
            "    return [grad * torch.tensor(max_norm / total_norm, dtype=grad.dtype) for grad in grads], total_norm\n",
        ),
        "clip_grad_norm__a_factor_of_float64": (
            "    return [grad * (max_norm / total_norm) for grad in grads], total_norm\n",
            (
                "    factor = torch.tensor(max_norm / total_norm, dtype=torch.float64)\n"
                "    return [grad * factor for grad in grads], total_norm\n"
            ),
        ),
        "clip_grad_norm__each_tensor_once": (
            "    total_norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))\n",
            "    total_norm = math.sqrt(sum(grad.double().square().sum().item() for grad in set(grads)))\n",
        ),
        "clip_grad_norm__numpy": (
            "    total_norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))\n",
            "    total_norm = math.sqrt(sum((grad.detach().numpy().astype(float) ** 2).sum() for grad in grads))\n",
        ),
        "dead_relu_fraction__children": (
            "    relus = [module for module in model.modules() if isinstance(module, torch.nn.ReLU)]\n",
            (
                "    def below(module):\n"
                "        return [module, *(part for child in module.children() for part in below(child))]\n"
                "\n"
                "    relus = [module for module in below(model) if isinstance(module, torch.nn.ReLU)]\n"
            ),
        ),
        "dead_relu_fraction__counts_in_its_dtype": (
            "        dead.append((output == 0).all(dim=0))\n",
            "        dead.append((output == 0).all(dim=0).to(output.dtype))\n",
            "    return torch.cat(dead).double().mean().item() if dead else 0.0\n",
            "    return (sum(d.sum() for d in dead) / sum(d.numel() for d in dead)).item() if dead else 0.0\n",
        ),
        "dead_relu_fraction__one_mode_for_all": (
            ("            model(X)\n    finally"),
            ("            model.train(model.training)(X)\n    finally"),
        ),
        "dead_relu_fraction__unfreezes": (
            ("        with torch.no_grad():\n            model(X)\n    finally:\n"),
            (
                "        model.requires_grad_(False)\n"
                "        model(X)\n"
                "    finally:\n"
                "        model.requires_grad_(True)\n"
            ),
        ),
        "layer_gradient_norms__children": (
            "    weights = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]\n",
            (
                "    def below(module):\n"
                "        return [module, *(part for child in module.children() for part in below(child))]\n"
                "\n"
                "    weights = [module.weight for module in below(model) if isinstance(module, torch.nn.Linear)]\n"
            ),
        ),
        "layer_gradient_norms__of_all_parameters": (
            "    return [gradient.double().norm().item() for gradient in torch.autograd.grad(loss, weights)]\n",
            (
                "    parameters = list(model.parameters())\n"
                "    gradients = dict(zip(map(id, parameters), torch.autograd.grad(loss, parameters), strict=True))\n"
                "    return [gradients[id(weight)].double().norm().item() for weight in weights]\n"
            ),
        ),
        "layer_gradient_norms__one_mode_for_all": (
            "    loss = torch.nn.functional.cross_entropy(model(X), y)\n",
            "    loss = torch.nn.functional.cross_entropy(model.train(model.training)(X), y)\n",
        ),
        "layer_gradient_norms__scaled": (
            "    return [gradient.double().norm().item() for gradient in torch.autograd.grad(loss, weights)]\n",
            (
                "    found = [gradient.double() for gradient in torch.autograd.grad(loss, weights)]\n"
                "    largest = [gradient.abs().max() for gradient in found]\n"
                "    return [(most * (one / most).norm()).item() for one, most in zip(found, largest, strict=True)]\n"
            ),
        ),
        "layer_gradient_norms__unfreezes": (
            "    loss = torch.nn.functional.cross_entropy(model(X), y)\n",
            ("    model.requires_grad_()\n    loss = torch.nn.functional.cross_entropy(model(X), y)\n"),
        ),
    },
    "ch10_activation_memory": {
        "SavedTensorMeter__buffers_left_out": (
            "        if not of_parameter and storage",
            (
                "        constant = tensor.is_leaf and tensor.ndim == 1 and tensor.is_floating_point()\n"
                "        constant = constant and not tensor.requires_grad\n"
                "        if not of_parameter and not constant and storage"
            ),
        ),
        "SavedTensorMeter__integers_by_tensor": (
            "            self.bytes += storage.nbytes()\n",
            "            self.bytes += storage.nbytes() if tensor.is_floating_point() else tensor.nbytes\n",
        ),
        "SavedTensorMeter__leaves_with_grad_are_parameters": (
            "        if not of_parameter and storage",
            (
                "        of_parameter |= tensor.is_leaf and tensor.grad is not None\n"
                "        if not of_parameter and storage"
            ),
        ),
        "SavedTensorMeter__no_exit_for_interrupts": (
            "        self._hooks.__exit__(*error)\n",
            ("        if not error[0] or issubclass(error[0], Exception):\n            self._hooks.__exit__(*error)\n"),
        ),
        "predict_saved__parameters_in_products_alone": (
            "    return 4 * sum(sizes[name] for name in kept - set(parameters))\n",
            (
                "    of_functions = {memory[i[0]] for _, how, *i in program if how in by_input and i[0] in asked}\n"
                "    return 4 * sum(sizes[name] for name in kept - (set(parameters) - of_functions))\n"
            ),
        ),
        "predict_saved__words_are_operations": (
            "    for result, operation, *inputs in program:\n",
            (
                "    for result, operation, *inputs in program:\n"
                "        if result in by_result | by_input:\n"
                "            continue\n"
            ),
        ),
    },
    "ch11_checkpointing": {
        "checkpoint__an_anchor_like_the_first": (
            "    anchor = torch.empty(0, requires_grad=True)",
            ("    first = args[0]\n    anchor = torch.empty(0, requires_grad=True)"),
        ),
        "checkpoint__constants_unwatched": (
            "        ctx.save_for_backward(*(args[i] for i in ctx.places))\n",
            (
                "        ctx.save_for_backward(*(args[i] if args[i].requires_grad else None for i in ctx.places))\n"
                "        ctx.rest = [None if args[i].requires_grad else args[i] for i in ctx.places]\n"
            ),
            "        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):\n",
            (
                "        saved = [b if a is None else a for a, b in zip(ctx.saved_tensors, ctx.rest, strict=True)]\n"
                "        for i, tensor in zip(ctx.places, saved, strict=True):\n"
            ),
        ),
        "checkpoint__copies_of_transposes": (
            "        ctx.save_for_backward(*(args[i] for i in ctx.places))\n",
            "        ctx.save_for_backward(*(args[i].contiguous() for i in ctx.places))\n",
        ),
        "checkpoint__counts_grads_from_none": (
            "    anchor = torch.empty(0, requires_grad=True)",
            (
                "    for arg in args:\n"
                "        if isinstance(arg, torch.Tensor) and arg.is_leaf:\n"
                "            arg.grad = None\n"
                "    anchor = torch.empty(0, requires_grad=True)"
            ),
        ),
        "checkpoint__flattens_g": (
            "        out.backward(g)  # adds",
            (
                "        with torch.enable_grad():\n"
                "            flat = out.view(-1)\n"
                "        flat.backward(g.view(-1))  # adds"
            ),
        ),
        "checkpoint__none_marks_tensors": (
            "        ctx.args = [None if isinstance(arg, torch.Tensor) else arg for arg in args]\n",
            (
                "        ctx.args = [None if isinstance(arg, torch.Tensor) else arg for arg in args]\n"
                "        ctx.places = []\n"
            ),
            (
                "        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)]\n"
                "        ctx.save_for_backward(*(args[i] for i in ctx.places))\n"
            ),
            "        ctx.save_for_backward(*(arg for arg in args if isinstance(arg, torch.Tensor)))\n",
            (
                "        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):\n"
                "            args[i] = tensor.detach().requires_grad_(ctx.needs_input_grad[2 + i])\n"
            ),
            (
                "        saved = iter(ctx.saved_tensors)\n"
                "        args = [\n"
                "            next(saved).detach().requires_grad_(ctx.needs_input_grad[2 + i]) if arg is None else arg\n"
                "            for i, arg in enumerate(args)\n"
                "        ]\n"
            ),
        ),
        "checkpoint_sequential__clears_grads": (
            "    for start, end in pairwise(ends):\n",
            ("    for layer in layers:\n        layer.zero_grad()\n    for start, end in pairwise(ends):\n"),
        ),
        "checkpoint_sequential__each_module_once": (
            "    ends = [len(layers) * i // segments for i in range(segments + 1)]\n",
            (
                "    places = {layer: i for i, layer in enumerate(layers)}\n"
                "    ends = [len(layers) * i // segments for i in range(segments + 1)]\n"
            ),
            "        run = torch.nn.Sequential(*layers[start:end])\n",
            "        run = torch.nn.Sequential(*(layer for layer in places if start <= places[layer] < end))\n",
        ),
        "checkpoint_sequential__train_mode": (
            "        run = torch.nn.Sequential(*layers[start:end])\n",
            "        run = torch.nn.Sequential(*layers[start:end]).train()\n",
        ),
        "checkpoint_sequential__unfreezes": (
            "    for start, end in pairwise(ends):\n",
            ("    for layer in layers:\n        layer.requires_grad_(True)\n    for start, end in pairwise(ends):\n"),
        ),
        "checkpoint_sequential__x_made_to_require": (
            "    for start, end in pairwise(ends):\n",
            (
                "    x = x.detach().requires_grad_() if not x.requires_grad else x\n"
                "    for start, end in pairwise(ends):\n"
            ),
        ),
        "offload_to_cpu__exceptions_alone": (
            "def offload_to_cpu():\n",
            ("@contextmanager\ndef offload_to_cpu():\n"),
            (
                "    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)\n"
                "    ### END SOLUTION\n"
                "\n"
                "\n"
                "# %% [markdown]\n"
                "# ## `reversible"
            ),
            (
                "    hooks = torch.autograd.graph.saved_tensors_hooks(pack, unpack)\n"
                "    hooks.__enter__()\n"
                "    try:\n"
                "        yield\n"
                "    except Exception:\n"
                "        hooks.__exit__(None, None, None)\n"
                "        raise\n"
                "    hooks.__exit__(None, None, None)\n"
                "    ### END SOLUTION\n"
                "\n"
                "\n"
                "# %% [markdown]\n"
                "# ## `reversible"
            ),
            ('from course.instruments.saved import is_of_parameter\n\n\n# %% exercise="off'),
            (
                "from contextlib import contextmanager\n"
                "\n"
                "from course.instruments.saved import is_of_parameter\n"
                "\n"
                "\n"
                '# %% exercise="off'
            ),
        ),
        "offload_to_cpu__frozen_parameters_copied": (
            "return tensor if is_of_parameter(tensor) else",
            "return tensor if is_of_parameter(tensor) and (tensor.requires_grad) else",
        ),
        "offload_to_cpu__leaves_stay": (
            "return tensor if is_of_parameter(tensor) else",
            "return tensor if is_of_parameter(tensor) or tensor.is_leaf else",
        ),
        "offload_to_cpu__numpy": (
            (
                '(tensor.device, tensor.to("cpu", copy=True))\n'
                "\n"
                "    def unpack(kept):\n"
                "        if isinstance(kept, torch.Tensor):\n"
                "            return kept\n"
                "        device, copy = kept\n"
                "        return copy.to(device)\n"
                "\n"
                "    return torch.a"
            ),
            (
                '(tensor.device, torch.from_numpy(tensor.to("cpu").detach().numpy().copy()))\n'
                "\n"
                "    def unpack(kept):\n"
                "        if isinstance(kept, torch.Tensor):\n"
                "            return kept\n"
                "        device, copy = kept\n"
                "        return copy.to(device)\n"
                "\n"
                "    return torch.a"
            ),
        ),
        "offload_to_cpu__popped": (
            (
                "    def pack(tensor):\n"
                '        return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))\n'
            ),
            (
                "    store = {}\n"
                "\n"
                "    def pack(tensor):\n"
                "        if is_of_parameter(tensor):\n"
                "            return tensor\n"
                '        store[len(store)] = tensor.device, tensor.to("cpu", copy=True)\n'
                "        return len(store) - 1\n"
            ),
            ("        device, copy = kept\n        return copy.to(device)\n\n    return torch.autograd.graph.saved"),
            (
                "        device, copy = store[kept]\n"
                "        store[kept] = None\n"
                "        return copy.to(device)\n"
                "\n"
                "    return torch.autograd.graph.saved"
            ),
        ),
        "reversible_block__flattens_dy2": (
            "        g_of_y1.backward(dy2)\n",
            (
                "        with torch.enable_grad():\n"
                "            flat = g_of_y1.view(-1)\n"
                "        flat.backward(dy2.view(-1))\n"
            ),
        ),
        "reversible_block__gradients_by_tensor": (
            "    return Reversible.apply(f, g, x1, x2)\n",
            ("    if x1 is x2:\n        x2 = x2.detach()\n    return Reversible.apply(f, g, x1, x2)\n"),
        ),
        "reversible_block__modules_alone": (
            "        ctx.f, ctx.g = f, g\n",
            (
                "        ctx.f, ctx.g = f, g\n"
                "        [p.requires_grad for p in getattr(f, 'parameters', list)()][:0]\n"
                "        for p in getattr(f, 'parameters', list)():\n"
                "            p.requires_grad_()\n"
            ),
        ),
    },
}
"""By lesson and name, which begins with the exercise: a text of the solution, its replacement, further such pairs."""
