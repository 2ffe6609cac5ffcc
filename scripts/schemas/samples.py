"""Answers of the commands that need no controller: each document by at least one call, on small scenarios."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from typer.main import get_command

from penstock.cli.group import app

ROOT = Path(__file__).resolve().parents[2]
WINDOW = """\
version: 1
platform: {bandwidth: 1}
window: {begin: 0, end: 100}
applications:
  - {name: a, phases: [{write: 0.5}, {compute: 3}]}
  - {name: b, phases: [{write: 2}, {repeat: forever, phases: [{compute: 9}, {write: 2}]}]}
"""
WHOLE = """\
version: 1
platform: {bandwidth: 1}
applications:
  - {name: a, phases: [{write: 1}, {compute: 1}, {write: 1}]}
  - {name: b, phases: [{write: 1}]}
"""
# Of this every command leaves something unused, and says so.
EVERYTHING = """\
version: 1
platform:
  bandwidth: 1
  io_nodes: {count: 1, bandwidth: 1, nodes: 1}
  targets: 4
  burst_buffer: {capacity: 1}
applications:
  - {name: a, walltime: 9, profile: {1: 1}, phases: [{write: 1}]}
"""
MACHINE = """\
version: 1
platform:
  io_nodes: {count: 2, bandwidth: 1, nodes: 4}
  targets: 3
applications:
  - {name: a, profile: {1: 1, 2: 2}, phases: [{write: 1}, {compute: 1}, {read: 1}]}
  - {name: b, profile: {1: 1}, phases: [{write: 1}]}
plan:
  mapping: {a: 0, b: 0}
  placement: {a: [0, 1], b: [1]}
  sharing: {target: fcfs}
"""
_JOBS = "".join(
    f"  - {{name: j{i}, release: {i * 4000}, profile: {{1: 1, 2: 2}}, phases: [{{compute: 999}}, {{write: 9000}}]}}\n"
    for i in range(80)
)
SITE = f"version: 1\nplatform: {{bandwidth: 2, targets: 2, nodes: 4}}\napplications:\n{_JOBS}"
NODELESS = f"{SITE}provenance: {{applications: {{'*': {{nodes: assumed}}}}}}\n"
CAMPAIGN = """\
version: 1
name: small
workloads:
  - {generate: chains, set: {m: [2, 3], n_max: 20}, seeds: 1-3}
plans: [fair-share, list-fifo, "refuses.py:refuses"]
metrics: [makespan, max_stretch]
"""
POLICY = "def refuses(view, rates):\n    raise ValueError('no')\n"

UNUSED_BY = (
    *("simulate", "compare", "optimum", "reference", "pack", "pack --compare", "allocate", "allocate --compare"),
    *("size-buffer", "size-buffer --curve", "buffer", "buffer --compare", "buffer --sweep"),
)
# Which document, and the words that print it. `--json` is added.
CALLS = (
    ("simulate", "simulate window.yaml"),
    ("simulate", "simulate whole.yaml --sharing fcfs"),
    ("simulate", "simulate window.yaml --evenness"),
    ("simulate", "simulate machine.yaml"),
    ("compare", "compare window.yaml --sharing fcfs,fair-share"),
    ("compare", "compare machine.yaml --sharing fcfs,fair-share"),
    ("compare", "compare whole.yaml --sharing fcfs,fair-share --optimum"),
    ("compare-workloads", "compare whole.yaml window.yaml --sharing fcfs,fair-share"),
    ("compare", "compare whole.yaml --sharing fcfs,fair-share --goal stretch --variants 20 --workers 1"),
    ("compare", "compare window.yaml --sharing fcfs,fair-share --reference --budget 1"),
    ("optimum", "optimum whole.yaml"),
    ("reference", "reference window.yaml --budget 1"),
    ("reference", "reference whole.yaml --budget 1"),
    ("attack", "attack fcfs --budget 3"),
    ("pack", "pack pack-night.yaml"),
    ("pack", "pack pack-night.yaml --backfill"),
    ("pack-compare", "pack pack-night.yaml --compare"),
    ("allocate", "allocate scratch-targets.yaml"),
    ("allocate", "allocate scratch-targets.yaml --without 0"),
    ("allocate-compare", "allocate scratch-targets.yaml --compare"),
    ("plan", "plan io-nodes-nvme.yaml --anew --trials 2"),
    ("plan", "plan io-nodes-nvme.yaml --anew --goal stretch"),
    ("size-buffer", "size-buffer burst-buffer.yaml --lead forever --schedule s.csv"),
    ("size-buffer", "size-buffer burst-buffer.yaml --lead forever --explain --partition dynamic"),
    ("size-buffer", "size-buffer burst-buffer.yaml --lead forever --partition isolated"),
    ("size-buffer", "size-buffer burst-buffer.yaml"),
    ("size-buffer-verify", "size-buffer burst-buffer.yaml --lead forever --verify s.csv"),
    ("size-buffer-curve", "size-buffer burst-buffer.yaml --curve"),
    ("size-buffer-curve", "size-buffer burst-buffer.yaml --curve --price-per-tb 1 --price-per-gbs 1"),
    ("buffer", "buffer burst-buffer.yaml --capacity 50%"),
    ("buffer-compare", "buffer burst-buffer.yaml --capacity 50% --compare"),
    ("buffer-sweep", "buffer burst-buffer.yaml --sweep"),
    *((command.replace(" --", "-"), f"{command} everything.yaml") for command in UNUSED_BY),
    ("profiles", "profiles profiles.csv"),
    ("profiles", "profiles profiles.csv --fit unimodal --counts 1-8"),
    ("decide", "decide decide-state.json"),
    ("generate-list", "generate"),
    ("import", "import darshan job.darshan -o log.yaml"),
    ("import", "import darshan job.darshan --slurm sacct.txt -o both.yaml"),
    ("import", "import slurm sacct.txt --io period=1h -o accounting.yaml"),
    ("import", "import swf jobs.swf --io apex --bandwidth 100GB/s -o model.yaml"),
    ("import", "import table transfers.csv -o table.yaml"),
    ("inspect", "inspect job.darshan"),
    ("inspect", "inspect log.yaml --check"),
    ("inspect", "inspect window.yaml"),
    ("advise", "advise site.yaml --sharing fcfs,greedy-com --workers 1"),
    ("advise", "advise nodeless.yaml --sharing fcfs --workers 1"),
    ("advise", "advise everything.yaml --sharing fcfs --workers 1"),
    ("advise", "advise job.darshan --sharing fcfs --workers 1"),
    (
        "advise",
        "advise week.csv --slurm week-sacct.txt --bandwidth 20GB/s --node-bandwidth 1GB/s --sharing greedy-com "
        "--workers 1",
    ),
    ("policies", "policies"),
    ("reproduce-list", "reproduce --list"),
    ("reproduce", "reproduce P2.fig5 --scale 0.001 --workers 1 -o experiment"),
    ("campaign", "campaign campaign.yaml -o one --workers 1"),
    ("campaign-status", "campaign status one"),
    ("campaign-table", "campaign table one"),
    ("campaign-table", "campaign table one --runs"),
    ("campaign-rank", "campaign rank one --plans fair-share,list-fifo"),
    ("campaign", "campaign more.yaml -o two --workers 1"),
    ("campaign-status", "campaign merge one two -o both"),
    ("campaign-export", "campaign export one -o one.zip"),
    ("campaign-export", "campaign import one.zip -o again"),
    ("slurm-files", "slurm files"),
    ("slurm-files", "slurm files slurm"),
    ("slurm-check", "slurm check slurm"),
    ("token", "token --job a --uid 1000 --key k=site.key"),
    ("token", "token --job a --uid 0 --key k=site.key -o a.token"),
)


def prepare(folder: Path) -> None:
    """Put the files of all calls into a folder."""
    scenarios = ("pack-night.yaml", "scratch-targets.yaml", "burst-buffer.yaml", "io-nodes-nvme.yaml")
    for name in (*scenarios, "profiles.csv", "decide-state.json"):
        shutil.copy(ROOT / "examples" / name, folder)
    for name in ("sacct.txt", "jobs.swf", "transfers.csv", "week.csv", "week-sacct.txt"):
        shutil.copy(ROOT / "examples" / "traces" / name, folder)
    shutil.copy(a_log(), folder / "job.darshan")
    texts = {"window.yaml": WINDOW, "whole.yaml": WHOLE, "refuses.py": POLICY}
    texts |= {"everything.yaml": EVERYTHING, "machine.yaml": MACHINE, "site.yaml": SITE, "nodeless.yaml": NODELESS}
    texts |= {"campaign.yaml": CAMPAIGN, "more.yaml": CAMPAIGN.replace("1-3", "4-5")}
    for name, text in texts.items():
        (folder / name).write_text(text)
    key = folder / "site.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)


def a_log() -> Path:
    """A log that the darshan wheel ships with its tests."""
    found = find_spec("darshan")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("schemas are made from a log, too; install penstock[traces]")
    return min(Path(found.submodule_search_locations[0]).rglob("example.darshan"))


def samples(folder: Path) -> Iterator[tuple[str, Any]]:
    """Every document and an answer of its kind."""
    prepare(folder)
    with contextlib.chdir(folder):
        for document, words in CALLS:
            yield document, json.loads(printed(f"{words} --json"))


def printed(words: str) -> str:
    """What a command of this process prints; some end with an exit code that says how it went."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        get_command(app)(words.split(), standalone_mode=False)
    return text.getvalue()
