"""Writing a scenario so that loading it gives the same scenario.

YAML keeps traces in a Parquet file of the same name beside it; JSON holds everything itself. New files are complete
before they take the place of old ones, so a failure leaves what was there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from penstock.errors import InvalidScenario
from penstock.files import resting_place
from penstock.model.load import ScenarioLike, as_scenario, parquet, text_format
from penstock.model.plain import plain
from penstock.model.trace import Trace


def save(scenario: ScenarioLike, path: str | os.PathLike[str]) -> None:
    """Write a scenario as YAML or JSON, by the ending of the name."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidScenario(f"a scenario is saved to a path, not to a {type(path).__name__}")
    scenario, file = as_scenario(scenario), Path(path)
    write = text_format(file).write
    if file.suffix.lower() == ".json":
        _replace_all({file: _text_writer(write(scenario.to_document()))})
        return
    document: dict[str, Any] = plain(scenario, traces=False)
    traces = {entry.name: entry.phases for entry in scenario.applications if isinstance(entry.phases, Trace)}
    writers: dict[Path, Callable[[Path], None]] = {}
    beside = file.with_suffix(".parquet")
    if traces:
        applications = document.pop("applications")
        document |= {"trace": beside.name, "applications": applications}
        writers[beside] = lambda target: parquet(beside).write_traces(target, traces)
    writers[file] = _text_writer(write(document))
    _replace_all(writers)


def _text_writer(text: str) -> Callable[[Path], None]:
    def write(target: Path) -> None:
        target.write_bytes(text.encode())

    return write


def _replace_all(writers: dict[Path, Callable[[Path], None]]) -> None:
    """Write all files under temporary names in their folders, then move them into place in order."""
    places = {file: resting_place(file) for file in writers}
    temporary = {file: place.with_name(f".{place.name}.{os.getpid()}.tmp") for file, place in places.items()}
    try:
        for file, write in writers.items():
            write(temporary[file])
        for file, place in places.items():
            temporary[file].replace(place)
    except OSError as error:
        # Where a library tells of the temporary name, the user's own stands for it.
        reason = str(error.strerror or error).replace(temporary[file].name, file.name)
        raise InvalidScenario(f"{file}: cannot be written: {reason}") from None
    finally:
        for leftover in temporary.values():
            with suppress(OSError):
                leftover.unlink()
