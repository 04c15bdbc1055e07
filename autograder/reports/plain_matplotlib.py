"""Imports Matplotlib without the configuration of the working directory.

The import reads the `matplotlibrc` of the working directory before any other, and reports are also made in folders that
students handed in. Such a file could have LaTeX run with their preamble, or be a pipe that is never written.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

with chdir(Path(__file__).parent):
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

__all__ = ["Figure", "MaxNLocator", "mpl"]
