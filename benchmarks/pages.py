"""What a reader of the built book meets, and when: `python benchmarks/pages.py [FOLDER]` prints a row for each page.

Pixels are those of a window 1440 wide: where the first picture or experiment stands, where the first question does, how
long the page is. Words are those of the article. Bytes are what Chromium asks for before the first click, each file
as `gzip -9` makes it where that is smaller.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser import served  # noqa: E402
from widget_pages import Browser  # noqa: E402

SEEN = """(() => {
  const article = document.querySelector("article");
  const top = (selector) => {
    const boxes = [...article.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
    const tops = boxes.filter((box) => box.height);
    return tops.length ? Math.round(Math.min(...tops.map((box) => box.top + scrollY))) : null;
  };
  return {
    picture: top("figure, .cell_output img, .widget"),
    question: top(".quiz, .predict, .bet"),
    words: article.innerText.split(/\\s+/).length,
    height: document.querySelector("main, article").scrollHeight,
  };
})()"""


def sizes(folder: Path, addresses: list[str]) -> dict[str, int]:
    """Bytes of each file that was asked for, compressed."""
    found = {}
    for address in addresses:
        file = folder / unquote(urlsplit(address).path).lstrip("/")
        if file.is_file():
            data = file.read_bytes()
            found[file.relative_to(folder).as_posix()] = min(len(data), len(gzip.compress(data, 9)))
    return found


def asked_for(browser: Browser) -> list[str]:
    """The addresses that the page has asked for so far."""
    browser.js("new Promise((done) => setTimeout(done, 300))")
    sent = [event["params"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    urls = [one["request"]["url"] for one in sent]
    return [url for url in urls if url.startswith("http")]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "book" / "_build" / "html"
    print(f"{'page':28}{'first picture':>14}{'first question':>15}{'words':>8}{'height':>8}{'KB gzipped':>12}")
    with served(folder) as site:
        for page in sorted(folder.glob("*.html")):
            if page.name in ("genindex.html", "search.html"):
                continue
            seen, kilobytes = look(f"{site}/{page.name}", folder)
            columns = (("picture", 14), ("question", 15), ("words", 8), ("height", 8))
            row = "".join(f"{seen[key] or '–':>{width}}" for key, width in columns)
            print(f"{page.stem:28}{row}{kilobytes:12.0f}", flush=True)


def look(address: str, folder: Path) -> tuple[dict[str, Any], float]:
    """What a fresh browser sees of a page, and the kilobytes that it asks for."""
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        browser.open(address, width=1440)
        seen = browser.js(SEEN)
        kilobytes = sum(sizes(folder, asked_for(browser)).values()) / 1000
        browser.close()
    return seen, kilobytes


if __name__ == "__main__":
    main()
