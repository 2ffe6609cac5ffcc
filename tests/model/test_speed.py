"""What is promised about loading: seconds and memory, measured in a fresh process so that imports count."""

import json
import subprocess
import sys

import numpy as np
import pytest

from penstock.model import Application, Platform, Scenario, Trace, save

MEASURE = """
import json, pathlib, re, sys, time
started = time.perf_counter()
from penstock.model import load
imported, worked = time.perf_counter(), time.process_time()
before = {name for name in ("pyarrow", "yaml") if name in sys.modules}
scenario = load(sys.argv[1])
print(json.dumps({
    "import": imported - started,
    "load": time.process_time() - worked,
    # Of this process alone: getrusage begins with what the one that started it had.
    "megabytes": int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1000,
    "phases": sum(len(application.phases) for application in scenario.applications),
    "imported_early": sorted(before),
}))
"""


def measured(path):
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def written(path, phases, applications=100):
    each = phases // applications
    draw = np.random.default_rng(1)
    kind = np.arange(each) % 3
    entries = [
        Application(name=f"a{index}", phases=Trace(kind, 0.1 + draw.random(each))) for index in range(applications)
    ]
    save(Scenario(version=1, platform=Platform(bandwidth=1), applications=tuple(entries)), path)
    return path


def test_44_000_phases(tmp_path):
    path = written(tmp_path / "jobs.yaml", 44_000)
    figures = measured(path)
    assert figures["phases"] == 44_000
    assert figures["load"] < 0.5
    assert figures["imported_early"] == []


@pytest.mark.slow
def test_5_million_phases(tmp_path):
    figures = measured(written(tmp_path / "jobs.yaml", 5_000_000))
    assert figures["phases"] == 5_000_000
    assert figures["load"] < 10
    assert figures["megabytes"] < 1000
