"""`python -m penstock.dashboard.answering KIND [DIR, …] …`: what journals tell, as JSON, for the dashboard.

A process of its own at low priority: a journal of a week takes seconds to read, and viewers must not wait for that.
Controllers that stand by for each other have a journal each. What happened is told from all of them; of a job, by the
newest that knows it; and what another policy would have given, of the newest.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.live.journal.folder import segments
from penstock.lookback.explain import Explanation, UnknownJob, explain
from penstock.lookback.history import history
from penstock.report.live.history import delay_words

MOST_OPERATIONS = 200  # the last ones
NO_UID = -1


def main(kind: str, folders: str, *rest: str) -> int:
    """Print the answer, or in one sentence why there is none."""
    os.nice(10)
    try:
        told = ANSWERS[kind](_newest_first(folders), *rest)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(told))
    return 0


def _newest_first(folders: str) -> list[Path]:
    """Journals in the order of the last record in each; without those of controllers that never led, if others are."""
    known = sorted(map(Path, json.loads(folders)), key=_written, reverse=True)
    return [folder for folder in known if _written(folder)] or known[:1]


def _written(folder: Path) -> float:
    return max((file.path.stat().st_mtime for file in segments(folder)), default=0.0)


def _history(folders: Sequence[Path], seconds: str, begin: str = "", end: str = "") -> dict[str, Any]:
    now = time.time()
    part = (float(begin), float(end)) if begin else (now - float(seconds), now)
    found, *others = (history(folder, *part) for folder in folders)
    for other in others:
        found.take(other)
    return found.to_dict()


def _explain(folders: Sequence[Path], job: str, uid: str) -> dict[str, Any]:
    """A job's past; of others' jobs no names, if it is told to one user only."""
    whose = None if int(uid) == NO_UID else int(uid)
    *newer, last = folders
    for folder in newer:
        with suppress(UnknownJob):
            return _told(explain(folder, job, whose))
    return _told(explain(last, job, whose))


def _told(found: Explanation) -> dict[str, Any]:
    told = found.to_dict()
    return {"job": found.job, "words": delay_words(found), "operations": told["operations"][-MOST_OPERATIONS:]}


def _compare(folders: Sequence[Path], policy: str, seconds: str) -> dict[str, Any]:
    from penstock.lookback.shadow import shadow  # noqa: PLC0415 - loads compiled kernels

    found = shadow(folders[0], [policy], since=time.time() - float(seconds))
    return found.to_dict()


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {"history": _history, "explain": _explain, "compare": _compare}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
