"""`python -m penstock.dashboard.answering KIND DIR …`: what a journal tells, as JSON, for the dashboard.

A process of its own at low priority: a journal of a week takes seconds to read, and viewers must not wait for that.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from penstock.errors import PenstockError
from penstock.lookback.explain import explain
from penstock.lookback.history import history
from penstock.report.live.history import delay_words

MOST_OPERATIONS = 200  # the last ones
NO_UID = -1


def main(kind: str, folder: str, *rest: str) -> int:
    """Print the answer, or in one sentence why there is none."""
    os.nice(10)
    try:
        told = ANSWERS[kind](folder, *rest)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(told))
    return 0


def _history(folder: str, seconds: str) -> dict[str, Any]:
    now = time.time()
    return history(folder, now - float(seconds), now).to_dict()


def _explain(folder: str, job: str, uid: str) -> dict[str, Any]:
    """A job's past; of others' jobs no names, if it is told to one user only."""
    found = explain(folder, job, None if int(uid) == NO_UID else int(uid))
    told = found.to_dict()
    return {"job": job, "words": delay_words(found), "operations": told["operations"][-MOST_OPERATIONS:]}


def _compare(folder: str, policy: str, seconds: str) -> dict[str, Any]:
    from penstock.lookback.shadow import shadow  # noqa: PLC0415 - loads compiled kernels

    found = shadow(folder, [policy], since=time.time() - float(seconds))
    return found.to_dict()


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {"history": _history, "explain": _explain, "compare": _compare}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
