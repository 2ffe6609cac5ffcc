"""What is measured in a process of its own: memory, and all that is imported on the way.

`python -m benchmarks.children FUNCTION ARGUMENTS` prints what the function returns, as JSON. Nothing is imported
before it is needed, so that the clock sees what a user waits for.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

LONG_RUNS = {"walltime": "literature", "end": "compute"}  # of checkpoints: as many phases as a site has


def load_trace(path: str) -> dict[str, float]:
    """Load a scenario; count the time from the first use of the loader, with its imports."""
    import penstock  # noqa: PLC0415

    clock, cpu = time.perf_counter(), time.process_time()
    scenario = penstock.load(path)
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    phases = sum(len(each.phases) for each in scenario.applications)
    return {"phases": phases, "clock": clock, "seconds": min(clock, cpu), "peak": peak()}


def simulate(window: str) -> dict[str, float]:
    """A whole run of a long window: the document is short, its loops are not."""
    import penstock  # noqa: PLC0415

    result = penstock.simulate(penstock.Scenario.from_document(_looping(float(window))))
    return {"events": result.events, "seconds": result.seconds, "peak": peak()}


def loop_alone(window: str) -> dict[str, float]:
    """The same run without metrics and bounds, and what the loop itself adds to the memory held before it."""
    import penstock  # noqa: PLC0415
    from penstock.engine.compile import compile_scenario  # noqa: PLC0415
    from penstock.engine.link.execution import execute  # noqa: PLC0415
    from penstock.policies.sharing import find  # noqa: PLC0415
    from penstock.policies.sharing.policy import Outlook  # noqa: PLC0415

    program = compile_scenario(penstock.Scenario.from_document(_looping(float(window))))
    policy = find("fair-share")
    before = peak()
    run = execute(program, policy, Outlook(program.begin, program.end, program.work.size))
    return {"events": run.events, "before": before, "peak": peak()}


def size_static(seed: str, mtbf: str, load: str) -> dict[str, float]:
    """Size a buffer with fixed shares for the checkpoints of P5; the solvers are imported on the way."""
    import penstock  # noqa: PLC0415
    from penstock.studies.sizing import size_buffer  # noqa: PLC0415

    scenario = penstock.generate("checkpoints", int(seed), mtbf=float(mtbf), load=float(load), **LONG_RUNS)
    clock, cpu = time.perf_counter(), time.process_time()
    found = size_buffer(scenario, "static")
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    return {"events": found.events, "clock": clock, "seconds": min(clock, cpu), "peak": peak()}


def campaign(runs: str) -> dict[str, float]:
    """A campaign of tiny runs on two processes, with a number kept for each application, and the reading of it."""
    import tempfile  # noqa: PLC0415

    from penstock.campaign import Campaign, read_results, run_campaign, summarise  # noqa: PLC0415

    plans = ["fair-share", "fcfs", "greedy-yield", "set-10"]
    workload = {
        "generate": "synthetic",
        "set": {"horizon": 3_000, "pressure": [0.5, 1.0]},
        "seeds": f"1-{int(runs) // 8}",
    }
    document = {
        "version": 1,
        "name": "tiny",
        "workloads": [workload],
        "plans": [{"sharing": plans, "bounds": False}],
        "metrics": ["min_yield", "efficiency", "yield"],
    }
    with tempfile.TemporaryDirectory() as folder:
        report = run_campaign(Campaign.from_document(document), folder, workers=2)
        entries = summarise(read_results(folder))
    return {"runs": report.ran, "entries": len(entries), "failed": report.failed, "peak": peak()}


def peak() -> float:
    """The most memory this process has held, in MB; the kernel's own account of this program alone."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def _looping(window: float) -> dict[str, Any]:
    """60 applications that iterate forever, with an I/O pressure of about 0.8."""
    draw = random.Random(1)
    applications = []
    for index in range(60):
        iteration, share = draw.uniform(500, 1500), draw.uniform(0, 1.6) / 60
        body = [{"compute": iteration * (1 - share)}, {"write": iteration * share}]
        phases = [{"compute": draw.uniform(0, iteration)}, {"repeat": "forever", "phases": body}]
        applications.append({"name": f"job-{index + 1}", "phases": phases})
    return {
        "version": 1,
        "platform": {"bandwidth": 1},
        "window": {"begin": 0, "end": window},
        "seed": 1,
        "noise": 0.5,
        "applications": applications,
    }


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
