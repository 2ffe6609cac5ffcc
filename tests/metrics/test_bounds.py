"""Bounds and dedicated runs, against closed forms, a linear program and random schedules."""

from __future__ import annotations

import itertools
import math
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.engine import dedicated
from penstock.engine.program import Program
from penstock.metrics import bounds, capped_fit, earliest_deadline
from penstock.metrics.bounds import interval_bound, volume_bound


def build(applications, *, capacity=1.0, begin=0.0, end=math.inf):
    """A program from dicts: operations (work, volume, limit), tail, release, progress, endless."""
    release = np.array([float(a.get("release", begin)) for a in applications])
    operations = [op for a in applications for op in a["operations"]]
    work, volume, limit = np.array(operations, dtype=float).reshape(-1, 3).T.copy()
    return Program(
        names=tuple(str(i) for i in range(len(applications))),
        capacity=capacity,
        efficiency=np.empty(0),
        begin=begin,
        end=end,
        nodes=np.ones(len(applications)),
        release=release,
        progress=np.array(
            [float(a.get("progress", max(0.0, begin - r))) for a, r in zip(applications, release, strict=True)]
        ),
        start=np.maximum(begin, release),
        walltime=np.full(len(applications), np.inf),
        first=np.cumsum([0] + [len(a["operations"]) for a in applications]),
        work=work,
        volume=volume,
        limit=np.minimum(limit, capacity),
        tail=np.array([float(a.get("tail", 0.0)) for a in applications]),
        endless=np.array([bool(a.get("endless", False)) for a in applications]),
    )


@st.composite
def programs(draw, capped=None, windowed=None):
    """Up to four applications of up to four operations, in a window with half of the draws."""
    number = st.floats(0.1, 5.0)
    capped = draw(st.booleans()) if capped is None else capped
    windowed = draw(st.booleans()) if windowed is None else windowed
    cap = st.floats(0.2, 1.0) if capped else st.just(1.0)
    work = st.one_of(st.just(0.0), number)
    begin, end = (10.0, 10.0 + draw(st.floats(3.0, 20.0))) if windowed else (0.0, math.inf)
    applications = []
    for _ in range(draw(st.integers(1, 4))):
        release = draw(st.floats(begin - 8.0, begin + 2.0) if windowed else st.floats(0.0, 5.0))
        applications.append(
            {
                "operations": draw(st.lists(st.tuples(work, number, cap), min_size=1, max_size=4)),
                "tail": draw(work),
                "release": release,
                "progress": max(0.0, begin - release) * draw(st.floats(0.3, 1.0)) if windowed else 0.0,
            }
        )
    return build(applications, begin=begin, end=end)


def random_yields(program, seed):
    """Yields of a run that now and then draws new priorities and sometimes leaves bandwidth idle; plain and slow."""
    rng = random.Random(seed)
    now, m = program.begin, len(program.names)
    phases = []
    for i in range(m):
        rows = range(program.first[i], program.first[i + 1])
        phases.append([x for j in rows for x in ([program.work[j], None], [program.volume[j], program.limit[j]])])
        phases[i].append([program.tail[i], None])
    made, yields = list(program.progress), [None] * m
    while now < program.end and None in yields:
        for i in range(m):
            while phases[i] and phases[i][0][0] <= 1e-12:
                phases[i].pop(0)
            if not phases[i] and yields[i] is None:
                yields[i] = made[i] / (now - program.release[i])
        running = [i for i in range(m) if phases[i] and program.start[i] <= now]
        rates, room = {}, program.capacity
        for i in rng.sample(running, len(running)):
            cap = phases[i][0][1]
            rates[i] = 1.0 if cap is None else min(cap, room * rng.choice([1.0, 1.0, 0.7]))
            room -= 0.0 if cap is None else rates[i]
        waits = [phases[i][0][0] / rates[i] for i in running if rates[i] > 1e-12]
        waits += [s - now for s in program.start if s > now] + [program.end - now, rng.expovariate(0.5)]
        step = min(waits)
        for i in running:
            done = min(phases[i][0][0], rates[i] * step)
            phases[i][0][0] -= done
            made[i] += done / (phases[i][0][1] or 1.0)
        now += step
    return [made[i] / (program.end - program.release[i]) if y is None else y for i, y in enumerate(yields)]


def windows(program, y):
    """Earliest start, deadline, bytes and cap of all that yield y needs, written down operation by operation."""
    rows = []
    for i in range(len(program.names)):
        span = range(program.first[i], program.first[i + 1])
        total = program.tail[i] + sum(program.work[j] + program.volume[j] / program.limit[j] for j in span)
        need, due = y * (program.end - program.release[i]) - program.progress[i], program.end
        if need >= total:
            need, due = total, program.release[i] + (program.progress[i] + total) / y
        done = 0.0
        for j in span:
            done += program.work[j]
            seconds = min(program.volume[j] / program.limit[j], need - done)
            if seconds > 0:
                deadline = due - (need - done - seconds)
                rows.append((program.start[i] + done, deadline, seconds * program.limit[j], program.limit[j]))
            done += program.volume[j] / program.limit[j]
    return rows


def share_placed(program, y):
    """Largest share of the bytes needed for y that a linear program places inside their windows."""
    from scipy.optimize import linprog  # noqa: PLC0415

    rows = windows(program, y)
    if not rows:
        return 1.0
    points = sorted({x for row in rows for x in row[:2]})
    intervals = list(itertools.pairwise(points))
    cells = [(j, n) for j, row in enumerate(rows) for n, (a, b) in enumerate(intervals) if row[0] <= a and b <= row[1]]
    of_operation = np.array([[float(j == cell[0]) for cell in cells] for j in range(len(rows))])
    of_interval = np.array([[float(n == cell[1]) for cell in cells] for n in range(len(intervals))])
    length = np.array([b - a for a, b in intervals])
    found = linprog(
        -np.ones(len(cells)),
        A_ub=np.vstack([of_operation, of_interval]),
        b_ub=np.concatenate([[row[2] for row in rows], program.capacity * length]),
        bounds=[(0.0, rows[j][3] * length[n]) for j, n in cells],
    )
    return -found.fun / sum(row[2] for row in rows)


def assert_tight(program):
    bound, top = interval_bound(program), dedicated.dedicated(program).yields.min()
    assert share_placed(program, bound * (1 - 1e-6)) > 1 - 1e-7
    if bound < top and bound != volume_bound(program):
        assert share_placed(program, bound * (1 + 1e-4)) < 1 - 1e-9


def test_alone_everything_is_within_reach():
    program = build([{"operations": [(3.0, 2.0, 0.5), (1.0, 1.0, 0.5)], "tail": 2.0, "release": 4.0}])
    assert interval_bound(program) == pytest.approx(1.0, rel=1e-12)
    assert volume_bound(program) is None
    windowed = program._replace(begin=6.0, start=np.array([6.0]), progress=np.array([1.0]), end=10.0)
    assert volume_bound(windowed) == pytest.approx(5 / 6, rel=1e-12)
    assert interval_bound(windowed) == pytest.approx(5 / 6, rel=1e-12)


def test_two_twins_without_a_window_wait_for_each_other():
    program = build([{"operations": [(3.0, 2.0, 1.0)]}] * 2)
    assert interval_bound(program) == pytest.approx(5 / 7, rel=1e-11)


def test_two_twins_that_fill_the_window_split_it():
    twin = {"operations": [(0.0, 50.0, 1.0)]}
    program = build([twin, twin], end=10.0)
    assert volume_bound(program) == pytest.approx(0.5, rel=1e-12)
    assert interval_bound(program) == pytest.approx(0.5, rel=1e-11)


def test_the_interval_bound_sees_that_both_write_last():
    twin = {"operations": [(6.0, 4.0, 1.0)]}
    program = build([twin, twin], end=10.0)
    assert volume_bound(program) == pytest.approx(
        1.0, rel=1e-12
    )  # 8 bytes fit into 10 seconds, but not into the last 4
    assert interval_bound(program) == pytest.approx(0.8, rel=1e-11)  # each computes 6 s and gets 2 of the last 4 bytes


def test_two_that_can_finish_are_judged_at_completion():
    twin = {"operations": [(1.0, 2.0, 1.0)]}
    program = build([twin, twin], end=100.0)
    assert volume_bound(program) == pytest.approx(1.0, rel=1e-12)
    assert interval_bound(program) == pytest.approx(3 / 5, rel=1e-10)


def test_an_endless_application_cannot_finish():
    listed = {"operations": [(1.0, 1.0, 1.0)] * 5, "release": -10.0, "progress": 0.0}
    program = build([listed, listed], end=10.0)
    assert dedicated.dedicated(program).completion.tolist() == [10.0, 10.0]
    endless = build([listed | {"endless": True}] * 2, end=10.0)
    assert np.isinf(dedicated.dedicated(endless).completion).all()
    assert dedicated.dedicated(endless).yields == pytest.approx([0.5, 0.5])


def test_caps_tighten_the_interval_bound(monkeypatch):
    # At rate 1 the narrow one could be done before the wide one starts; under its cap 1 of its 2 bytes is left at 2 s.
    wide, narrow = {"operations": [(2.0, 2.0, 1.0)]}, {"operations": [(0.0, 2.0, 0.5)]}
    program = build([wide, narrow])
    assert interval_bound(program) == pytest.approx(4 / 5, rel=1e-8)
    monkeypatch.setattr(bounds, "FEW", 1)
    assert interval_bound(program) == pytest.approx(1.0, rel=1e-12)


def test_calendar_times_lose_no_digits():
    applications = [{"operations": [(6.0, 4.0, 1.0)], "release": 0.0}] * 2
    later = [{"operations": [(6.0, 4.0, 1.0)], "release": 1.75e9}] * 2
    shifted = build(later, begin=1.75e9, end=1.75e9 + 10)
    assert interval_bound(shifted) == pytest.approx(interval_bound(build(applications, end=10.0)), rel=1e-12)


def test_dedicated_run_stops_at_the_end_of_the_window():
    program = build(
        [
            {"operations": [(2.0, 3.0, 0.5), (1.0, 1.0, 0.5)]},  # 2..8 and 9..11
            {"operations": [(10.0, 1.0, 1.0)], "release": -10.0, "progress": 5.0},  # would start at the end
            {"operations": [(1.0, 1.0, 1.0)], "tail": 1.0, "release": 2.0},
        ],
        end=10.0,
    )
    alone = dedicated.dedicated(program)
    assert alone.completion == pytest.approx([11.0, 11.0, 5.0])
    assert alone.transferred == pytest.approx([3.5, 0.0, 1.0])
    assert alone.started.tolist() == [2, 0, 1]
    assert alone.yields == pytest.approx([1.0, 15 / 20, 1.0])
    assert dedicated.pressure(program, alone) == pytest.approx(4.5 / 10)
    open_ended = build([{"operations": [(1.0, 1.0, 1.0)]}])
    assert dedicated.pressure(open_ended, dedicated.dedicated(open_ended)) is None


def test_an_application_without_operations_counts_as_dedicated():
    program = build([{"operations": [], "tail": 5.0}, {"operations": [(1.0, 1.0, 1.0)]}], end=4.0)
    assert interval_bound(program) == pytest.approx(1.0, rel=1e-12)
    alone = dedicated.dedicated(program)
    assert alone.transferred.tolist() == [0.0, 1.0]


def test_a_million_equal_phases_do_not_drift():
    k = 1_000_000
    program = build([{"operations": [(0.1, 0.1, 1.0)]}])
    program = program._replace(
        first=np.array([0, k]),
        work=np.full(k, 0.1),
        volume=np.full(k, 0.1),
        limit=np.ones(k),
        endless=np.array([False]),
    )
    alone = dedicated.dedicated(program)
    assert alone.listed[0] == pytest.approx(0.2 * k, rel=1e-15)
    assert alone.transferred[0] == pytest.approx(0.1 * k, rel=1e-15)


def test_memory_does_not_grow_with_the_operations():
    k = 100_000
    twin = {"operations": [(1.0, 1.0, 1.0)] * k}
    program = build([twin, twin], end=2.0 * k)
    tracemalloc.start()
    dedicated.dedicated(program), volume_bound(program), interval_bound(program)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < k  # not even one byte for each


@settings(deadline=None)
@given(st.floats(1e-6, 1.0), st.floats(1e-3, 10.0), st.floats(1e-3, 10.0))
def test_search_gives_a_yield_that_fails_next_to_one_that_fits(root, before, after):
    asked = []

    def excess(y):
        asked.append(y)
        return (before if y < root else after) * (y - root)

    found = bounds.largest(excess, 1.0)
    assert len(asked) < 60
    assert root < found <= root * (1 + 1.01 * bounds.PRECISION) or root == found == 1.0


def test_search_crosses_a_plain_just_below_the_limit():
    asked = []

    def excess(y):
        asked.append(y)
        return -1e-13 if 0.25 < y <= 0.75 else y - (0.25 if y < 0.5 else 0.75)

    assert bounds.largest(excess, 1.0) == pytest.approx(0.75, rel=2e-13)
    assert len(asked) < 300


@settings(deadline=None, max_examples=150)
@given(programs(), st.integers(0, 10**6))
def test_no_schedule_beats_the_bounds(program, seed):
    reached, bound = min(random_yields(program, seed)), interval_bound(program)
    assert reached <= bound * (1 + 1e-9)
    whole = volume_bound(program)
    assert whole is None or bound <= whole


@settings(deadline=None, max_examples=40)
@given(programs())
def test_interval_bound_is_where_a_linear_program_stops_placing(program):
    assert_tight(program)


@settings(deadline=None, max_examples=60)
@given(programs(windowed=True))
def test_volume_bound_is_where_the_bytes_fill_the_window(program):
    bound, alone = volume_bound(program), dedicated.dedicated(program)
    room = program.capacity * (program.end - program.begin)
    assert sum(row[2] for row in windows(program, bound * (1 - 1e-12))) <= room * (1 + 1e-11)
    if bound < alone.yields.min():
        need, _ = bounds.aim(program, alone.listed, bound * (1 + 1e-12))
        assert dedicated.alone(program, need).transferred.sum() > room


@settings(deadline=None, max_examples=60)
@given(programs(), st.floats(0.01, 100.0), st.floats(0.01, 100.0))
def test_units_do_not_matter(program, seconds, size):
    scaled = program._replace(
        capacity=program.capacity * size / seconds,
        limit=program.limit * size / seconds,
        volume=program.volume * size,
        **{
            name: getattr(program, name) * seconds
            for name in ("begin", "end", "release", "progress", "start", "work", "tail")
        },
    )
    assert interval_bound(scaled) == pytest.approx(interval_bound(program), rel=1e-8)
    if program.windowed:
        assert volume_bound(scaled) == pytest.approx(volume_bound(program), rel=1e-11)


@settings(deadline=None, max_examples=60)
@given(programs(), st.floats(1.0, 3.0))
def test_more_bandwidth_never_lowers_a_bound(program, factor):
    faster = program._replace(capacity=program.capacity * factor)
    assert interval_bound(faster) >= interval_bound(program) * (1 - 1e-8)
    if program.windowed:
        assert volume_bound(faster) >= volume_bound(program)


@settings(deadline=None, max_examples=60)
@given(programs())
def test_kernels_compute_what_their_python_says(program):
    compiled = volume_bound(program), interval_bound(program)
    with pytest.MonkeyPatch.context() as patch:
        for module in (dedicated, earliest_deadline, capped_fit, bounds):
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        assert (volume_bound(program), interval_bound(program)) == compiled
