"""What the controller's bridge asks of Slurm and tells it, by Slurm's own commands; each has a time limit."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from typing import NamedTuple

from penstock.errors import PenstockError
from penstock.wire.hostlist import BadHostlist, expand

SQUEUE_SECONDS = 10.0
SCONTROL_SECONDS = 5.0
# Whoever has processes on nodes; a job that was requeued and waits has none.
_PRESENT = "R,CG,S,ST,CF,RS,SI,SO"
_STARTED = ("R", "S")
_FIELDS = ("JobID", "UserID", "StateCompact", "NumNodes", "Account", "TimeLeft", "RestartCnt", "NodeList")
_PENDING = ("JobID", "UserID", "NumNodes", "TimeLimit", "Name", "Comment")
_APART = "\x1f"  # in no name and no comment that anybody would write
_TIME = re.compile(r"(?:(?P<days>\d+)-)?(?:(?:(?P<hours>\d+):)?(?P<minutes>\d+):)?(?P<seconds>\d+)")

Run = Callable[[Sequence[str], float], str]


class SlurmSilent(PenstockError):
    """A command of Slurm failed, or did not answer in time."""


class QueuedJob(NamedTuple):
    """A job that has nodes; `started`: its processes may run."""

    job: str
    restart: int
    uid: int
    nodes: int
    node_names: tuple[str, ...] = ()
    account: str = ""
    seconds_left: float | None = None
    started: bool = True


class PendingJob(NamedTuple):
    """A job that waits for nodes."""

    job: str
    uid: int
    nodes: int
    seconds: float | None
    name: str
    comment: str


class Licenses(NamedTuple):
    """How many there are of one kind, and how many are held by jobs that run."""

    total: int
    used: int


def run(command: Sequence[str], seconds: float) -> str:
    """What a command prints."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise SlurmSilent(f"{command[0]} is not on the PATH") from None
    except subprocess.TimeoutExpired:
        raise SlurmSilent(f"{command[0]} did not answer within {seconds:g} s") from None
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()
        raise SlurmSilent(f"{' '.join(command[:2])}: {said[0] if said else f'exit code {error.returncode}'}") from None
    return done.stdout


class Slurm:
    """The commands of Slurm that a bridge uses."""

    def __init__(self, run: Run = run) -> None:
        self._run = run

    def jobs(self) -> list[QueuedJob]:
        """All jobs that have nodes."""
        wanted = ",".join(f"{field}:|" for field in _FIELDS)
        return read_jobs(self._run(["squeue", "-h", "-a", "-t", _PRESENT, "-O", wanted], SQUEUE_SECONDS))

    def pending(self) -> list[PendingJob]:
        """All jobs that wait for nodes; the comment is what its user wrote."""
        wanted = ",".join(f"{field}:{_APART}" for field in _PENDING)
        return read_pending(self._run(["squeue", "-h", "-a", "-t", "PD", "-O", wanted], SQUEUE_SECONDS))

    def licenses(self, name: str) -> Licenses:
        """How many there are of one kind."""
        text = self._run(["scontrol", "-o", "show", "licenses", name], SCONTROL_SECONDS)
        found = re.search(rf"LicenseName={re.escape(name)}\s+Total=(\d+)\s+Used=(\d+)", text)
        if found is None:
            raise SlurmSilent(f"Slurm has no licence {name!r}; slurm.conf needs Licenses={name}:100")
        return Licenses(int(found[1]), int(found[2]))

    def reserve(self, reservation: str, name: str, count: int, seconds: int) -> None:
        """Keep so many licences from being given to jobs, for so long; Slurm forgets it by itself."""
        what = [f"ReservationName={reservation}", f"Licenses={name}:{count}", f"EndTime=now+{seconds}seconds"]
        try:
            self._run(["scontrol", "update", *what], SCONTROL_SECONDS)
        except SlurmSilent:  # there is none, or one that is over
            self.release(reservation)
            flags = ["StartTime=now", "Flags=LICENSE_ONLY", "Users=root"]
            self._run(["scontrol", "create", "reservation", *what, *flags], SCONTROL_SECONDS)

    def release(self, reservation: str) -> None:
        """Give them back; whether there was one or not."""
        try:
            self._run(["scontrol", "delete", f"ReservationName={reservation}"], SCONTROL_SECONDS)
        except SlurmSilent:
            return

    def comment(self, job: str, text: str) -> None:
        """Set a job's comment, which its hooks are shown."""
        self._run(["scontrol", "update", f"JobId={job}", f"Comment={text}"], SCONTROL_SECONDS)


def read_jobs(text: str) -> list[QueuedJob]:
    """What squeue printed; a line that is none is left out, for it may be half of a comment.

    >>> read_jobs("6|1000|R|2|phys|5:00|1|n[1-2]|")[0].node_names
    ('n1', 'n2')
    """
    return [job for line in text.splitlines() if (job := _job(line.split("|"))) is not None]


def _job(words: list[str]) -> QueuedJob | None:
    if len(words) != len(_FIELDS) + 1 or not words[0].isdigit() or not words[1].isdigit() or not words[6].isdigit():
        return None
    job, uid, state, nodes, account, left, restart, names = words[:-1]
    try:
        listed = expand(names) if names not in ("", "(null)") else ()
    except BadHostlist:
        listed = ()
    known = "" if account == "(null)" else account
    count = int(nodes) if nodes.isdigit() else 1
    return QueuedJob(job, int(restart), int(uid), count, listed, known, seconds_of(left), state in _STARTED)


def read_pending(text: str) -> list[PendingJob]:
    """What squeue printed about jobs that wait; one whose comment has several lines is left out."""
    found = []
    for line in text.splitlines():
        words = line.split(_APART)
        if len(words) == len(_PENDING) + 1 and words[0].isdigit() and words[1].isdigit() and words[2].isdigit():
            comment = "" if words[5] == "(null)" else words[5]
            found.append(PendingJob(words[0], int(words[1]), int(words[2]), seconds_of(words[3]), words[4], comment))
    return found


def seconds_of(text: str) -> float | None:
    """A time as Slurm prints it; None for UNLIMITED and the like.

    >>> seconds_of("1-02:03:04"), seconds_of("5:00"), seconds_of("UNLIMITED")
    (93784.0, 300.0, None)
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    parts = {name: int(value or 0) for name, value in found.groupdict().items()}
    return float(((parts["days"] * 24 + parts["hours"]) * 60 + parts["minutes"]) * 60 + parts["seconds"])
