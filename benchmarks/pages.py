"""What a reader of the built book meets, and when: `python benchmarks/pages.py [FOLDER]` prints a row for each page.

Pixels are those of a window 1440 wide: where the first picture or experiment stands, where the first question does, how
long the page is. Words are those of the article. Bytes are what Chromium asks for before the first click, each file
as `gzip -9` makes it where that is smaller.
"""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import served  # noqa: E402
from page_sight import look  # noqa: E402
from widget_pages import Browser  # noqa: E402


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "book" / "_build" / "html"
    print(f"{'page':28}{'first picture':>14}{'first question':>15}{'words':>8}{'height':>8}{'KB gzipped':>12}")
    with TemporaryDirectory() as profile, closing(Browser(Path(profile))) as browser, served(folder) as site:
        for page in sorted(folder.glob("*.html")):
            if page.name in ("genindex.html", "search.html"):
                continue
            seen, kilobytes = look(browser, f"{site}/{page.name}", folder)
            columns = (("picture", 14), ("question", 15), ("words", 8), ("height", 8))
            row = "".join(f"{seen[key] or '–':>{width}}" for key, width in columns)
            print(f"{page.stem:28}{row}{kilobytes:12.0f}", flush=True)


if __name__ == "__main__":
    main()
