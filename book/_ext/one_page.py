"""Builds one page of the book, with what it cites: `python book/_ext/one_page.py ch06`, or `make page PAGE=ch06`.

Its references to other pages are warnings, because those are not built. What `make book` built stays as it is. If an
answer book has to be written for the page, it gets no slips, which take most of the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

BOOK = Path(__file__).resolve().parents[1]
OUT = BOOK / "_build" / "page"
CITED = ("glossary", "bibliography")


def main(arguments: list[str]) -> int | str:
    names = sorted(file.stem for file in BOOK.glob("*.md") if file.stem != "REVIEWING")
    name = arguments[0] if len(arguments) == 1 else ""
    found = [one for one in names if name in (one, one.partition("_")[0])]
    if len(found) != 1:
        return f"there is no page {name!r}; there are {', '.join(names)}"
    OUT.mkdir(parents=True, exist_ok=True)
    pages = [page for page in dict.fromkeys((*found, *CITED)) if page != "index"]
    toc = {"format": "jb-book", "root": "index", "chapters": [{"file": page} for page in pages]}
    (OUT / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(BOOK), "--quiet"]
    quick = {"BACKPROP_SLIP_SECONDS": "0", **os.environ}
    done = subprocess.run([*command, "--toc", str(OUT / "_toc.yml"), "--path-output", str(OUT)], env=quick, check=False)
    if not done.returncode:
        print((OUT / "_build" / "html" / f"{found[0]}.html").as_uri())
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
