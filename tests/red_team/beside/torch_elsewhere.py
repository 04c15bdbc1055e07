"""NumPy exercises that reach for PyTorch, for other workers' folders and for the grader's files. Nothing: 1 point."""

# %%
import ctypes
import glob
import importlib.machinery
import importlib.util
import os
import sys

reached = []
PLACES = [
    "@REPOSITORY@/autograder/lessons/ch01_computation_graph/scenarios/graphs.py",
    "@REPOSITORY@/autograder/lessons/ch01_computation_graph/checks/forward.py",
    "@REPOSITORY@/autograder/isolation/choice.py",
    "@REPOSITORY@/solutions/ch01_computation_graph.py",
    "@REPOSITORY@/course/syllabus.toml",
]
for path in PLACES:
    try:
        with open(path) as file:
            reached.append(file.read(10))
    except OSError:
        pass
for pattern in ("@TMP@/*", os.path.join(os.path.dirname(os.getcwd()), "*"), "/proc/[0-9]*/environ", "/dev/shm/*"):
    reached += [path for path in glob.glob(pattern) if path != os.getcwd() and os.access(path, os.R_OK)]
for library in glob.glob("@REPOSITORY@/.venv/lib/*/site-packages/torch/lib/*.so"):
    try:
        reached.append(str(ctypes.CDLL(library)))
    except OSError:
        pass
for folder in ("@REPOSITORY@/.venv/lib/python3.{}/site-packages".format(sys.version_info[1]),):
    try:
        spec = importlib.machinery.PathFinder.find_spec("torch", [folder])
        if spec is not None:
            importlib.util.module_from_spec(spec)
            reached.append(spec.name)
    except (ImportError, OSError):
        pass


def neuron_gradients(*arguments):
    raise RuntimeError("reached: " + (", ".join(reached)[:200] or "nothing"))
