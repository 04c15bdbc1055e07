"""The figure helpers draw what they promise, and the palette's colors can be told apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="figures need the extra `book`")
matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.patches import FancyArrowPatch  # noqa: E402

from course import figures  # noqa: E402

# Linear RGB as seen without one type of cone: Machado, Oliveira and Fernandes (2009), severity 1.
VISION = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
PALETTE = {name: getattr(figures, name) for name in ("FORWARD", "BACKWARD", "RIGHT", "WRONG", "NEUTRAL")}


def lab(color: str, vision: str) -> np.ndarray:
    """CIE L*a*b* (D65) of `color` as seen by someone with `vision`."""
    srgb = np.array(to_rgb(color))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(VISION[vision]) @ linear, 0, 1)
    to_xyz = [[0.412456, 0.357576, 0.180437], [0.212673, 0.715152, 0.072175], [0.019334, 0.119192, 0.950304]]
    x, y, z = np.cbrt(np.array(to_xyz) @ seen / [0.95047, 1.0, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
def test_the_palette_can_be_told_apart(vision: str) -> None:
    distances = {
        (one, two): np.linalg.norm(lab(PALETTE[one], vision) - lab(PALETTE[two], vision))
        for one, two in combinations(PALETTE, 2)
    }
    assert {pair: round(float(distance)) for pair, distance in distances.items() if distance < 20} == {}


def test_a_graph_has_an_arrow_each_way() -> None:
    figures.style()
    _, ax = plt.subplots()
    nodes = {"x": (0.0, 0.0), "y": (1.5, 0.0), "L": (3.0, 0.0)}
    figures.graph(ax, nodes, [("x", "y"), ("y", "L", "dL/dy", "y")])
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    assert [arrow.get_linestyle() == "-" for arrow in arrows] == [True, False, True, False]
    assert {"x", "y", "L", "dL/dy"} <= {text.get_text() for text in ax.texts}
    plt.close("all")


def test_the_style_starts_no_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting the figures' format would start one, with a thread and a history file that stay."""
    monkeypatch.setattr(InteractiveShell, "_instance", None)  # another test may have started one
    figures.style()
    assert not InteractiveShell.initialized()


def test_a_graph_without_a_node_it_names_is_an_error() -> None:
    _, ax = plt.subplots()
    with pytest.raises(KeyError, match="z"):
        figures.graph(ax, {"x": (0.0, 0.0)}, [("x", "z")])
    plt.close("all")


@pytest.mark.parametrize(("values", "numbers"), [(np.eye(2), 4), (np.arange(3), 3), (np.zeros((2, 2)), 4)])
def test_a_matrix_shows_its_numbers(values: np.ndarray, numbers: int) -> None:
    _, ax = plt.subplots()
    figures.matrix(ax, values, fmt=".1f")
    assert [text.get_text() for text in ax.texts] == [f"{value:.1f}" for value in values.ravel()]
    assert len(ax.texts) == numbers
    plt.close("all")


def test_more_than_two_axes_are_an_error() -> None:
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="one or two axes, not 3"):
        figures.matrix(ax, np.zeros((2, 2, 2)))
    plt.close("all")
