"""Writes frames with tensors that cannot be: PyTorch must not see them in the judge's process. 2 points."""

# %%
import json
import os
import struct
import sys

import torch


def send(dtype, shape, size):
    """The frame of an answer whose value is a tensor, as this dtype and shape, over the worker's own channel."""
    body = {"tag": "tensor", "of": [dtype, shape, 0]}
    answer = {"tag": "dict", "of": [["value", body], ["failure", None], ["changed", None], ["forbidden", None]]}
    header = json.dumps([answer, [size]]).encode()
    frame = struct.pack("<II", len(header), len(header) + size) + header + b"\xff" * size
    frame_of_caller = sys._getframe()
    while "channel" not in dir(frame_of_caller.f_locals.get("self")):
        frame_of_caller = frame_of_caller.f_back
    os.write(frame_of_caller.f_locals["self"].channel.fileno(), frame)
    os._exit(0)


def freeze(module, prefix):
    send("quint8", [3], 3)


def ema_update(target, online, decay):
    send("float32", [0, *[2**26] * 30], 0)


def running_mean_loss(losses):
    send("bits8", [2], 2)


def predict_flow():
    send("nn", [2], 2)
