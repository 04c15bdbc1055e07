"""Takes README's picture again: `python docs/pictures/notebook.py`, with `make setup` done and Chromium installed.

It is a real notebook, run by a real kernel, in a real JupyterLab: ch06 with the coin-flip bug handed in as `add_vjp`.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

PICTURE = Path(__file__).with_suffix(".png")
ROOT = PICTURE.parents[2]
EXERCISE = "add_vjp"
BUG = "    return g, g"
WIDTH, HEIGHT = 900, 850
"""Of the browser's window, in CSS pixels: as high as the cells and the feedback are."""
MOST_BYTES = 150_000


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nbformat.write(_notebook(), folder / "ch06_vjps.ipynb")
        with _jupyterlab(folder) as address:
            _photograph(f"{address}/doc/tree/ch06_vjps.ipynb", folder)
        _save(folder / "screen.png")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")


def _notebook() -> nbformat.NotebookNode:
    """The cells of one exercise with the bug in its place, and what a kernel answers."""
    notebook = nbformat.read(ROOT / "exercises" / "ch06_vjps.ipynb", as_version=4)
    shown = ["setup", f"given-{EXERCISE}-1", f"text-{EXERCISE}-2", EXERCISE, f"check-{EXERCISE}"]
    notebook.cells = [cell for cell in notebook.cells if cell.id.removeprefix("ch06-") in shown]
    (answer,) = [cell for cell in notebook.cells if cell.metadata.get("exercise") == EXERCISE]
    head, _, _ = answer.source.partition("    raise NotImplementedError")
    answer.source = head + BUG
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    return notebook


@contextmanager
def _jupyterlab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab that shows `folder`, with no settings but its own."""
    settings = folder / "lab" / "overrides.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for_authors = folder / "JUPYTER_CONFIG_DIR" / "labconfig" / "page_config.json"
    for_authors.parent.mkdir(parents=True)
    for_authors.write_text(json.dumps({"disabledExtensions": {"@jupyter/nbgrader": True}}))
    command = [sys.executable, "-m", "jupyterlab", "--allow-root", "--no-browser", f"--port={port}"]
    command += [
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.app_settings_dir={settings.parent}",
    ]
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data")}
    environment |= {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "user"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "spaces"),
    }
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5).close()
                break
            except OSError:
                time.sleep(0.5)
        else:
            sys.exit(f"JupyterLab did not start:\n{(folder / 'lab.log').read_text()}")
        yield address
    finally:
        server.terminate()
        server.wait(30)


def _photograph(address: str, folder: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("The picture is taken with Chromium: apt-get install --no-install-recommends chromium")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
    flags += [f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},{HEIGHT}"]
    flags += ["--force-device-scale-factor=1.5", "--virtual-time-budget=30000", f"--screenshot={folder / 'screen.png'}"]
    subprocess.run([browser, *flags, address], check=True, capture_output=True, timeout=180)


def _save(screen: Path) -> None:
    """Write it with few colours: text needs no more."""
    Image.open(screen).convert("RGB").quantize(48, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    if PICTURE.stat().st_size > MOST_BYTES:
        sys.exit(f"{PICTURE.name} has {PICTURE.stat().st_size:,} bytes, and {MOST_BYTES:,} is the most for README")


if __name__ == "__main__":
    main()
