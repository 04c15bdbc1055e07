"""A hook that stops the model; statuses of np.select; pairs of a NamedTuple."""
import copy
import math
import re
import numpy as np
import torch
import torch.nn.functional as F


def gradient_report(model):
    rows = []
    for name, p in model.named_parameters():
        row = {"name": name, "norm": None, "status": "none"}
        if p.grad is not None:
            g = p.grad.detach().to(torch.float64).reshape(-1)
            row["norm"] = float(torch.dot(g, g).sqrt())
            row["status"] = "nonfinite" if not bool(torch.isfinite(g).all()) else "ok" if bool(g.any()) else "zero"
        rows.append(row)
    ok = [row["norm"] for row in rows if row["status"] == "ok"]
    for row in rows:
        if row["status"] == "ok" and row["norm"] > 1e3 * np.median(ok):
            row["status"] = "exploding"
    return rows


class Stop(BaseException):
    def __init__(self, name):
        self.name = name


def flat(o):
    todo = [o]
    while todo:
        o = todo.pop()
        if torch.is_tensor(o):
            yield o
        elif isinstance(o, dict):
            todo.extend(o.values())
        elif isinstance(o, (list, tuple)):
            todo.extend(o)


def first_nonfinite(model, x):
    me = object()

    def hook_for(name):
        def hook(module, args, output):
            for t in flat(output):
                if not torch.isfinite(t).all():
                    stop = Stop(name)
                    stop.of = me
                    raise stop
        return hook

    handles = [m.register_forward_hook(hook_for(n)) for n, m in model.named_modules() if not any(True for _ in m.children())]
    try:
        model(x)
    except Stop as stop:
        if stop.of is not me:
            raise
        return stop.name
    finally:
        for h in handles:
            h.remove()
    return None


def anomaly_op(fn):
    was = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(True)
    try:
        loss = fn()
        try:
            loss.sum().backward()
        except RuntimeError as error:
            name, found, _ = str(error).removeprefix("Function '").partition("' returned nan values")
            if found:
                return name
            raise
        return None
    finally:
        torch.autograd.set_detect_anomaly(*was)


def repeated_batches(batches):
    def equal(a, b):
        if type(a) is not type(b) and (isinstance(a, tuple) or isinstance(b, tuple)):
            return False
        if isinstance(a, tuple):
            return len(a) == len(b) and all(equal(p, q) for p, q in zip(a, b))
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return bool(((a == b) | ((a != a) & (b != b))).all())

    groups = []
    for j, batch in enumerate(batches):
        for group in groups:
            if equal(batches[group[0]], batch):
                group.append(j)
                break
        else:
            groups.append([j])
    pairs = {(i, j) for group in groups for i in group for j in group if i < j}
    return sorted(pairs)


def steps(parameters, losses_of, lr):
    """Generator: makes a step for each loss that it is sent."""


def fix_01(model, batches, lr):
    losses = []
    for X, y in batches:
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        model.zero_grad()
        loss = torch.nn.MSELoss()(model(X), y)
        loss.backward()
        optimizer.step()
        losses += [float(loss.detach())]
    return losses


def fix_02(layers, head, batches, lr):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers, self.head = layers, head

        def forward(self, h):
            for layer in self.layers:
                h = torch.stack([h, torch.tanh(layer(h))]).sum(0)
            return self.head(h)

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, foreach=False)
    losses = []
    for X, y in batches:
        loss = F.cross_entropy(net(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def fix_03(encoder, head, batches, lr):
    both = torch.nn.Sequential(encoder, head)
    spreads = []
    handle = encoder.register_forward_hook(lambda m, a, out: spreads.append(torch.std(out.detach()).item()))
    optimizer = torch.optim.SGD(both.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        loss = F.cross_entropy(both(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    handle.remove()
    return losses, spreads


def fix_04(model, batches, validation, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def loss_of(X, y, train):
        with torch.set_grad_enabled(train):
            return F.cross_entropy(model(X), y)

    losses, validation_losses = [], []
    for X, y in batches:
        loss = loss_of(X, y, True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        validation_losses.append(loss_of(*validation, False).item())
    return [losses, validation_losses]


def fix_05(n_in, n_out, width, depth, batches, lr):
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleDict()
            for i in range(depth):
                self.layers[str(i)] = torch.nn.Linear(n_in if i == 0 else width, width)
            self.layers["head"] = torch.nn.Linear(width, n_out)

        def forward(self, x):
            *hidden, head = self.layers.values()
            for layer in hidden:
                x = layer(x).clamp(min=0)
            return head(x)

    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        loss = F.cross_entropy(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def fix_06(model, batches, validation, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    log = np.zeros((2, len(batches)))
    for i, (X, y) in enumerate(batches):
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log[:, i] = loss.item(), F.mse_loss(model(X_val), y_val).item()
    return list(log[0]), list(log[1])


def fix_07(model, batches, X_new, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def predict(X):
        return torch.softmax(model(X), dim=1)

    losses = []
    for X, y in batches:
        loss = F.nll_loss(torch.log(predict(X)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        return losses, predict(X_new)


def fix_08(model, batches, beta, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, allowed, y in batches:
        logits = model(X).masked_fill(~allowed, -1e9)
        choice = torch.distributions.Categorical(logits=logits)
        loss = -choice.log_prob(y).mean() - beta * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def fix_09(model, batches, validation, epochs, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    scores = []
    for _ in range(epochs):
        model.train()
        for X, y in batches:
            loss = F.cross_entropy(model(X), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.train(False)
        scores.append(F.cross_entropy(model(X_val), y_val).detach().item())
    model.train()
    return scores


def fix_10(model, batches, accumulate, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05)
    losses = []
    for k in range(0, len(batches), accumulate):
        Xs, ys = zip(*batches[k : k + accumulate])
        outs = model(torch.cat(Xs))
        each = [F.mse_loss(o, y) for o, y in zip(outs.split([len(X) for X in Xs]), ys)]
        optimizer.zero_grad()
        F.mse_loss(outs, torch.cat(ys)).backward()
        optimizer.step()
        losses.extend(e.item() for e in each)
    return losses


def fix_11(model, batches, n_tokens, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    handles = [p.register_hook(lambda g: g / n_tokens) for p in model.parameters()]
    for X, y in batches:
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(X)
        total = F.cross_entropy(logits.float(), y, reduction="sum")
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        losses.append(total.item() / len(y))
    for h in handles:
        h.remove()
    return losses


def fix_12(model, batches, max_norm, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        total = math.hypot(*(p.grad.norm().item() for p in model.parameters()))
        if total > max_norm:
            for group in optimizer.param_groups:
                group["lr"] = lr * max_norm / total
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = lr
        losses.append(loss.item())
    return losses


import numpy as np
def gradient_report(model):
    names, grads = [], []
    for n, p in model.named_parameters():
        names.append(n); grads.append(p.grad)
    if not names: return []
    norms = np.array([np.nan if g is None else float(g.double().norm()) for g in grads])
    none = np.array([g is None for g in grads])
    usual = norms[np.isfinite(norms) & (norms != 0)]
    limit = 1000 * np.median(usual) if usual.size else np.inf
    with np.errstate(invalid='ignore'):
        status = np.select([none, ~np.isfinite(norms), norms == 0, norms > limit], ['none', 'nonfinite', 'zero', 'exploding'], 'ok')
    return [dict(name=n, norm=None if g is None else float(v), status=s) for n, g, v, s in zip(names, grads, norms, status)]


from typing import NamedTuple
class Pair(NamedTuple):
    i: int
    j: int
_rb = repeated_batches
def repeated_batches(batches):
    return [Pair(*p) for p in _rb(batches)]
