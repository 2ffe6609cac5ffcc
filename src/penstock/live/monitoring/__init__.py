"""The controller in a site's monitoring: rules and alerts for Prometheus, a dashboard for Grafana.

The files lie beside this one; `penstock monitoring DIR` writes them out. A test asks that every metric in them exists.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from penstock.errors import InvalidOption
from penstock.files import check_place, write_whole

FILES = {
    "penstock-records.yml": "recording rules: ratios, quantiles, node-hours lost in a week",
    "penstock-alerts.yml": "alerts, each with what it means and what to do",
    "penstock-grafana.json": "a dashboard to import into Grafana",
}


def content(name: str) -> str:
    """The text of one of the files."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def write(folder: Path) -> list[Path]:
    """Write all files to a folder, which is made; each is whole or not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidOption(f"{folder}: the folder cannot be made ({reason}); give another one") from None
    written = [folder / name for name in FILES]
    for path in written:
        check_place(path)
    for path in written:
        write_whole(path, content(path.name).encode())
    return written
