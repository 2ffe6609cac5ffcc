"""From an experiment of a paper to files: run what is missing of its campaigns, take the numbers, draw.

DIR/P1.fig5.svg, .png     the figure
DIR/P1.fig5.csv           its data, a number to a line
DIR/P1.fig5.json          the summary
DIR/P4.fig3-measured.svg  with data of the user's, here of measured.csv
DIR/runs/…                the campaigns; a second call, or one at a larger scale, runs only what is not there
"""

from __future__ import annotations

import csv
import io
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.campaign.document import Campaign
from penstock.campaign.executor import Executor
from penstock.campaign.results import Results, read_results
from penstock.campaign.runner import Progress, run_campaign
from penstock.errors import InvalidOption
from penstock.files import write_whole
from penstock.report.parts.json_text import as_json
from penstock.report.plots import need_matplotlib, save_figure
from penstock.reproduce.catalogue import find
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary, check_scale

FOLDER = Path("reproduction")
INTERVAL = "interval"  # the key of a summary that has half widths in the shape of the rest


@dataclass(frozen=True)
class Reproduction:
    """What came of an experiment, and the files with it."""

    experiment: Experiment
    seconds: float
    summary: Summary
    folder: Path
    name: str  # of the files, without their endings
    failed: int = 0  # runs that came to nothing

    @property
    def files(self) -> tuple[Path, ...]:
        """What was written."""
        return tuple(self.folder / f"{self.name}.{kind}" for kind in ("svg", "png", "csv", "json"))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"experiment": self.experiment.id, "seconds": self.seconds, "summary": self.summary}


def reproduce(
    experiment: str | Experiment,
    *,
    scale: float = 1.0,
    on: Executor | str = "local",
    workers: int | None = None,
    output: str | Path | None = None,
    profiles: str | Path | None = None,
    table: str | Path | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Run an experiment of a paper and write its figure, its data and its summary into the folder `output`.

    `scale` 1 is the paper's number of instances; 0.1 is a tenth of them, but at least two. `progress` is told how far
    each campaign is.
    """
    begun = time.monotonic()
    need_matplotlib()
    check_scale(scale)
    found = find(experiment) if isinstance(experiment, str) else experiment
    folder = FOLDER if output is None else Path(output)
    settings = ExperimentSettings(scale, _existing(profiles), _existing(table))
    results = list(_run(found, settings, folder, on, workers, progress))
    summary = found.summarise(results) | (found.without_runs(settings) if found.without_runs else {})
    failed = sum(int(each.failed.sum()) for each in results)
    made = Reproduction(found, time.monotonic() - begun, summary, folder, found.name(settings), failed)
    _write(made)
    return made


def _existing(file: str | Path | None) -> Path | None:
    """The full path, as workers may be elsewhere."""
    if file is None:
        return None
    if not Path(file).is_file():
        raise InvalidOption(f"{file}: no such file")
    return Path(file).resolve()


def _run(
    experiment: Experiment,
    settings: ExperimentSettings,
    folder: Path,
    on: Executor | str,
    workers: int | None,
    progress: Progress | None,
) -> Iterator[Results]:
    for campaign in experiment.campaigns(settings):
        if experiment.given(settings) is not None:
            _check_data(campaign)
        place = folder / "runs" / campaign.name
        run_campaign(campaign, place, on=on, workers=workers, progress=progress)
        yield read_results(place)


def _check_data(campaign: Campaign) -> None:
    """Refuse data from which no scenario can be made before every run fails for it."""
    first = campaign.workloads[0]
    first.sources[0].make(first.seeds[0])


def _write(made: Reproduction) -> None:
    svg, png, data, text = made.files
    figure = made.experiment.draw(made.summary)
    save_figure(figure, svg)
    save_figure(figure, png)
    write_whole(data, csv_of(made.summary, made.experiment.levels).encode())
    write_whole(text, f"{as_json(made)}\n".encode())


def csv_of(summary: Summary, levels: tuple[str, ...] = ()) -> str:
    """A line for every number: the quantity, the keys that lead to it, the value, half the width of its interval.

    >>> print(csv_of({"min_yield": {"fcfs": {"0.5": 0.8}}, "instances": 9}, ("policy", "pressure")))
    quantity,policy,pressure,value,interval
    min_yield,fcfs,0.5,0.8,
    instances,,,9,
    <BLANKLINE>
    """
    widths = dict(_leaves(summary.get(INTERVAL, {})))
    rows = [(path, value) for path, value in _leaves({k: v for k, v in summary.items() if k != INTERVAL})]
    depth = max((len(path) for path, _ in rows), default=1) - 1
    names = [*levels[:depth], *(f"key {number}" for number in range(len(levels) + 1, depth + 1))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["quantity", *names, "value", "interval"])
    for path, value in rows:
        writer.writerow([*path, *[""] * (depth + 1 - len(path)), _cell(value), _cell(widths.get(path))])
    return text.getvalue()


def _leaves(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every number or text of a summary with the keys that lead to it; places in lists count from 1."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(tree, list | tuple):
        for place, value in enumerate(tree, start=1):
            yield from _leaves(value, (*path, str(place)))
    else:
        yield path, tree


def _cell(value: Any) -> Any:
    return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value
