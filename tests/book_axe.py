"""axe's findings in every page of the built book: `make accessibility`, or `python tests/book_axe.py FOLDER PAGE ...`.

Each page is looked at as it comes, wide and on a phone, in both themes. The dark theme is held to the rules of colours
alone, because no other rule can find more there. Pages without a finding are noted in `book/accessibility.json`, which
the page "Accessibility" reads. Ends with 1 if there is a finding.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from axe import PROGRAM, violations
from browser import served
from page_axe import LOOKS
from widget_pages import SOURCE, Browser

SHOWN = 20
"""Findings of a page that are printed."""
RECORD = SOURCE / "accessibility.json"
EVERY = """(violations) => violations.flatMap(({ id, impact, nodes }) => {
  const formula = ({ target }) => document.querySelector(target.at(-1))?.querySelector('math')?.textContent.trim();
  const found = nodes.filter((one) => id !== 'empty-table-header' || !formula(one));
  return found.map(({ target, failureSummary }) => [id, impact, target.join(' '), failureSummary]);
})"""
"""All violations, but for a table's header that is a formula alone: axe reads no MathML, browsers do."""
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 600))))"
"""When the page's scripts have seen that its width is another: the theme waits 300 ms to make parts focusable."""
STILL = "*, ::before, ::after { transition: none !important; animation: none !important; }"
"""Colours change slowly, and axe is not to see them halfway."""


def findings(browser: Browser, site: str, page: str, looks: Iterable[tuple[int, str]] = LOOKS) -> Iterator[str]:
    """axe's findings in a page: what and where, a line each."""
    browser.open(f"{site}/{page}", 1440)
    browser.js(
        f"document.head.append(Object.assign(document.createElement('style'), {{textContent: {STILL!r}}})); true"
    )
    for width, theme in looks:
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        browser.js(f"document.documentElement.dataset.theme = '{theme}'; {SETTLED}")
        found: list[Any] = violations(browser, "document", theme, EVERY, preload=(width, theme) == LOOKS[0])
        for rule, impact, at, why in found:
            yield f"{page} at {width}, {theme}: {rule} ({impact}) at {at}: {' '.join(why.split())}"


def pages_of(folder: Path) -> list[str]:
    """The names of a built book's pages."""
    return sorted(page.name for page in folder.glob("*.html"))


def record_of(axe: str, rules: int, browser: str) -> dict[str, Any]:
    """The record so far; an empty one if it is of another axe or other looks."""
    looks = [list(look) for look in LOOKS]
    try:
        former = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        former = {}
    pages = former.get("pages", []) if (former.get("axe"), former.get("looks")) == (axe, looks) else []
    return {"axe": axe, "rules": rules, "browser": browser, "on": "", "looks": looks, "pages": pages}


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE / "_build" / "html"
    everything, faults = pages_of(folder), 0
    axe = json.loads((PROGRAM.parent / "package.json").read_text(encoding="utf-8"))["version"]
    with (
        TemporaryDirectory(ignore_cleanup_errors=True) as profile,  # Chromium may still write there
        closing(Browser(Path(profile))) as browser,
        served(folder) as site,
    ):
        rules = browser.js(f"{PROGRAM.read_text(encoding='utf-8')}; axe.getRules().length")
        record = record_of(axe, rules, browser.call("Browser.getVersion")["product"])
        for page in [f"{name}.html" for name in sys.argv[2:]] or everything:
            browser.watch()
            found = list(findings(browser, site, page))
            print(f"{page}: {len(found)}", *found[:SHOWN], sep="\n  ", flush=True)
            faults += len(found)
            name = page.removesuffix(".html")
            clean = {*record["pages"]} - {name} | (set() if found else {name})
            record["pages"] = sorted(one for one in clean if f"{one}.html" in everything)
            record["on"] = f"{datetime.now(UTC):%Y-%m-%d}"
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if faults or not everything else 0


if __name__ == "__main__":
    sys.exit(main())
