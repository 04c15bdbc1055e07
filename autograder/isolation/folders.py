"""Names and removes the temporary folders of workers, whatever submissions left in them."""

from __future__ import annotations

import contextlib
import glob
import os
import subprocess
import tempfile
import threading

FOLDERS = "backprop-"
"""Prefix of the names of workers' folders; the run's name follows."""

OUR_FOLDERS = threading.RLock()
"""Held while only this process would remove a worker's folder: before the worker has a launcher, which removes the
folder even if this process dies, and from the moment that launcher may be killed until the folder is gone."""


def remove_folders(run: str) -> None:
    """Remove the folders that workers of a run left behind, as when the judge was killed while it started one."""
    for folder in glob.glob(f"{glob.escape(tempfile.gettempdir())}/{FOLDERS}{run}*"):
        remove_folder(folder)


def remove_folder(path: str) -> None:
    """Remove a folder even if it is nested too deep for Python, or has folders that cannot be listed."""
    with contextlib.suppress(OSError):
        os.rmdir(path)
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        if os.path.lexists(path):
            subprocess.run([*command, "--", path], stderr=subprocess.DEVNULL, check=False)
