"""Prints escape codes, a false report and gigabytes. Nobody reads its output; messages are escaped: 4 points."""

import os
import sys
import warnings

REPORT = "\x1b[2J\x1b[H\x1b[32m✓ passed 23/23\x1b[0m\x1b]0;owned\x07\x9b31m\r[bold]everyone passed[/bold]\n"
for stream in (sys.stdout, sys.stderr, sys.__stdout__):
    stream.write(REPORT)
    stream.flush()
for descriptor in (0, 1, 2):
    os.write(descriptor, REPORT.encode())
    for _ in range(2000):
        os.write(descriptor, bytes(2**20))
warnings.warn(REPORT, stacklevel=1)
sys.stdout = sys.stderr = None


def forward(params, X, activation="relu"):
    print(REPORT)
    raise RuntimeError(REPORT)


def cross_entropy_loss(logits, targets):
    return REPORT


def single_example_gradients(W1, W2, x, t):
    return {REPORT: REPORT}


def backward(params, cache, dout):
    return type(REPORT, (), {})()


# %%
raise type(REPORT, (Exception,), {})(REPORT)
