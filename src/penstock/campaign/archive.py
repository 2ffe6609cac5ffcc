"""A campaign as one file to publish beside a paper: what was asked and found, with which versions, and all hashes.

    manifest.json           name, versions, seeds, plans, workloads, counts, and SHA-256 of every other file
    campaign.yaml           the file it was started with
    asked.parquet           every run that it asks for
    results.parquet         what was found, in order and without times: its hash is that of the science
    runs/part-*.parquet     the same as it was written, times included, so that the campaign can be continued
    means.csv               every mean with its interval
    with/…                  files that were added, such as policies that plans name

The archive is a ZIP file without dates: the same directory gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import penstock
from penstock.campaign.named_files import WITH, named_files
from penstock.campaign.results import Results, read_results, write_results
from penstock.campaign.store import ASKED, RESULTS, RUNS, Store
from penstock.errors import InvalidOption
from penstock.files import write_whole

MANIFEST, MEANS = "manifest.json", "means.csv"
FORMAT = 1
_KNOWN = re.compile(
    r"campaign(-\d+)?\.yaml|asked\.parquet|results\.parquet|means\.csv|runs/part-\d{6,}(-merged)?\.parquet"
    r"|with/(?:(?!\.\.?/)[^/\\]+/)*(?!\.\.?$)[^/\\]+"
)
_NEVER = (1980, 1, 1, 0, 0, 0)  # the earliest date that a ZIP file can hold


@dataclass(frozen=True)
class FileHash:
    """What a manifest says of a file."""

    sha256: str
    bytes: int


def export_campaign(folder: str | Path, file: str | Path, means: str, also: Sequence[Path] = ()) -> dict[str, Any]:
    """Write the archive of a campaign's directory, and say what is in it (the manifest)."""
    store, results = Store(folder), read_results(folder)
    contents = _contents(store, means, also, named_files(results.plans))
    manifest = _about(results) | {"files": {name: _told(data) for name, data in contents.items()}}
    text = json.dumps(manifest, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {MANIFEST: text, **contents}.items():
            archive.writestr(zipfile.ZipInfo(name, _NEVER), data, zipfile.ZIP_DEFLATED)
    write_whole(file, sink.getvalue())
    return manifest


def _name_in(path: Path, named: Sequence[str]) -> str:
    """Where a file is in the archive: as plans name it, else by its name alone."""
    whole = path.absolute().as_posix()
    known = [name for name in named if whole.endswith(f"/{name}")]
    return f"{WITH}/{max(known, key=len, default=path.name)}"


def _contents(store: Store, means: str, also: Sequence[Path], named: Sequence[str]) -> dict[str, bytes]:
    """Every file of the archive but the manifest."""
    if not (store.folder / RESULTS).is_file():
        raise InvalidOption(
            f"{store.folder}: its campaign has not come to an end yet, so there are no results to export"
        )
    own = [*sorted(store.folder.glob("campaign*.yaml")), store.folder / ASKED, store.folder / RESULTS, *store.parts()]
    found = {path.relative_to(store.folder).as_posix(): path.read_bytes() for path in own}
    found[MEANS] = means.encode()
    for path in also:
        name = _name_in(path, named)
        if name in found:
            raise InvalidOption(f"--with names two files called {path.name}; rename one of them")
        try:
            found[name] = path.read_bytes()
        except OSError as error:
            raise InvalidOption(f"--with {path}: {error.strerror or error}") from None
    return found


def _about(results: Results) -> dict[str, Any]:
    """What a reader of the paper needs to know to run it again."""
    return {
        "format": FORMAT,
        "penstock": penstock.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **{name: value for name, value in results.status().items() if name != "damaged"},
        "metrics": list(results.metrics),
        "plans": list(results.plans),
        "workloads": list(results.points),
        "seeds": sorted(set(results.seed.tolist())),
    }


def _told(data: bytes) -> dict[str, Any]:
    return asdict(FileHash(hashlib.sha256(data).hexdigest(), len(data)))


def import_campaign(file: str | Path, folder: str | Path) -> dict[str, Any]:
    """Check every hash of an archive, then unpack it into a new directory; the manifest."""
    manifest, contents = read_archive(file)
    target = Path(folder)
    if target.exists() and any(target.iterdir()):
        raise InvalidOption(f"{folder} is not empty; give a new directory to unpack into")
    # Elsewhere first: of an archive that is refused nothing stays.
    with tempfile.TemporaryDirectory() as trial:
        _unpack(contents, Path(trial))
        if (Path(trial) / RESULTS).read_bytes() != contents[RESULTS]:
            raise InvalidOption(
                f"{file}: its results do not follow from its runs; it was put together by hand, or another version"
            )
    _unpack(contents, target)
    return manifest


def _unpack(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write the files, and the results that follow from them."""
    (folder / RUNS).mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, data)
    write_results(Store(folder))


def read_archive(file: str | Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest of an archive and its files, if every hash is right."""
    try:
        with zipfile.ZipFile(file) as archive:
            manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
            contents = {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}
    except FileNotFoundError:
        raise InvalidOption(f"{file}: no such file") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        raise InvalidOption(f"{file}: is not an archive that `penstock campaign export` wrote") from None
    if not isinstance(manifest, Mapping) or manifest.get("format") != FORMAT:
        raise InvalidOption(f"{file}: is of a format that this version does not know; accepted is format {FORMAT}")
    told = manifest.get("files")
    if not isinstance(told, Mapping) or set(told) != set(contents) or not all(map(_KNOWN.fullmatch, contents)):
        raise InvalidOption(f"{file}: does not hold the files that its manifest lists")
    for name, data in contents.items():
        if told[name] != _told(data):
            raise InvalidOption(f"{file}: {name} is not what its manifest says (SHA-256 differs)")
    if not {ASKED, RESULTS} <= set(contents):
        raise InvalidOption(f"{file}: has no {RESULTS}")
    return manifest, contents
