"""Names that are paths, for its module, its cells, its classes and its functions. They are only names: 4 points."""

# %% exercise="../../../../owned"
__name__ = "../../results/owned"
__file__ = "/etc/passwd"
__package__ = "autograder.judging"
__builtins__ = dict(vars(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)

# %% exercise="...............outside.owned"
Owned = type("../../results/class.json", (Exception,), {"__module__": "../../../owned", "__qualname__": "../../owned"})


def forward(params, X, activation="relu"):
    raise Owned("../../results/class.json")


forward.__name__ = forward.__qualname__ = "../../results/students/honest_all/ch07_mlp_backprop.json"
forward.__module__ = forward.__code__.co_filename
forward.__code__ = forward.__code__.replace(co_filename="@RESULTS@/students/honest_all/ch07_mlp_backprop.json", co_name="../x")


# %% exercise="cross_entropy_loss"
exec(compile("def cross_entropy_loss(*_): 1 / 0", "cell ../../../../@OUTSIDE@/secret", "exec"))
