"""PyTorch's compiler is only imported when code uses it, not by optimizer steps and checkpoints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

BEGIN = """
import sys
from autograder.worker.uncompiled import without_compiler

without_compiler()
import torch

def loaded():
    return sorted(name for name in sys.modules if name.startswith("torch._dynamo.") or name == "sympy")

x = torch.ones(3, requires_grad=True)
"""
SGD = "optimizer = torch.optim.SGD([x], lr=0.5); x.sum().backward(); optimizer.step(); print(x.tolist(), loaded())"
CHECKPOINT = """
y = torch.utils.checkpoint.checkpoint(lambda x: x**2, x, use_reentrant=False)
y.sum().backward()
print(x.grad.tolist(), loaded())
"""
GROUP = """
import torch.distributed as dist
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
dist.all_reduce(x.detach())
dist.destroy_process_group()
print(loaded())
"""
BACKWARD = "(2 * x).backward(torch.ones(3)); print(x.grad.tolist(), loaded())"
GRAD = "print(torch.func.grad(lambda x: (x**2).sum())(torch.ones(2)).tolist(), loaded())"


FORK = """
import json, os, signal, tempfile, traceback

for line in sys.stdin:
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if not child:
            signal.alarm(200)
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            try:
                exec(json.loads(line))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            finally:
                sys.stdout.flush()
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        print(json.dumps([status, said.read()]), flush=True)
"""
Run = Callable[[str], str]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs code after BEGIN and returns its output; like workers, in a new fork of a process with all imports."""
    command = [sys.executable, "-c", BEGIN + FORK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin
        assert server.stdout
        ask, answers = server.stdin, server.stdout

        def forked(code: str) -> str:
            print(json.dumps(code), file=ask, flush=True)
            status, said = json.loads(answers.readline())
            assert status == 0, said
            return str(said).strip()

        yield forked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (SGD, "[0.5, 0.5, 0.5] []"),
        (CHECKPOINT, "[2.0, 2.0, 2.0] ['torch._dynamo.config']"),
        (GRAD, "[2.0, 2.0] []"),
        (BACKWARD, "[2.0, 2.0, 2.0] []"),
        (GROUP, "[]"),
    ],
    ids=["optimizer", "checkpoint", "torch.func", "backward", "process group"],
)
def test_what_is_not_compiled_does_not_import_the_compiler(run: Run, code: str, said: str) -> None:
    assert run(code) == said


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import torch._dynamo.utils",
        "from torch._dynamo import optimize",
        "torch._dynamo.reset()",
        "torch._dynamo.trace_rules.lookup",
        "torch.compile(lambda x: 2 * x, backend='eager')(x)",
        f"{SGD}{CHECKPOINT}{GRAD}\ntorch._dynamo.reset()",
        "from torch._subclasses.fake_tensor import FakeTensorMode\nwith FakeTensorMode(): torch.ones(2) * 2",
    ],
)
def test_whoever_asks_for_the_compiler_has_it_whole(run: Run, code: str) -> None:
    whole = "\nimport torch._dynamo\nprint(torch._dynamo.__file__ is not None, callable(torch._dynamo.optimize))"
    whole += "\nx = torch.ones(3, requires_grad=True)\n" + SGD.replace(
        "loaded()", "'torch._dynamo.eval_frame' in loaded()"
    )
    assert run(code + whole).splitlines()[-2:] == ["True True", "[0.5, 0.5, 0.5] True"]


@pytest.mark.parametrize("code", ["(2 * x).backward(torch.ones(4))", "torch.autograd.grad(2 * x, x, torch.ones(1, 3))"])
def test_a_g_of_another_shape_is_refused_as_ever(run: Run, code: str) -> None:
    said = f"try: {code}\nexcept RuntimeError as error: print(error, loaded())"
    done = run(said)
    assert done.startswith("Mismatch in shape: grad_output[0]")
    assert done.endswith("[]")


@pytest.mark.slow
def test_sizes_that_are_symbols_are_compared_as_ever(run: Run) -> None:
    compared = """
from torch.fx.experimental.symbolic_shapes import expect_true, sym_eq
print(expect_true(sym_eq(torch.Size([2, 3]), (2, 3))), expect_true(sym_eq((2,), (3,))), loaded())
from torch.fx.experimental.symbolic_shapes import ShapeEnv
size = ShapeEnv().create_unbacked_symint()
print(type(sym_eq((size,), (2,))).__name__, expect_true(sym_eq((size, 3), (2, 3))), sym_eq((size,), (2, 3)))
"""
    assert run(compared).splitlines() == ["True False []", "SymBool True False"]


REFUSED = """
import inspect, io
from autograder.worker.calls import ForbiddenCall
from autograder.worker.compilers import refuse_compilers, speaks_of_programs
of_programs = [name for name, value in vars(torch._C).items() if speaks_of_programs(value)]
refuse_compilers()
linear, text, ones = torch.nn.Linear(2, 2), "def f(x): return torch.gelu(x)", torch.ones(2)
cu, frames = torch.jit._state._python_cu, torch._C._dynamo.eval_frame
for ask in [
    lambda: torch.jit.CompilationUnit(text),
    lambda: cu.define(text),
    lambda: cu.create_function("f", None),
    lambda: torch.jit.load(io.BytesIO(b"PK")),
    lambda: torch.compile(linear, backend="eager")(ones),
    lambda: frames.set_eval_frame(lambda *frame: None),
    lambda: frames.set_eval_frame(False),
    lambda: torch.library.Library("aten", "IMPL"),
    lambda: torch.library.Library("_", "IMPL", "CPU"),
    lambda: torch.library.get_kernel("aten::gelu", "CPU"),
    lambda: torch._C._aoti.AOTIModelPackageLoader("program.pt2"),
    lambda: torch._C.ScriptModule(),
    lambda: torch._C.Graph(),
    lambda: torch._C.ThroughputBenchmark(linear),
    *(getattr(torch._C, name) for name in of_programs if not isinstance(getattr(torch._C, name), type)),
]:
    try:
        print("NOT REFUSED", ask())
    except ForbiddenCall as error:
        assert "is not run here" in str(error)
    except Exception as error:
        print("OTHERWISE", inspect.getsource(ask), repr(error))
print(len(of_programs) > 100)
"""
WORKS = """
from autograder.worker.compilers import refuse_compilers
refuse_compilers()
import torch.nn.functional as F

@torch.jit.script
def doubled(x: torch.Tensor) -> torch.Tensor:
    return 2 * x

@torch.library.custom_op("own::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return 2 * x

def norm(x):
    return (F.layer_norm(x, (3,)) ** 3).sum() + F.log_softmax(x, 0).exp().log().sum()

p = torch.rand(3, dtype=torch.float64)
forward = torch.func.jvp(torch.func.grad(norm), (p,), (p,))[1]
print(torch.allclose(forward, torch.func.hessian(norm)(p) @ p))
print(torch.func.vmap(torch.func.jacrev(doubled))(torch.eye(3)).shape, torch.equal(twice(p), 2 * p))
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.GELU(), torch.nn.LSTM(3, 3))
optimizer = torch.optim.Adam(torch.jit.trace(model, x[None]).parameters())
torch.utils.checkpoint.checkpoint(model, x[None], use_reentrant=False)[0].sum().backward()
optimizer.step()
print(torch.autograd.gradcheck(torch.sin, p.requires_grad_(), check_forward_ad=True, check_batched_grad=True))
"""


@pytest.mark.slow
def test_programs_below_python_are_refused(run: Run) -> None:
    """All of PyTorch's functions that take or return a program, and the ways to them that learners know."""
    assert run(REFUSED) == "True"


@pytest.mark.slow
def test_what_pytorch_compiles_for_itself_works_where_programs_are_refused(run: Run) -> None:
    assert run(WORKS) == "True\ntorch.Size([3, 3, 3]) True\nTrue"
