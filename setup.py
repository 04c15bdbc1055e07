"""Wheels take notebooks and chapters along, within the grader: nothing imports from there. So they do with solutions.

What is built from a checkout has the answers, for instructors. Its version says so, and PyPI takes none that has a `+`:
what everybody may have is built from a release, which `backprop release` writes.
"""

import runpy
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

VERSION = runpy.run_path("course/version.py")["RELEASE"]


class BuildWithLessons(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for folder, kind in (("solutions", "*.py"), ("exercises", "*.ipynb"), ("book", "ch*.md")):
                packed = Path(self.build_lib, "autograder", "packed", folder)
                packed.mkdir(parents=True, exist_ok=True)
                for file in Path(folder).glob(kind):
                    shutil.copy(file, packed)


setup(version=f"{VERSION}+answers" if Path("solutions").is_dir() else VERSION, cmdclass={"build_py": BuildWithLessons})
