"""One look for all plots: colours that colour-blind readers can tell apart, and neutrals for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

# Text and lines. The page swaps this exact value for its own text colour, so nothing else may use it.
INK = "#1f2329"
# Greys are translucent so that they sit on white and on black alike.
FAINT = (0.5, 0.5, 0.5, 0.3)
COMPUTE = (0.5, 0.5, 0.5, 0.2)
WAITING = "#cc3311"
WAITING_PALE = "#f3c6bb"  # under hatching; opaque, since SVG would fade the hatching too
OTHERS = "#8a8f98"
# After Paul Tol's qualitative schemes, without the reds that mean waiting, ordered so that neighbours contrast.
COLOURS = (
    "#4477aa",
    "#ddaa33",
    "#117733",
    "#88ccee",
    "#aa4499",
    "#44aa99",
    "#6655bb",
    "#999933",
    "#332288",
    "#775533",
    "#225566",
    "#aabb22",
)
GROUPS = 8  # applications with a colour of their own; the rest share one
GROUP_COLOURS = (*COLOURS[:GROUPS], OTHERS)

MARKERS = "osD^vP*X"

_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}


@contextmanager
def theme() -> Iterator[None]:
    """Draw in the look of penstock, whatever the user's own matplotlib settings say."""
    from matplotlib import style  # noqa: PLC0415 - drawing is rare and matplotlib slow to import

    with style.context(["default", _STYLE]):
        yield


def look(number: int) -> tuple[str, str]:
    """The colour and the marker of a line; colours repeat after a dozen, both together not before a hundred."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number // len(COLOURS) + number) % len(MARKERS)]


def label(name: str, longest: int = 26) -> str:
    """A user's name as plain text: shortened in the middle, and its dollars kept from starting a formula."""
    if len(name) > longest:
        tail = longest // 2 - 1
        name = f"{name[: longest - tail - 1]}…{name[-tail:]}"
    return name.replace("\n", " ").replace("$", r"\$")
