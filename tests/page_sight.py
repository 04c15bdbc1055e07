"""What a reader meets on a page of the built book, and what Chromium fetches for it before the first click."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from widget_pages import Browser

SEEN = """(() => {
  const article = document.querySelector("article") ?? document.body; // an index has none
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


@cache
def compressed(file: Path) -> int:
    """Bytes of a file as a server sends it: as it is, or as gzip makes it where that is less."""
    data = file.read_bytes()
    return min(len(data), len(gzip.compress(data, 9)))


def sizes(folder: Path, addresses: list[str]) -> dict[str, int]:
    """Bytes of each file that was asked for, compressed."""
    files = {folder / unquote(urlsplit(address).path).lstrip("/") for address in addresses}
    return {file.relative_to(folder).as_posix(): compressed(file) for file in sorted(files) if file.is_file()}


def asked_for(browser: Browser) -> list[str]:
    """The addresses that the page has asked for so far."""
    browser.js("new Promise((done) => setTimeout(done, 300))")
    sent = [event["params"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]
    urls = [one["request"]["url"] for one in sent]
    return [url for url in urls if url.startswith("http")]


def look(browser: Browser, address: str, folder: Path) -> tuple[dict[str, Any], float]:
    """What a reader who comes here first sees of a page, and the kilobytes that it asks for."""
    browser.call("Network.setCacheDisabled", cacheDisabled=True)
    try:
        browser.open(address, width=1440, first=True)
        return browser.js(SEEN), sum(sizes(folder, asked_for(browser)).values()) / 1000
    finally:
        browser.call("Network.setCacheDisabled", cacheDisabled=False)
