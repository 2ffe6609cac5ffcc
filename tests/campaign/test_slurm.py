"""In jobs of a real Slurm, brought up on this machine: nothing is lost, nothing repeated, and nothing left behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from advise import world
from campaign.small import small
from penstock.advise import advise
from penstock.campaign import remote as elsewhere
from penstock.campaign import run_campaign, slurm
from penstock.campaign.executor import Here, executor
from penstock.campaign.slurm import JobRequest, read_request
from penstock.campaign.store import Store
from penstock.errors import InvalidOption

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
MANY = [{"generate": "synthetic", "set": {"horizon": 300_000}, "seeds": "1-250"}]


def no_slurm():
    """Why Slurm cannot be brought up here, or None if it can."""
    for package in ("distributed", "dask_jobqueue", "cryptography"):
        if find_spec(package) is None:
            return f"{package} is not installed"
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"Slurm is not installed: no {', '.join(missing)}"
    if not any(Path("/usr/lib").glob("*/slurm-wlm/auth_munge.so")):
        return "Slurm has no plugin for munge: slurm-wlm-basic-plugins is not installed"
    return "a Slurm of one's own needs root" if os.getuid() != 0 else None


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """The Slurm of these tests: three nodes of two cores."""
    if reason := no_slurm():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("slurm")
    subprocess.run([SCRIPTS / "slurm-up.sh", folder, "3", "2"], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        patch.setattr(slurm, "LOOK_SECONDS", 1.0)
        yield
        subprocess.run([SCRIPTS / "slurm-down.sh", folder], check=True)


def call(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def jobs(*states):
    return call("squeue", "-h", "-o", "%A", *(["-t", ",".join(states)] if states else [])).split()


def wait_for(condition, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError("waited in vain")


def place(folder, request="jobs=3,interface=lo"):
    made: Any = executor(f"slurm={request}")
    made.logs = folder / "logs"
    return made


@pytest.mark.slow
@pytest.mark.long
def test_a_job_killed_in_the_middle_loses_nothing_and_repeats_nothing(tmp_path, queue):
    campaign = small(workloads=MANY, plans=[{"sharing": ["fair-share", "fcfs"]}])
    folder = tmp_path / "far"
    killed: list[Any] = []

    def kill(report):
        if report.ran >= 100 and not killed:
            wait_for(lambda: len(jobs("RUNNING")) == 3)
            killed.append(jobs("RUNNING")[0])
            call("scancel", "--signal=KILL", "--full", killed[0])

    report = run_campaign(campaign, folder, on=place(folder), progress=kill)
    assert (report.runs, report.ran, report.failed) == (500, 500, 0)
    keys = Counter(key for part in Store(folder).parts() for key in pq.read_table(part)["key"].to_pylist())
    assert len(keys) == 500
    assert set(keys.values()) == {1}
    run_campaign(campaign, tmp_path / "here", workers=2)
    assert (folder / "results.parquet").read_bytes() == (tmp_path / "here" / "results.parquet").read_bytes()
    logs = {log.stem for log in (folder / "logs").glob("*.log")}
    assert killed[0] in logs
    assert len(logs) >= 4  # another job took the place of the one that was killed
    assert not list((folder / "logs").glob(".*"))  # certificates
    assert not jobs()


@pytest.mark.slow
def test_advice_from_jobs_is_that_of_this_machine(tmp_path, queue):
    site = world.site(2, 0.3, days=4.0, per_day=6.0)
    far = advise(site, sharing=["fcfs"], buffer=False, place=place(tmp_path, "jobs=1,interface=lo"))
    here = advise(site, sharing=["fcfs"], buffer=False, place=Here())
    assert {**far.to_dict(), "seconds": 0} == {**here.to_dict(), "seconds": 0}
    wait_for(lambda: not jobs())


@pytest.mark.slow
def test_jobs_that_cannot_start_are_waited_for(tmp_path, queue, monkeypatch, capsys):
    monkeypatch.setattr(elsewhere, "PATIENCE", 1.0)
    made = place(tmp_path / "out", "jobs=1,cores=2,memory=1GB,interface=lo,queue=batch")
    shown = []

    def show(words):
        shown.append(words)
        if "squeue's reason: PartitionDown" in words and len(shown) > 5:
            call("scontrol", "update", "PartitionName=batch", "State=UP")

    made.show = show
    call("scontrol", "update", "PartitionName=batch", "State=DOWN")
    report = run_campaign(small(), tmp_path / "out", on=made)
    assert (report.ran, report.failed) == (12, 0)
    said = capsys.readouterr().err
    assert "none of 1 Slurm jobs has started; squeue's reason: PartitionDown (1) (for " in said
    assert "still waiting" in said
    assert not jobs()


@pytest.mark.slow
def test_jobs_that_end_at_once_are_not_submitted_for_ever(tmp_path, queue):
    made = place(tmp_path / "out")
    with (
        import_module("dask.config").set({"jobqueue.slurm.python": "/no/such/python"}),
        pytest.raises(
            InvalidOption, match=r"Slurm jobs end before any work is done; .*/\d+\.log ends with: .*/no/such"
        ),
    ):
        run_campaign(small(), tmp_path / "out", on=made)
    assert not jobs()


@pytest.mark.slow
def test_an_interrupt_cancels_the_jobs(tmp_path, queue):
    (tmp_path / "c.yaml").write_text(small(workloads=MANY).text)
    words = ["campaign", tmp_path / "c.yaml", "-o", tmp_path / "out", "--on", "slurm=jobs=4,cores=2,interface=lo"]
    process = subprocess.Popen([sys.executable, "-m", "penstock", *words], stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: jobs("RUNNING") and jobs("PENDING"), 60)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "interrupted; what was found is in" in told
    assert "Traceback" not in told
    assert not jobs()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("request_", "words"),
    [("queue=nowhere", "invalid partition specified: nowhere"), ("cores=99", "[Nn]ode configuration is not available")],
)
def test_jobs_that_slurm_does_not_take(tmp_path, queue, request_, words):
    with pytest.raises(InvalidOption, match=f"Slurm does not take jobs with cores=.*,memory=.*GB: .*{words}"):
        run_campaign(small(), tmp_path / "out", on=place(tmp_path / "out", f"interface=lo,{request_}"))


def test_requests():
    assert read_request("") == JobRequest()
    assert read_request("jobs=3, cores=8,walltime=1-00:00:00,memory=16 GB,account=a.b,interface=ib0") == JobRequest(
        3, 8, "16 GB", "1-00:00:00", None, "a.b", "ib0"
    )
    assert read_request("cores=8", workers=17).jobs == 3


@pytest.mark.parametrize(
    ("request_", "workers", "words"),
    [
        ("jbos=3", None, r"--on slurm has no 'jbos'.*did you mean 'jobs'\?.*known: jobs, cores"),
        ("jobs=0", None, "jobs is '0'; accepted is a whole number ≥ 1"),
        ("jobs", None, "jobs is ''; accepted is a whole number ≥ 1"),
        ("memory=lots", None, "memory is 'lots'; accepted is an amount for each job, such as 4GB"),
        ("walltime=soon", None, "walltime is 'soon'; accepted is a time as Slurm writes it"),
        ("queue=a b", None, "queue is 'a b'; accepted is the name of a partition"),
        ("jobs=1,jobs=2", None, "jobs is given twice"),
        ("jobs=1", 2, "--workers and jobs of --on slurm both say how many"),
    ],
)
def test_requests_that_are_refused(request_, workers, words):
    with pytest.raises(InvalidOption, match=words):
        read_request(request_, workers)


def test_a_machine_without_slurm(tmp_path, monkeypatch):
    monkeypatch.setattr(slurm, "need", lambda *packages: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidOption, match="--on slurm submits jobs with sbatch, which is not on the PATH"):
        executor("slurm")


def test_directories_that_a_job_script_cannot_hold(tmp_path):
    made = slurm.SlurmWorkers(JobRequest())
    made.logs = tmp_path / "my results" / "logs"
    with pytest.raises(InvalidOption, match="my results/logs has characters that a job script cannot hold"):
        made._logs()
