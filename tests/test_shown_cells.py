"""A page's shown cells run in order: each name comes from a shown cell, Python or an exercise."""

from __future__ import annotations

import ast
import builtins
import symtable
from pathlib import Path

import pytest

from autograder.places import Places

read = pytest.importorskip("myst_nb.core.read", reason="pages need the extra `book`")

BOOK = Path(__file__).parents[1] / "book"
PAGES = {"ch10_activation_memory": False, "ch12_debugging": True}
PAGES |= {"ch13_beyond_first_order": False, "ch14_scaling_out": False}
"""Whether the page tells readers to copy folded cells as well, all of which draw nothing."""


def shown_cells(text: str, *, folded: bool = False) -> list[str]:
    """The code of the cells that a reader of the page copies."""
    cells = read.read_myst_markdown_notebook(text, path="page.md").cells
    tags = [set(cell.metadata.get("tags", [])) for cell in cells]
    return [
        cell.source
        for cell, of_it in zip(cells, tags, strict=True)
        if cell.cell_type == "code"
        and not of_it & {"remove-cell", "remove-input"}
        and ("hide-input" not in of_it or (folded and "plt.show()" not in cell.source))
    ]


def made(code: str) -> set[str]:
    """The names that a cell binds, anywhere."""
    names = set[str]()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def used(table: symtable.SymbolTable) -> set[str]:
    """The global names that a cell refers to."""
    top = table.get_type() == "module"
    names = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() or (top and symbol.is_referenced())
    }
    return names.union(*map(used, table.get_children()))


def missing(text: str, known: set[str], *, folded: bool = False) -> list[str]:
    """Names that are used before any shown cell defines them."""
    found = list[str]()
    for code in shown_cells(text, folded=folded):
        known = known | made(code)
        found += sorted(used(symtable.symtable(code, "cell", "exec")) - known)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_shown_cells_need_no_hidden_one(page: str) -> None:
    solved = ast.parse(Places().source(page).read_text()).body
    exercises = {node.name for node in solved if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert missing((BOOK / f"{page}.md").read_text(), set(dir(builtins)) | exercises, folded=PAGES[page]) == []


def test_a_hidden_import_is_found() -> None:
    hidden = "---\nfile_format: mystnb\n---\n\n```{code-cell} python3\n:tags: [remove-cell]\nimport math\n```\n"
    shown = "\n```{code-cell} python3\nprint(math.pi)\n```\n"
    assert missing(hidden + shown, set(dir(builtins))) == ["math"]
