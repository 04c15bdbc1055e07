"""Right values and gradients from plain autograd: nothing is checkpointed, offloaded or reversed."""

# %%
import contextlib


# %%
def checkpoint(fn, *args):
    return fn(*args)


# %%
def checkpoint_sequential(layers, x, segments):
    for layer in layers:
        x = layer(x)
    return x


# %%
def offload_to_cpu():
    return contextlib.nullcontext()


# %%
def reversible_block(f, g, x1, x2):
    y1 = x1 + f(x2)
    return y1, x2 + g(y1)
