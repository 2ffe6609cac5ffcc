"""Reading a scenario: a YAML or JSON document, and the files that it may name.

The document's key `trace` names a Parquet file in the document's own folder or below; applications without `phases` get
theirs from it. `interference` may name a CSV of measurements there (see the module of that name). Files are looked at
before they are read: neither gigabytes of garbage nor a pipe passes for a document. YAML and Parquet are imported only
when a file needs them.
"""

from __future__ import annotations

import os
import stat
import sys
from codecs import getincrementaldecoder
from functools import cache
from importlib import import_module
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from penstock.errors import InvalidScenario
from penstock.files import reading
from penstock.model.moment import Moment
from penstock.model.problems import Locate, refuse
from penstock.model.problems import Path as Place
from penstock.model.scenario import Scenario, validated
from penstock.model.trace import Trace
from penstock.model.units import shown

ScenarioLike = Scenario | str | os.PathLike[str]
LARGEST = 256_000_000  # bytes of a text document
SMALL_JSON = 16_000_000  # characters; in larger JSON files a line number is not worth the wait
EMPTY_NAME = "the name of the file is empty; a variable of the shell may not be set"
_STDIN = Path("standard input")
_SCENARIO = "a scenario with version, platform and applications"
FORMATS = {".yaml": "yaml_text", ".yml": "yaml_text", ".json": "json_text"}


def load(path: str | os.PathLike[str]) -> Scenario:
    """The scenario in a file; anything wrong with it raises InvalidScenario with the file, the line and the place.

    `-` is standard input, in YAML or JSON; files that it names are looked for in the current folder.
    """
    file, (document, locate) = _place(path), read_document(path)
    return validated(_with_measurements(_with_traces(document, file, locate), file, locate), locate)


def as_scenario(given: ScenarioLike | Any) -> Scenario:
    """A scenario itself, or the one in the file that a path names."""
    if isinstance(given, Scenario):
        return given
    if isinstance(given, str | os.PathLike):
        return load(given)
    hint = "; Scenario.from_document makes one of a document" if isinstance(given, dict) else ""
    raise InvalidScenario(f"a scenario, or the path of its file, is needed, not a {type(given).__name__}{hint}")


def load_moment(path: str | os.PathLike[str]) -> Moment:
    """The state that a decision is asked for, from a file in the same formats; `-` is standard input, in any."""
    document, locate = read_document(path)
    return Moment.checked(document, locate)


def _read_stdin() -> str:
    try:
        text = sys.stdin.read(LARGEST) if sys.stdin else ""
    except UnicodeDecodeError as error:
        raise InvalidScenario(f"standard input: is not text in UTF-8 (byte {error.start})") from None
    if len(text) == LARGEST:
        raise InvalidScenario(f"standard input: has more than {LARGEST // 10**6} MB; expected a document")
    return text


def _place(path: str | os.PathLike[str]) -> Path:
    """The file that a path names; for standard input a name in the current folder, which messages show."""
    if isinstance(path, int) or not isinstance(path, str | os.PathLike):
        raise InvalidScenario(f"a scenario is read from a path, not from a {type(path).__name__}")
    if os.fspath(path) == "":
        raise InvalidScenario(EMPTY_NAME)
    return _STDIN if os.fspath(path) == "-" else Path(path)


def read_document(path: str | os.PathLike[str], expected: str = _SCENARIO) -> tuple[Any, Locate]:
    """A document and what says file and line of a place in it; `-` is standard input."""
    file = _place(path)
    if file is _STDIN:
        text, form = _read_stdin(), import_module("penstock.model.yaml_text")
    else:
        text, form = _read_text(file, expected), text_format(file)
    return form.parse(text, str(file)), _locator(file, text)


def text_format(file: Path) -> Any:
    """The module that parses and writes files with this ending."""
    if file.suffix.lower() not in FORMATS:
        raise InvalidScenario(f"{file}: cannot tell the format by its name; it must end in {', '.join(FORMATS)}")
    return import_module(f"penstock.model.{FORMATS[file.suffix.lower()]}")


def parquet(file: Path) -> Any:
    """The module that reads and writes Parquet files, if it can work here."""
    try:
        return import_module("penstock.model.parquet")
    except ImportError:
        raise InvalidScenario(f"{file}: Parquet files need pyarrow; install penstock[parquet]") from None


def _read_text(file: Path, expected: str) -> str:
    with reading(file, InvalidScenario):
        status = file.stat()
        if stat.S_ISDIR(status.st_mode):
            raise InvalidScenario(f"{file}: is a directory; expected a scenario file ({', '.join(FORMATS)})")
        text_format(file)
        if not stat.S_ISREG(status.st_mode):
            raise InvalidScenario(f"{file}: is not a regular file")
        with file.open("rb") as stream:
            _check_start(file, stream.read(4096), status.st_size)
            stream.seek(0)
            text = stream.read().decode("utf-8-sig")
    if not text.strip():
        raise InvalidScenario(f"{file}: is empty; expected {expected}")
    return text


def _check_start(file: Path, start: bytes, size: int) -> None:
    if start.startswith(b"PAR1"):
        raise InvalidScenario(f"{file}: is a Parquet file; name it as 'trace' in a YAML or JSON document")
    if b"\0" in start:
        raise InvalidScenario(f"{file}: is not text in UTF-8 (byte {start.index(0)} is zero)")
    getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut
    if size > LARGEST:
        limit = f"{LARGEST // 10**6} MB"
        raise InvalidScenario(f"{file}: has {size:,} bytes; at most {limit}, so keep long phases in a Parquet file")


def _locator(file: Path, text: str) -> Locate:
    """What says file and line of a place; the text is parsed for it once, and only if somebody asks."""

    @cache
    def locate(place: Place) -> str:
        wanted = place and not (file.suffix.lower() == ".json" and len(text) > SMALL_JSON)
        line = import_module("penstock.model.yaml_text").line_of(text, place) if wanted else None
        return f"{file}:{line}" if line else str(file)

    return locate


def _with_traces(document: Any, file: Path, locate: Locate) -> Any:
    """The document with the phases of its Parquet file in their places, if it names one."""
    if not isinstance(document, dict) or "trace" not in document:
        return document
    accepted = "it names a Parquet file in the document's folder or below"
    source = file.parent / _plain_relative(document["trace"], ("trace",), accepted, locate)
    traces = parquet(source).read_traces(source)
    listed = document.get("applications")
    if isinstance(listed, list):
        _check_names(listed, traces, source, locate)
        listed = [_with_phases(entry, index, traces, source, locate) for index, entry in enumerate(listed)]
    rest = {key: value for key, value in document.items() if key != "trace"}
    return rest | {"applications": listed}


def _plain_relative(name: object, place: Place, accepted: str, locate: Locate) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        refuse(locate, place, f"is {shown(name)}; {accepted}")
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or ".." in PurePosixPath(name).parts:
        refuse(locate, place, f"is {shown(name)}; {accepted}")
    return name


def _with_measurements(document: Any, file: Path, locate: Locate) -> Any:
    """The document with efficiencies in place of the files of measurements that `interference` names."""
    platform = document.get("platform") if isinstance(document, dict) else None
    if not isinstance(platform, dict):
        return document
    platform = _with_fit(platform, ("platform",), file, locate)
    if isinstance(nodes := platform.get("io_nodes"), dict):
        platform |= {"io_nodes": _with_fit(nodes, ("platform", "io_nodes"), file, locate)}
    if isinstance(targets := platform.get("targets"), list):
        listed = [_with_fit(each, ("platform", "targets", i), file, locate) for i, each in enumerate(targets)]
        platform |= {"targets": listed}
    return document | {"platform": platform}


def _with_fit(resource: Any, place: Place, file: Path, locate: Locate) -> Any:
    named = resource.get("interference") if isinstance(resource, dict) else None
    if not isinstance(named, str):
        return resource
    accepted = "it is a list of efficiencies, or names a CSV of measurements in the document's folder or below"
    source = file.parent / _plain_relative(named, (*place, "interference"), accepted, locate)
    return resource | {"interference": import_module("penstock.model.interference").read_interference(source)}


def _check_names(listed: list[Any], traces: dict[str, Trace], source: Path, locate: Locate) -> None:
    known = {entry.get("name") for entry in listed if isinstance(entry, dict) and isinstance(entry.get("name"), str)}
    for name in traces:
        if name not in known:
            raise InvalidScenario(f"{source}: has phases of {name!r}, an application that {locate(())} does not list")


def _with_phases(entry: Any, index: int, traces: dict[str, Trace], source: Path, locate: Locate) -> Any:
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(name, str):
        return entry
    place: Place = ("applications", index)
    if "phases" in entry and name in traces:
        refuse(locate, (*place, "phases"), f"are given here and in {source}; keep one of them")
    if "phases" not in entry and name not in traces:
        refuse(locate, place, f"has no phases, neither here nor in {source}")
    return entry if "phases" in entry else entry | {"phases": traces[name]}
