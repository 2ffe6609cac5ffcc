"""The directory of a campaign: what was asked, what was found, all in Parquet.

    campaign.yaml           the file it was started with
    asked.parquet           every run the campaign asks for, with its key, in order; says whose directory this is
    runs/part-*.parquet     what was found, written while it runs; a run's key leads to its row
    results.parquet         both together, in order and without times: the same bytes whoever ran it on how many cores
    times.parquet           how long each run took

Every file is written beside its place and renamed, so that a crash or a full disk leaves what was there. Only one
process at a time runs a campaign in a directory; the system forgets its lock when it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from penstock.campaign.canonical import canonical
from penstock.campaign.document import Campaign
from penstock.campaign.perform import RunRow
from penstock.campaign.rows import parquet_bytes, table_of, write_parquet
from penstock.campaign.units import Keys, asked
from penstock.errors import InvalidOption
from penstock.files import write_whole, writing_whole

FILE, ASKED, RUNS, RESULTS, TIMES = "campaign.yaml", "asked.parquet", "runs", "results.parquet", "times.parquet"
MOST_PARTS = 64  # small ones; then they become one
_PART = re.compile(r"part-(\d{6,})(-merged)?\.parquet")
_ABOUT = b"penstock campaign"
_TEXT = pa.dictionary(pa.int32(), pa.string())
_ASKED = pa.schema(
    [("key", pa.string()), ("workload", _TEXT), ("parameters", _TEXT), ("seed", pa.int64()), ("plan", _TEXT)]
)


class Store:
    """A campaign's directory."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @property
    def exists(self) -> bool:
        """Whether a campaign has been started there."""
        return (self.folder / ASKED).is_file()

    def about(self) -> dict[str, Any]:
        """The campaign's name, and what tables show of it."""
        with self._reading(self.folder / ASKED):
            metadata = pq.read_schema(self.folder / ASKED).metadata or {}
            found: dict[str, Any] = json.loads(metadata[_ABOUT])
            return found

    def asked(self) -> Any:
        """Every run that the campaign asks for: key, workload, parameters (JSON), seed, plan."""
        with self._reading(self.folder / ASKED):
            return pq.read_table(self.folder / ASKED)

    def ask(self, campaign: Campaign, keys: Keys) -> None:
        """Make the directory that of a campaign, or say that the campaign has changed; found runs stay."""
        self.check(campaign.name)
        columns: dict[str, list[Any]] = {name: [] for name in _ASKED.names}
        shown = {id(source): canonical(source.parameters) for each in campaign.workloads for source in each.sources}
        for source, seed, run in asked(campaign, keys):
            values = (run.key, source.label, shown[id(source)], seed, run.plan.label)
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
        about = {"name": campaign.name, "metrics": campaign.metrics, "keep": campaign.keep}
        about["tasks"] = list(dict.fromkeys(plan.task for plan in campaign.plans))
        self.put(pa.Table.from_pydict(columns, schema=_ASKED), about, [campaign.text])

    def put(self, runs: Any, about: dict[str, Any], texts: Sequence[str]) -> None:
        """Write what is asked for."""
        self._make()
        metadata = {_ABOUT: json.dumps(about, ensure_ascii=False).encode()}
        write_whole(self.folder / ASKED, parquet_bytes(runs.replace_schema_metadata(metadata)))
        for number, text in enumerate(texts, start=1):
            name = FILE if number == 1 else f"campaign-{number}.yaml"
            write_whole(self.folder / name, text.encode())

    def texts(self) -> list[str]:
        """The campaign files it was started with."""
        return [path.read_text() for path in sorted(self.folder.glob("campaign*.yaml"), key=lambda path: path.stem)]

    def parts(self) -> list[Path]:
        """The files of found runs, the oldest first."""
        folder = self.folder / RUNS
        found = folder.iterdir() if folder.is_dir() else ()
        return sorted(path for path in found if _PART.fullmatch(path.name))

    def found(self) -> Iterator[Any]:
        """Tables of found runs, the oldest first; a file that cannot be read is as if it were not there."""
        return (table for path in self.parts() if (table := _table(path)) is not None)

    def damaged(self) -> list[Path]:
        """Files of found runs that cannot be read."""
        return [path for path in self.parts() if _table(path) is None]

    def keys(self, *, with_failed: bool) -> set[str]:
        """The runs that have been found, those that failed included or not."""
        ended: set[str] = set()
        for table in self.found():
            chosen = table if with_failed else table.filter(pa.compute.is_null(table["error"]))
            ended.update(chosen["key"].to_pylist())
        return ended

    def add(self, rows: Sequence[RunRow], schema: Any) -> None:
        """Keep rows, for good once this returns."""
        self.add_part(parquet_bytes(table_of(rows, schema)))
        small = [path for path in self.parts() if "-merged" not in path.name]
        if len(small) >= MOST_PARTS:
            self._merge(small)

    def add_part(self, content: bytes) -> None:
        """Keep a file of rows."""
        self._make()
        with self._writing():
            write_whole(self.folder / RUNS / f"part-{self._next():06d}.parquet", content)

    def write(self, name: str, tables: Iterator[Any]) -> None:
        """One of the files that hold all, table by table."""
        with self._writing(), writing_whole(self.folder / name) as draft:
            write_parquet(draft, tables)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except InvalidOption as error:
            reason = str(getattr(error.__cause__, "strerror", None) or error.__cause__ or error).lower()
            raise InvalidOption(
                f"{self.folder} cannot be written to ({reason}); what was found before is kept, and the same command "
                "continues from there"
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others from running a campaign here meanwhile."""
        self._make()
        try:
            descriptor = os.open(self.folder / ".lock", os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise InvalidOption(f"{self.folder} cannot be written to: {error.strerror}") from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InvalidOption(f"{self.folder}: another process is running a campaign there now") from None
            self._clear_drafts()
            yield
        finally:
            os.close(descriptor)

    def check(self, name: str) -> None:
        """Refuse a directory that is not this campaign's."""
        owner = self._owner()
        if owner not in (None, name):
            raise InvalidOption(
                f"{self.folder} holds the results of another campaign, {owner!r}; give {name!r} a directory of its own"
            )
        # A start that was killed may have left the folder of runs, the lock and a draft.
        if owner is None and any(path.name != RUNS and not path.name.startswith(".") for path in self._entries()):
            raise InvalidOption(f"{self.folder} is not empty and holds no campaign; give an empty or a new directory")

    def _owner(self) -> str | None:
        """Whose directory it is; where `asked.parquet` is lost, or cannot be read, the campaign file says so."""
        with suppress(InvalidOption):
            return str(self.about()["name"])
        try:
            document = yaml.safe_load((self.folder / FILE).read_text())
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            return None
        return str(document["name"]) if isinstance(document, dict) and "name" in document else None

    def _entries(self) -> list[Path]:
        if not self.folder.exists():
            return []
        if not self.folder.is_dir():
            raise InvalidOption(f"{self.folder}: is not a directory; results of a campaign are kept in one")
        return list(self.folder.iterdir())

    def _make(self) -> None:
        try:
            (self.folder / RUNS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidOption(f"{self.folder} cannot be made: {(error.strerror or str(error)).lower()}") from None

    def _next(self) -> int:
        numbers = [int(match[1]) for path in self.parts() if (match := _PART.fullmatch(path.name))]
        return max(numbers, default=0) + 1

    def _merge(self, parts: list[Path]) -> None:
        """Make one file of many. A crash before the last of them is gone leaves rows twice, which harms nobody."""
        tables = {path: table for path in parts if (table := _table(path)) is not None}
        whole = pa.concat_tables(tables.values(), promote_options="default")
        number = f"{self._next():06d}"
        write_whole(self.folder / RUNS / f"part-{number}-merged.parquet", parquet_bytes(whole))
        for path in tables:
            path.unlink(missing_ok=True)

    def _clear_drafts(self) -> None:
        """Remove what a process that was killed had begun to write."""
        for folder in (self.folder, self.folder / RUNS):
            for path in folder.glob(".*.parquet.*.part"):
                path.unlink(missing_ok=True)

    @contextmanager
    def _reading(self, file: Path) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            raise InvalidOption(
                f"{self.folder} holds no campaign; `penstock campaign FILE -o DIR` starts one"
            ) from None
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            reason = (str(error).splitlines() or ["no reason given"])[0]
            raise InvalidOption(f"{file} cannot be read ({reason}); start the campaign again to mend it") from None


def _table(path: Path) -> Any:
    """All that is in a file of found runs; None if any of it cannot be read."""
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError):
        return None
