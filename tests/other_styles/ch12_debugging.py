"""Right tools by NumPy, queues and hooks of all modules; programs mended by hand-written steps."""

import contextlib
import copy
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def gradient_report(model):
    report = []
    for name, p in model.named_parameters():
        g = None if p.grad is None else p.grad.detach().to(torch.float64).numpy()
        norm = None if g is None else float(np.sqrt((g**2).sum()))
        report.append(dict(status="?", norm=norm, name=name))
    known = np.array([e["norm"] for e in report if e["norm"] is not None])
    usual = known[np.isfinite(known) & (known != 0)]
    for e in report:
        n = e["norm"]
        e["status"] = (
            "none" if n is None else "nonfinite" if not np.isfinite(n) else "zero" if n == 0
            else "exploding" if n > 1000 * np.median(usual) else "ok"
        )  # fmt: skip
    return report


def tensors_in(value):
    if torch.is_tensor(value):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part)


def first_nonfinite(model, x):
    names = {}
    for name, module in model.named_modules(remove_duplicate=True):
        if next(module.children(), None) is None:
            names[module] = name
    first = None

    def hook(module, args, kwargs, output):
        nonlocal first
        if first is None and any(bool((t.isnan() | t.isinf()).any()) for t in tensors_in(output)):
            first = names[module]

    with contextlib.ExitStack() as stack:
        for module in names:
            stack.callback(module.register_forward_hook(hook, with_kwargs=True).remove)
        model(x)
    return first


def anomaly_op(fn):
    before = torch.is_anomaly_enabled()
    try:
        torch.autograd.set_detect_anomaly(True)
        fn().backward()
    except RuntimeError as error:
        words = str(error).split("'")
        if "returned nan values in its" in str(error):
            return words[1]
        raise
    finally:
        torch.autograd.set_detect_anomaly(before)


def key(batch):
    if torch.is_tensor(batch):
        array = batch.numpy()
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array + 0.0).astype(array.dtype)
        return batch.dtype, tuple(batch.shape), array.tobytes()
    return ("tuple", *map(key, batch))


def repeated_batches(batches):
    seen, pairs = {}, []
    for j, batch in enumerate(batches):
        earlier = seen.setdefault(key(batch), [])
        pairs += [(i, j) for i in earlier]
        earlier.append(j)
    return sorted(pairs)


def descend(parameters, loss, lr):
    parameters = list(parameters)
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        p.data.sub_(lr * g)


def fix_01(model, batches, lr):
    losses = []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        descend(model.parameters(), loss, lr)
        losses.append(float(loss))
    return losses


def fix_02(layers, head, batches, lr):
    losses = []
    for X, y in batches:
        h = X
        for layer in layers:
            h = h + layer(h).tanh()
        losses.append(F.cross_entropy(head(h), y))
        descend([*layers.parameters(), *head.parameters()], losses[-1], lr)
    return [loss.item() for loss in losses]


def fix_03(encoder, head, batches, lr):
    losses, spreads = [], []
    for X, y in batches:
        features = encoder(X)
        spreads.append(features.detach().std())
        loss = F.cross_entropy(head(features), y)
        descend([*encoder.parameters(), *head.parameters()], loss, lr)
        losses.append(loss.detach())
    return losses, spreads


def fix_04(model, batches, validation, lr):
    log = []
    for X, y in batches:
        loss = nn.CrossEntropyLoss()(model(X), y)
        descend(model.parameters(), loss, lr)
        with torch.inference_mode():
            log.append((loss.item(), F.cross_entropy(model(validation[0]), validation[1]).item()))
    return tuple(map(list, zip(*log, strict=True)))


def fix_05(n_in, n_out, width, depth, batches, lr):
    sizes = [n_in] + depth * [width]
    parts = []
    for i in range(depth):
        parts += [nn.Linear(sizes[i], width), nn.ReLU()]
    model = nn.Sequential(*parts, nn.Linear(width, n_out))
    losses = []
    for X, y in batches:
        loss = F.cross_entropy(model(X), y)
        descend(model.parameters(), loss, lr)
        losses.append(loss.item())
    return model, losses


def fix_06(model, batches, validation, lr):
    X_val, y_val = validation
    losses, others = [], []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        descend(model.parameters(), loss, lr)
        losses.append(loss.detach())
        others.append(F.mse_loss(model(X_val), y_val).detach())
    return losses, others


def fix_07(model, batches, X_new, lr):
    losses = []
    for X, y in batches:
        log_p = model(X).log_softmax(-1)
        loss = -log_p.gather(1, y[:, None]).mean()
        descend(model.parameters(), loss, lr)
        losses.append(loss.item())
    return losses, model(X_new).softmax(-1)


def fix_08(model, batches, beta, lr):
    losses = []
    for X, allowed, y in batches:
        logits = torch.where(allowed, model(X), torch.tensor(-1e9))
        p = logits.softmax(1)
        entropy = -(p * p.clamp_min(1e-30).log()).sum(1).mean()
        loss = F.cross_entropy(logits, y) - beta * entropy
        descend(model.parameters(), loss, lr)
        losses.append(loss.item())
    return losses


def fix_09(model, batches, validation, epochs, lr):
    scores = []
    for _ in range(epochs):
        for X, y in batches:
            descend(model.parameters(), F.cross_entropy(model(X), y), lr)
        used = copy.deepcopy(model).eval()
        scores.append(F.cross_entropy(used(validation[0]), validation[1]).item())
    return scores


def fix_10(model, batches, accumulate, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05)
    losses = []
    for start in range(0, len(batches), accumulate):
        group = [F.mse_loss(model(X), y) for X, y in batches[start : start + accumulate]]
        optimizer.zero_grad()
        torch.stack(group).mean().backward()
        optimizer.step()
        losses += [loss.item() for loss in group]
    return losses


def fix_11(model, batches, n_tokens, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        with torch.autocast("cpu", dtype=torch.float16):
            loss = F.cross_entropy(model(X).float(), y, reduction="sum")
        optimizer.zero_grad()
        (loss / n_tokens).mul(2**20).backward()
        for p in model.parameters():
            p.grad = p.grad * 2**-20
        optimizer.step()
        losses.append(loss.item() / len(y))
    return losses


def fix_12(model, batches, max_norm, lr):
    losses = []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        grads = torch.autograd.grad(loss, list(model.parameters()))
        norm = math.sqrt(sum(g.double().pow(2).sum() for g in grads))
        for p, g in zip(model.parameters(), grads, strict=True):
            p.data -= lr * min(1, max_norm / norm) * g
        losses.append(loss.item())
    return losses
