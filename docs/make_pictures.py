"""Draw every picture of the site with penstock's own plotting: `python docs/make_pictures.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import Result, compare, load
from penstock.report.plots import comparison_figure, run_figure, save_figure
from penstock.sharing import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = Path(__file__).parent / "pictures"
FOUR_JOBS = Path(__file__).parent.parent / "examples" / "four-jobs.yaml"
LARGEST_SVG = 150_000  # bytes; what is larger is kept as PNG


def main() -> None:
    """One picture per policy on the same four jobs, and the demo's comparison."""
    for result in compare(load(FOUR_JOBS), NAMES, timeline=True):
        _save(run_figure(result), result.sharing)
    _save(comparison_figure(_demo()), "comparison")


def _demo() -> Sequence[Result]:
    with as_file(files("penstock") / "data" / "demo.yaml") as scenario:
        return compare(load(scenario))


def _save(figure: Figure, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "draft.svg"
        save_figure(figure, draft)
        small = draft.stat().st_size <= LARGEST_SVG
        if small:
            (PICTURES / f"{name}.svg").write_bytes(draft.read_bytes())
    if not small:
        save_figure(figure, PICTURES / f"{name}.png")
    print(f"{name}.{'svg' if small else 'png'}")


if __name__ == "__main__":
    main()
