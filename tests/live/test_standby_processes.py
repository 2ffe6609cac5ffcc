"""Two real controllers that share a folder: one is killed, stopped, or asked to hand over, and writers go on."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli.controlled import PATIENCE, Controller, stopped, until
from live.test_processes import PHI, Writers, total
from penstock.live.admin import NoController
from penstock.live.standby.folder import StandbyFolder, TermFolder
from penstock.live.standby.promote import promote
from penstock.wire.messages import Frames, Hello, frame

DEPTH, SLICE = 0.02, 64 << 10


class Pair(NamedTuple):
    """The one that leads at first, the one that stands by, and what they share."""

    leader: Controller
    standby: Controller
    folder: TermFolder

    @property
    def sockets(self) -> str:
        return f"{self.leader.socket},{self.standby.socket}"


@contextmanager
def pair(place: Path, shared_journal: bool = False, **config: Any) -> Iterator[Pair]:
    folder = place / "shared"
    folder.mkdir()
    controllers = []
    for name in ("a", "b"):
        (place / name).mkdir()
        within = ("--journal", str(folder / name)) if shared_journal else ()
        controllers.append(Controller(place / name, "--standby", str(folder), *within, **config))
    leader, standby = controllers
    with leader:
        standby.begin_to_start()
        try:
            until(lambda: leader.ask("server")["leader"]["standbys"])
            yield Pair(leader, standby, TermFolder(folder))
        finally:
            standby.__exit__()


def epochs(writers: Writers) -> set[int]:
    return {each["epoch"] for each in writers.look()}


class TakenOver(NamedTuple):
    """What writers saw after the leader was killed; seconds since then."""

    first_renewal: float
    last_renewal: float
    first_raise: float
    fell_back: int
    worst: float  # Σ of rates, of the capacity


def take_over(place: Path, count: int, capacity: float) -> TakenOver:
    """Kill the leader under so many writers, of which a tenth ends at that moment, so that the others can be raised."""
    fallback = PHI * capacity / count
    with pair(place, capacity=capacity, machine_nodes=count, lease=8, beat=2) as (leader, standby, folder):
        writers = Writers(f"{leader.socket},{standby.socket}", 10, count // 10, 1e9, fallback)
        try:
            share = capacity / count
            until(lambda: all(each["rate"] and each["rate"] > 0.9 * share for each in writers.look()))
            before = {number: each["fell_back"] for number, each in enumerate(writers.look())}
            leader.stop(signal.SIGKILL)
            killed = time.monotonic()
            writers.kill(last=1)
            found = watch(writers, killed, share, capacity)
            after, seconds = writers.look(), time.monotonic() - killed
            assert [each["failure"] for each in after if each["failure"]] == []
            assert total(after, "unpaced") == 0
            fell = [each["fell_back"] > before[number] for number, each in enumerate(after)]
            assert folder.newest()[1].term == 2
            assert standby.ask("status")["epoch"] == 2
            assert found.worst <= 1.0 + fallback * sum(fell) / capacity + 1e-6
            assert seconds < PATIENCE
            return found._replace(fell_back=sum(fell))
        finally:
            writers.kill()


def watch(writers: Writers, killed: float, share: float, capacity: float) -> TakenOver:
    """Look until everybody is with the new leader and somebody was raised."""
    first = last = raised = None
    worst, deadline = 0.0, killed + PATIENCE
    while raised is None or last is None:
        assert time.monotonic() < deadline, "waited in vain"
        seen, now = writers.look(), time.monotonic() - killed
        worst = max(worst, total(seen, "rate") / capacity)
        met = [each for each in seen if each["epoch"] == 2]
        first = first or (now if met else None)
        last = last or (now if len(met) == len(seen) else None)
        raised = raised or (now if any(each["rate"] > 1.04 * share for each in met) else None)
        time.sleep(0.05)
    assert first is not None
    return TakenOver(first, last, raised, 0, worst)


@pytest.mark.slow
@pytest.mark.timing
def test_another_takes_over_from_a_leader_that_was_killed(tmp_path: Path) -> None:
    found = take_over(tmp_path, 50, 5e6)
    assert found.first_renewal <= 8.0 and found.first_raise <= 14.0, found


@pytest.mark.soak
@pytest.mark.timing
def test_two_hundred_writers_and_a_leader_that_was_killed(tmp_path: Path) -> None:
    found = take_over(tmp_path, 200, 20e6)
    assert found.first_renewal <= 8.0 and found.first_raise <= 14.0, found


@pytest.mark.slow
def test_a_leader_that_wakes_says_nothing_and_ends(tmp_path: Path) -> None:
    """One waits at its door, with a question sent while it was stopped; it hears the end of the connection only."""
    with pair(tmp_path) as (leader, standby, folder):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE)
            link.connect(str(leader.socket))
            pid = leader.ask("server")["pid"]
            os.kill(pid, signal.SIGSTOP)
            until(lambda: stopped(pid))
            link.sendall(frame(Hello(1, 1, "client", "test", bytes(16), 0, "peer")))
            standby.listening()
            os.kill(pid, signal.SIGCONT)
            assert leader.process.wait(PATIENCE) == 3
            try:
                heard = link.recv(1 << 16)
            except ConnectionResetError:
                heard = b""
            assert list(Frames(1 << 20).feed(heard)) == []
        assert standby.ask("status")["epoch"] == 2
        assert folder.newest()[1].term == 2


@pytest.mark.slow
def test_handing_over_and_back(tmp_path: Path) -> None:
    """What operators said is known to the next leader where the journals are in the folder; writers go on."""
    with pair(tmp_path, shared_journal=True) as (leader, standby, folder):
        leader.ask("capacity", resource="all", capacity=5e6)
        leader.ask("exempt", add="precious")
        assert promote(folder.path).term == 2
        standby.listening()
        status = standby.ask("status")
        assert status["capacity"]["all"]["capacity"] == 5e6 and status["exempt"] == ["precious"]
        with pytest.raises(NoController):
            leader.ask("status")
        assert promote(folder.path).host == os.uname().nodename
        leader.listening()
        assert leader.ask("status")["epoch"] == 3
        assert leader.ask("status")["exempt"] == ["precious"]


@pytest.mark.slow
def test_a_restart_in_place_is_warm_and_waits_for_nobody(tmp_path: Path) -> None:
    """Nobody has to wait for a lease of which the journal says who held it: it is locked, so that process is dead."""
    with pair(tmp_path) as (leader, _, _):
        leader.stop(signal.SIGKILL)
        leader.start()
        status = leader.ask("status")
        assert status["epoch"] == 2 and status["mode"] == "run"
        assert leader.ask("server")["leader"]["term"] == 2


def test_nobody_is_asked_to_hand_over_to_nobody(tmp_path: Path) -> None:
    with pytest.raises(StandbyFolder, match="nobody has led yet"):
        promote(tmp_path)
    with pytest.raises(StandbyFolder, match="is not there"):
        promote(tmp_path / "none")
