"""Exceptions that lie, shout or misbehave when they are described. One short printable line each: 4 points."""

import os


class Shouting(Exception):
    def __str__(self):
        return "\x1b[31m\r\n\x9b2J" + "A" * 10**7


class Raising(Exception):
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__


class Ending(Exception):
    def __str__(self):
        os._exit(0)


class Meta(type):
    def __getattribute__(cls, name):
        if name in ("__name__", "__mro__", "__module__"):
            raise SystemExit
        return super().__getattribute__(name)


class Faceless(Exception, metaclass=Meta):
    __traceback__ = property(lambda self: 1 / 0)


Impostor = type("\x1b[31mNotImplementedError" * 100, (Exception,), {"__module__": "builtins"})


def single_example_gradients(W1, W2, x, t):
    raise Shouting


def forward(params, X, activation="relu"):
    raise Raising if len(X) > 1 else Impostor("\x07")


def cross_entropy_loss(logits, targets):
    raise Faceless


def backward(params, cache, dout):
    raise Ending


# %%
raise ExceptionGroup("\x1b[31m" * 1000, [Shouting(), Raising()])
# %%
raise Faceless
# %%
raise SyntaxError("\x1b[31mnot this line", ("\x1b[31mfile", 10**9, 1, "\x07"))
