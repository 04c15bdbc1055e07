"""Makes small class folders, and reads what `find_work` finds in them."""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

from autograder.classroom.class_folder import ClassFolder

Command = Callable[..., subprocess.CompletedProcess[str]]

RIGHT = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "metadata": {"exercise": "relu_vjp"}, "source": RIGHT}], "nbformat": 4}
)


def class_of(folder: Path, *names: str) -> Path:
    """A class folder with these files; names ending in `.ipynb` become notebooks."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(NOTEBOOK if name.lower().endswith("ipynb") else RIGHT)
    return folder


def zipped(folder: Path, file: Path) -> Path:
    """Zip a whole folder."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return file


def graded(found: ClassFolder) -> dict[tuple[str, str], str]:
    """By student and lesson: the name of the graded file."""
    return {(item.student, item.lesson): item.file.name for item in found.work}


def rows(found: ClassFolder) -> dict[str, str]:
    return {f"{row.student}/{row.file}": row.why for row in found.not_recognised}


# Exports of platforms, as they are downloaded
CANVAS = [
    "lastfirst_12345_67890_ch06_vjps-1.ipynb",
    "lastfirst_12345_67891_ch07_mlp_backprop.py",
    "otherann_LATE_12346_67892_ch06_vjps.ipynb",
    "otherbob_12347_text.html",
    "anon_aB3dE_67893_ch06_vjps.ipynb",
    "othercy_LATE_12348_link.html",
    "_12349_67894_ch06_vjps.ipynb",
    "LATE_anon_R7yhk_67895_ch06_vjps.ipynb",
]


METADATA = """---
submission_1:
  :submitters:
  - :name: Ann Last
    :sid: '31'
    :email: ann@example.edu
  :created_at: 2026-03-01 10:00:00.000000000 Z
  :score: 0.0
  :history: []
submission_2:
  :submitters:
  - :name: Bob
    :sid: '32'
    :email: ../../bob
  - :name: Cy
    :sid: '33'
    :email:
"""
