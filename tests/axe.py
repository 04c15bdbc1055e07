"""axe-core in a page of a test's browser."""

from __future__ import annotations

import json
from typing import Any

from widget_pages import SOURCE, Browser

PROGRAM = SOURCE / "node_modules" / "axe-core" / "axe.min.js"
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules whose findings the theme may change; all others look at the elements alone."""


def violations(browser: Browser, within: Any, theme: str, read: str, preload: bool = False) -> Any:
    """What the JavaScript function `read` makes of axe's violations `within` a part of the page.

    In the dark theme only `COLOURS` are looked at: a test looks at the same page in the light one as well. `preload`
    fetches the page's style sheets again, for one rule: whether a style locks the orientation of the screen.
    """
    if not browser.js("'axe' in window"):
        browser.js(PROGRAM.read_text(encoding="utf-8") + "; true")
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": preload}
    if theme == "dark":
        options["runOnly"] = {"type": "rule", "values": COLOURS}
    asked = f"axe.run({within if within == 'document' else json.dumps(within)}, {json.dumps(options)})"
    return browser.js(f"{asked}.then(({{ violations }}) => ({read})(violations))")
