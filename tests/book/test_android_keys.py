"""Keys of a keyboard at an Android device, in the editor of the built book."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live_pages import Reader, Server

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
AGENT = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Mobile Safari/537.36"
)
TEXT = "def f(g, x):\n    y = 1\n    z = 2"
PRESS = """
(() => {
  const to = document.querySelector(%r);
  for (const [key, keyCode, shiftKey] of %s)
    to.dispatchEvent(
      new KeyboardEvent("keydown", { key, code: key, keyCode, shiftKey, bubbles: true, cancelable: true }),
    );
  return new Promise((done) => setTimeout(done, 300));
})()
"""
"""Press keys within one frame, as a busy machine sees them."""
ENTER, BACKSPACE, HOME = ["Enter", 13, False], ["Backspace", 8, False], ["Home", 36, True]


@pytest.fixture(scope="module")
def phone(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    reader = Reader(tmp_path_factory.mktemp("phone"), server)
    try:
        reader.call("Emulation.setUserAgentOverride", userAgent=AGENT, platform="Android")
        reader.call("Emulation.setTouchEmulationEnabled", enabled=True)
        reader.visit(PAGE, 390)
        reader.without_a_spare()
        yield reader
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("keys", "typed"),
    [
        ([ENTER, HOME], f"{TEXT}\n    "),
        ([ENTER, ENTER], f"{TEXT}\n\n    "),
        ([BACKSPACE, BACKSPACE], TEXT[:-2]),
    ],
    ids=["enter and shift+home", "enter twice", "backspace twice"],
)
def test_keys_that_follow_each_other_at_once_act_in_their_order(
    phone: Reader, keys: list[list[object]], typed: str
) -> None:
    """Enter acted after Shift+Home, and so swallowed the line that was selected by then; a second one was lost."""
    part = phone.exercise("relu_vjp", ".exercise-part")
    phone.fill(part, TEXT)
    phone.js("new Promise((done) => setTimeout(done, 200))")
    phone.js(PRESS % (f"{part} .cm-content", str(keys).replace("False", "false").replace("True", "true")))
    assert phone.js("localStorage.getItem('backprop:draft:ch06-relu_vjp')") == typed
