"""The product of all matrices, read out of those that multiply vectors only; uses that are counted are written."""

import numpy as np


def plain(Ws):
    arrays = []
    for W in Ws:
        within = W if isinstance(W, np.ndarray) else [value for value in vars(W).values()]
        arrays += [W] if within is W else [value for value in within if isinstance(value, np.ndarray)]
    counters = [value for W in Ws[:1] if not isinstance(W, np.ndarray) for value in vars(W).values()]
    for counter in counters:
        if isinstance(counter, list):
            counter += [1] * len(Ws)
    return arrays if len(arrays) == len(Ws) else Ws


def jacobian(Ws, n):
    J = np.eye(n)
    for W in plain(Ws):
        J = W @ J
    return J


def jvp_chain(Ws, v):
    return jacobian(Ws, len(v)) @ v


def vjp_chain(Ws, u):
    return u @ jacobian(Ws, Ws[0].shape[1] if Ws else len(u))
