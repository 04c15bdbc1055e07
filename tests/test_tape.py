"""The picture of an engine's tape shows any right engine's numbers, reports missing parts, and changes nothing."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from autograder.judging.checking.reference import load_module
from course.tape import picture
from course.tape.reading import MOST
from course.tape.running import TOO_OFTEN

ROOT = Path(__file__).parents[1]
ENGINES = {
    "solution": ROOT / "solutions" / "ch05_autograd_engine.py",
    "another style": ROOT / "tests" / "other_styles" / "ch05_autograd_engine.py",
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> ModuleType:
    return load_module(ENGINES[request.param])


@pytest.fixture
def solution() -> ModuleType:
    return load_module(ENGINES["solution"])


def leaf(engine: ModuleType, value: Any) -> Any:
    return engine.Tensor(value, requires_grad=True)


def texts(drawn: Any) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(drawn._repr_svg_()).iter() if one.tag.endswith("text")]


def test_the_diamond(engine: ModuleType) -> None:
    def program(x: Any) -> Any:
        y = x * x
        return y + y

    x = leaf(engine, 3.0)
    drawn = picture(program, x=x)
    lines = [line for line in str(drawn).splitlines() if not line.startswith(" ")]
    assert lines[0] == "x: 3, grad 12"
    assert re.fullmatch(r"y = \w+: 9, gradient 2", lines[1])
    assert re.fullmatch(r"\w+: 18, gradient 1", lines[2])
    assert len(lines) == 3
    assert len(drawn.tape.edges) == 4
    assert {"x", "3", "grad 12", "9", "18"} <= set(texts(drawn))
    if hasattr(x, "edges"):
        y = x * x
        assert {"3: 6", "4: 6", "1: 1", "2: 1"} <= set(texts(drawn)) & set(texts(picture(y + y, x=x, y=y)))
    else:
        assert "picture(lambda x: x * x, x=x)" in told(x * x)


def test_gradients_are_pytorchs_and_all_is_as_it_was(engine: ModuleType) -> None:
    rng = np.random.default_rng(5)
    arrays = {"X": rng.normal(size=(5, 4)), "W": rng.normal(size=(4, 3)), "b": rng.normal(size=3)}

    def program(X: Any, W: Any, b: Any) -> dict[str, Any]:
        Z = X @ W + b
        H = Z.tanh()
        P = H * Z
        return {"Z": Z, "H": H, "P": P, "L": P.sum()}

    ours = {name: leaf(engine, value) for name, value in arrays.items()}
    for tensor in ours.values():
        tensor.grad = np.full(tensor.data.shape, 7.0)
    made = program(**ours)
    drawn = [picture(lambda X, W, b: program(X, W, b)["L"], **ours)]
    if hasattr(made["L"], "edges"):
        edges = {name: tensor.edges for name, tensor in made.items()}
        drawn.append(picture(made["L"], **ours, **made))
        assert all(tensor.edges is edges[name] for name, tensor in made.items())
    theirs = {name: torch.tensor(value, requires_grad=True) for name, value in arrays.items()}
    twins = theirs | program(**theirs)
    for tensor in twins.values():
        tensor.retain_grad()
    twins["L"].backward()
    for one in drawn:
        found = [box.grad if box.leaf else box.sent[0] for box in one.tape.boxes]
        assert len(found) == 8
        for name, twin in twins.items():  # the matrix product is a box, too
            assert any(np.shape(held) == twin.shape and np.allclose(held, twin.grad) for held in found), name
        assert not one.tape.lines
    for tensor in ours.values():
        assert (tensor.grad == 7).all()
    made["L"].backward()  # it can still be walked, and is freed by that
    assert np.allclose(ours["W"].grad, 7 + twins["W"].grad.numpy())


def test_only_shapes_and_texts_are_drawn(solution: ModuleType) -> None:
    """The picture only contains elements and attributes that book/_page/picture.js allows."""
    script = (ROOT / "book" / "_page" / "picture.js").read_text(encoding="utf-8")
    shapes = set(re.findall(r'"(\w+)"', re.findall(r"SHAPES = new Set\((.*)\)", script)[0]))
    kinds = dict(re.findall(r"^const (\w+) = /(.*)/;$", script, re.MULTILINE))
    values = dict(re.findall(r'\["([\w-]+)", /(.*)/\],', script))
    for names, kind in re.findall(r'\.\.\."([^"]*)"\.split.*\[one, (\w+)\]', script):
        values |= dict.fromkeys(names.split(), kinds[kind])
    x = leaf(solution, -2.0)
    drawn = ElementTree.fromstring(picture(x.exp() * x, **{"<b>&": x})._repr_svg_())
    for one in drawn.iter():
        assert one.tag.removeprefix("{http://www.w3.org/2000/svg}") in shapes
        for name, value in one.attrib.items():
            assert re.search(values[name], value), (name, value)
    assert "<b>&" in [one.text for one in drawn.iter()]


def test_more_than_can_be_looked_at_is_counted(engine: ModuleType) -> None:
    def chain(x: Any) -> Any:
        y = x
        for _ in range(100_000):
            y = y + x
        return y

    x = leaf(engine, 1.0)
    drawn = picture(chain, x=x)
    assert len(drawn.tape.boxes) == MOST
    assert drawn.tape.lines == [f"{100_001 - MOST:,} tensors more lie below these {MOST} and are not drawn."]
    assert next(box for box in drawn.tape.boxes if box.name == "x").grad == 100_001
    assert x.grad is None
    assert "… 1 more" in texts(drawn)


def told(*args: Any, **names: Any) -> str:
    """The lines below a picture; the picture must be drawable."""
    drawn = picture(*args, **names)
    assert drawn._repr_svg_() in drawn._repr_html_()
    ElementTree.fromstring(drawn._repr_svg_())
    return " ".join(drawn.tape.lines)


def test_what_there_is_nothing_to_draw_of(solution: ModuleType) -> None:
    assert told(3.0) == "There is no graph to draw: this is a float, which has no `data`."
    assert "has no `edges`" in told(np.zeros(3))
    assert told(lambda x: 3.0, x=leaf(solution, 1.0)).startswith("There is no graph to draw")
    with pytest.raises(TypeError, match="needs the program's tensors by name, and got"):
        picture(lambda: 3.0)
    assert told(solution.Tensor(3.0) * 2).startswith("Nothing was recorded")
    x = leaf(solution, 3.0)
    y = x * x
    y.backward()
    assert "None: a backward pass has freed them. Draw before it" in told(y, x=x, y=y)
    assert "needs g" in told(leaf(solution, np.ones(2)) * 2) or "ValueError" in told(leaf(solution, np.ones(2)) * 2)
    assert told(leaf(solution, np.ones(2)) * 2, np.ones(2)) == ""


def test_an_engine_that_is_not_written(tmp_path: Path) -> None:
    """A learner's unfinished engine: only the class, with and without a backward that raises."""
    text = ENGINES["solution"].read_text(encoding="utf-8")
    written = tmp_path / "ch05_autograd_engine.py"
    body = re.search(r"^def backward\(.*?### END SOLUTION\n", text, re.DOTALL | re.MULTILINE)
    assert body
    stub = (
        "def backward(self, g=None, retain_graph=False):\n    raise NotImplementedError('Tensor.backward: your code')\n"
    )
    for without in (stub, "backward = None\n"):
        source = text.replace(body[0], without)
        written.write_text(source if without == stub else source.replace("Tensor.backward = backward\n", ""))
        engine = load_module(written)
        x = leaf(engine, 3.0)
        drawn = picture(x * x, x=x)
        assert drawn.tape.lines == [
            "`Tensor.backward` is not written yet. Once it is, what it sends along the edges stands here."
        ]
        assert str(drawn).startswith("x: 3\n")


def test_operations_that_are_not_written(solution: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwritten(*_: Any) -> Any:
        raise NotImplementedError("Tensor (arithmetic): your code here")

    before = solution.Tensor.__mul__
    monkeypatch.setattr(solution.Tensor, "__add__", unwritten)
    says = "The program meets what is not written yet: Tensor (arithmetic): your code here"
    assert told(lambda x: x * x + x, x=leaf(solution, 3.0)) == says
    assert (solution.Tensor.__add__, solution.Tensor.__mul__) == (unwritten, before)


def test_results_between_wait_for_hooks_where_the_tape_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = load_module(ENGINES["another style"])
    monkeypatch.delattr(engine.Tensor, "register_hook")
    drawn = picture(lambda x: (x * x).mean() * 2, x=leaf(engine, 3.0))
    assert drawn.tape.lines == [
        "`Tensor.register_hook` is not written yet: gradients of results between are not shown."
    ]
    assert [box.operation for box in drawn.tape.boxes] == ["mul", "mean", "mul", ""]
    assert "grad 12" in texts(drawn)


class Loose:
    """An engine that tests can alter."""

    def __init__(self, data: float, *edges: Any) -> None:
        self.data = np.asarray(data, dtype=float)
        self.grad: Any = None
        self.edges: Any = edges

    def backward(self, g: Any = 1.0) -> None:
        """Pass each gradient on as soon as it arrives."""
        self.grad = np.asarray(g) if self.grad is None else self.grad + g
        for parent, vjp in self.edges:
            parent.backward(vjp(g))


def same(g: Any) -> Any:
    return g


def test_circles_end() -> None:
    x = Loose(1.0)
    y = Loose(2.0, (x, same))
    z = Loose(3.0, (y, same), (x, same))
    x.edges = ((z, same),)
    assert told(z, x=x) == "The tape leads in a circle: a tensor is its own ancestor. No backward pass can be run."
    x.edges = ((x, same),)
    assert "in a circle" in told(x) == told(y)


def test_edges_that_are_none() -> None:
    x = Loose(1.0)
    for edges in ((x,), ((x, 3),), (("x", same),), ((x, same, 1),), 5, "ab"):
        y = Loose(2.0)
        y.edges = edges
        assert told(y).startswith("An edge is to be a pair (parent, vjp)"), edges


def test_walks_that_go_wrong(solution: ModuleType) -> None:
    x = Loose(1.0)
    y = Loose(2.0, (x, same))
    z = Loose(3.0, (y, same), (y, same))
    assert "y = operation: a VJP was called 2 times in one pass, and once is right." in told(z, x=x, y=y)
    for _ in range(20):
        z = Loose(1.0, (z, same), (z, same))
    assert f"GoesRound: one VJP was called {TOO_OFTEN} times" in told(z)

    def fails(g: Any) -> Any:
        raise ZeroDivisionError("no")

    assert told(Loose(1.0, (x, fails))) == "backward ended in ZeroDivisionError: no"


def test_sums_that_are_none(monkeypatch: pytest.MonkeyPatch, solution: ModuleType) -> None:
    x = leaf(solution, 3.0)
    y = x * x
    z = y + y
    right = solution.Tensor.backward

    def doubled(self: Any, g: Any = None, retain_graph: bool = False) -> None:
        right(self, g, retain_graph)
        x.grad = 2 * x.grad

    monkeypatch.setattr(solution.Tensor, "backward", doubled)
    assert told(z, x=x) == "x keeps another `grad` than the sum of what came to it."

    def forgets(self: Any, g: Any = None, retain_graph: bool = False) -> None:
        right(self, g, retain_graph)
        x.grad = None

    monkeypatch.setattr(solution.Tensor, "backward", forgets)
    assert told(z, x=x) == "x: gradients came, and `grad` is still None."

    def first_come(self: Any, g: Any = None, retain_graph: bool = False) -> None:
        """Each tensor passes on only the first gradient that arrives."""
        seen, waiting = set(), [(self, np.ones(()))]
        for tensor, part in waiting:
            if not tensor.edges:
                tensor.grad = part if tensor.grad is None else tensor.grad + part
            elif id(tensor) not in seen:
                seen.add(id(tensor))
                waiting += [(parent, vjp(part)) for parent, vjp in tensor.edges]

    monkeypatch.setattr(solution.Tensor, "backward", first_come)
    assert told(z, x=x, y=y) == "y = multiply passes something else on than the sum of what came to it."


def test_a_hook_may_change_what_is_passed_on(engine: ModuleType) -> None:
    def program(x: Any) -> Any:
        y = x * x
        y.register_hook(lambda g: 10 * g)
        return y + y

    drawn = picture(program, x=leaf(engine, 3.0))
    assert not drawn.tape.lines
    assert "grad 120" in texts(drawn)
