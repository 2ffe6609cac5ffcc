"""Profiles from IOR: what its two forms of output share, how a pattern is named and on how many targets it ran.

IOR does not always write down the number of targets. It is taken from the output where that has it (the Lustre stripe
count or the number of BeeGFS targets), else from what the user says, else from the name of the file: a number beside
one of the words ost, target, stripe, count or ion, as in `checkpoint_ost4.csv`. Then the rest of that name is part of
the application's.
"""

from __future__ import annotations

import re

from penstock.studies.profiles.source import MeasurementFile

UNIT = "MiB/s"
OPERATIONS = ("write", "read")
_WORDS = r"(?:osts?|targets?|stripes?|stripe[-_]?count|count|ions?)"
_IN_NAME = (
    re.compile(rf"(?<![a-z]){_WORDS}[-_=]?(\d+)(?![a-z\d])", re.IGNORECASE),
    re.compile(rf"(?<![a-z\d])(\d+)[-_]?{_WORDS}(?![a-z\d])", re.IGNORECASE),
)


def named(
    source: MeasurementFile, *, operation: str, tasks: int | None, block: float, transfer: float, layout: str = ""
) -> str:
    """A pattern by its parameters: operation, tasks, block and transfer size in KiB."""
    parts = [operation, layout, f"{tasks}t" if tasks else "", f"{_plain(block)}k", f"{_plain(transfer)}k"]
    rest = _told(source)[1]
    if not rest.isprintable():
        source.refuse(f"its name has {rest!r} in it, part of the application's; a name is printable text")
    return " ".join(filter(None, [rest, "-".join(filter(None, parts))]))


def targets(source: MeasurementFile, recorded: int | None) -> int:
    """How many targets the runs of a file used."""
    if recorded and source.count and recorded != source.count:
        source.refuse(f"says that it ran on {recorded} targets, and --count says {source.count}; leave --count out")
    count = recorded or source.count or source.counted(_told(source)[0], "the number of targets in its name")
    if not count:
        source.refuse(
            "does not say on how many targets IOR ran; give --count N, or put it in the file's name as in"
            " checkpoint_ost4.csv"
        )
    return count


def _told(source: MeasurementFile) -> tuple[str, str]:
    """The number of targets in the file's name, and the rest of the name; 0 and nothing if it has no such number."""
    stem = source.path.stem
    match = next(filter(None, (pattern.search(stem) for pattern in _IN_NAME)), None)
    if match is None:
        return "0", ""
    parts = (stem[: match.start()].strip("-_. ="), stem[match.end() :].strip("-_. ="))
    return match[1], "-".join(filter(None, parts))


def _plain(kib: float) -> str:
    return f"{kib:.10g}"
