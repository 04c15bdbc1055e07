"""Joins the pieces of a cell's printed output.

The kernel sends output in pieces, cut whenever a timer fires. MyST-NB (`nb_merge_streams`) would join them with line
breaks, so that pages would differ between builds; nbclient joins them without.
"""

from __future__ import annotations

from typing import Any

import nbclient.client
from sphinx.application import Sphinx
from traitlets import Bool


class Client(nbclient.client.NotebookClient):
    """The client that runs cells, with `coalesce_streams` on by default."""

    coalesce_streams = Bool(True)


def setup(app: Sphinx) -> dict[str, Any]:
    nbclient.client.NotebookClient = Client  # type: ignore[misc]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
