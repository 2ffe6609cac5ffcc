"""A thousand logs: seconds of processor time and memory, in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

CODE = """
import json, resource, sys, time
from penstock.model import save
from penstock.traces import import_darshan
found = import_darshan(sys.argv[1])
save(found.scenario, sys.argv[2])
used = resource.getrusage(resource.RUSAGE_SELF)
logs = found.dropped + sum(each.job.logs for each in found.applications) + len(found.skipped)
status = open("/proc/self/status").read()  # what getrusage calls the peak includes that of the parent
peak = int(status.split("VmHWM:")[1].split()[0]) / 1e3
print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak": peak, "logs": logs}))
"""


def test_a_thousand_logs_take_five_seconds_and_150_megabytes(logs: Path, tmp_path: Path) -> None:
    files = sorted(logs.rglob("*.darshan"))
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(1000):
        shutil.copy(files[number % len(files)], folder / f"{number:04}.darshan")
    command = [sys.executable, "-c", CODE, str(folder), str(tmp_path / "s.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout)
    assert measured["logs"] == 1000
    assert measured["cpu"] < 5.0
    assert measured["peak"] < 150.0


SACCT = """
import sys
from penstock.traces.slurm.accounting import read_accounting
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
read_accounting(sys.argv[1])
before = peak()
print(len(read_accounting(sys.argv[2])), peak() - before)
"""


def test_a_large_sacct_file_is_never_in_memory_as_text(tmp_path: Path) -> None:
    """Steps are folded block by block while it is read; with all of its text at once it took 2.6 times its size."""
    small, large = _sacct(tmp_path / "small.txt", 40_000), _sacct(tmp_path / "large.txt", 160_000)
    done = subprocess.run(
        [sys.executable, "-c", SACCT, str(small), str(large)], capture_output=True, text=True, check=True
    )
    jobs, grown = map(int, done.stdout.split())
    assert jobs == 160_000
    assert grown < 1.6 * (large.stat().st_size - small.stat().st_size)


def _sacct(file: Path, jobs: int) -> Path:
    """Jobs of three steps each, with what Slurm prints of them."""
    tres = "cpu=00:00:01,energy=0,fs/disk=5M,mem=112992K,pages=0,vmem=112992K"
    when = "2026-11-02T08:00:00|2026-11-02T09:00:00|01:00:00"
    with file.open("w") as stream:
        stream.write("JobID|JobName|User|State|Start|End|Elapsed|NNodes|TRESUsageInTot|TRESUsageOutTot\n")
        for i in range(jobs):
            stream.write(f"{i}|sim|ada|COMPLETED|{when}|4||\n")
            stream.writelines(f"{i}.{step}|x||COMPLETED|{when}|1|{tres}|{tres}\n" for step in ("batch", "extern", "0"))
    return file
