"""`penstock run` of programs that know nothing of it, under a real controller."""

import hashlib
import json
import os
import select
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from cli.controlled import PATIENCE, RATE, Controller, children, ended, patient, until
from penstock.client.bucket import boottime
from penstock.client.segment import Segment, segment_path
from penstock.client.shim.library import NoLibrary, library

MIB = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def preload():
    try:
        return library()
    except NoLibrary as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    with Controller(tmp_path_factory.mktemp("controller")) as running:
        yield running


def dd(path, mib):
    return "dd", "if=/dev/zero", f"of={path}", f"bs={MIB}", f"count={mib}", "status=none"


def segment_of(job, process):
    """The segment of a run, once it has one."""
    found = until(lambda: list(Path("/dev/shm").glob(f"penstock.{os.geteuid()}.{job}.{process.pid}.*")))
    return Segment(found[0])


def test_a_command_goes_at_its_rate_and_is_measured(controller, tmp_path):
    process = controller.begin("dd", "run", "--volume", "2MB", "--json", "--", *dd(tmp_path / "out", 8), stderr=-1)
    _, err = process.communicate(timeout=PATIENCE)
    told = json.loads(err)
    assert (process.returncode, told["moved"], told["past"]) == (0, 8 * MIB, 0.0)
    assert told["announced"] >= 8 * MIB  # more than was said, so it was announced
    assert told["seconds"] >= (8 * MIB - 2 * MIB) / RATE
    job = until(lambda: (found := controller.known("dd")) and not found["active"] and found)
    assert job["moved"] == 8 * MIB
    assert not list(Path("/dev/shm").glob(f"penstock.{os.geteuid()}.dd.*"))


def all_at(segments, rate):
    """Whether all of them go at a rate, and move."""
    return all(each.served()[1] == rate and each.counts().written for each in segments)


def test_three_commands_share(controller, tmp_path):
    """Their rates, not their times: by the controller's own word, and by what their segments say."""
    jobs = {f"share-{n}": controller.begin(f"share-{n}", "run", *dd(tmp_path / str(n), 4000)) for n in range(3)}
    segments = {name: segment_of(name, process) for name, process in jobs.items()}
    try:
        for left in (3, 2, 1):
            fair = pytest.approx(RATE / left, rel=1e-3)
            there = list(segments.values())
            until(partial(all_at, there, fair))
            name, process = list(jobs.items())[left - 1]
            process.send_signal(signal.SIGTERM)
            assert ended(process) == -signal.SIGTERM
            del segments[name]
    finally:
        for process in jobs.values():
            process.kill()
            process.wait(PATIENCE)


@pytest.mark.parametrize("burst", [False, True], ids=["idle", "in a burst"])
def test_a_run_that_is_killed_leaves_its_command_at_the_fallback(controller, tmp_path, burst):
    """Within 4 s, whatever the lease; the output is what it should be, and the exit code 0."""
    source, copy, code, go = (tmp_path / name for name in ("source", "copy", "code", "go"))
    source.write_bytes(os.urandom(8 * MIB))
    wait = "" if burst else f"while [ ! -e {go} ]; do sleep 0.1; done; "
    shell = f"{wait}dd if={source} of={copy} bs=64k; echo $? > {code}.new; mv {code}.new {code}"
    process = controller.begin("killed", "run", "--volume", "8MB", "--", "sh", "-c", shell, stderr=subprocess.DEVNULL)
    segment = segment_of("killed", process)
    until(lambda: children(process.pid) and (not burst or segment.counts().written > MIB))
    process.kill()
    process.wait(PATIENCE)
    killed = boottime()
    try:
        assert segment.alive_until <= killed + 4.0
        lease = segment.lane()
        until(lambda: boottime() > segment.alive_until)
        assert segment.served()[1] == lease.fallback == RATE / 4
        go.touch()
        until(code.exists)
        assert code.read_text() == "0\n"
        assert hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(source.read_bytes()).digest()
        assert segment.counts().written == pytest.approx(8 * MIB, rel=0.02)
    finally:
        segment.remove()


@pytest.mark.timing
@pytest.mark.parametrize(("number", "limit"), [(signal.SIGTERM, 0.05), (signal.SIGINT, 1.5)])
def test_a_command_that_waits_hears_signals(tmp_path, preload, number, limit):
    """Those that are passed on by the run, at rate 0."""
    with Controller(tmp_path, sharing="fcfs") as controller:
        process = controller.begin("waits", "run", *dd(tmp_path / "out", 4000))
        segment = segment_of("waits", process)
        until(lambda: segment.counts().written > MIB)
        (child,) = children(process.pid)
        controller.ask("capacity", resource="all", capacity=1.0)
        until(lambda: segment.served()[1] <= 1.0 and segment.waiting())
        gone = os.pidfd_open(child)
        began = time.monotonic()
        os.kill(child, number)
        select.select([gone], [], [], PATIENCE)
        assert time.monotonic() - began < limit
        os.close(gone)
        assert ended(process) == -number


def test_without_the_library_the_kernel_counts(controller, tmp_path):
    done = controller.begin("no-shim", "run", "--no-shim", "--json", "--", *dd(tmp_path / "out", 8), stderr=-1)
    _, err = done.communicate(timeout=PATIENCE)
    told = json.loads(err)
    assert (done.returncode, told["moved"], told["past"]) == (0, 8 * MIB, 0.0)


def test_a_command_that_cannot_be_preloaded_is_named(controller, tmp_path):
    """As on a machine that the library is not written for; the command runs all the same."""
    go = tmp_path / "go"
    shell = f"head -c 1M /dev/zero > {tmp_path}/out; while [ ! -e {go} ]; do sleep 0.1; done"
    env = controller.user("strange", XDG_CACHE_HOME="/proc/none")
    process = subprocess.Popen(patient("run", "--", "sh", "-c", shell), env=env, stderr=-1)
    try:
        told = until(lambda: (found := controller.known("strange")) and found["outside"] and found)
    finally:
        go.touch()
        _, err = process.communicate(timeout=PATIENCE)
    assert told["outside"] >= MIB and told["outside_by"][0].startswith("there is no place to compile the library")
    assert err.startswith(b"penstock: programs that do not ask are not paced: there is no place")
    assert process.returncode == 0


def test_the_agents_segment_is_used(controller, tmp_path):
    """It has the connection: a run only preloads, and tells how much will be moved."""
    segment = Segment.make(segment_path("agents"))
    segment.set_rate(1e12)
    try:
        segment.keep_alive(boottime() + PATIENCE)
        process = controller.begin("agents", "run", "--volume", "4MB", *dd(tmp_path / "out", 4))
        assert ended(process) == 0
        counts = segment.counts()
        assert (counts.written, counts.announced_write, counts.begun, counts.ended) == (4 * MIB, 4_000_000, 1, 1)
        process = controller.begin("agents", "run", *dd(tmp_path / "out", 4))
        assert ended(process) == 0
        assert (segment.counts().written, segment.counts().begun) == (8 * MIB, 1)
        env = controller.user("step", PENSTOCK_BUCKET=str(segment.path))  # as the hooks of a batch system set it
        process = subprocess.Popen(patient("run", "--volume", "1MB", *dd(tmp_path / "out", 1)), env=env)
        assert ended(process) == 0
        assert (segment.counts().written, segment.counts().begun) == (9 * MIB, 2)
        options = ("run", "--json", "--targets", "ost0", "--volume", "1MB")
        process = controller.begin("agents", *options, *dd(tmp_path / "out", 1), stderr=subprocess.PIPE)
        note, told = process.communicate(timeout=PATIENCE)[1].decode().splitlines()
        assert note == "penstock: --targets is not used: the agent of this node announces for all jobs here"
        found = json.loads(told)
        assert (found["job"], found["announced"], found["moved"], found["exit"]) == ("agents", 1e6, float(MIB), 0)
        segment.set_rate(1e12)
        assert controller.known("agents") is controller.known("step") is None
        segment.keep_alive(boottime())  # the agent died: the run is on its own
        assert ended(controller.begin("agents", "run", *dd(tmp_path / "out", 1))) == 0
        assert controller.known("agents") is not None and segment.counts().written == 10 * MIB
    finally:
        segment.remove()
