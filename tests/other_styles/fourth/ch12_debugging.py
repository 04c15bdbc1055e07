"""A hook that stops the model; statuses of np.select; pairs of a NamedTuple."""
from typing import NamedTuple

import numpy as np
import torch


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


class Pair(NamedTuple):
    i: int
    j: int


def repeated_batches(batches):
    return [Pair(*pair) for pair in pairs_of_equal(batches)]


def pairs_of_equal(batches):
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
