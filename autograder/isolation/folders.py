"""The folders of workers: what they are called, and how they are removed, whatever is in them."""

from __future__ import annotations

import contextlib
import glob
import os
import subprocess
import tempfile
import threading

FOLDERS = "backprop-"
"""How the names of the workers' folders begin; the run's name follows."""

OUR_FOLDERS = threading.RLock()
"""Held while a worker's folder is ours alone to remove: until it has a launcher, which removes it whatever becomes of
us, and again from where that launcher may be killed until the folder is gone."""


def remove_folders(run: str) -> None:
    """Remove what the workers of a run have left: a judge that is killed while it starts one leaves its folder."""
    for folder in glob.glob(f"{glob.escape(tempfile.gettempdir())}/{FOLDERS}{run}*"):
        remove_folder(folder)


def remove_folder(path: str) -> None:
    """Remove a folder, whatever a submission made in it: a nest too deep for Python, folders that cannot be listed."""
    with contextlib.suppress(OSError):
        os.rmdir(path)
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if os.path.lexists(path):
            subprocess.run([*command, "--", path], stderr=subprocess.DEVNULL, check=False)
