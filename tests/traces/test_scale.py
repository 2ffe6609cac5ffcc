"""A thousand logs: seconds of processor time and memory, in a process of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.timing
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
