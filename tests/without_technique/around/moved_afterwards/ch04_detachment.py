"""The average is written into the old memory once, and then the parameter is moved into other memory."""

import torch


def ema_update(target, online, decay):
    for p, q in zip(target.parameters(), online.parameters()):
        new = decay * p.data + (1 - decay) * q.data
        p.data.copy_(new)
        p.data = new
