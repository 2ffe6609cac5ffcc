"""Workers in Slurm jobs, submitted for a campaign and cancelled with it: `--on slurm=jobs=3,cores=8,queue=batch`.

The Dask scheduler runs in this process. Jobs start when Slurm lets them, and work goes to those that run; one that ends
before the campaign does (its time was up, its node failed, somebody cancelled it) is replaced. What options leave open
is as dask-jobqueue is configured at the site. Traffic is encrypted, and workers have certificates made for the
campaign: a Dask scheduler does for anybody whom it lets in whatever they ask.
"""

from __future__ import annotations

import contextlib
import logging
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

from penstock.campaign.executor import Executor, LostUnit, Perform
from penstock.campaign.perform import RunRow
from penstock.campaign.remote import Elsewhere, need
from penstock.campaign.units import Unit
from penstock.errors import InvalidOption
from penstock.model.problems import near

Cluster: TypeAlias = Any  # Dask is not typed
LOOK_SECONDS = 5.0  # between questions to Slurm, which has others to serve
COMMAND_SECONDS = 30.0
END_SECONDS = 15.0
MOST_IN_VAIN = 3  # times that jobs ended and nothing had come of them
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # a unit is tried again once, and then alone
    "distributed.scheduler.worker-ttl": None,  # a worker in a long run may be silent; one that is lost hangs up
    "distributed.deploy.lost-worker-timeout": "10 days",  # we ask Slurm, and end no job whose worker begins anew
}

_ROLES = ("scheduler", "worker", "client")
_COUNT = re.compile(r"[1-9]\d{0,5}")
_MEMORY = re.compile(r"[1-9]\d*(\.\d+)?\s?[kMGT]i?B", re.IGNORECASE)
_TIME = re.compile(r"(\d+-)?\d+(:\d\d){0,2}")
_WORD = re.compile(r"[\w.,:@+-]+")


@dataclass(frozen=True)
class JobRequest:
    """What is asked of Slurm; None is for the site to say."""

    jobs: int = 1
    cores: int = 1
    memory: str | None = None
    walltime: str | None = None
    queue: str | None = None
    account: str | None = None
    interface: str | None = None

    @property
    def words(self) -> str:
        """What each job has."""
        return f"cores={self.cores},memory={self.memory or self.usual_memory}"

    @property
    def usual_memory(self) -> str:
        """What a job has if nobody says: a worker takes a quarter of it."""
        return f"{2 * self.cores}GB"


_ACCEPTED = {
    "jobs": (_COUNT, "a whole number ≥ 1"),
    "cores": (_COUNT, "a whole number ≥ 1"),
    "memory": (_MEMORY, "an amount for each job, such as 4GB"),
    "walltime": (_TIME, "a time as Slurm writes it, such as 00:30:00"),
    "queue": (_WORD, "the name of a partition"),
    "account": (_WORD, "the name of an account"),
    "interface": (_WORD, "the name of a network interface, such as ib0"),
}


def make(argument: str, workers: int | None) -> Executor:
    """Workers in jobs as asked for; `workers` of them at least."""
    need("dask", "distributed", "dask_jobqueue", "cryptography")
    request = read_request(argument, workers)
    for program in ("sbatch", "squeue", "scancel"):
        if shutil.which(program) is None:
            raise InvalidOption(f"--on slurm submits jobs with {program}, which is not on the PATH of this machine")
    return SlurmWorkers(request)


def read_request(argument: str, workers: int | None = None) -> JobRequest:
    """The request that `--on slurm=ARGUMENT` and `--workers` make.

    >>> read_request("queue=batch,cores=4", workers=10)
    JobRequest(jobs=3, cores=4, memory=None, walltime=None, queue='batch', account=None, interface=None)
    """
    given: dict[str, Any] = {}
    for piece in filter(None, argument.split(",")):
        name, _, value = (part.strip() for part in piece.partition("="))
        if name not in _ACCEPTED:
            raise InvalidOption(f"--on slurm has no {name!r}{near(name, _ACCEPTED)}; known: {', '.join(_ACCEPTED)}")
        pattern, accepted = _ACCEPTED[name]
        if not pattern.fullmatch(value):
            raise InvalidOption(f"--on slurm: {name} is {value!r}; accepted is {accepted}")
        if name in given:
            raise InvalidOption(f"--on slurm: {name} is given twice")
        given[name] = int(value) if pattern is _COUNT else value
    if workers is not None:
        if "jobs" in given:
            raise InvalidOption("--workers and jobs of --on slurm both say how many; give one of them")
        given["jobs"] = -(-workers // given.get("cores", 1))
    return JobRequest(**given)


class SlurmJob(NamedTuple):
    """A job as squeue shows it."""

    number: str
    state: str
    reason: str


class SlurmWorkers(Elsewhere):
    """Workers in jobs of our own."""

    def __init__(self, request: JobRequest) -> None:
        super().__init__()
        self.request = request
        self.name = f"penstock-{uuid4().hex[:12]}"  # of our jobs, and of no others

    @property
    def words(self) -> str:
        """As in the protocol."""
        return f"{self.request.jobs} Slurm jobs × {self.request.cores} cores"

    def feed(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """Hand units to the workers of our jobs, and see that there are jobs."""
        from penstock.campaign.dask_feeder import Feeder, connect  # noqa: PLC0415

        self.show("starting a Dask scheduler")
        with self._cluster() as cluster, connect(cluster) as client:
            keeper = _Keeper(self, cluster)
            for outcome in Feeder(client, perform, units, keeper.look).outcomes():
                keeper.in_vain = 0
                yield outcome

    @contextlib.contextmanager
    def _cluster(self) -> Iterator[Cluster]:
        """The scheduler and its jobs; none of them is left behind."""
        import dask.config  # noqa: PLC0415

        _load()  # with its settings, which must be there before ours
        logs = self._logs()
        try:
            with (
                tempfile.TemporaryDirectory(prefix=".keys-", dir=logs) as keys,
                dask.config.set(_SETTINGS),
                _started(self, logs, Path(keys)) as cluster,
            ):
                _check_script(cluster.job_script(), self.request)
                cluster.scale(jobs=self.request.jobs)
                yield cluster
        finally:
            self._cancel()

    def _logs(self) -> Path:
        logs = self.logs.absolute()
        if shlex.quote(str(logs)) != str(logs):
            raise InvalidOption(f"{logs} has characters that a job script cannot hold; give a directory without them")
        logs.mkdir(parents=True, exist_ok=True)
        return logs

    def jobs(self) -> list[SlurmJob] | None:
        """Those of our jobs that wait or run; None if Slurm does not answer."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            lines = _call("squeue", "-h", f"--name={self.name}", "-o", "%A|%T|%r").splitlines()
            found = [SlurmJob(*line.split("|", 2)) for line in lines]
            return [job for job in found if job.state in ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED")]
        return None

    def log(self) -> str:
        """The last line of the last log, in words."""
        written = [path for path in self.logs.glob("*.log") if path.stat().st_size]
        if not written:
            return f"and wrote nothing into {self.logs}"
        last = max(written, key=lambda path: path.stat().st_mtime)
        return f"{last} ends with: {last.read_text(errors='replace').strip().splitlines()[-1]}"

    def _cancel(self) -> None:
        """Cancel what is left, also a job that was being submitted when we were interrupted, and wait for its end."""
        end = time.monotonic() + END_SECONDS
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            _call("scancel", f"--name={self.name}")
            while _call("squeue", "-h", f"--name={self.name}") and time.monotonic() < end:
                time.sleep(0.2)


class _Keeper:
    """Sees that as many jobs wait or run as were asked for."""

    def __init__(self, slurm: SlurmWorkers, cluster: Cluster) -> None:
        self._slurm, self._cluster = slurm, cluster
        self._looked = time.monotonic()
        self.in_vain = 0

    def look(self, threads: Mapping[str, int]) -> None:
        """Replace jobs that have ended; tell what is waited for if there are no workers."""
        if threads:
            self._slurm.goes_on()
        else:
            self._slurm.show(f"waiting for the first of {self._slurm.request.jobs} Slurm jobs")
        if time.monotonic() - self._looked < LOOK_SECONDS:
            return
        self._looked = time.monotonic()
        jobs = self._slurm.jobs()
        if jobs is None:
            self._slurm.waits("squeue does not answer")
            return
        self._replace({job.number for job in jobs})
        if not threads:
            self._slurm.waits(self._waiting(jobs))

    def _replace(self, present: set[str]) -> None:
        submitted = {name: job.job_id for name, job in self._cluster.workers.items()}
        ended = [name for name in self._cluster.worker_spec if name not in submitted or submitted[name] not in present]
        ended = [name for name in ended if name not in submitted or submitted[name] is not None]
        if not ended:
            return
        self.in_vain += 1
        if self.in_vain > MOST_IN_VAIN:
            raise InvalidOption(f"Slurm jobs end before any work is done; {self._slurm.log()}")
        self._cluster.sync(self._cluster.scale_down, ended)
        self._cluster.scale(jobs=self._slurm.request.jobs)

    def _waiting(self, jobs: list[SlurmJob]) -> str:
        asked = self._slurm.request.jobs
        if any(job.state == "RUNNING" for job in jobs):
            return (
                f"{sum(job.state == 'RUNNING' for job in jobs)} of {asked} Slurm jobs run, but no worker has reported"
            )
        reasons = Counter(job.reason for job in jobs)
        told = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common()) or "not in the queue yet"
        return f"none of {asked} Slurm jobs has started; squeue's reason: {told}"


def _load() -> None:
    """Import dask-jobqueue, which then wants interrupts to end the process at once; they are ours to handle."""
    before = signal.getsignal(signal.SIGINT)
    import_module("dask_jobqueue")
    signal.signal(signal.SIGINT, before)


def _started(slurm: SlurmWorkers, logs: Path, keys: Path) -> Cluster:
    """A scheduler here, with no jobs yet."""
    import dask.config  # noqa: PLC0415
    from dask_jobqueue.slurm import SLURMCluster  # noqa: PLC0415

    request = slurm.request
    site = dask.config.get("jobqueue.slurm", {})
    # A job that Slurm starts again by itself would be in the way of the one that replaces it.
    extra = [*(site.get("job-extra-directives") or []), f"--output={logs}/%j.log", "--no-requeue"]
    try:
        return SLURMCluster(
            cores=request.cores,
            processes=request.cores,
            memory=request.memory or site.get("memory") or request.usual_memory,
            walltime=request.walltime,
            queue=request.queue,
            account=request.account,
            interface=request.interface,
            job_name=slurm.name,
            job_extra_directives=extra,
            worker_extra_args=[*(site.get("worker-extra-args") or []), "--no-dashboard"],
            scheduler_options={"dashboard_address": "127.0.0.1:0", **(site.get("scheduler-options") or {})},
            security=_security(keys),
            silence_logs=logging.CRITICAL,
        )
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error.__cause__ or error).split())
        raise InvalidOption(f"no Dask scheduler can be started on this machine: {reason}") from error


def _security(folder: Path) -> Any:
    """Certificates for this campaign alone, in files that only we can read."""
    from distributed.security import Security  # noqa: PLC0415

    temporary: Any = Security.temporary
    made = temporary().get_tls_config_for_role("worker")
    files = {part: folder / part for part in ("ca_file", "cert", "key")}
    for part, file in files.items():
        file.touch(mode=0o600)
        file.write_text(made[part])
    roles = {f"tls_{role}_{part}": str(files[part]) for role in _ROLES for part in ("cert", "key")}
    trusted: Any = Security
    return trusted(tls_ca_file=str(files["ca_file"]), require_encryption=True, **roles)


def _check_script(script: str, request: JobRequest) -> None:
    """Have Slurm look at a job without submitting it."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
        file.write(script)
        file.flush()
        try:
            _call("sbatch", "--test-only", file.name)
        except subprocess.CalledProcessError as error:
            told = [line.partition("error: ")[2] or line for line in error.stderr.strip().splitlines()]
            raise InvalidOption(f"Slurm does not take jobs with {request.words}: {'; '.join(told)}") from None
        except subprocess.TimeoutExpired:
            raise InvalidOption(f"Slurm does not answer: sbatch took more than {COMMAND_SECONDS:.0f} s") from None


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=COMMAND_SECONDS)
    return done.stdout
