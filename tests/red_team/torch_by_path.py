"""Loads PyTorch from where it is installed: by path, by its library, under another name. All refused: 4 points."""

import ctypes
import glob
import importlib
import importlib.util
import os
import sys

import numpy

SITE = os.path.dirname(os.path.dirname(numpy.__file__))
reached = []


def attempt(name, action):
    try:
        action()
        reached.append(name)
    except BaseException:
        pass


def by_path():
    spec = importlib.util.spec_from_file_location("vendored", f"{SITE}/torch/__init__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def without_the_finder():
    sys.meta_path[:] = [finder for finder in sys.meta_path if "Allowed" not in type(finder).__name__]
    sys.path[:0] = [SITE]
    importlib.import_module("torch")


attempt("by path", by_path)
attempt("its library", lambda: ctypes.CDLL(f"{SITE}/torch/lib/libtorch_cpu.so"))
attempt("its parts", lambda: os.close(os.open(f"{SITE}/torch/_tensor.py", os.O_RDONLY)))
attempt("SciPy's library", lambda: ctypes.CDLL(glob.glob(f"{SITE}/scipy/linalg/_fblas*.so")[0]))
attempt("a list of packages", lambda: os.listdir(SITE))
attempt("without the finder", without_the_finder)


def forward(params, X, activation="relu"):
    raise RuntimeError("reached: " + (", ".join(reached) or "nothing"))
