"""What a cell prints stays in one piece.

The kernel sends it in pieces, cut wherever a timer fires. MyST-NB (`nb_merge_streams`) joins them with a line break
each, so that pages would differ from build to build; nbclient joins them as they are.
"""

from __future__ import annotations

from typing import Any

import nbclient.client
from sphinx.application import Sphinx
from traitlets import Bool


class Client(nbclient.client.NotebookClient):
    """The client that runs the cells, with pieces joined by default."""

    coalesce_streams = Bool(True)


def setup(app: Sphinx) -> dict[str, Any]:
    nbclient.client.NotebookClient = Client  # type: ignore[misc]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
