"""A scenario's phases in a Parquet file beside it: columns `application`, `kind` (compute, read, write), `amount`.

Rows of one application are in order; applications may be interleaved. Names and kinds are read as dictionary codes, so
no row ever becomes a Python object, and one stable sort brings each application's rows together.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from penstock.errors import InvalidScenario
from penstock.kernels.arrays import Floats, Ints
from penstock.model.scenario import MOST_PHASES
from penstock.model.trace import AMOUNT_KIND, KIND_NAMES, Trace, first_bad
from penstock.model.units import ACCEPTED, shown

COLUMNS = ("application", "kind", "amount")


def read_traces(path: Path) -> dict[str, Trace]:
    """The phases of every application in the file, by name."""
    table = _read(path)
    names, owner = _codes(table, "application", path)
    kind = _kinds(*_codes(table, "kind", path), path)
    amount = _amounts(table, path)
    bad = first_bad(amount)
    if bad is not None:
        raise InvalidScenario(f"{path}: row {bad}: amount is {amount[bad]:g}; {ACCEPTED[AMOUNT_KIND[kind[bad]]]}")
    return _grouped(names, owner, kind, amount)


def write_traces(path: Path, traces: Mapping[str, Trace]) -> None:
    """Write the phases of applications, one after the other."""
    lengths = [len(trace) for trace in traces.values()]
    owner = np.repeat(np.arange(len(traces), dtype=np.int32), lengths)
    columns = {
        "application": pa.DictionaryArray.from_arrays(pa.array(owner), pa.array(list(traces), pa.string())),
        "kind": pa.DictionaryArray.from_arrays(
            pa.array(np.concatenate([trace.kind for trace in traces.values()])), pa.array(KIND_NAMES, pa.string())
        ),
        "amount": pa.array(np.concatenate([trace.amount for trace in traces.values()])),
    }
    pq.write_table(pa.table(columns), path, compression="zstd")


def _read(path: Path) -> Any:
    try:
        with pq.ParquetFile(path) as file:
            _check_columns(file.schema_arrow, path)
            if file.metadata.num_rows > MOST_PHASES:
                raise InvalidScenario(f"{path}: has {file.metadata.num_rows:,} rows; at most {MOST_PHASES:,}")
        with pq.ParquetFile(path, read_dictionary=["application", "kind"]) as file:
            table = file.read(columns=list(COLUMNS))
        table.validate(full=True)  # a damaged file may give codes without a text and texts that are no UTF-8
    except FileNotFoundError:
        raise InvalidScenario(f"{path}: no such file; the document's 'trace' names it") from None
    except (pa.ArrowException, ValueError) as error:  # ValueError: column names that are no UTF-8
        raise InvalidScenario(f"{path}: not a Parquet file that can be read: {_first_line(error)}") from None
    except OSError as error:  # also what pyarrow raises for damaged pages
        raise InvalidScenario(f"{path}: cannot be read: {_first_line(error)}") from None
    return table


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]


def _check_columns(schema: Any, path: Path) -> None:
    missing = [name for name in COLUMNS if schema.names.count(name) != 1]
    if missing:
        raise InvalidScenario(
            f"{path}: needs the columns {', '.join(COLUMNS)}, each once; it has {', '.join(schema.names) or 'none'}"
        )
    for name in ("application", "kind"):
        found = schema.field(name).type
        value = found.value_type if pa.types.is_dictionary(found) else found
        if not (pa.types.is_string(value) or pa.types.is_large_string(value)):
            raise InvalidScenario(f"{path}: column {name} is {found}; it must be text")
    found = schema.field("amount").type
    if not (pa.types.is_floating(found) or pa.types.is_integer(found)):
        raise InvalidScenario(f"{path}: column amount is {found}; it must be double")


def _codes(table: Any, column: str, path: Path) -> tuple[list[str], Ints]:
    """The distinct texts of a column, and for each row which one it is."""
    values = table.column(column)
    _refuse_nulls(values, column, path)
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    values = values.unify_dictionaries().combine_chunks()
    return values.dictionary.to_pylist(), _numbers(values.indices)


def _amounts(table: Any, path: Path) -> Floats:
    values = table.column("amount")
    _refuse_nulls(values, "amount", path)
    return np.asarray(_numbers(values.combine_chunks()), dtype=np.float64)


def _numbers(values: Any) -> NDArray[Any]:
    """As an array of ours; `to_numpy` loads pandas where that is installed, for 0.1 s and nothing."""
    return np.from_dlpack(values)


def _refuse_nulls(values: Any, column: str, path: Path) -> None:
    if values.null_count:
        row = int(values.is_null().to_numpy().argmax())
        raise InvalidScenario(f"{path}: row {row}: {column} is empty; every row needs {', '.join(COLUMNS)}")


def _kinds(kinds: list[str], code: Ints, path: Path) -> NDArray[np.int8]:
    """The rows' kinds in our numbering."""
    ours = np.array([KIND_NAMES.index(kind) if kind in KIND_NAMES else -1 for kind in kinds], dtype=np.int8)
    kind = ours[code]
    if (kind < 0).any():
        row = int((kind < 0).argmax())
        accepted = ", ".join(KIND_NAMES)
        raise InvalidScenario(f"{path}: row {row}: kind is {shown(kinds[code[row]])}; a kind is one of {accepted}")
    return kind


def _grouped(names: list[str], owner: Ints, kind: NDArray[np.int8], amount: Floats) -> dict[str, Trace]:
    order = np.argsort(owner, kind="stable")
    kind, amount = kind[order], amount[order]
    kind.flags.writeable = amount.flags.writeable = False  # so that traces share these arrays
    counts = np.bincount(owner, minlength=len(names))
    ends = np.cumsum(counts)
    return {
        name: Trace(kind[start:end], amount[start:end])
        for name, start, end in zip(names, (ends - counts).tolist(), ends.tolist(), strict=True)
        if end > start
    }
