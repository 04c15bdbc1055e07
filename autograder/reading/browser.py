"""A page of the book in the browser, at the right place."""

from __future__ import annotations

import html
import os
import socket
import sys
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

LEAD_IN = "opened-by-backprop.html"


def shows_files() -> bool:
    """Whether a browser on this machine can be expected to show a file of its disk: not over SSH or in a container."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def shows_addresses() -> bool:
    """Whether opening a browser is likely to work: $BROWSER may name a program that opens one on another machine."""
    return bool(os.environ.get("BROWSER")) or shows_files()


def reachable(address: str, seconds: float = 2.0) -> bool:
    """Whether the host of `address` answers. The network is asked, not the page."""
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), seconds).close()
    except (OSError, ValueError):
        return False
    return True


def open_page(page: Path, anchor: str) -> bool:
    """Show a built page at `anchor`. Returns whether a browser was found.

    What opens files for a desktop drops the anchor of an address, so that the browser is given a page that leads there.
    """
    target = page.resolve().as_uri() + (f"#{anchor}" if anchor else "")
    lead_in = page.with_name(LEAD_IN)
    try:
        lead_in.write_text(f'<meta http-equiv="refresh" content="0; url={html.escape(target)}">\n', encoding="utf-8")
    except OSError:  # somebody else's folder
        return webbrowser.open(target)
    return webbrowser.open(lead_in.resolve().as_uri())
