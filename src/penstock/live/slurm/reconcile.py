"""What hooks forgot to say, found by comparing the controller's jobs with the queue.

Nothing is concluded from one comparison, since hooks are on their way. A job that runs and is unknown twice is
announced: after one comparison alone, a job that ends just then would be brought back to life. A job that is absent
from the queue twice is said to be ending, for its processes may still write; and only when no member of it has a lease
any more, its nodes are said to be over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.live.slurm.queue import QueuedJob
from penstock.wire.messages import Hook

TWICE = 2


class Reconciler:
    """Remembers which lives of jobs were unknown or absent the last time."""

    def __init__(self) -> None:
        self._absent: dict[tuple[str, int], int] = {}
        self._unknown: set[tuple[str, int]] = set()

    def compare(self, queue: Iterable[QueuedJob], announced: Sequence[Mapping[str, Any]]) -> list[Hook]:
        """What to tell the controller. `announced` is older than `queue`, so that what began since does no harm."""
        queued = {each.job: each for each in queue}
        known = {str(each["job"]): each for each in announced}
        unknown = {each[:2]: each for each in queued.values() if each.started and _is_news(each, known.get(each.job))}
        told = [_start(each) for life, each in unknown.items() if life in self._unknown]
        self._unknown = set(unknown)
        absent: dict[tuple[str, int], int] = {}
        for job, each in known.items():
            life = (job, int(each["restart"]))
            if job in queued and queued[job].restart <= life[1]:
                continue
            absent[life] = self._absent.get(life, 0) + 1
            if absent[life] >= TWICE and job not in queued:  # a start of a newer life says it all
                told += _over(job, life[1], each)
        self._absent = absent
        return told


def _is_news(job: QueuedJob, known: Mapping[str, Any] | None) -> bool:
    return known is None or int(known["restart"]) < job.restart


def _start(job: QueuedJob) -> Hook:
    return Hook(
        0,
        "job_start",
        job.job,
        uid=job.uid,
        nodes=max(1, job.nodes),
        seconds_left=job.seconds_left,
        account=job.account,
        restart=job.restart,
        node_names=job.node_names,
    )


def _over(job: str, restart: int, known: Mapping[str, Any]) -> list[Hook]:
    told = [] if known["ending"] else [Hook(0, "job_ending", job, uid=int(known["uid"]), restart=restart)]
    if known["leased"]:
        return told
    # A job whose nodes nobody named is over when as many have ended as it has.
    names = list(known["names"]) or [f"absent-{number}" for number in range(int(known["nodes"]))]
    return [*told, *(Hook(0, "job_end", job, node, uid=int(known["uid"]), restart=restart) for node in names)]
