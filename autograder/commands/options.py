"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Rosters = Annotated[
    list[Path] | None,
    typer.Option(
        help="Who is in the class: a table as a platform exports it, or a CSV with name, id, mail, section, team. "
        "Several are joined, names and sections from the first that has them; `grade` keeps all for reports.",
        show_default=False,
    ),
]
