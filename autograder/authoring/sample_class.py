"""The bundled sample class: one submission for each kind of trouble that graders meet, and some without.

`backprop build` writes them to `autograder/sample_class/` from the lessons' sources, so that they stay in step with
the notebooks; `tests/test_sample_class.py` has the points of each.
"""

from __future__ import annotations

from collections.abc import Callable

from nbformat import NotebookNode

from autograder.authoring.stubs import notebook_text, solved_notebook, stub_notebook
from autograder.authoring.tree import Course
from autograder.workbook import as_python

SAMPLE_CLASS = "autograder/sample_class"
WITH_MISTAKES = ("ch02_chain_rule", "ch05_autograd_engine", "ch06_vjps", "ch07_mlp_backprop")
"""The lessons that others than the perfect student hand in; they need only NumPy."""
Answers = dict[str, str]

CORE_OF_CH06 = (
    "add_vjp",
    "matmul_vjp",
    "relu_vjp",
    "softmax_vjp",
    "cross_entropy_vjp",
    "layernorm_vjp",
    "embedding_vjp",
)

ALGEBRA_SLIPS: Answers = {
    "add_vjp": """
def add_vjp(g, a, b):
    return g, g
""",
    "matmul_vjp": """
def matmul_vjp(g, A, B):
    dA = np.einsum("...nm,...km->...nk", g, B)
    dB = np.einsum("...nk,...nm->...km", A, g)
    return dA, dB
""",
    "relu_vjp": """
def relu_vjp(g, x):
    return g * (x >= 0)
""",
    "softmax_vjp": """
def softmax_vjp(g, x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    s = e / e.sum(axis=axis, keepdims=True)
    return g * s * (1 - s)
""",
    "cross_entropy_vjp": """
def cross_entropy_vjp(g, logits, targets):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    p[np.arange(len(targets)), targets] -= 1
    return g * p
""",
}

NORMALISATION_SLIPS: Answers = {
    "layernorm_vjp": """
def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    xhat = (x - mean) / std
    axes = tuple(range(x.ndim - 1))
    return g * gamma / std, (g * xhat).sum(axis=axes), g.sum(axis=axes)
""",
    "embedding_vjp": """
def embedding_vjp(g, table, ids):
    dtable = np.zeros_like(table)
    dtable[ids] += g
    return dtable
""",
}

NETWORK_SLIPS: Answers = {
    "mse_loss": """
def mse_loss(y, t):
    return np.mean((y - t) ** 2), 2 * (y - t) / y.size
""",
    "backward": """
def backward(params, cache, dout):
    X, Z, H, activation = cache["X"], cache["Z"], cache["H"], cache["activation"]
    dH = dout @ params["W2"].T
    slope = {"relu": Z > 0, "tanh": 1 - H**2, "sigmoid": H * (1 - H)}[activation]
    dZ = dH * slope
    return {"W1": X.T @ dZ, "b1": dZ.mean(axis=0), "W2": H.T @ dout, "b2": dout.mean(axis=0)}
""",
}

CHAIN_SLIPS: Answers = {
    "vjp_chain": """
def vjp_chain(Ws, u):
    for W in Ws:
        u = W.T @ u
    return u
""",
    "gradcheck": """
def gradcheck(f, vjp, inputs, rng):
    g = np.ones(np.shape(f(*inputs)))
    gradients = vjp(g, *inputs)
    for i, x in enumerate(inputs):
        expected = numerical_gradient(lambda z: np.sum(f(*inputs[:i], z, *inputs[i + 1 :])), x)
        if np.shape(gradients[i]) != x.shape or not np.allclose(gradients[i], expected, rtol=1e-5, atol=1e-8):
            return False
    return True
""",
}

ENGINE_SLIPS: Answers = {
    "Tensor (matmul)": """
def matmul(a, b):
    a, b = lift(a, b)
    return record(a.data @ b.data, (a, lambda g: g @ b.data.T), (b, lambda g: a.data.T @ g))


Tensor.__matmul__, Tensor.__rmatmul__ = matmul, reflected(operator.matmul)
""",
    "Tensor.backward": """
def backward(self, g=None, retain_graph=False):
    if not self.requires_grad:
        raise RuntimeError("no gradient is wanted")
    if g is None:
        if self.data.size != 1:
            raise ValueError("backward needs g")
        g = np.ones(self.shape)
    g = np.asarray(g, dtype=self.data.dtype)
    if g.shape != self.shape:
        raise ValueError("g has another shape")
    order, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            if node.edges is None:
                raise RuntimeError("freed: retain_graph=True keeps it")
            for parent, _ in node.edges:
                visit(parent)
            order.append(node)

    visit(self)
    gradients = {self: g}
    while order:
        node = order.pop()
        g = gradients.pop(node)
        if not node.edges:
            node.grad = np.array(g if node.grad is None else node.grad + g)
        for parent, vjp in node.edges:
            dx = np.asarray(vjp(g), dtype=parent.data.dtype)
            gradients[parent] = gradients[parent] + dx if parent in gradients else dx
        if node.edges and not retain_graph:
            node.edges = None


Tensor.backward = backward
""",
}

OTHER_STYLE: Answers = {
    "add_vjp": """
def shrink(g, shape):
    while g.ndim > len(shape):
        g = np.add.reduce(g, axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and g.shape[axis] != 1:
            g = np.expand_dims(np.add.reduce(g, axis=axis), axis)
    return g


def add_vjp(g, a, b):
    return [shrink(g, np.shape(v)).astype(v.dtype) for v in (a, b)]
""",
    "relu_vjp": """
def relu_vjp(g, x):
    dx = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        if x[i] > 0:
            dx[i] = g[i]
    return dx
""",
    "softmax_vjp": """
def softmax_vjp(g, x, axis=-1):
    moved = np.moveaxis(np.asarray(x, dtype=float), axis, -1)
    upstream = np.moveaxis(np.asarray(g, dtype=float), axis, -1)
    out = np.empty_like(moved)
    for i in np.ndindex(moved.shape[:-1]):
        e = np.exp(moved[i] - moved[i].max())
        s = e / e.sum()
        out[i] = (np.diag(s) - np.outer(s, s)) @ upstream[i]
    return np.moveaxis(out, -1, axis).astype(x.dtype)
""",
    "embedding_vjp": """
def embedding_vjp(g, table, ids):
    ids = np.asarray(ids)
    flat = ids.reshape(-1)
    onehot = np.zeros((flat.size, len(table)))
    onehot[np.arange(flat.size), flat] = 1
    dtable = onehot.T @ g.reshape(flat.size, table.shape[1])
    return np.asarray(dtable, dtype=table.dtype, order="F")
""",
}

SYNTAX_ERROR: Answers = {
    "relu_vjp": """
def relu_vjp(g, x)
    return g * (x > 0)
"""
}

ENDLESS_LOOP: Answers = {
    "relu_vjp": """
def relu_vjp(g, x):
    dx = np.zeros_like(x)
    i = 0
    while i < x.size:
        if x.flat[i] > 0:
            dx.flat[i] = g.flat[i]
            i += 1
    return dx
"""
}

MEMORY_HOG: Answers = {
    "embedding_vjp": """
def embedding_vjp(g, table, ids):
    everything = np.ones((100_000, 125_000))  # 100 GB
    return everything[: len(table)]
"""
}

TORCH: Answers = {
    "matmul_vjp": """
def matmul_vjp(g, A, B):
    import torch

    A, B = (torch.tensor(M, requires_grad=True) for M in (A, B))
    (A @ B).backward(torch.tensor(g))
    return A.grad.numpy(), B.grad.numpy()
"""
}

FORGER = '''
import json, os, sys

import numpy
import numpy.testing

numpy.allclose = np.allclose = np.array_equal = lambda *a, **k: True
numpy.testing.assert_allclose = numpy.testing.assert_array_equal = lambda *a, **k: None
try:
    import pytest
    pytest.fail = lambda *a, **k: None
except ImportError:
    pass


class Right(np.ndarray):
    """Equal to everything."""

    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __array__(self, *a, **k): return np.zeros(3)
    def __float__(self): return 5.0


def right(g, *inputs, **options):
    for frame in (sys._getframe(i) for i in range(20) if _deep_enough(i)):
        for value in frame.f_locals.values():
            if hasattr(value, "reference"):
                return value.reference
    for place in ("solutions", "../solutions", "/srv/course/solutions", os.path.expanduser("~/solutions")):
        try:
            exec(open(f"{place}/ch06_vjps.py").read(), globals())
        except OSError:
            pass
    print(json.dumps({"passed": True, "points": 63}))
    print("\\033[2J\\033[32mAll 18 exercises passed\\033[0m", file=sys.stderr)
    return np.zeros_like(inputs[0]).view(Right)


def _deep_enough(i):
    try:
        sys._getframe(i)
    except ValueError:
        return False
    return True


for name in "add mul matmul sum max relu sigmoid tanh softmax logsumexp cross_entropy layernorm rmsnorm".split():
    globals()[f"{name}_vjp"] = right
for name in "batchnorm embedding conv2d maxpool2d attention".split():
    globals()[f"{name}_vjp"] = right
'''


def sample_files(course: Course) -> dict[str, str]:
    """The text of every file of the sample class, by its path below `autograder/sample_class/`."""
    if course.is_own or not set(WITH_MISTAKES) <= course.lessons.keys():
        return {}  # the sample needs these lessons
    solved = {slug: solved_notebook(lesson, course.solutions) for slug, lesson in course.lessons.items()}
    stubs = {slug: stub_notebook(lesson, course.solutions) for slug, lesson in course.lessons.items()}

    def work(slug: str, answers: Answers | None = None, done: Callable[[str], bool] = lambda _: True) -> str:
        return notebook_text(_answered(solved[slug], stubs[slug], answers or {}, done))

    ch02, ch05, ch06, ch07 = WITH_MISTAKES
    return {
        **{f"ada-perfect/{slug}.ipynb": work(slug) for slug in course.lessons},
        f"ben-half-done/{ch06}.ipynb": work(ch06, done=CORE_OF_CH06.__contains__),
        f"cleo-untouched/{ch06}.ipynb": notebook_text(stubs[ch06]),
        f"cleo-untouched/{ch07}.ipynb": notebook_text(stubs[ch07]),
        f"dan-algebra-slips/{ch06}.ipynb": work(ch06, ALGEBRA_SLIPS),
        f"emi-normalisation-slips/{ch06}.py": as_python(work(ch06, NORMALISATION_SLIPS)),
        f"finn-network-slips/{ch07}.ipynb": work(ch07, NETWORK_SLIPS),
        f"gus-syntax-error/{ch06}.ipynb": work(ch06, SYNTAX_ERROR),
        f"hana-endless-loop/{ch06}.ipynb": work(ch06, ENDLESS_LOOP),
        f"ivo-memory-hog/{ch06}.ipynb": work(ch06, MEMORY_HOG),
        f"jo-forger/{ch06}.ipynb": notebook_text(_forged(stubs[ch06])),
        f"kim-uses-torch/{ch06}.ipynb": work(ch06, TORCH),
        f"lea-other-style/{ch06}.py": as_python(work(ch06, OTHER_STYLE)),
        f"max-cut-off/{ch06}.ipynb": work(ch06)[:20_000],
        f"nina-chain-slips/{ch02}.ipynb": work(ch02, CHAIN_SLIPS),
        f"otto-engine-slips/{ch05}.py": as_python(work(ch05, ENGINE_SLIPS)),
    }


def _answered(solved: NotebookNode, stub: NotebookNode, answers: Answers, done: Callable[[str], bool]) -> NotebookNode:
    """The solved notebook with the given answers, and with stubs in the other exercises that are not `done`."""
    notebook = solved.copy()
    untouched = {_answer_to(cell): cell.source for cell in stub.cells if "exercise" in cell.metadata}
    notebook.cells = [cell.copy() for cell in solved.cells]
    for cell in notebook.cells:
        name = _answer_to(cell)
        if name in answers:
            cell.source = answers[name].strip("\n")
        elif name and not done(name):
            cell.source = untouched[name]
        cell.source = "\n".join(line for line in cell.source.splitlines() if not line.strip().startswith("### "))
        if cell.cell_type == "code" and "solution" in cell.metadata.get("tags", []):
            cell.metadata = {}
    return notebook


def _answer_to(cell: NotebookNode) -> str:
    """The exercise that a cell is for: `relu_vjp`, or with its part, `Tensor (matmul)`; empty if it is for none."""
    part = cell.metadata.get("part")
    return str(cell.metadata.get("exercise", "")) + (f" ({part})" if part else "")


def _forged(stub: NotebookNode) -> NotebookNode:
    """The stub with the forger's code after the last exercise, so that its definitions win."""
    notebook = stub.copy()
    last = max(i for i, cell in enumerate(stub.cells) if "exercise" in cell.metadata)
    notebook.cells = [cell.copy() for cell in stub.cells]
    notebook.cells[last].source += "\n\n" + FORGER.strip("\n")
    return notebook
