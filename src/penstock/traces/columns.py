"""Large logs in text as columns, through pyarrow: a million rows in a second, and no row becomes a Python object."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.kernels.arrays import Bools, Floats, Ints


def arrow(part: str = "") -> Any:
    """pyarrow, or a part of it; refused with a sentence where it is not installed."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError:
        raise InvalidOption("reading tables needs pyarrow; install penstock[traces]") from None


def numbers(column: Any, missing: float = np.nan) -> Floats:
    """A column of numbers, or of text that is some; what is empty or no number is `missing`."""
    pa, pc = arrow(), arrow("compute")
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        good = pc.match_substring_regex(trimmed, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
        column = pc.if_else(good, trimmed, None).cast(pa.float64())
    return floats(pc.fill_null(column.cast(pa.float64()), missing))


def floats(column: Any) -> Floats:
    """A column without nulls as an array; `to_numpy` would load pandas where that is installed."""
    flat = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return np.asarray(np.from_dlpack(flat), dtype=np.float64).copy()


def truths(column: Any) -> Bools:
    """A column of yes and no, empty being no."""
    pa, pc = arrow(), arrow("compute")
    return floats(pc.fill_null(column, False).cast(pa.int8())) > 0


class OddRows:
    """A handler for pyarrow's reader: rows with more or fewer fields than there are names are left out and counted."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, row: Any) -> str:
        """Leave the row out."""
        self.count += 1
        return "skip"


Coded = tuple[Any, Ints]  # distinct texts, and for each row which one it is


def codes(column: Any) -> Coded:
    """The distinct texts of a column, still pyarrow's, and for each row which one it is; empty is a text of its own."""
    pa, pc = arrow(), arrow("compute")
    whole = column.unify_dictionaries() if hasattr(column, "unify_dictionaries") else column
    whole = whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole
    # Encoded in one piece: dictionaries of many chunks take a hundred times as long to unite.
    coded = whole if pa.types.is_dictionary(whole.type) else pc.fill_null(whole, "").dictionary_encode()
    return coded.dictionary, np.from_dlpack(coded.indices).astype(np.int64)


def texts(coded: Coded, rows: Ints) -> list[str]:
    """The texts of some rows."""
    distinct, code = coded
    if len(distinct) < len(rows):  # rows that say the same share one text
        words = distinct.to_pylist()
        return [words[each] for each in code[rows].tolist()]
    found: list[str] = distinct.take(arrow().array(code[rows])).to_pylist()
    return found


def instants(column: Any) -> Floats:
    """Dates, or seconds since 1970, as such seconds; NaN where there is none (`None`, `Unknown`). No zone means UTC."""
    pa, pc = arrow(), arrow("compute")
    if not pa.types.is_string(column.type):
        if pa.types.is_timestamp(column.type):
            whole = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64()).cast(pa.float64())
            return numbers(whole) / 1e6
        return numbers(column)
    text = pc.utf8_trim_whitespace(column)
    plain = pc.utf8_slice_codeunits(pc.replace_substring(text, " ", "T"), 0, 19)
    dated = pc.match_substring_regex(plain, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$")
    parsed = pc.strptime(pc.if_else(dated, plain, None), "%Y-%m-%dT%H:%M:%S", "s", error_is_null=True)
    seconds = floats(pc.fill_null(parsed.cast(pa.int64()).cast(pa.float64()), np.nan))
    undated = np.isnan(seconds)
    return np.where(undated, numbers(text), seconds) if undated.any() else seconds
