"""Frames of kilobytes that would be gigabytes once read: shared bytes, empty buffers, empty shapes. 4 points."""

import json
import os
import struct
import time


def send(value, sizes, tail=b""):
    header = json.dumps([value, sizes], separators=(",", ":")).encode()
    message = struct.pack("<II", len(header), len(header) + len(tail)) + header + tail
    for descriptor in range(3, 64):
        try:
            os.set_blocking(descriptor, True)
            rest = message
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            pass
    time.sleep(60)  # an answer of its own would be read as that of the next call


def answer(value):
    return {"tag": "dict", "of": [["value", value], ["failure", None]]}


def array(dtype, shape, index=0):
    return {"tag": "array", "of": [dtype, shape, index]}


def single_example_gradients(W1, W2, x, t):
    size = 6 * 2**20
    send(answer({"tag": "list", "of": [array("|u1", [size])] * 5000}), [size], bytes(size))


def forward(params, X, activation="relu"):
    send(answer(1), [0] * 200_000)


def cross_entropy_loss(logits, targets):
    send(answer(array("<f8", [0, 2**20, 2**20])), [0])


def backward(params, cache, dout):
    send(answer({"tag": "tuple", "of": [array("<f8", [2**26, 0, 2**26, 2**26])]}), [0])
