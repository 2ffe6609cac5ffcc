"""What must be true of every run, whatever the scenario and the policy: conservation, order, scale, bounds, memory."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Result, Scenario, compare, generate, simulate
from penstock.engine.compile import compile_scenario
from penstock.engine.link import execution as engine_run
from penstock.engine.program import Program
from penstock.engine.timeline import Timeline
from penstock.model import Window
from penstock.policies.sharing import NAMES, Sharing, View, find
from reference import ORDERS
from strategies import documents, scenarios

Document = dict[str, Any]

ROUGH = "best-next-event"  # it looks for its optimum by numbers
ONE_AT_A_TIME = set(ORDERS) - {"best-effort"}
IDLE_ON_PURPOSE = {ROUGH} | ONE_AT_A_TIME
# To the other orders, jobs that nobody disturbed yet, that never end or never compute are equal: the scenario decides.
BY_SCENARIO_ORDER = ONE_AT_A_TIME - {"list-fifo", "list-longest-io", "list-shortest-io", "periodic-fifo"}
NAMES_PER_TIME_UNIT = "set-10"  # its sets are powers of ten seconds
COLUMNS = ("application", "start", "stop", "rate")


class Piece(NamedTuple):
    """One segment of the timeline, and the operation that it belongs to."""

    application: int
    operation: int
    start: float
    stop: float
    rate: float


def pieces(timeline: Timeline, program: Program) -> list[Piece]:
    """Every segment with its operation, found by counting bytes."""
    found = []
    for index in range(len(program.names)):
        operation, moved = int(program.first[index]), 0.0
        own = np.flatnonzero(timeline.application == index)
        for segment in own[np.argsort(timeline.start[own], kind="stable")]:
            start, stop, rate = (float(getattr(timeline, column)[segment]) for column in COLUMNS[1:])
            found.append(Piece(index, operation, start, stop, rate))
            moved += rate * (stop - start)
            if moved >= program.volume[operation] - 2e-9 * program.capacity * stop:
                operation, moved = operation + 1, 0.0
    return found


def numbers(result: Result) -> Document:
    """All that a run says of itself, bar how long it took us."""
    return result.to_dict() | {"seconds": None}


def same_timeline(one: Timeline | None, other: Timeline | None) -> bool:
    return (
        one is not None
        and other is not None
        and all(np.array_equal(getattr(one, column), getattr(other, column)) for column in COLUMNS)
    )


def close(value: Any, relative: float = 1e-9) -> Any:
    return value if value is None or isinstance(value, str) else pytest.approx(value, rel=relative, abs=1e-12)


def assert_sound(result: Result, program: Program) -> None:
    assert_bytes_are_conserved(result, program)
    assert result.timeline is not None
    segments = pieces(result.timeline, program)
    assert_compute_is_not_disturbed(result, program, segments)
    assert_rates_are_proper(result, program, segments)


def assert_bytes_are_conserved(result: Result, program: Program) -> None:
    timeline = result.timeline
    assert timeline is not None
    moved = np.bincount(
        timeline.application, timeline.rate * (timeline.stop - timeline.start), minlength=len(program.names)
    )
    for index, job in enumerate(result.applications):
        listed = program.volume[program.first[index] : program.first[index + 1]]
        # What is due within 1e-9 of an instant completes at it.
        slack = 1e-9 * program.capacity * result.end * max(1, len(listed))
        assert moved[index] == pytest.approx(job.transferred, rel=1e-9, abs=slack), (result.sharing, job.name)
        if job.completion is not None:
            assert job.transferred == pytest.approx(listed.sum(), rel=1e-12), (result.sharing, job.name)


def assert_compute_is_not_disturbed(result: Result, program: Program, segments: list[Piece]) -> None:
    """Each operation is posted as soon as its compute ends, and lasts without a gap until it is complete."""
    last: dict[int, Piece] = {}
    due: list[float] = []
    for piece in segments:
        before = last.get(piece.application)
        ready = program.start[piece.application] if before is None else before.stop
        if before is None or piece.operation != before.operation:
            ready += program.work[piece.operation]
        due.append(ready)
        assert piece.start < piece.stop <= result.end
        last[piece.application] = piece
    off = np.abs(np.array([piece.start for piece in segments]) - due)
    wrong = np.flatnonzero(off > np.maximum(3e-9 * np.abs(due), 1e-12))
    assert wrong.size == 0, (result.sharing, segments[wrong[0]])


def assert_rates_are_proper(result: Result, program: Program, segments: list[Piece]) -> None:
    """0 ≤ rate ≤ cap and Σ rate ≤ B between any two events; all of B is used while someone could use it."""
    limits = program.limit[[piece.operation for piece in segments]]
    rates, starts, stops = np.array([(piece.rate, piece.start, piece.stop) for piece in segments]).reshape(-1, 3).T
    assert (rates >= 0.0).all(), result.sharing
    assert (rates <= limits * (1 + 1e-9)).all(), result.sharing
    active: list[int] = []
    for moment, begun in groupby(np.argsort(starts, kind="stable").tolist(), key=starts.tolist().__getitem__):
        active = [k for k in (*active, *begun) if moment < stops[k]]
        used = rates[active].sum()
        assert used <= program.capacity * (1 + 1e-9), (result.sharing, moment)
        if result.sharing not in IDLE_ON_PURPOSE:
            usable = min(program.capacity, limits[active].sum())
            assert abs(used - usable) <= 1e-9 * usable, (result.sharing, moment)


@given(scenarios())
def test_bytes_caps_and_capacity_hold_at_every_instant(scenario: Scenario) -> None:
    program = compile_scenario(scenario)
    for result in compare(scenario, timeline=True):
        assert_sound(result, program)


def test_a_long_timeline_is_as_sound_as_a_short_one() -> None:
    scenario = generate("synthetic", seed=3, horizon=8e5, applications=24, small=8, pressure=1.2)
    program = compile_scenario(scenario)
    for result in compare(scenario, ["fair-share", "set-10", "best-next-event"], timeline=True):
        assert result.timeline is not None
        assert result.timeline.start.size > 5_000  # more than one room of segments
        assert_sound(result, program)


@given(scenarios())
def test_segments_of_one_application_never_overlap(scenario: Scenario) -> None:
    for result in compare(scenario, timeline=True):
        timeline = result.timeline
        assert timeline is not None
        assert (np.diff(timeline.stop) >= 0.0).all(), result.sharing
        for index in range(len(timeline.names)):
            own = timeline.application == index
            order = np.argsort(timeline.start[own])
            start, stop = timeline.start[own][order], timeline.stop[own][order]
            assert (start[1:] >= stop[:-1]).all(), (result.sharing, timeline.names[index])
            if own.any():
                # A release within 1e-9 of an event happens at that event.
                assert start[0] >= timeline.started[index] * (1 - 1e-9), (result.sharing, timeline.names[index])
                assert stop[-1] <= timeline.stopped[index], (result.sharing, timeline.names[index])


def watched(policy: Sharing, seen: list[View]) -> Sharing:
    """The same policy, asked from Python; keeps what it was shown."""

    def decide(view: View, rates: np.ndarray) -> None:
        seen.append(copy.deepcopy(view))
        policy.decide(view, rates)

    return replace(policy, decide=decide, plain=decide, compiled=False)


@settings(max_examples=settings().max_examples // 2)
@given(scenarios())
def test_progress_only_grows_and_never_faster_than_time(scenario: Scenario) -> None:
    for name in NAMES:
        seen: list[View] = []
        simulate(scenario, watched(find(name), seen))
        last: dict[int, tuple[float, float, float, float]] = {}
        for view in seen:
            for row, application in enumerate(view.application.tolist()):
                now = view.now, view.progress[row], view.posted[row], view.remaining[row]
                then = last.get(application, (now[0], now[1], np.nan, 0.0))
                gained, slack = now[1] - then[1], 2e-9 * view.now + 1e-12
                assert -1e-12 <= gained <= now[0] - then[0] + slack, (name, application, view.now)
                assert now[2] != then[2] or now[3] <= then[3], (name, application, view.now)
                last[application] = now


@given(scenarios())
def test_yields_lie_between_nothing_and_one(scenario: Scenario) -> None:
    for result in compare(scenario):
        yields = [job.yield_ for job in result.applications]
        assert result.min_yield == min(yields)
        assert max(yields) <= 1 + 1e-8, result.sharing
        # Only the end of a window can come before somebody's first byte.
        assert min(yields) >= 0.0 if scenario.window else min(yields) > 0.0, result.sharing


@given(scenarios())
def test_no_policy_beats_a_bound(scenario: Scenario) -> None:
    for result in compare(scenario):
        assert result.bound_interval is not None
        assert result.min_yield <= result.bound_interval * (1 + 1e-8), result.sharing
        if scenario.window:
            assert result.bound_min_yield is not None
            assert result.min_yield <= result.bound_min_yield * (1 + 1e-8), result.sharing


@settings(max_examples=settings().max_examples // 2)
@given(scenarios())
def test_a_run_can_be_repeated_to_the_last_bit(scenario: Scenario) -> None:
    for first in compare(scenario, timeline=True):
        again = simulate(scenario, first.sharing, timeline=True)
        assert numbers(first) == numbers(again)
        assert same_timeline(first.timeline, again.timeline)


@given(scenarios())
def test_recording_the_timeline_changes_no_number(scenario: Scenario) -> None:
    recorded = compare(scenario, timeline=True)
    plain = compare(scenario)
    assert [numbers(result) for result in recorded] == [numbers(result) for result in plain]
    assert all(result.timeline is None for result in plain)


@given(scenarios(), st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
def test_compare_is_simulate_for_each(scenario: Scenario, names: list[str]) -> None:
    together = compare(scenario, names)
    assert [result.sharing for result in together] == names
    assert [numbers(result) for result in together] == [numbers(simulate(scenario, name)) for name in names]


@given(scenarios())
def test_events_are_postings_completions_releases_and_the_end(scenario: Scenario) -> None:
    program = compile_scenario(scenario)
    most = len(program.names) + 2 * len(program.volume) + 1
    for result in compare(scenario, [name for name in NAMES if name != "periodic-greedy-yield"], timeline=True):
        assert result.timeline is not None
        instants = np.unique(np.concatenate([result.timeline.start, result.timeline.stop]))
        # The begin of a run counts only if somebody is released there.
        assert instants.size - 1 <= result.events <= most, result.sharing


def generic(document: Document, seed: int) -> Document:
    """The same, all numbers moved a little at random and nobody starting together, so that nothing ties by chance."""
    draw = random.Random(seed)
    moved = copy.deepcopy(document)
    moved.pop("noise", None)  # it is drawn by place in the list
    if "window" in moved:
        moved["window"]["begin"] = 0.0

    def shake(phases: list[Document]) -> None:
        for phase in phases:
            for kind in phase.keys() & {"compute", "read", "write"}:
                phase[kind] *= draw.uniform(0.9, 1.1)
            shake(phase.get("phases", []))

    for application in moved["applications"]:
        application.pop("progress", None)
        application["release"] = application.get("release", 0.0) * 0.9 + draw.uniform(0.0, 0.3)
        shake(application["phases"])
    return moved


@given(documents(exact=False, max_applications=5), st.integers(0, 2**32), st.randoms())
def test_the_order_of_applications_does_not_matter(document: Document, seed: int, shuffle: random.Random) -> None:
    document = generic(document, seed)
    permuted = document | {"applications": shuffle.sample(document["applications"], len(document["applications"]))}
    names = [name for name in NAMES if name not in BY_SCENARIO_ORDER]
    for one, other in zip(
        compare(Scenario.from_document(document), names), compare(Scenario.from_document(permuted), names), strict=True
    ):
        relative = 1e-6 if one.sharing == ROUGH else 1e-9
        found = {job.name: job.to_dict() for job in other.applications}
        assert one.events == other.events, one.sharing
        for job in one.applications:
            expected = {key: close(value, relative) for key, value in job.to_dict().items()}
            assert found[job.name] == expected, (one.sharing, job.name)


def scaled(document: Document, seconds: float, size: float) -> Document:
    """The same scenario in other units: every time is `seconds` times longer, every volume `size` times larger."""
    factor = {"compute": seconds, "read": size, "write": size, "begin": seconds, "end": seconds}
    factor |= {"release": seconds, "progress": seconds}
    factor |= dict.fromkeys(("bandwidth", "read_bandwidth", "write_bandwidth", "node_bandwidth"), size / seconds)

    def converted(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item * factor[key] if key in factor else converted(item) for key, item in value.items()}
        return [converted(item) for item in value] if isinstance(value, list) else value

    return converted(document)


def in_other_units(result: Result, seconds: float, size: float) -> Document:
    """What the same run must give in the units of `scaled`."""
    expected = numbers(result)
    for key in ("end", "makespan", "node_hours_lost", "node_hours_used"):
        expected[key] = None if expected[key] is None else expected[key] * seconds
    for job in expected["applications"]:
        job["completion"] = None if job["completion"] is None else job["completion"] * seconds
        job["compute_done"] *= seconds
        job["transferred"] *= size
    return expected


def those_without_units(seconds: float) -> list[str]:
    return [name for name in NAMES if seconds == 1.0 or name != NAMES_PER_TIME_UNIT]


@given(documents(), st.integers(-20, 20), st.integers(-20, 20))
def test_units_that_are_powers_of_two_change_nothing_at_all(document: Document, minutes: int, kilo: int) -> None:
    seconds, size = 2.0**minutes, 2.0**kilo
    names = those_without_units(seconds)
    other = compare(Scenario.from_document(scaled(document, seconds, size)), names)
    for one, result in zip(compare(Scenario.from_document(document), names), other, strict=True):
        assert numbers(result) == in_other_units(one, seconds, size)


@given(documents(), st.sampled_from([1.0, 1e-3, 0.3, 60.0, 86400.0]), st.sampled_from([1.0, 1e-9, 0.7, 1e12]))
def test_units_do_not_matter(document: Document, seconds: float, size: float) -> None:
    names = those_without_units(seconds)
    other = compare(Scenario.from_document(scaled(document, seconds, size)), names)
    for one, result in zip(compare(Scenario.from_document(document), names), other, strict=True):
        relative = 1e-6 if one.sharing == ROUGH else 1e-8
        expected = in_other_units(one, seconds, size)
        for theirs, ours in zip(expected.pop("applications"), numbers(result)["applications"], strict=True):
            assert ours == {key: close(value, relative) for key, value in theirs.items()}, one.sharing
        found = numbers(result)
        for key in ("end", "events", "min_yield", "utilization", "efficiency", "makespan", "max_stretch", "pressure"):
            assert found[key] == close(expected[key], relative), (one.sharing, key)


@given(documents(max_applications=1))
def test_alone_an_application_is_never_held_back(document: Document) -> None:
    document["applications"][0].pop("progress", None)
    for result in compare(Scenario.from_document(document)):
        (job,) = result.applications
        assert job.yield_ == pytest.approx(1.0, rel=1e-8), result.sharing
        assert job.stretch is None if job.completion is None else job.stretch == pytest.approx(1.0, rel=1e-8)


def own_fcfs(view: View, rates: np.ndarray) -> None:
    """First come, first served once more, as a user would write it."""
    left = view.capacity
    for row in sorted(range(rates.size), key=lambda row: (view.posted[row], view.application[row])):
        rates[row] = min(view.limit[row], left)
        left -= rates[row]


@given(scenarios(), st.integers(1, 5))
def test_stopping_and_going_on_leaves_no_trace(scenario: Scenario, chunk: int) -> None:
    whole = compare(scenario, timeline=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_run, "_CHUNK", chunk)
        parts = compare(scenario, timeline=True)
    for one, other in zip(whole, parts, strict=True):
        assert numbers(one) == numbers(other)
        assert same_timeline(one.timeline, other.timeline)


def endless(count: int, end: float) -> Document:
    """Applications that compute and write forever and together want about the whole bandwidth."""
    applications = []
    for index in range(count):
        loop = [{"compute": count + 0.37 * index}, {"write": 1 + 0.01 * index}]
        applications.append({"name": f"a{index}", "phases": [{"repeat": "forever", "phases": loop}]})
    return {"version": 1, "platform": {"bandwidth": 1}, "window": {"end": end}, "applications": applications}


@pytest.mark.parametrize("end", [5e3, pytest.param(1.6e5, marks=pytest.mark.soak)])
def test_a_run_of_several_chunks_is_the_same_asked_from_python(end: float, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario.from_document(endless(count=3, end=end))
    plain = simulate(scenario, own_fcfs)
    if end < 1e5:
        monkeypatch.setattr(engine_run, "_CHUNK", 1_000)
    compiled = simulate(scenario, "fcfs")
    assert compiled.events > 2 * 1_000 if end < 1e5 else compiled.events > engine_run._CHUNK
    assert numbers(plain) | {"sharing": "fcfs"} == numbers(compiled)


def test_progress_is_told_in_order() -> None:
    seen: list[tuple[float, int]] = []
    result = simulate(Scenario.from_document(endless(5, 1e6)), progress=lambda now, events: seen.append((now, events)))
    assert len(seen) == result.events // 200_000 > 1
    assert seen == sorted(seen)
    assert all(0 < now <= result.end and 0 < events <= result.events for now, events in seen)


MEASURE = """
import json, pathlib, re, resource, sys
from penstock import Scenario, simulate

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20

document, sharing = json.load(sys.stdin)
simulate(Scenario.from_document(document | {"window": {"end": 1000.0}}), sharing)
seen = []
result = simulate(
    Scenario.from_document(document), sharing, progress=lambda now, events: seen.append((events, resident()))
)
# Of this process alone: getrusage begins with what the one that started it had.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"events": result.events, "peak": peak, "resident": seen}))
"""


def measured(document: Document, sharing: str) -> Document:
    """Run in a process of its own; memory in MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        input=json.dumps([document, sharing]),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.usefixtures("forking")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("sharing", "end"),
    [("fair-share", 3e6), ("lookahead-greedy-yield", 9e5), ("set-10", 9e5), ("best-next-event", 9e5)],
)
def test_the_loop_allocates_nothing(sharing: str, end: float) -> None:
    found = measured(endless(count=4, end=end), sharing)
    early = [memory for events, memory in found["resident"] if events <= 0.25 * found["events"]]
    late = [memory for events, memory in found["resident"] if events > 0.75 * found["events"]]
    assert found["events"] > 1_000_000
    assert max(late) - min(early) < 1.0  # MB


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nothing tells the peak of a process")
@pytest.mark.parametrize(("end", "events"), [(1.4e6, 2_000_000), pytest.param(7e6, 10_000_000, marks=pytest.mark.soak)])
def test_millions_of_events_stay_below_500_megabytes(end: float, events: int) -> None:
    found = measured(endless(count=20, end=end), "fair-share")
    assert found["events"] > events
    assert found["peak"] < 500


@given(scenarios(windowed=True), st.sampled_from([1e6, 1.75e9]))
def test_the_calendar_makes_no_difference(scenario: Scenario, shift: float) -> None:
    """Seconds since 1970 are as good as seconds since the start: only differences of times count."""

    def starting_at(begin: float) -> Scenario:
        applications = tuple(
            each.model_copy(update={"release": begin, "progress": None}) for each in scenario.applications
        )
        return scenario.model_copy(
            update={"window": Window(begin=begin, end=begin + 20.0), "applications": applications}
        )

    for here, there in zip(compare(starting_at(0.0)), compare(starting_at(shift)), strict=True):
        assert (here.min_yield, here.efficiency, here.events) == (there.min_yield, there.efficiency, there.events)
        assert [each.yield_ for each in here.applications] == [each.yield_ for each in there.applications]
        assert here.bound_interval == pytest.approx(there.bound_interval, rel=1e-9)


def test_the_calendar_does_not_matter():
    """Without a window, too: what is the same instant is relative to the first start, not to 1970."""
    phases = [{"repeat": 50, "phases": [{"compute": 1}, {"write": 1}]}]
    jobs = [{"name": name, "release": 0, "phases": phases} for name in ("a", "b")]
    early = {"version": 1, "platform": {"bandwidth": 1}, "applications": jobs}
    late = early | {"applications": [job | {"release": 1.7e9} for job in jobs]}
    for one, other in zip(compare(Scenario.from_document(early)), compare(Scenario.from_document(late)), strict=True):
        assert other.events == one.events, one.sharing
        assert other.makespan - 1.7e9 == pytest.approx(one.makespan, rel=1e-6), one.sharing
        assert other.max_stretch == pytest.approx(one.max_stretch, rel=1e-9), one.sharing
        assert other.min_yield == pytest.approx(one.min_yield, rel=1e-9), one.sharing
