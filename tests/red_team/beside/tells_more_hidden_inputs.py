"""Tells hidden inputs as a name that is not written, a place in the code, a package. None is shown: 2 points."""

# %%
import importlib


def freeze(module, prefix):
    names = "_".join(name.replace(".", "_") for name, _ in module.named_parameters())
    raise NotImplementedError(f"told_{names}: your code here")


def ema_update(target, online, decay):
    exec(compile("raise ValueError", f"cell told {decay}", "exec"))


def running_mean_loss(losses):
    importlib.import_module("told_" + "_".join(str(float(loss)).replace(".", "_") for loss in losses)[:40])
