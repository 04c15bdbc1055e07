"""Replies whose fields are not what the judge expects: arrays for flags, megabytes for names. No points, no crash."""

import os
import sys

import numpy as np

NOISE = "\x1b[31m\x1b]0;owned\x07\r\n[bold]" + "A" * 10**5
serve = sys.modules["autograder.worker.serve"]
real_call = serve.Conversation.call
ANSWERS = {
    "single_example_gradients": {"missing": np.ones(3)},
    "forward": {"failure": {"kind": NOISE, "message": NOISE, "place": NOISE, "bases": [NOISE] * 50, "trace": NOISE}},
    "cross_entropy_loss": {"failure": None, "changed": [0, -1, 10**9, True, NOISE, None], "value": NOISE},
    "backward": {"failure": [NOISE], "forbidden": [NOISE, np.ones(2)]},
}


def call(self, name, args, kwargs, **options):
    return ANSWERS[name] if name in ANSWERS else real_call(self, name, args, kwargs, **options)


serve.Conversation.call = call


def single_example_gradients(*args): ...


forward = cross_entropy_loss = backward = single_example_gradients
# %%
answer = serve.Conversation.answer


def lie_once(self, request):
    serve.Conversation.answer = answer
    self.reply({"failure": {"kind": NOISE, "message": {"a": np.ones(10**5)}}, "forbidden": NOISE})


serve.Conversation.answer = lie_once
# %%
os.getpid()
