"""axe's findings in a page with exercises and live cells, at each width and in both themes."""

from __future__ import annotations

from typing import Any

from axe import violations
from live_pages import Reader

OURS = (
    ".exercise, .exercise-rules, .live-tools, .live-out, .live-elsewhere, .page-editor, .page-progress, .page-nav, "
    "#page-notebook, .page-end, .go-on, #exercises table, .due-today, .rule"
)
READ = """(violations) => violations.flatMap(({ id, impact, nodes }) =>
  nodes.map(({ target, failureSummary }) => {
    const node = document.querySelector(target.at(-1));
    const said = id === 'summary-name' && node?.querySelector('math') && node.textContent.trim(); // axe reads no MathML
    const ours = Boolean(node?.closest('OURS'));
    return { id, impact: said ? 'minor' : impact, at: target.join(' '), ours, why: failureSummary };
  }))""".replace("OURS", OURS)


def findings(reader: Reader, within: str = "document", theme: str = "light", preload: bool = False) -> list[str]:
    """axe's findings: in our own cells all but "minor" ones, elsewhere serious ones."""
    found: list[dict[str, Any]] = violations(reader, within, theme, READ, preload)
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    own = [one for one in found if one["ours"] and one["impact"] != "minor" and one not in serious]
    return [f"{one['id']} ({one['impact']}) at {one['at']}: {one['why']}" for one in serious + own]


def look(reader: Reader, width: int, theme: str) -> list[str]:
    reader.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    # colours change slowly, and axe is not to see them halfway
    reader.js(f"document.documentElement.dataset.theme = '{theme}'; new Promise((done) => setTimeout(done, 1000))")
    return findings(reader, theme=theme, preload=(width, theme) == LOOKS[0])


LOOKS = [(width, theme) for width in (1440, 390) for theme in ("light", "dark")]
