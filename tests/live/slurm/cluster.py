"""A Slurm of our own on this machine, with the hooks of `penstock slurm files`, for tests that share it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from machine import open_to_all
from penstock.live.slurm.files import SlurmSite, write_files
from penstock.wire.spool import Event, Spool

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
PATIENCE = 60.0  # seconds: two cores may be busy with other tests


def no_slurm() -> str | None:
    """Why Slurm cannot be brought up here, or None if it can."""
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        return f"Slurm is not installed: no {', '.join(missing)}"
    if not any(Path("/usr/lib").glob("*/slurm-wlm/auth_munge.so")):
        return "Slurm has no plugin for munge: slurm-wlm-basic-plugins is not installed"
    return "a Slurm of one's own needs root" if os.getuid() != 0 else None


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What is true at last."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


class Cluster:
    """A running one."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self.folder, self.nodes = folder, [f"n{number}" for number in range(1, nodes + 1)]
        self.etc, self.jobs = folder / "etc", folder / "jobs"
        self.spools = {name: folder / "spools" / name for name in (*self.nodes, "slurmctld")}
        self.segments, self.shim = folder / "segments", folder / "libpenstock.so"

    def site(self) -> SlurmSite:
        spools = self.folder / "spools"
        return SlurmSite(
            etc=str(self.etc),
            node_spool=f"{spools}/%n",
            controller_spool=str(spools / "slurmctld"),
            segments=str(self.segments),
            shim=str(self.shim),
            slurm_user="root",
        )

    def call(self, *command: str, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        return subprocess.run(
            command, check=check, capture_output=True, text=True, timeout=PATIENCE, env=env, cwd=self.jobs, **options
        )

    def submit(self, script: str, *options: str) -> str:
        """A job; its number."""
        output = ["-o", str(self.jobs / "%j.%N.out"), "--open-mode=append", "-t", "10"]
        return self.call("sbatch", "--parsable", *output, *options, "--wrap", script).stdout.strip()

    def state(self, job: str) -> str:
        """R, PD, CG …; nothing for a job that is over."""
        return self.call("squeue", "-h", "-j", job, "-o", "%t", check=False).stdout.strip()

    def shown(self, job: str) -> str:
        return self.call("scontrol", "-o", "show", "job", job).stdout

    def drained(self) -> list[str]:
        """Nodes that take no jobs any more."""
        return [line for line in self.call("sinfo", "-h", "-N", "-o", "%N %T").stdout.splitlines() if "drain" in line]

    def waiting(self, spool: str) -> list[str]:
        """What hooks left, in order; somebody may be taking it away."""
        folder, found = self.spools[spool], []
        for name in sorted(os.listdir(folder)):
            with suppress(FileNotFoundError):
                found += [] if name.startswith((".", "life.")) else [(folder / name).read_text()]
        return found

    def said(self, spool: str, job: str) -> list[Event]:
        """What hooks said about a job, in order; a word about one before it may come late."""
        return [each for each in Spool(str(self.spools[spool])).pending() if each.job == job]

    def empty_spools(self) -> None:
        for folder in self.spools.values():
            for name in os.listdir(folder):
                (folder / name).unlink()


@contextmanager
def a_cluster(folder: Path, nodes: int = 2, lines: str = "", hooks: bool = True) -> Iterator[Cluster]:
    """Up, and down in the end."""
    if reason := no_slurm():
        pytest.skip(reason)
    cluster = Cluster(folder, nodes)
    for each in (cluster.jobs, cluster.segments, *cluster.spools.values()):
        each.mkdir(parents=True, mode=0o700)
    cluster.segments.chmod(0o1777)
    open_to_all(folder)
    write_files(cluster.etc, cluster.site())
    extra = folder / "lines"
    ours = f"{(cluster.etc / 'slurm.conf.lines').read_text()}PlugStackConfig={folder}/plugstack.conf\n"
    extra.write_text((ours if hooks else "") + lines)
    if hooks:
        shutil.copy(cluster.etc / "job_submit.lua", folder / "job_submit.lua")
        shutil.copy(cluster.etc / "plugstack.conf.line", folder / "plugstack.conf")
    subprocess.run([SCRIPTS / "slurm-up.sh", folder, str(nodes), "2", extra], check=True)
    try:
        yield cluster
    finally:
        subprocess.run([SCRIPTS / "slurm-down.sh", folder], check=True)
