"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Rosters = Annotated[
    list[Path] | None,
    typer.Option(
        help="Who is in the class: a table as a platform exports it, or a CSV with name, id, mail, section, team. "
        "Several are joined; `grade` keeps them for reports.",
        show_default=False,
    ),
]
