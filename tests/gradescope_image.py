"""Imitates Gradescope's machine: a root with the system's /usr, in which the zip's own scripts run as root.

It contains nothing of this checkout or its environment except the zip. `pip` installs from a folder of wheels, which
are packed from the installed packages that the zip's requirements name.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from packaging.requirements import Requirement
from packaging.tags import sys_tags
from packaging.utils import canonicalize_name
from wheel.wheelfile import WheelFile

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads(Path(__file__).with_name("gradescope_results.schema.json").read_text())
OLD = ("/usr/bin/python3", "/old_kernel.py", "0")
"""Command prefix that imitates a kernel without Landlock."""
METADATA = {
    "created_at": "2027-03-01T14:22:32.365935-07:00",
    "users": [{"email": "ada@x.edu", "id": 1, "name": "Ada"}, {"email": "bob@x.edu", "id": 2, "name": "Bob"}],
    "previous_submissions": [{"score": 0.0}],
}
PYTHONS = tuple(Path(f"/usr/bin/python3.{minor}") for minor in (13, 12, 11))
"""The system's executables that `setup.sh` looks for."""
NEEDS_IMAGE = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare") or not any(python.exists() for python in PYTHONS),
    reason="Gradescope's scripts run as root, and the root of their own needs unshare and a Python in /usr",
)
ENTER = """
set -e
cd "$1"
mount --bind . .
cd "$1"
mount --bind /usr usr
mount -o remount,bind,ro usr
for device in null zero full random urandom; do mount --bind /dev/$device dev/$device; done
mount -t proc proc proc
pivot_root . old
umount -l /old
cd /autograder
shift
exec "$@"
"""
"""Command prefix for a mount namespace that ends with the command."""
PIP = "[global]\nno-index = true\nfind-links = /wheels\ndisable-pip-version-check = true\n"
PASSWD = "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n"


class Image:
    """Gradescope's image, with its root in `folder` and its /autograder at `place`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.place = folder / "autograder"
        self._holds: Path | None = None
        for name in ("usr", "proc", "old", "opt", "root", "var/tmp", "dev/shm", "tmp", "etc", "autograder"):
            (folder / name).mkdir(parents=True)
        for name in ("tmp", "var/tmp", "dev/shm"):
            (folder / name).chmod(0o1777)
        for name in ("null", "zero", "full", "random", "urandom"):
            (folder / "dev" / name).touch()
        for name in ("bin", "sbin", "lib", "lib64"):
            (folder / name).symlink_to(f"usr/{name}")
        shutil.copy("/etc/ld.so.cache", folder / "etc")
        (folder / "etc" / "passwd").write_text(PASSWD)
        (folder / "etc" / "pip.conf").write_text(PIP)
        shutil.copy(Path(__file__).with_name("old_kernel.py"), folder)

    def holding(self, archive: Path) -> Image:
        """The image after uploading this zip; a second zip reuses what the first one's `setup.sh` installed."""
        if self._holds != archive:
            shutil.rmtree(self.place)
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(self.place / "source")
                modes = {entry.filename: entry.external_attr >> 16 for entry in zipped.infolist()}
            assert modes["setup.sh"] & modes["run_autograder"] & stat.S_IXUSR
            assert modes["salt"] & 0o077 == 0
            shutil.copy(self.place / "source" / "run_autograder", self.place)
            pack_wheels((self.place / "source" / "requirements.txt").read_text().splitlines(), self.root / "wheels")
            done = self("bash", "/autograder/source/setup.sh")
            assert done.returncode == 0, done.stdout + done.stderr
            self._holds = archive
        return self

    def __call__(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command as root in this root, with no environment but `variables`."""
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        new = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", ENTER, "enter", str(self.root)]
        return subprocess.run(
            [*new, *command], env={**environment, **variables}, capture_output=True, text=True, check=False
        )

    def grade(
        self, files: dict[str, str], *, seconds: int = 300, through: tuple[str, ...] = (), metadata: Any = None
    ) -> dict[str, Any]:
        """The results that Gradescope reads after a submission of these files."""
        for name in ("submission", "results"):
            shutil.rmtree(self.place / name, ignore_errors=True)
            (self.place / name).mkdir()
        for name, text in files.items():
            file = self.place / "submission" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (self.place / "submission_metadata.json").write_text(json.dumps(METADATA if metadata is None else metadata))
        done = self(*through, "bash", "/autograder/run_autograder", BACKPROP_SECONDS=str(seconds))
        print(done.stdout[-2000:], done.stderr[-2000:])
        assert done.returncode == 0, done.stderr
        results: dict[str, Any] = json.loads((self.place / "results" / "results.json").read_text())
        jsonschema.validate(results, SCHEMA)
        assert not list(self.place.glob("backprop-*"))
        return results


def pack_wheels(requirements: list[str], folder: Path) -> None:
    """Pack wheels of the requirements and their dependencies from the installed packages."""
    waiting, packed = [(Requirement(line), "") for line in requirements], set[tuple[str, str]]()
    while waiting:
        wanted, extra = waiting.pop()
        name = canonicalize_name(wanted.name)
        if wanted.marker and not wanted.marker.evaluate({"extra": extra}):
            continue
        distribution = importlib.metadata.distribution(name)
        for extra in ("", *wanted.extras):
            if (name, extra) not in packed:
                packed.add((name, extra))
                waiting += [(Requirement(line), extra) for line in distribution.requires or []]
        assert "+" not in distribution.version or name == "torch", f"{name} is of a checkout, and no download"
        _pack(distribution, folder)


def _pack(distribution: importlib.metadata.Distribution, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    tags = re.findall(r"^Tag: (\S+)", distribution.read_text("WHEEL") or "", re.MULTILINE)
    tag = next(tag for tag in tags if any(str(known) == tag for known in sys_tags()))
    about = next(file.parent.name for file in distribution.files or [] if file.name == "METADATA")
    wheel = folder / f"{about.removesuffix('.dist-info')}-{tag}.whl"
    if wheel.exists():
        return
    with WheelFile(wheel, "w", compression=zipfile.ZIP_STORED) as packed:
        for file in distribution.files or []:
            ours = ".." in file.parts or "__pycache__" in file.parts  # without scripts, which pip creates itself
            if not ours and file.name not in ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json"):
                packed.write(str(file.locate()), file.as_posix())
