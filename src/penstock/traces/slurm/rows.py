"""`sacct -P`: text with a header, one row per job and step, any delimiter.

The delimiter is what stands between the names of fields in the header. One of several letters, or no ASCII, is replaced
by a separator that text never has; -p and --parsable2 differ by a delimiter at the end, which is taken for no field.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Floats, Ints
from penstock.model.units import clock
from penstock.traces.columns import Coded, OddRows, arrow, codes, instants, numbers, truths
from penstock.traces.slurm.folding import Rows, folded, joined

IDS = ("jobid", "jobidraw")
_WANTED = (
    "jobid jobidraw user jobname state start end elapsed elapsedraw nnodes allocnodes tresusageintot tresusageouttot"
)
_SEPARATOR = b"\x1f"
BLOCK = 2 << 20  # bytes of text at a time
_SUFFIX = {letter: 1024.0**power for power, letter in enumerate("KMGTPE", start=1)}


def read_rows(path: Path, fields: Iterable[str] | None = None) -> tuple[Rows, int]:
    """All rows, and how many had more or fewer fields than there are names."""
    given = [field.strip() for field in fields] if fields is not None else None
    with reading(path, InvalidOption), path.open("rb") as stream:
        head = stream.readline().decode("utf-8-sig").rstrip("\r\n")
    delimiter, names = _header(head, given, path)
    pa = arrow()
    try:
        try:
            return _read(path, delimiter, names, skip=given is None, typed=True)
        except pa.ArrowInvalid:  # times in another form
            return _read(path, delimiter, names, skip=given is None, typed=False)
    except (pa.ArrowException, OSError) as error:
        raise InvalidOption(f"{path}: cannot be read as rows of sacct: {str(error).splitlines()[0]}") from None


def _read(path: Path, delimiter: str, names: list[str], *, skip: bool, typed: bool) -> tuple[Rows, int]:
    """Rows of jobs. The last job of a block waits for the next one, which may begin with more of its steps."""
    odd, done = OddRows(), list[Rows]()
    waiting: list[Rows] = []
    for batch in _batches(path, delimiter, names, skip, typed, odd):
        if batch.num_rows:
            rows = joined([*waiting, _rows(batch)])
            last = int(rows.jobs[-1]) if len(rows.jobs) else 0
            done.append(folded(rows.only(slice(last))))
            waiting = [rows.only(slice(last, None))]
    if not waiting:
        raise InvalidOption(f"{path}: has a header and no rows")
    return joined([*(part for part in done if len(part.step)), *map(folded, waiting)]), odd.count


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


def _batches(path: Path, delimiter: str, names: list[str], skip: bool, typed: bool, odd: OddRows) -> Iterator[Any]:
    """The rows in blocks: of a file of gigabytes never more than one is there as text."""
    csv, pa = arrow("csv"), arrow()
    separator = delimiter if len(delimiter.encode()) == 1 else _SEPARATOR.decode()
    trailing = _trailing(path, delimiter, len(names), skip)
    columns = [*names, *(["(end)"] if trailing else [])]
    with _source(path, delimiter) as source:
        yield from csv.open_csv(
            source,
            csv.ReadOptions(column_names=columns, skip_rows=int(skip), use_threads=False, block_size=BLOCK),
            csv.ParseOptions(delimiter=separator, quote_char=False, invalid_row_handler=odd),
            csv.ConvertOptions(
                include_columns=[name for name in columns if name in _WANTED.split()],
                column_types=dict.fromkeys(columns, pa.string()) | (_types(pa) if typed else {}),
                null_values=["", "None", "Unknown"],
                strings_can_be_null=False,
                timestamp_parsers=["%Y-%m-%dT%H:%M:%S"],
            ),
        )


def _source(path: Path, delimiter: str) -> Any:
    """The file; a delimiter of several bytes is made one, in whole lines, for pyarrow takes no other."""
    if len(delimiter.encode()) == 1:
        return path.open("rb")
    return arrow().PythonFile(_Replaced(path, delimiter.encode()), mode="r")


class _Replaced(io.RawIOBase):
    """A file whose delimiters are of one byte."""

    def __init__(self, path: Path, delimiter: bytes) -> None:
        self._stream, self._delimiter, self._left = path.open("rb"), delimiter, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self._left:
            lines = self._stream.readlines(BLOCK)
            if not lines:
                return b""
            self._left = b"".join(lines).replace(self._delimiter, _SEPARATOR)
        size = len(self._left) if size < 0 else size
        part, self._left = self._left[:size], self._left[size:]
        return part

    def close(self) -> None:
        self._stream.close()
        super().close()


def _types(pa: Any) -> dict[str, Any]:
    """Few users, names and states, and times that are dates: both are small and quick as such."""
    repeated = pa.dictionary(pa.int32(), pa.string())
    return dict.fromkeys(("user", "jobname", "state", "elapsed"), repeated) | dict.fromkeys(
        ("start", "end"), pa.timestamp("s")
    )


def _trailing(path: Path, delimiter: str, count: int, skip: bool) -> bool:
    """Whether rows end in a delimiter."""
    with path.open("rb") as stream:
        lines = [stream.readline(), stream.readline()]
    first = lines[1 if skip and lines[1] else 0]
    return first.count(delimiter.encode()) == count


def _rows(table: Any) -> Rows:
    pc = arrow("compute")

    def column(*names: str) -> Any:
        found = next((name for name in names if name in table.schema.names), None)
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
        summed=np.zeros(table.num_rows, bool),
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
