"""Finds the files of an environment: what a worker can import, and what it must be able to read."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import sysconfig
from functools import cache
from pathlib import Path

from autograder.isolation.base import PackageMissing
from autograder.places import ROOT
from course.syllabus import Environment

GRADER, COURSE = ROOT / "autograder", ROOT / "course"
CPU_TORCH = "https://download.pytorch.org/whl/cpu"


def locations(environment: Environment) -> dict[str, str]:
    """Paths by module name: the packages of `environment` with their dependencies, and its modules of the course.

    Raises:
        PackageMissing: a package is not installed.
    """
    found = {"autograder.worker": str(GRADER / "worker")}
    for package in environment.packages:
        paths = installed(package)
        if not paths:
            raise PackageMissing(f"{package} is needed and not installed; {how_to_install(package)}")
        for path in paths:
            name = path.name.partition(".")[0]
            if path.suffix == ".py" or (path / "__init__.py").exists():
                found[name] = str(path)
    for module in environment.modules:
        found[module] = str(_course_file(module))
    return found


def readable(environment: Environment) -> list[str]:
    """The paths that a confined worker must be able to read: packages, modules and Python itself."""
    paths = [GRADER / "worker", *_python(), *_libraries()]
    for package in environment.packages:
        paths += installed(package)
    for module in environment.modules:
        file = _course_file(module)
        paths += [file, file.with_suffix("")]  # the module, and its folder of data if there is one
    return sorted({str(path) for path in paths if path.exists()})


def installed(package: str) -> tuple[Path, ...]:
    """The top-level entries in site-packages of the distribution `package` and its dependencies."""
    found = _installed(package)
    if not found:  # it may be installed before the next call
        _installed.cache_clear()
    return found


@cache
def _installed(package: str) -> tuple[Path, ...]:
    paths: dict[Path, None] = {}
    queue, seen = [package], {package.lower()}
    while queue:
        try:
            distribution = importlib.metadata.distribution(queue.pop())
        except importlib.metadata.PackageNotFoundError:
            continue  # required on other platforms only
        for top in dict.fromkeys(file.parts[0] for file in distribution.files or []):
            if top not in ("..", "__pycache__") and not top.endswith((".dist-info", ".pth")):
                paths[Path(str(distribution.locate_file(top))).resolve()] = None
        for requirement in distribution.requires or []:
            name = re.split(r"[ ;<>=!~\[(]", requirement, maxsplit=1)[0]
            if "extra ==" not in requirement and name.lower() not in seen:
                seen.add(name.lower())
                queue.append(name)
    return tuple(paths)


def how_to_install(package: str) -> str:
    """The command that installs a package. On Linux PyTorch comes from its own index: PyPI's build adds gigabytes.

    The package comes last because messages put a full stop after the command, which would look like part of a URL.
    """
    index = f"--index-url {CPU_TORCH} " if package == "torch" and sys.platform == "linux" else ""
    return f"pip install {index}{package}"


def _course_file(module: str) -> Path:
    """The file of a module of the course, or the folder of a package."""
    place = COURSE.joinpath(*module.split(".")[1:])
    return place if (place / "__init__.py").is_file() else place.with_suffix(".py")


def stage_python(folder: Path) -> None:
    """Make `folder` a PYTHONHOME of symbolic links to the entries of the standard library.

    The real folder may contain site-packages, so a submission must not read all of it; but Python cannot import from a
    folder that it may not list.
    """
    for real in _standard_folders():
        staged = folder / real.relative_to(_prefix())
        staged.mkdir(parents=True, exist_ok=True)
        for entry in _standard_library(real):
            link = staged / entry.name
            if not link.is_symlink():
                link.symlink_to(entry)


def interpreter() -> str:
    """The interpreter itself: started by a virtual environment's link, Python would find its site-packages."""
    return os.path.realpath(sys.executable)


def _prefix() -> Path:
    return Path(sys.base_prefix)


def _standard_folders() -> set[Path]:
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    return {Path(sysconfig.get_path(name, vars=base)) for name in ("stdlib", "platstdlib")}


def _standard_library(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.name not in ("site-packages", "dist-packages")]


def _python() -> list[Path]:
    """The interpreter, its shared library and its standard library."""
    entries = [entry for folder in _standard_folders() for entry in _standard_library(folder)]
    shared = _prefix() / "lib" / str(sysconfig.get_config_var("INSTSONAME") or "none")
    return [*entries, Path(interpreter()), shared]


def _libraries() -> list[Path]:
    """The system's shared libraries and the two devices that Python expects."""
    multiarch = str(sysconfig.get_config_var("MULTIARCH") or "")
    names = ("/lib64", f"/lib/{multiarch}", f"/usr/lib/{multiarch}", "/usr/lib64", "/etc/ld.so.cache")
    return [Path(name) for name in (*names, "/dev/null", "/dev/urandom")]
