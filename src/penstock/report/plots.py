"""Figures of runs and comparisons, and how they are saved.

matplotlib is loaded when the first figure is drawn, not before: most commands draw nothing. Figures are made without
pyplot, so nothing opens a window and nothing is kept alive behind the caller's back.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import InvalidOption
from penstock.files import write_whole
from penstock.report.comparison.summary import need_runs
from penstock.report.parts.theme import theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.campaign.recommendation import Recommendation
    from penstock.metrics.result import Result

# What would make two files of the same figure differ, or name a web address, is left out of them.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def run_figure(result: Result) -> Figure:
    """Bandwidth over time, stacked by application, above rows of what every application does."""
    need_matplotlib()
    if not hasattr(result, "timeline"):
        raise InvalidOption(f"a run is drawn of what simulate gives, not of a {type(result).__name__}")
    if result.timeline is None:
        raise InvalidOption(f"the run of {result.sharing} has no timeline to draw; record one when simulating.")
    with theme():
        if result.passage is not None:
            from penstock.report.machine.picture import draw_machine  # noqa: PLC0415 - likewise
            from penstock.report.machine.stages import machine_words  # noqa: PLC0415 - likewise

            return draw_machine(result.passage, f"{result.sharing}: {machine_words(result.passage, result.min_yield)}")
        from penstock.report.comparison.timeline_plot import draw_run  # noqa: PLC0415 - loads matplotlib

        return draw_run(result, result.timeline)


def comparison_figure(results: Sequence[Result], recommendation: Recommendation | None = None) -> Figure:
    """The spread of yields under each policy, min yield against node-hours lost, and a recommendation."""
    need_matplotlib()
    need_runs(results)
    with theme():
        from penstock.report.comparison.plot import draw_comparison  # noqa: PLC0415 - loads matplotlib

        return draw_comparison(results, recommendation)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Save as PNG, SVG or PDF, as the suffix says; the same figure gives the same bytes."""
    write_whole(path, figure_bytes(figure, figure_kind(path)))


def need_matplotlib() -> None:
    """Refuse to draw without the library for it, before any work is done."""
    if find_spec("matplotlib") is None:
        raise InvalidOption("plots and reports need matplotlib; install penstock[plot]")


def figure_kind(path: str | Path) -> str:
    """The kind of file that a path's suffix asks for."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        found = f"ends in .{kind}" if kind else "has no suffix"
        raise InvalidOption(f"{path} {found}; a plot is saved as .png, .svg or .pdf")
    return kind


def figure_bytes(figure: Figure, kind: str, *, text_as_text: bool = False) -> bytes:
    """The figure as a file of that kind; letters of an SVG are outlines unless they shall stay text."""
    import matplotlib as mpl  # noqa: PLC0415 - slow to load

    buffer = io.BytesIO()
    with theme(), mpl.rc_context({"svg.hashsalt": "penstock", "svg.fonttype": "none" if text_as_text else "path"}):
        figure.savefig(buffer, format=kind, dpi=150, metadata=_METADATA[kind], transparent=text_as_text or None)
    return buffer.getvalue()
