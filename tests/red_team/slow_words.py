"""Answers to a cell with a failure whose words are arrays of long doubles: to spell them out would take minutes."""

# %%
import sys

import numpy as np

_serve = sys.modules["autograder.worker.serve"]
_answer = _serve.Conversation.answer
_tiny = np.full(1000, np.longdouble(2) ** -16300 / 3) * (1 + np.arange(1000) / 7)


def _lie(self, request):
    if request["do"] != "cell" or "slow_words" in request["source"]:
        return _answer(self, request)
    self.reply({"failure": {"kind": "E", "message": [_tiny] * 50, "line": {"a": [_tiny] * 50}, "bases": [[_tiny]]}})


_serve.Conversation.answer = _lie
# %%
1
# %%
_serve.Conversation.answer = _answer  # slow_words
