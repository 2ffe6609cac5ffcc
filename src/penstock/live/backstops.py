"""Limits in the file system itself, behind the controller's: text for a site's own tool to apply, never applied by us.

A backstop is loose, a quarter above what is granted, so that it is never what paces a job that keeps to its grant; it
stops programs that nothing paces. It is coarse and slow: what changes little is left as it is, and nobody is asked more
often than every half minute.

Lustre's token bucket filter counts RPCs, on every object storage server and there in every CPU partition by itself, so

    N = ⌈1.25 · grant / (bytes of an RPC · servers · partitions)⌉, at least 4.

GPFS has classes of filesets, so there accounts are limited, in MB/s.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penstock.errors import PenstockError
from penstock.files import write_whole

HEADROOM = 1.25
LEAST_RPCS, MOST_RPCS = 4, 65_535  # per second; the most that every version of Lustre takes
LEAST_MBS = 16
LITTLE = 0.1  # a limit that would change by less is left as it is
SHORTEST = 30.0  # seconds between two looks
PARAMETER = "ost.OSS.ost_io.nrs_tbf_rule"
_VERSION = 1
_JOB = re.compile(r"[A-Za-z0-9_]{1,12}", re.ASCII)  # a rule's name has 15 letters at most, these and no others
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,30}", re.ASCII)


class BadState(PenstockError):
    """A file that is no memory of an earlier look."""


class Limit(NamedTuple):
    """One of them: of whom, and how much."""

    subject: str
    amount: int


Limits = dict[str, Limit]  # by the name of the rule or class


@dataclass(frozen=True)
class Lustre:
    """What an RPC is, and how many buckets there are of each."""

    rpc: float = 4 * 2**20
    servers: int = 1
    partitions: int = 1

    def limit(self, grant: float) -> int:
        """RPCs per second of one bucket.

        >>> Lustre(rpc=4e6, servers=2, partitions=4).limit(3.2e9)
        125
        """
        wanted = math.ceil(HEADROOM * grant / (self.rpc * self.servers * self.partitions))
        return min(MOST_RPCS, max(LEAST_RPCS, wanted))

    def limits(self, jobs: Iterable[Mapping[str, Any]]) -> tuple[Limits, list[str]]:
        """A rule for each active job, and the jobs that can have none, for their names are no words."""
        found, left_out = {}, []
        for job, grant in _granted(jobs, "job").items():
            if _JOB.fullmatch(job):
                found[f"ps_{job}"] = Limit(job, self.limit(grant))
            else:
                left_out.append(job)
        return found, left_out

    @staticmethod
    def commands(before: Limits, after: Limits) -> list[str]:
        """What to run on every object storage server."""
        said = [f"stop {name}" for name in before if name not in after or before[name].subject != after[name].subject]
        for name, limit in after.items():
            if name not in before or before[name].subject != limit.subject:
                said.append(f"start {name} jobid={{{limit.subject}}} rate={limit.amount}")
            elif before[name] != limit:
                said.append(f"change {name} rate={limit.amount}")
        return [f'lctl set_param {PARAMETER}="{each}"' for each in said]


@dataclass(frozen=True)
class Gpfs:
    """A device and a pool of it, and the class of each account that is to be limited."""

    device: str
    pool: str
    classes: Mapping[str, str]  # account: class

    def __post_init__(self) -> None:
        for word in (self.device, self.pool, *self.classes.values()):
            if not _NAME.fullmatch(word):
                raise PenstockError(f"{word!r} is no name of GPFS; letters, digits, _ and - are accepted")

    def limits(self, jobs: Iterable[Mapping[str, Any]]) -> tuple[Limits, list[str]]:
        """A throttle for each class, and the accounts that have jobs and no class."""
        granted = _granted(jobs, "account")
        found = {
            name: Limit(account, max(LEAST_MBS, math.ceil(HEADROOM * granted.get(account, 0.0) / 1e6)))
            for account, name in self.classes.items()
        }
        return found, sorted(account for account in granted if account and account not in self.classes)

    def commands(self, before: Limits, after: Limits) -> list[str]:
        """What to run once, on any node of the cluster."""
        place = f"{self.device} --pool {self.pool}"
        said = [f"throttle delete {place} --class {name} -C all" for name in before if name not in after]
        for name, limit in after.items():
            if name not in before:
                said.append(f"throttle create {place} --class {name} -C all --maxmbs {limit.amount}")
            elif before[name].amount != limit.amount:
                said.append(f"throttle update {place} --class {name} -C all --maxmbs {limit.amount}")
        return [f"mmqos {each}" for each in said]


def _granted(jobs: Iterable[Mapping[str, Any]], key: str) -> dict[str, float]:
    """What active jobs may use, added up by job or account: a grant, or what is charged if that is more."""
    found: dict[str, float] = {}
    for job in jobs:
        if job["active"] and job.get("kind", "bytes") == "bytes":  # not operations on names
            name = str(job[key])
            found[name] = found.get(name, 0.0) + max(float(job["rate"]), float(job["charge"]))
    return found


def settled(before: Limits, after: Limits) -> Limits:
    """The limits from now on: one that would change little stays as it was."""

    def kept(name: str, limit: Limit) -> Limit:
        old = before.get(name)
        if old is None or old.subject != limit.subject:
            return limit
        return old if abs(limit.amount - old.amount) < LITTLE * old.amount else limit

    return {name: kept(name, limit) for name, limit in after.items()}


def read_state(path: Path) -> Limits:
    """What was said so far; nothing if there is no such file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["version"] != _VERSION:
            raise ValueError
        return {str(name): Limit(str(each[0]), int(each[1])) for name, each in document["limits"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise BadState(f"{path}: is no state of an earlier run; remove it, and all limits are said anew") from None


def write_state(path: Path, limits: Limits) -> None:
    """Remember what was said."""
    document = {"version": _VERSION, "limits": {name: list(limit) for name, limit in limits.items()}}
    write_whole(path, json.dumps(document, indent=1).encode() + b"\n")
