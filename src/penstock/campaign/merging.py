"""Campaigns into one: what two directories have found, under all that both ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.campaign.results import write_results
from penstock.campaign.store import Store
from penstock.errors import InvalidOption


def merge(folders: Sequence[str | Path], into: str | Path) -> int:
    """Make a directory with all runs of several, and say how many the campaigns ask for.

    A run that several have is taken from the last of them where it succeeded. The merged campaign has the name of the
    first; it can be continued by any campaign file of that name.
    """
    if len(folders) < 2:
        raise InvalidOption("merge takes at least two directories of campaigns")
    stores, target = [Store(folder) for folder in folders], Store(into)
    about = [store.about() for store in stores]
    if target.exists:
        raise InvalidOption(f"{into} holds a campaign already; give a new directory to merge into")
    target.check(about[0]["name"])
    runs = _together([store.asked().replace_schema_metadata(None) for store in stores])
    _check_apart(runs)
    whole = {
        name: list(dict.fromkeys(each for one in about for each in one[name])) for name in ("metrics", "keep", "tasks")
    }
    texts = dict.fromkeys(text for store in stores for text in store.texts())
    with target.locked():
        for store in stores:
            for path in store.parts():
                target.add_part(path.read_bytes())
        target.put(runs, {"name": about[0]["name"], **whole}, list(texts))
        write_results(target)
    return int(runs.num_rows)


def _together(tables: list[Any]) -> Any:
    """All rows, the first of those with the same key."""
    plain = [table.cast(_without_dictionaries(table.schema)) for table in tables]
    whole = pa.concat_tables(plain)
    seen: set[str] = set()
    new = [key not in seen and not seen.add(key) for key in whole["key"].to_pylist()]  # type: ignore[func-returns-value]
    return whole.filter(pa.array(new)).cast(tables[0].schema)


def _check_apart(runs: Any) -> None:
    """Refuse runs that differ but that nobody could tell apart in the results."""
    shown = [name for name in runs.column_names if name != "key"]
    seen: set[tuple[Any, ...]] = set()
    for row in zip(*(runs[name].to_pylist() for name in shown), strict=True):
        if row in seen:
            named = dict(zip(shown, row, strict=True))
            raise InvalidOption(
                f"plan {named['plan']!r} on {named['workload']!r}, seed {named['seed']}, is not the same run in all "
                "directories (another scenario, policy file, or what is kept); give one of them another 'label'"
            )
        seen.add(row)


def _without_dictionaries(schema: Any) -> Any:
    return pa.schema([(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in schema])
