"""How far applications have come, by hand: one with two flows, one behind a buffer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from as_python import as_python
from penstock.engine.machine import standing
from penstock.engine.machine.network import GET, IN, OUT, PUT
from penstock.kernels.arrays import SAME

nan = np.nan


def machine() -> Any:
    """At 10: application 0 writes 100 bytes by two flows since 6; 1 writes 60 bytes into a buffer since 8."""
    return SimpleNamespace(
        network=SimpleNamespace(
            buffered=np.array([0, 1]),
            # 0 has two flows out and two in; 1 has two out, one in, one into the buffer and one out of it.
            first=np.array([0, 2, 4, 4, 4, 6, 7, 8, 9]),
            weight=np.array([2.0, 4.0, 1.0, 1.0, 3.0, 5.0, 2.0, 10.0, 20.0]),
            speed=np.array([[4.0, 2.0], [10.0, 20.0]]),
        ),
        jobs=SimpleNamespace(kind=np.array([OUT, OUT, IN]), volume=np.array([100.0, 60.0, 80.0]), release=np.zeros(2)),
        apps=SimpleNamespace(
            operation=np.array([0, 1]),
            under_way=np.array([2, 1]),
            done=np.array([5.0, 6.0]),
            completion=np.array([nan, nan]),
            cut=np.array([nan, nan]),
            since=np.array([6.0, 8.0]),
        ),
        flows=SimpleNamespace(
            active=np.array([1, 1, 0, 0, 1, 1, 1, 1, 1]),
            remaining=np.array([40.0, 30.0, *[7.0] * 7]),
            rate=np.array([4.0, 2.0, *[0.0] * 7]),
            updated=np.full(9, 8.0),
        ),
        pool=SimpleNamespace(
            todo=np.array([0.0, 50.0]),
            write=np.array([0.0, 6.0]),
            read=np.array([0.0, 0.0]),
            updated=np.array([0.0, 9.0]),
            ahead=np.array([0.0, 33.0]),
            fetch=np.array([0.0, 3.0]),
            out=np.array([0.0, 12.0]),
            drain=np.array([0.0, 4.0]),
        ),
    )


def test_what_flows_have_before_them() -> None:
    flows = machine().flows
    assert as_python(standing.remaining_now)(flows, 0, 10.0) == 40 - 4 * 2
    assert as_python(standing.remaining_now)(flows, 0, 100.0) == 0.0


def test_what_an_operation_has_moved() -> None:
    whole = machine()
    assert as_python(standing.moved_now)(whole, 0, 10.0) == 100 - 32 - 26
    assert as_python(standing.moved_now)(whole, 1, 10.0) == 60 - (50 - 6)
    whole.flows.active[1] = 0  # that one is over
    assert as_python(standing.moved_now)(whole, 0, 10.0) == 100 - 32
    whole.apps.under_way[0] = 0
    assert as_python(standing.moved_now)(whole, 0, 10.0) == 0.0


def test_what_is_still_to_be_written_or_read_behind_a_buffer() -> None:
    pool = machine().pool
    pool.read[1] = 2.0
    assert as_python(standing.todo_now)(pool, 1, 10.0) == 50 - 8
    assert as_python(standing.todo_now)(pool, 1, 100.0) == 0.0


def progress(whole: Any, now: float = 10.0) -> float:
    return float(as_python(standing.progress_now)(whole, 0, now))


def test_progress_while_it_moves_and_while_it_computes() -> None:
    whole = machine()
    assert progress(whole) == 5 + (100 - 32 - 26) / 4
    whole.jobs.kind[0] = IN
    whole.network.first[:] = [0, 0, 2, 4, 4, 6, 7, 8, 9]
    assert progress(whole) == 5 + (100 - 32 - 26) / 2
    whole.apps.under_way[0] = 0
    assert progress(whole) == 5 + 10 - 6
    assert progress(whole, 5.0) == 5.0  # it computes from 6 on
    whole.apps.operation[0] = -1  # before its release
    assert progress(whole) == 5.0


def test_progress_in_a_last_compute_and_after_it() -> None:
    whole = machine()
    whole.apps.under_way[0] = 0
    whole.apps.completion[0] = 12.0  # the 2 s to come are counted as done already
    assert progress(whole) == 5 - 2
    whole.apps.completion[0], whole.jobs.release[0] = 6.0, 1.0
    assert progress(whole) == pytest.approx(5 * 9 / 5)  # 5 s in 5 s: its yield stays
    whole.apps.cut[0] = 3.0
    assert progress(whole) == pytest.approx(5 * 9 / 2)
    whole.apps.cut[0], whole.jobs.release[0] = 10.0 * (1 + SAME), 9.0  # now
    assert progress(whole) == pytest.approx(5 / (1 + 1e-8), abs=1e-9)
    whole.jobs.release[0], whole.apps.cut[0] = 3.0, 3.0  # cut off as it came
    assert progress(whole) == 5.0
    whole.jobs.release[0], whole.apps.cut[0] = 3.0, 3.5
    assert progress(whole) == 5 * 7 / 0.5


def left(whole: Any, i: int, kind: int) -> float:
    return float(as_python(standing.time_left)(whole, i, kind, 10.0))


def test_time_left_is_that_of_the_slowest_flow() -> None:
    whole = machine()
    assert left(whole, 0, OUT) == max(32 / 2, 26 / 4)
    whole.flows.active[0] = 0
    assert left(whole, 0, OUT) == 26 / 4
    assert left(whole, 0, IN) == 0.0


def test_time_left_behind_a_buffer_is_that_of_all_flows_of_a_kind() -> None:
    whole = machine()
    assert left(whole, 1, IN) == (33 - 3) / 2
    assert left(whole, 1, PUT) == (50 - 6) / 10
    assert left(whole, 1, OUT) == (12 + (6 - 4) + 44) / (3 + 5)  # held, and still to be written
    whole.network.first[:] = [0, 2, 4, 4, 4, 5, 7, 8, 9]
    assert left(whole, 1, IN) == (33 - 3) / (5 + 2)
    whole.apps.operation[1] = 2  # a read
    assert left(whole, 1, GET) == (50 - 6) / 20
    assert left(whole, 1, OUT) == (12 + (6 - 4)) / 3
    whole.apps.under_way[1] = 0
    assert left(whole, 1, PUT) == 0.0
    whole.pool.drain[1], whole.pool.fetch[1] = 100.0, 100.0
    assert left(whole, 1, OUT) == left(whole, 1, IN) == 0.0
