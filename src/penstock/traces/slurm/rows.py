"""`sacct -P`: text with a header, one row per job and step, any delimiter.

The delimiter is what stands between the names of fields in the header. One of several letters, or no ASCII, is replaced
by a separator that text never has; -p and --parsable2 differ by a delimiter at the end, which is taken for no field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.model.units import clock
from penstock.traces.columns import Coded, arrow, codes, instants, numbers, truths

IDS = ("jobid", "jobidraw")
_WANTED = (
    "jobid jobidraw user jobname state start end elapsed elapsedraw nnodes allocnodes tresusageintot tresusageouttot"
)
_SEPARATOR = b"\x1f"
_SUFFIX = {letter: 1024.0**power for power, letter in enumerate("KMGTPE", start=1)}


class Rows(NamedTuple):
    """Columns of all rows; texts as codes. `part` is the place in a heterogeneous job, −1 in others."""

    base: Coded
    raw: Coded
    user: Coded
    name: Coded
    state: Coded
    step: Bools
    part: Ints
    start: Floats
    end: Floats
    elapsed: Floats
    nodes: Ints
    read: Floats
    written: Floats


def read_rows(path: Path, fields: Iterable[str] | None = None) -> tuple[Rows, int]:
    """All rows, and how many had more or fewer fields than there are names."""
    given = [field.strip() for field in fields] if fields is not None else None
    with reading(path, InvalidOption), path.open("rb") as stream:
        head = stream.readline().decode("utf-8-sig").rstrip("\r\n")
    delimiter, names = _header(head, given, path)
    table, broken = _table(path, delimiter, names, skip=given is None)
    return _rows(table, path), broken


def _header(line: str, given: list[str] | None, path: Path) -> tuple[str, list[str]]:
    if given is not None:
        between = _between(line, len(given))
        if between is None:
            raise InvalidOption(f"{path}: its first row does not have the {len(given)} fields that were named")
        return between, [field.lower() for field in given]
    found = re.split(r"[A-Za-z][A-Za-z0-9_]*", line.strip())
    delimiters = {each for each in found[1:] if each}
    names = [name.lower() for name in re.findall(r"[A-Za-z][A-Za-z0-9_]*", line)]
    if not set(names) & set(IDS) or len(delimiters) != 1 or "start" not in names:
        raise InvalidOption(
            f"{path}: has no header of sacct with JobID (or JobIDRaw) and Start; "
            "print it with sacct -P --format=JobID,Start,End,…, or name its fields with --fields"
        )
    return delimiters.pop(), names


def _between(line: str, fields: int) -> str | None:
    """What separates so many fields in a row: one letter that is there that often, or once more at the end."""
    counts = {letter: line.count(letter) for letter in set(line) if not letter.isalnum()}
    fitting = [letter for letter, count in counts.items() if count in (fields - 1, fields) and letter not in "-:.,=/ "]
    fitting += [letter for letter in ",\t" if counts.get(letter) in (fields - 1, fields)]
    return fitting[0] if fitting else None


def _table(path: Path, delimiter: str, names: list[str], skip: bool) -> tuple[Any, int]:
    csv, pa = arrow("csv"), arrow()
    source: Any = str(path)
    if len(delimiter.encode()) != 1:
        source = pa.BufferReader(path.read_bytes().replace(delimiter.encode(), _SEPARATOR))
        delimiter = _SEPARATOR.decode()
    broken = 0

    def odd(row: Any) -> str:
        nonlocal broken
        broken += 1
        return "skip"

    trailing = _trailing(path, delimiter, source, len(names), skip)
    columns = [*names, *(["(end)"] if trailing else [])]
    wanted = [name for name in columns if name in _WANTED.split()]

    def read(types: dict[str, Any]) -> Any:
        return csv.read_csv(
            source,
            csv.ReadOptions(column_names=columns, skip_rows=int(skip), use_threads=False),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, invalid_row_handler=odd),
            csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(columns, pa.string()) | types,
                null_values=["", "None", "Unknown"],
                strings_can_be_null=False,
                timestamp_parsers=["%Y-%m-%dT%H:%M:%S"],
            ),
        )

    try:
        try:
            return read(_types(pa)), broken
        except pa.ArrowInvalid:  # times in another form
            broken = 0
            source = pa.BufferReader(path.read_bytes()) if isinstance(source, str) else source
            source.seek(0)
            return read({}), broken
    except (pa.ArrowException, OSError) as error:
        raise InvalidOption(f"{path}: cannot be read as rows of sacct: {str(error).splitlines()[0]}") from None


def _types(pa: Any) -> dict[str, Any]:
    """Few users, names and states, and times that are dates: both are small and quick as such."""
    repeated = pa.dictionary(pa.int32(), pa.string())
    return dict.fromkeys(("user", "jobname", "state", "elapsed"), repeated) | dict.fromkeys(
        ("start", "end"), pa.timestamp("s")
    )


def _trailing(path: Path, delimiter: str, source: Any, count: int, skip: bool) -> bool:
    """Whether rows end in a delimiter."""
    if hasattr(source, "read"):
        first = source.read(1 << 20).split(b"\n")[1 if skip else 0]
        source.seek(0)
    else:
        with path.open("rb") as stream:
            lines = [stream.readline(), stream.readline()]
        first = lines[1 if skip and lines[1] else 0]
    return int(first.count(delimiter.encode())) == count


def _rows(table: Any, path: Path) -> Rows:
    pc = arrow("compute")
    if not table.num_rows:
        raise InvalidOption(f"{path}: has a header and no rows")

    def column(*names: str) -> Any:
        found = next((name for name in names if name in table.column_names), None)
        return table.column(found) if found else None

    ids = column("jobid", "jobidraw")
    step = truths(pc.match_substring(ids, "."))
    part = _parts(ids)
    bare = pc.list_element(pc.split_pattern(ids, ".", max_splits=1), 0)
    base = codes(pc.replace_substring_regex(bare, r"\+\d+$", "") if (part >= 0).any() else bare)
    raw, nodes = column("jobidraw"), column("nnodes", "allocnodes")
    return Rows(
        base=base,
        raw=codes(raw) if raw is not None else base,
        user=_coded(column("user"), table.num_rows),
        name=_coded(column("jobname"), table.num_rows),
        state=_coded(column("state"), table.num_rows),
        step=step,
        part=part,
        start=instants(column("start")),
        end=_times(column("end"), table.num_rows),
        elapsed=_elapsed(column("elapsedraw"), column("elapsed"), table.num_rows),
        nodes=_whole(nodes, table.num_rows),
        read=_disk(column("tresusageintot"), table.num_rows),
        written=_disk(column("tresusageouttot"), table.num_rows),
    )


def _coded(column: Any, rows: int) -> Coded:
    return codes(column) if column is not None else (arrow().array([""]), np.zeros(rows, np.int64))


def _times(column: Any, rows: int) -> Floats:
    return instants(column) if column is not None else np.full(rows, np.nan)


def _whole(column: Any, rows: int) -> Ints:
    return np.nan_to_num(numbers(column), nan=0.0).astype(np.int64) if column is not None else np.zeros(rows, np.int64)


def _parts(ids: Any) -> Ints:
    pc = arrow("compute")
    if not truths(pc.match_substring(ids, "+")).any():
        return np.full(len(ids), -1, np.int64)
    found = pc.struct_field(pc.extract_regex(ids, r"\+(?P<part>\d+)"), "part")
    return numbers(found, missing=-1.0).astype(np.int64)


def _elapsed(raw: Any, text: Any, rows: int) -> Floats:
    if raw is not None:
        return numbers(raw)
    if text is None:
        return np.full(rows, np.nan)
    words, code = codes(text)
    seconds = [clock(word or "") for word in words.to_pylist()]
    return np.array([np.nan if each is None else each for each in seconds])[code]


def _disk(column: Any, rows: int) -> Floats:
    """`fs/disk` of a TRES list, with binary suffixes; NaN where there is none."""
    if column is None:
        return np.full(rows, np.nan)
    pc = arrow("compute")
    found = pc.extract_regex(column, r"(?:^|,)fs/disk=(?P<amount>[\d.]+)(?P<suffix>[KMGTPE]?)")
    amount = numbers(pc.struct_field(found, "amount"))
    letters, code = codes(pc.struct_field(found, "suffix"))
    size: Floats = np.array([_SUFFIX.get(letter, 1.0) for letter in letters.to_pylist()])[code]
    return amount * size
