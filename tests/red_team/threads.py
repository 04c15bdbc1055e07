"""Hundreds of threads that compute for ever and write on every descriptor. Only its own exercises suffer."""

import os
import threading
import time

import numpy as np

threading.stack_size(2**17)
STARTED = time.monotonic()


def spin():
    A = np.ones((50, 50))
    while time.monotonic() < STARTED + 2:
        A @ A


# %%
def single_example_gradients(W1, W2, x, t):
    for _ in range(300):
        threading.Thread(target=spin, daemon=True).start()


def cross_entropy_loss(logits, targets):
    os.write(1, b"nobody reads this")
