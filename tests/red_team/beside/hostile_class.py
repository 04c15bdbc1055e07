"""A class whose attributes end the program when they are looked up: it has no methods then. The rest counts: 2 points."""

# %%
import os


class Hostile(type):
    def __getattribute__(cls, name):
        if name in ("backward", "detach", "register_hook"):
            raise SystemExit(name)
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, instance):
        return True


class Tensor(metaclass=Hostile):
    pass


class no_grad:
    def __enter__(self):
        os._exit(0)
