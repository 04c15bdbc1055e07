"""Finds out how this course was installed, to say how to install its extras."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from autograder.places import ROOT

NAME = "backprop-course"


def how_to_install_extra(extra: str) -> str:
    """The command that reinstalls the course with an extra, from the place where it was installed from.

    A course that was unpacked or cloned may be on no package index: `pip install backprop-course` would find nothing,
    or another package of that name.
    """
    try:
        told = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return _from_folder(ROOT, extra)
    try:
        origin = json.loads(told or "{}")
        address = str(origin.get("url", ""))
        folder = Path(url2pathname(urlsplit(address).path)) if address.startswith("file:") else None
        kept_there = bool(origin.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        address, folder, kept_there = "", None, False
    if folder and (folder / "pyproject.toml").is_file():
        return _from_folder(folder, extra, "-e " if kept_there else "")
    if address and "dir_info" not in origin:  # a wheel, or a repository
        kind = f"{origin['vcs_info'].get('vcs', 'git')}+" if isinstance(origin.get("vcs_info"), dict) else ""
        return f"pip install '{NAME}[{extra}] @ {kind}{address}'"
    return f"pip install '{NAME}[{extra}]'"


def _from_folder(folder: Path, extra: str, option: str = "") -> str:
    here = folder.resolve() == Path.cwd().resolve()
    return f"pip install {option}'{'.' if here else folder}[{extra}]'"
