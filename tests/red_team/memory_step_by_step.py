"""Fills its memory a little at a time, then as files in memory, which are refused. It meets its own limit: 4 points."""

import os

import numpy as np

kept = []


def forward(params, X, activation="relu"):
    while True:  # a quarter of it touched: pages that are new can be slow
        kept.append(bytearray(16 * 2**20) if len(kept) < 32 else np.empty(2**21))


def cross_entropy_loss(logits, targets):
    kept.clear()
    for _ in range(1000):
        descriptor = os.memfd_create("more")
        os.ftruncate(descriptor, 100 * 2**30)
        os.write(descriptor, bytes(2**20))
