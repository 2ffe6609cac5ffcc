"""Many logs: found in folders, read one after the other, the damaged ones named and left out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from penstock.errors import InvalidOption
from penstock.traces.build import build
from penstock.traces.darshan.errors import BadLog
from penstock.traces.darshan.jobs import ReadLog, jobs_of, seen
from penstock.traces.darshan.library import library
from penstock.traces.darshan.log import read_log
from penstock.traces.options import Options
from penstock.traces.result import Imported, Skipped

ENDINGS = (".darshan", ".darshan_partial")
Progress = Callable[[int, int], None]


def import_darshan(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    options: Options | None = None,
    *,
    slurm: str | os.PathLike[str] | None = None,
    fields: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> Imported:
    """A scenario from Darshan logs: files, or folders that are searched for them; one application per job.

    `slurm` names what `sacct` printed of the same time: nodes, and when jobs began and ended, come from it; `fields`
    are its columns if it has no header. `progress` is called with the number of logs read and that of all.
    """
    options, begun = options or Options(), time.perf_counter()
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    logs, skipped = read_logs(listed, progress)
    jobs, dropped = jobs_of(logs)
    what = ", ".join(str(path) for path in listed[:3])
    if slurm is not None:
        from penstock.traces.slurm.joining import joined  # noqa: PLC0415 - few need it

        met = joined(jobs, Path(slurm), options, fields)
        return build(
            met.jobs, options, kind="darshan", what=what, begun=begun, skipped=[*skipped, *met.skipped],
            dropped=dropped, notes=met.notes, more={"node_hour_coverage": met.coverage},
        )  # fmt: skip
    busy = [job for job in jobs if job.pieces.total]
    known = {(job.id, job.user) for job in busy}
    idle = [log for log in logs if not log.volume and (str(log.job), str(log.user)) not in known]
    skipped += [Skipped(str(log.file), "moved no bytes", damaged=False) for log in idle]
    return build(busy, options, kind="darshan", what=what, begun=begun, skipped=skipped, dropped=dropped)


def read_logs(
    paths: Iterable[str | os.PathLike[str]], progress: Progress | None = None
) -> tuple[list[ReadLog], list[Skipped]]:
    """The gist of every log, and which could not be read."""
    library()  # without it, all logs would be named as bad
    files = list(_files(paths))
    logs, skipped = [], []
    for done, file in enumerate(files):
        if progress is not None and done % 50 == 0:
            progress(done, len(files))
        try:
            logs.append(seen(read_log(file)))
        except BadLog as error:
            skipped.append(Skipped(str(file), str(error)))
        except OSError as error:
            skipped.append(Skipped(str(file), f"cannot be read: {error.strerror or error}"))
    return logs, skipped


def _files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Logs in the order of their names; a file that was named itself may be called anything."""
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(file for ending in ENDINGS for file in path.rglob(f"*{ending}"))
            if not found:
                raise InvalidOption(f"{path}: has no files that end in {' or '.join(ENDINGS)}")
            yield from found
        elif path.exists() or path.is_symlink():
            yield path
        else:
            raise InvalidOption(f"{path}: no such file")
