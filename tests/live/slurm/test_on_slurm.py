"""On a real Slurm, brought up on this machine: what its hooks say, and what becomes of jobs when ours is all dead."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from cli.controlled import RATE, Controller, command, environment
from live.slurm.cluster import Cluster, a_cluster, until
from penstock.client.config import parse_address
from penstock.client.shim.library import library
from penstock.live.admin import Line
from penstock.live.slurm.bridge import Bridge
from penstock.live.slurm.check import check
from penstock.live.slurm.queue import Slurm
from penstock.wire.spool import Spool

pytestmark = pytest.mark.slow

# A program of a job: it announces a gigabyte, and moves it as slowly as it is allowed; it does not heed SIGTERM.
STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(f"deaf.{os.environ['SLURM_JOB_ID']}", "w").close()
from penstock import client
with client.io_phase(10**9) as phase:
    while True:
        phase.acquire(10_000)
"""


SITE = """
version: 1
platform: {bandwidth: 4 GB/s, targets: 4, io_nodes: {count: 2, bandwidth: 2 GB/s, nodes: 4}}
applications:
  - {name: ocean, nodes: 4, profile: {1: 1 GB/s, 4: 3 GB/s}, phases: [{compute: 10 min}, {write: 1 TB}]}
  - {name: genomes, profile: {1: 1 GB/s, 4: 0.5 GB/s}, phases: [{compute: 10 min}, {read: 100 GB}]}
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with a_cluster(tmp_path_factory.mktemp("slurm")) as made:
        yield made


@pytest.fixture(scope="module")
def controller(tmp_path_factory, cluster):
    with Controller(tmp_path_factory.mktemp("controller"), machine_nodes=2) as made:
        yield made


@pytest.fixture(autouse=True)
def clean(request):
    """Jobs of one test do not meet the next."""
    yield
    if "cluster" in request.fixturenames:
        cluster = request.getfixturevalue("cluster")
        cluster.call("scancel", "-u", "root", "-s", "KILL", "--full", check=False)
        cluster.call("scancel", "-u", "root", check=False)
        until(lambda: not cluster.call("squeue", "-h").stdout)
        cluster.empty_spools()


@pytest.fixture
def bridge(cluster, controller):
    """`penstock slurm bridge`, for the spool of slurmctld and, with a name, those of nodes."""
    running = []

    def start(*spools: str, more: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        places = [word for name in ("slurmctld", *spools) for word in ("--spool", str(cluster.spools[name]))]
        env = environment(SLURM_CONF=str(cluster.folder / "slurm.conf"), PENSTOCK_ADDRESS=controller.address)
        with open(cluster.folder / "bridge.log", "ab") as log:
            running.append(
                subprocess.Popen(command("slurm", "bridge", *places, *more), env=env, stderr=log, stdout=log)
            )
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.fixture
def agents(cluster, controller, tmp_path):
    """`penstock node` for each node."""
    running = []
    for node in cluster.nodes:
        places = ["--spool", str(cluster.spools[node]), "--segments", str(cluster.segments)]
        words = ["node", "--node", node, *places, "--state", str(tmp_path / f"{node}.json"), "--json"]
        env = environment(PENSTOCK_ADDRESS=controller.address)
        with open(cluster.folder / f"agent.{node}.log", "ab") as log:
            running.append(subprocess.Popen(command(*words), env=env, stderr=log, stdout=subprocess.PIPE))
    for process in running:
        assert process.stdout.readline()
    yield running
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()


def charge(controller: Controller, job: str) -> float:
    known = controller.known(job)
    return sum(each["charge"] for each in known["of"]) if known else 0.0


def announced(controller: Controller, job: str) -> dict[str, Any] | None:
    return next((each for each in controller.ask("batch")["jobs"] if each["job"] == job), None)


def stubborn(cluster: Cluster, controller: Controller, *options: str) -> str:
    program = cluster.jobs / "stubborn.py"
    program.write_text(STUBBORN)
    address = f"PENSTOCK_ADDRESS={controller.address}"
    # `penstock run` shares its bucket: that its process is gone proves nothing about the others.
    run = (
        f"trap '' TERM; exec env {address} {sys.executable} -m penstock run --volume 1GB -- {sys.executable} {program}"
    )
    job = cluster.submit(run, *options)
    # Before that, `penstock run` would pass SIGTERM on to a program that still heeds it.
    until((cluster.jobs / f"deaf.{job}").exists)
    until(lambda: charge(controller, job) > 0.0 and announced(controller, job))
    return job


def test_hooks_say_who_runs_where(cluster):
    job = cluster.submit("true", "-N2", "-A", "physics", "--comment", "mine; io-volume=10GB, io=20")
    until(lambda: cluster.state(job) == "" and all(len(cluster.said(name, job)) == 2 for name in cluster.spools))
    start, ending = cluster.said("slurmctld", job)
    assert (start.kind, start.job, start.restart, start.uid, start.account) == ("job_start", job, 0, 0, "physics")
    assert start.node_names == tuple(cluster.nodes) and start.nodes == 2
    assert (ending.kind, ending.node) == ("job_ending", "")
    for node in cluster.nodes:
        begin, end = cluster.said(node, job)
        assert [(each.kind, each.node, each.job) for each in (begin, end)] == [
            ("job_start", node, job),
            ("job_end", node, job),
        ]
        assert begin.volume == "10GB"


def test_an_account_that_is_no_word_cannot_add_lines(cluster):
    """Without accounting Slurm takes any account from any user."""
    job = cluster.submit("true", "-A", "x\nuid=0\nnode=n9", "--comment", "io-volume=$(id)\nuid=0")
    until(lambda: cluster.said("slurmctld", job) and cluster.state(job) == "")
    start = cluster.said("slurmctld", job)[0]
    assert (start.job, start.account, start.volume) == (job, "", "")


def test_a_job_that_ignores_sigterm_keeps_its_charge_until_its_node_s_epilog(cluster, controller, bridge):
    bridge(*cluster.nodes)
    job = stubborn(cluster, controller)
    cluster.call("scancel", "-s", "TERM", "--full", job)
    cluster.call("scancel", job)
    until(lambda: announced(controller, job)["ending"])
    assert cluster.state(job) == "CG" and charge(controller, job) > 0.0  # EpilogSlurmctld has run; it still writes
    until(lambda: announced(controller, job) is None)
    until(lambda: charge(controller, job) == 0.0)


def test_a_requeue_with_a_delayed_epilog_leaves_the_second_run_untouched(cluster, controller, bridge):
    bridge()  # nobody reads the spools of the nodes yet
    job = stubborn(cluster, controller, "--requeue")
    cluster.call("scontrol", "requeue", job)
    until(lambda: cluster.state(job) == "PD")
    cluster.call("scontrol", "update", f"JobId={job}", "StartTime=now")
    until(lambda: (known := announced(controller, job)) and known["restart"] == 1)
    until(lambda: cluster.state(job) == "R" and charge(controller, job) > 0.0)
    before = announced(controller, job)
    ends = [each for name in cluster.nodes for each in cluster.said(name, job) if each.kind == "job_end"]
    # The epilog of the first run, which nobody has heard yet. Slurm's own count was 1 by then.
    assert [each.restart for each in ends] == [0]
    env = environment(SLURM_CONF=str(cluster.folder / "slurm.conf"), PENSTOCK_ADDRESS=controller.address)
    spools = [word for name in cluster.nodes for word in ("--spool", str(cluster.spools[name]))]
    subprocess.run(command("slurm", "bridge", "--once", *spools), env=env, check=True, capture_output=True)
    assert not any(each.kind == "job_end" for name in cluster.nodes for each in cluster.said(name, job))
    assert announced(controller, job) == {**before, "charge": announced(controller, job)["charge"]}
    assert charge(controller, job) > 0.0


def test_with_all_of_ours_dead_jobs_start_and_no_node_is_drained(cluster):
    """Nobody listens, nobody reads; then not even the folders of the spools are there, nor the library."""
    for _ in range(5):
        cluster.call("srun", "true")
    away = cluster.folder / "away"
    (cluster.folder / "spools").rename(away)
    try:
        for _ in range(5):
            cluster.call("srun", "true")
    finally:
        away.rename(cluster.folder / "spools")
    assert cluster.drained() == []


def test_job_submit_lua_asks_for_licenses(cluster):
    for comment, given, expected in (
        ("io=20", None, "iobw:20"),
        ("x; io=300", None, "iobw:100"),
        ("io=20", "iobw:5", "iobw:5"),
        ("radio=20", None, "(null)"),
        (None, None, "(null)"),
    ):
        options = [*(["--comment", comment] if comment else []), *(["-L", given] if given else [])]
        job = cluster.submit("true", "-H", *options)
        assert f" Licenses={expected} " in cluster.shown(job), (comment, given)


def test_task_prolog_hands_the_pace_to_programs_that_do_not_ask(cluster):
    tell = "echo B=$PENSTOCK_BUCKET L=$LD_PRELOAD"
    assert cluster.call("srun", "sh", "-c", tell).stdout.strip() == "B= L="  # no agent, no library
    cluster.shim.write_bytes(b"")
    job = cluster.submit(f"while [ ! -e go ]; do sleep 0.1; done; srun sh -c '{tell}'")
    until(lambda: cluster.state(job) == "R")
    segment = cluster.segments / f"penstock-job.0.0.{job}"
    segment.write_bytes(b"")
    (cluster.jobs / "go").touch()
    out = until(lambda: next(cluster.jobs.glob(f"{job}.*.out"), None))
    line = until(lambda: next((each for each in out.read_text().splitlines() if each.startswith("B=")), None))
    try:
        assert line == f"B={segment} L={cluster.shim}"
        off = cluster.call("srun", "--export=ALL,PENSTOCK=off", "sh", "-c", tell).stdout.strip()
        assert off == "B= L="
    finally:
        cluster.shim.unlink()


def test_a_program_that_does_not_ask_is_paced_from_its_first_byte_and_freed_by_its_epilog(
    cluster, controller, bridge, agents
):
    shutil.copy(library(), cluster.shim)
    bridge()  # the agents read the spools of their nodes
    out = cluster.jobs / "dd.out"
    job = cluster.submit(f"exec dd if=/dev/zero of={out} bs=1M count=4000")
    until(lambda: charge(controller, job) > 0.0 and out.exists())
    since = time.monotonic()
    size = out.stat().st_size
    time.sleep(2.0)
    moved, seconds = out.stat().st_size - size, time.monotonic() - since
    assert 0 < moved < 1.15 * RATE * seconds + 2e6  # the controller's 20 MB/s, and a block that was on its way
    (known,) = (each for each in controller.ask("top", count=9) if each["job"] == job)
    assert (known["uid"], known["members"], known["labels"].get("node")) in ((0, 1, None), (0, 1, "n1"), (0, 1, "n2"))
    cluster.call("scancel", job)
    until(lambda: controller.known(job) is None and announced(controller, job) is None)
    cluster.shim.unlink()


@pytest.mark.timing
def test_a_second_after_its_epilog_a_job_is_charged_nothing(cluster, controller, bridge, agents):
    shutil.copy(library(), cluster.shim)
    bridge()
    job = cluster.submit(f"trap '' TERM; dd if=/dev/zero of={cluster.jobs / 'dd.late'} bs=1M count=400")
    until(lambda: charge(controller, job) > 0.0)
    cluster.call("scancel", job)
    until(lambda: cluster.state(job) == "")  # its node's epilog is over
    over = time.monotonic()
    until(lambda: charge(controller, job) == 0.0)
    cluster.shim.unlink()
    print(f"freed {time.monotonic() - over:.2f} s after the epilog")
    assert time.monotonic() - over <= 1.0


@pytest.mark.skipif(
    shutil.which("gcc") is None or not Path("/usr/include/slurm/spank.h").exists(), reason="no libslurm-dev"
)
def test_the_plugin_says_volumes_and_off_and_may_be_missing(cluster):
    """All other tests run without it, though plugstack.conf names it."""
    assert "unrecognized option" in cluster.call("srun", "--io-volume=off", "true", check=False).stderr
    build = ["gcc", "-shared", "-fPIC", "-o", "spank_penstock.so", "spank_penstock.c"]
    subprocess.run(build, cwd=cluster.etc, check=True)
    try:
        cluster.empty_spools()
        tell = ("sh", "-c", "echo $PENSTOCK")
        assert cluster.call("srun", "--io-volume=off", *tell).stdout.strip() == "off"
        assert cluster.call("srun", "--io-volume=10GB", *tell).stdout.strip() == ""
        until(lambda: any("volume=10GB" in text for node in cluster.nodes for text in cluster.waiting(node)))
        odd = cluster.call("srun", "--io-volume=$(id)", *tell)
        assert odd.stdout.strip() == "" and "accepted are a volume such as 10GB, and off" in odd.stderr
    finally:
        (cluster.etc / "spank_penstock.so").unlink()


def test_what_slurm_runs_passes_the_check(cluster):
    checked = check(cluster.folder / "slurm.conf")
    assert checked.sound and len(checked.files) == 8, checked.findings
    assert [each.text for each in checked.findings if "lua" in each.where and shutil.which("lua5.1")] == []


def test_jobs_that_nobody_announced_and_jobs_that_are_gone_are_found_in_the_queue(cluster, controller, monkeypatch):
    monkeypatch.setenv("SLURM_CONF", str(cluster.folder / "slurm.conf"))
    spools = [Spool(str(cluster.spools[name])) for name in cluster.spools]
    dial = partial(Line, parse_address(controller.address), role="hook")
    bridge = Bridge(dial, spools, Slurm(), queue_seconds=0.0)
    job = cluster.submit("sleep 300", "-N2")
    until(lambda: cluster.state(job) == "R" and all(cluster.said(name, job) for name in cluster.spools))
    cluster.empty_spools()

    def rounds(until_compared: int) -> None:
        while bridge.told.compared < until_compared:
            bridge.round()
            bridge.settle()

    rounds(1)
    assert announced(controller, job) is None  # once proves nothing
    rounds(2)
    assert announced(controller, job)["names"] == cluster.nodes
    cluster.call("scancel", job)
    until(lambda: cluster.state(job) == "" and all(cluster.said(name, job) for name in cluster.spools))
    cluster.empty_spools()  # the epilogs are lost, too
    rounds(bridge.told.compared + 1)
    assert announced(controller, job)
    rounds(bridge.told.compared + 2)
    assert announced(controller, job) is None
    bridge.close()


def test_planners_advise_jobs_that_wait(cluster, controller, tmp_path):
    (tmp_path / "site.yaml").write_text(SITE)
    job = cluster.submit("true", "-H", "-N2", "-J", "ocean", "--comment", "mine|yours, io=20")
    other = cluster.submit("true", "-H", "-J", "unknown")
    env = environment(SLURM_CONF=str(cluster.folder / "slurm.conf"), PENSTOCK_ADDRESS=controller.address)
    words = ["slurm", "bridge", "--once", "--spool", str(cluster.spools["slurmctld"]), "--site", "site.yaml", "--json"]
    done = subprocess.run(command(*words), env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["advised"] == 1, done.stderr
    assert re.search(r"\bComment=mine\|yours, io=20; penstock: stripes=\d io_node=\d ", cluster.shown(job))
    assert "penstock" not in cluster.shown(other)


def test_licenses_are_held_back_and_come_free_when_the_bridge_is_killed(cluster, controller, tmp_path):
    """With times a twelfth as long as in the product; the whole three minutes are a soak test."""
    _kill_the_bridge(cluster, controller, tmp_path, lasts=10, renew=1.0, within=60.0)


@pytest.mark.soak
def test_licenses_come_free_within_three_minutes(cluster, controller, tmp_path):
    seconds = _kill_the_bridge(cluster, controller, tmp_path, lasts=120, renew=60.0, within=240.0)
    print(f"licences free {seconds:.0f} s after the bridge was killed")
    assert seconds < 180.0


BRIDGE = """
import sys
from penstock.cli.parts.controller import line
from penstock.live.slurm.bridge import Bridge
from penstock.live.slurm.licenses import Times
from penstock.live.slurm.queue import Slurm
times = Times(lasts=int(sys.argv[1]), renew=float(sys.argv[2]), apart=1.0, mean=2.0)
Bridge(lambda: line(None, role="hook"), [], Slurm(), license="iobw", times=times).run(lambda: False)
"""


def _kill_the_bridge(cluster, controller, tmp_path: Path, lasts: int, renew: float, within: float) -> float:
    """Seconds from the kill to the start of a job that waited for bandwidth."""
    env = environment(SLURM_CONF=str(cluster.folder / "slurm.conf"), PENSTOCK_ADDRESS=controller.address)
    with open("/dev/zero", "rb") as zeros, open(tmp_path / "log", "wb") as log:
        other = controller.begin("other", "pace", "--volume", "100GB", stdin=zeros, stdout=subprocess.DEVNULL)
        bridge = subprocess.Popen([sys.executable, "-c", BRIDGE, str(lasts), str(renew)], env=env, stderr=log)
    try:
        until(lambda: "Reserved=80" in cluster.call("scontrol", "-o", "show", "lic").stdout)
        job = cluster.submit("sleep 300", "--comment", "io=60")
        small = cluster.submit("sleep 300", "--comment", "io=20")
        until(lambda: cluster.state(small) == "R")  # a fifth is never held back
        cluster.call("scancel", small)
        time.sleep(1.2 * lasts if lasts < 60 else 0.0)
        assert cluster.state(job) == "PD" and "Licenses" in cluster.shown(job)  # renewed, for as long as it lives
        bridge.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        until(lambda: cluster.state(job) == "R", within)
        return time.monotonic() - killed
    finally:
        for process in (bridge, other):
            process.kill()
            process.wait()


# Hooks that do nothing, in the same places: what Slurm itself takes for having any.
NOTHING = "PrologFlags=Alloc\n" + "".join(
    f"{key}=/bin/true\n" for key in ("Prolog", "Epilog", "TaskProlog", "PrologSlurmctld", "EpilogSlurmctld")
)


@pytest.mark.soak
@pytest.mark.timing
def test_hooks_with_nobody_behind_them_cost_a_job_little(cluster, tmp_path_factory):
    """Fifty pairs: a job here, where all of ours is dead, and one on a Slurm whose hooks are /bin/true."""
    with a_cluster(tmp_path_factory.mktemp("plain"), lines=NOTHING, hooks=False) as plain:
        ratio, seconds = paired(cluster, plain, 50)
    print(f"srun: {1e3 * seconds[0]:.0f} ms with ours, {1e3 * seconds[1]:.0f} ms with none, paired ratio {ratio:.3f}")
    assert cluster.drained() == [] and ratio <= 1.1


@pytest.mark.soak
@pytest.mark.timing
def test_a_job_does_not_feel_whether_ours_is_dead(cluster, bridge, agents, tmp_path_factory):
    """Fifty pairs, with the same hooks: a job where all of ours is dead, and one where bridge and agents live."""
    bridge()
    with a_cluster(tmp_path_factory.mktemp("dead")) as dead:
        ratio, seconds = paired(dead, cluster, 50)
        drained = dead.drained()
    print(f"srun: {1e3 * seconds[0]:.0f} ms with ours dead, {1e3 * seconds[1]:.0f} ms alive, paired ratio {ratio:.3f}")
    assert drained == cluster.drained() == [] and ratio <= 1.1


def paired(one: Cluster, other: Cluster, count: int) -> tuple[float, tuple[float, float]]:
    """The median of the ratios of pairs, and the medians of both; which of a pair goes first changes."""
    took: dict[Cluster, list[float]] = {one: [], other: []}
    for turn in range(count):
        for each in (one, other) if turn % 2 else (other, one):
            began = time.monotonic()
            each.call("srun", "true")
            took[each].append(time.monotonic() - began)
    ratios = [first / second for first, second in zip(took[one], took[other], strict=True)]
    return median(ratios), (median(took[one]), median(took[other]))
