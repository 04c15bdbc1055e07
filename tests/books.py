"""Answer books, written in a process of their own.

They are whole: the pages of the book need the same ones, and whichever of tests and build comes first writes one.
Writing one lets everything that was frozen be garbage again, and collects garbage. A process that has imported all
tests would scan a million objects each time, and would take twice as long.
"""

from __future__ import annotations

import os
import subprocess
import sys

from autograder.authoring.books_of_lessons import SLIP_SECONDS
from autograder.places import ROOT

FOR_RELEASES = """
import sys
from autograder.authoring.books_of_lessons import books_of
from autograder.authoring.tree import Course
books_of(Course.at(), sys.argv[1:], beside=False, say=lambda line: None)
"""


def write_books(*slugs: str) -> None:
    """Write the answer books that releases of these lessons will need, unless they are kept already."""
    environment = {name: value for name, value in os.environ.items() if name != SLIP_SECONDS}
    subprocess.run([sys.executable, "-c", FOR_RELEASES, *slugs], cwd=ROOT, env=environment, check=True)
