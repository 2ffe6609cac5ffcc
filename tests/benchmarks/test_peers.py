"""The programs we are measured against compute what they should: otherwise their speed means nothing."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from penstock.engine.program import Program

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.instance import write_instance
from benchmarks.peers.build import FLUIDS, build_peer, missing, run_peer

Peer = Callable[[str], Path]


def program(end: float = 20.0, limit: float = 2.0, begin: float = 1.0) -> Program:
    """Three applications that overlap in pairs and in threes, one released late, one with a trailing compute."""
    return Program(
        names=("a", "b", "c"),
        capacity=2.0,
        efficiency=np.empty(0),
        begin=begin,
        end=end,
        nodes=np.ones(3),
        release=np.array([0.0, 1.0, 2.5]),
        progress=np.array([0.75, 0.0, 0.0]),
        start=np.array([1.0, 1.0, 2.5]),
        walltime=np.full(3, np.inf),
        first=np.array([0, 3, 4, 8]),
        work=np.array([0.0, 1.0, 2.0, 1.5, 0.5, 0.0, 3.0, 1.0]),
        volume=np.array([4.0, 3.0, 8.0, 5.0, 1.0, 6.0, 2.5, 7.0]),
        limit=np.full(8, limit),
        tail=np.array([0.0, 4.25, 1.0]),
        endless=np.zeros(3, dtype=bool),
    )


class Slow:
    """One application of the plain computation below: a list of (kind, amount) steps and where it is in it."""

    def __init__(self, given: Program, i: int) -> None:
        operations = range(given.first[i], given.first[i + 1])
        steps = [("wait", given.start[i] - given.begin)]
        for op in operations:
            steps += [("compute", given.work[op]), ("move", given.volume[op])]
        self.steps = [step for step in [*steps, ("compute", given.tail[i])] if step[1] > 0]
        self.limit = float(given.limit[0])
        self.progress = float(given.progress[i])

    def speed(self, alpha: float) -> float:
        return alpha * self.limit if self.steps[0][0] == "move" else 1.0

    def advance(self, dt: float, alpha: float) -> None:
        kind, amount = self.steps[0]
        done = min(amount, dt * self.speed(alpha))
        self.progress += {"wait": 0.0, "compute": done, "move": done / self.limit}[kind]
        self.steps[0] = (kind, amount - done)
        if amount - done < 1e-12:
            del self.steps[0]


def slow_progress(given: Program) -> list[float]:
    """Fair-share by the book: step from change to change, everyone's steps as plain lists."""
    now, applications = given.begin, [Slow(given, i) for i in range(len(given.start))]
    while now < given.end and (busy := [a for a in applications if a.steps]):
        demand = sum(a.limit for a in busy if a.steps[0][0] == "move")
        alpha = min(1.0, given.capacity / demand) if demand else 1.0
        dt = min(given.end - now, *(a.steps[0][1] / a.speed(alpha) for a in busy), np.inf)
        for a in busy:
            a.advance(dt, alpha)
        now += dt
    return [a.progress for a in applications]


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    """A function that gives the binary of a peer, or skips."""
    target = tmp_path_factory.mktemp("peers")

    def binary(name: str) -> Path:
        if reason := missing(name):
            pytest.skip(f"{name}: {reason}")
        return build_peer(name, target)

    return binary


@pytest.mark.parametrize("end", [5.0, 9.3, 20.0, np.inf])
@pytest.mark.parametrize("name", FLUIDS)
def test_a_peer_agrees_with_the_plain_computation(peer: Peer, tmp_path: Path, name: str, end: float) -> None:
    given = program(end)
    write_instance(given, tmp_path / "instance")
    run = run_peer(peer(name), tmp_path / "instance", repeats=2)
    expected = slow_progress(given)
    assert run.progress == pytest.approx(expected, rel=0, abs=1e-9)
    assert run.checksum == pytest.approx(sum(expected), rel=1e-12)
    assert run.seconds > 0


def test_peers_count_the_same_events(peer: Peer, tmp_path: Path) -> None:
    write_instance(program(), tmp_path / "instance")
    counts = {name: run_peer(peer(name), tmp_path / "instance").events for name in FLUIDS}
    assert len(set(counts.values())) == 1, counts


@pytest.mark.parametrize("name", ["fluid", "fluid-simd"])
def test_the_loop_respects_caps(peer: Peer, tmp_path: Path, name: str) -> None:
    given = program(limit=0.8)
    write_instance(given, tmp_path / "instance")
    run = run_peer(peer(name), tmp_path / "instance")
    assert run.progress == pytest.approx(slow_progress(given), rel=0, abs=1e-9)


@pytest.mark.parametrize("name", ["fluid", "fluid-simd"])
def test_the_loop_merges_what_happens_within_the_tolerance(peer: Peer, tmp_path: Path, name: str) -> None:
    """Two postings 1e-9 apart at 10 s are one instant; 1e-7 apart they are two."""

    def events(gap: float) -> int:
        pair = program()._replace(
            names=("a", "b"),
            start=np.array([1.0, 1.0]),
            progress=np.zeros(2),
            release=np.ones(2),
            first=np.array([0, 1, 2]),
            work=np.array([9.0, 9.0 + gap]),
            volume=np.array([50.0, 60.0]),
            limit=np.full(2, 2.0),
            tail=np.zeros(2),
        )
        write_instance(pair, tmp_path / "instance")
        return run_peer(peer(name), tmp_path / "instance").events

    assert events(1e-9) == 3  # release, posting, end of the window
    assert events(1e-7) == 4


def test_simgrid_refuses_caps_it_cannot_express(peer: Peer, tmp_path: Path) -> None:
    write_instance(program(limit=0.8), tmp_path / "instance")
    with pytest.raises(RuntimeError, match="cap below the bandwidth"):
        run_peer(peer("simgrid"), tmp_path / "instance")


@pytest.mark.parametrize("name", FLUIDS)
def test_a_truncated_instance_is_refused(peer: Peer, tmp_path: Path, name: str) -> None:
    write_instance(program(), tmp_path / "instance")
    (tmp_path / "short").write_bytes((tmp_path / "instance").read_bytes()[:-8])
    with pytest.raises(RuntimeError, match="shorter than its header says"):
        run_peer(peer(name), tmp_path / "short")


def test_the_instance_file_has_the_documented_layout(tmp_path: Path) -> None:
    given = program()
    write_instance(given, tmp_path / "instance")
    raw = (tmp_path / "instance").read_bytes()
    assert raw[:4] == b"PENF"
    assert struct.unpack_from("<qqddd", raw, 4) == (3, 8, 2.0, 1.0, 20.0)
    assert np.frombuffer(raw, "<i8", count=4, offset=44 + 9 * 8).tolist() == [0, 3, 4, 8]
    assert np.frombuffer(raw, "<f8", count=3, offset=len(raw) - 24).tolist() == [0.0, 4.25, 1.0]
