"""What holds behind every burst buffer, whoever divides the bandwidth: nothing is lost, no limit is exceeded."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Scenario, generate, simulate
from penstock.engine.tier import execution as tier_run
from penstock.engine.tier.arrays import TierState, initial_tier
from penstock.model.trace import READ, WRITE
from penstock.policies.buffering import NAMES
from penstock.policies.sharing import NAMES as SHARING
from penstock.policies.sharing import find
from penstock.studies.buffers import Buffered, buffer
from penstock.studies.buffers.split import split
from penstock.studies.sizing import PARTITIONS
from penstock.studies.sizing.traffic import caps_of, limits_of
from reference.engine import unroll
from strategies import amounts, buffer_documents

Document = dict[str, Any]
BEHIND = ("fcfs", "fair-share", "greedy-yield", "greedy-com", "set-10", "list-stretch", "best-next-event")
EVERYONE = st.sampled_from(NAMES) | st.sampled_from(BEHIND).map(find)
MIXED = buffer_documents() | buffer_documents(exact=False)
CLOSE = 1e-9


def grain(found: Buffered, document: Document) -> float:
    """What the tolerance can do to a stretch: instants within 1e-9 of the clock are one, however short a run is."""
    alone: list[float] = [
        (end - job["release"]) / times
        for end, job, times in zip(found.completion, document["applications"], found.stretch, strict=True)
    ]
    return 5 * CLOSE * max(1.0, found.end / min(alone))


class Watched(NamedTuple):
    """A run, and after each of its events the time and the totals of all applications."""

    result: Buffered
    time: np.ndarray
    produced: np.ndarray  # events × applications
    sent: np.ndarray
    fetched: np.ndarray
    consumed: np.ndarray


def watched(scenario: Scenario, capacity: float, **options: Any) -> Watched:
    """Stop after every event and look at the totals."""
    states: list[TierState] = []
    seen: list[tuple[np.ndarray, ...]] = []
    begin = initial_tier

    def remembered(*arguments: Any) -> TierState:
        states.append(begin(*arguments))
        return states[-1]

    def look(now: float, _: int) -> None:
        totals = (states[0].produced, states[0].sent, states[0].fetched, states[0].consumed)
        seen.append((np.array(now), *(total.copy() for total in totals)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tier_run, "initial_tier", remembered)
        patch.setattr(tier_run, "_CHUNK", 1)
        result = buffer(scenario, capacity, progress=look, **options)
    nothing = np.zeros((1, len(scenario.applications)))
    columns = [np.array(column) for column in zip(*seen, strict=True)]
    return Watched(result, np.append(0.0, columns[0]), *(np.vstack([nothing, column]) for column in columns[1:]))


def volumes(document: Document, kind: str) -> list[float]:
    return [sum(amount for one, amount in unroll(job["phases"]) if one == kind) for job in document["applications"]]


@settings(max_examples=100)
@given(MIXED, st.sampled_from(PARTITIONS), st.sampled_from([0.0, 0.3, 1.0]), amounts(0, 6, True), EVERYONE)
def test_nothing_is_lost_and_nothing_overflows(
    document: Document, partition: str, common: float, capacity: float, strategy: Any
) -> None:
    scenario = Scenario.from_document(document)
    divided = split(scenario, partition, None if partition == "dynamic" else common)
    run = watched(scenario, capacity, split=divided, strategy=strategy, timeline=True)
    result, volume = run.result, sum(volumes(document, "read")) + sum(volumes(document, "write"))
    slack = CLOSE * max(1.0, volume)
    for total in run[2:]:
        assert np.diff(total, axis=0).min() >= -slack
    assert run.produced[-1] == pytest.approx(volumes(document, "write"), abs=slack)
    assert run.sent[-1] == pytest.approx(volumes(document, "write"), abs=slack)
    assert run.fetched[-1] == pytest.approx(volumes(document, "read"), abs=slack)
    assert run.consumed[-1] == pytest.approx(volumes(document, "read"), abs=slack)
    output, held_ahead = run.produced - run.sent, run.fetched - run.consumed
    assert min(output.min(), held_ahead.min()) >= -slack
    own = np.zeros(len(result.names)) if divided.partition == "dynamic" else np.array(result.shares)
    assert (output + held_ahead).sum(axis=1).max() <= capacity + slack
    assert result.peak <= capacity * (1 + CLOSE) + 1e-12
    beyond = np.maximum(0.0, output + held_ahead - own).sum(axis=1)
    assert beyond.max() <= divided.common * capacity + slack
    assert result.filling is not None
    assert np.abs(result.filling.output[-1]).max() <= slack and np.abs(result.filling.input[-1]).max() <= slack


@st.composite
def greedy_parts(draw: st.DrawFn) -> Document:
    """Jobs that come and go, whose parts add up to more than there is, perhaps behind a slow port, perhaps cut off."""
    document: Document = draw(buffer_documents(most=4) | buffer_documents(most=4, exact=False))
    shares = {job["name"]: draw(st.sampled_from([0.2, 0.5, 0.9, 1.0])) for job in document["applications"]}
    document["platform"]["burst_buffer"] = {"capacity": 1.0, "shares": shares}
    if draw(st.booleans()):
        document["platform"]["burst_buffer"]["bandwidth"] = draw(amounts(0.5, 6, True))
    for job in document["applications"]:
        if draw(st.integers(0, 3)) == 0:
            job["walltime"] = draw(amounts(0.5, 12, True))
    return document


@settings(max_examples=200)
@given(
    greedy_parts(),
    st.sampled_from([0.0, 0.3, 1.0]),
    amounts(0, 6, True),
    st.sampled_from([0.0, 1.0, math.inf]),
    st.sampled_from(["now", "wait"]),
    EVERYONE,
)
def test_the_device_is_never_too_full(
    document: Document, common: float, capacity: float, lead: float, admit: str, strategy: Any
) -> None:
    options: dict[str, Any] = {"common": common, "lead": lead, "admit": admit, "strategy": strategy}
    found = buffer(Scenario.from_document(document), capacity, **options, timeline=True)
    assert found.filling is not None
    held = (found.filling.output + found.filling.input).sum(axis=1)
    assert held.max() == pytest.approx(found.peak, abs=1e-9)
    assert found.peak <= capacity * (1 + CLOSE) + 1e-12
    assert min(found.filling.output.min(), found.filling.input.min()) >= -1e-9


@settings(max_examples=100)
@given(MIXED, st.sampled_from(PARTITIONS), amounts(0, 6, True), EVERYONE)
def test_no_limit_is_exceeded(document: Document, partition: str, capacity: float, strategy: Any) -> None:
    scenario = Scenario.from_document(document)
    run = watched(scenario, capacity, partition=partition, strategy=strategy)
    seconds, (read, write, joint, _) = np.diff(run.time), limits_of(scenario)
    # Instants within the tolerance of each other are one, which moves bytes from one side of it to the other.
    slack = CLOSE * (1.0 + run.time[-1]) * 10.0
    into, out = np.diff(run.fetched, axis=0), np.diff(run.sent, axis=0)
    for limit, moved in ((read, into), (write, out), (joint, into + out)):
        assert np.isinf(limit) or (moved.sum(axis=1) <= limit * seconds + slack).all()
    caps = np.array([caps_of(application, scenario) for application in scenario.applications])
    for column, moved in ((READ, np.diff(run.consumed, axis=0)), (WRITE, np.diff(run.produced, axis=0))):
        assert (moved <= caps[:, column - 1] * seconds[:, None] + slack).all()


@settings(max_examples=100)
@given(MIXED, st.sampled_from(PARTITIONS), st.sampled_from([0.0, 0.3]), amounts(0, 6, True), EVERYONE)
def test_nobody_is_faster_than_alone_or_than_the_bounds(
    document: Document, partition: str, common: float, capacity: float, strategy: Any
) -> None:
    scenario = Scenario.from_document(document)
    part = None if partition == "dynamic" else common
    found = buffer(scenario, capacity, partition=partition, common=part, strategy=strategy)
    slack = grain(found, document)
    assert min(found.stretch) >= 1 - slack
    assert found.max_stretch >= found.bound_max_stretch * (1 - slack)
    assert found.mean_stretch >= found.bound_mean_stretch * (1 - slack)
    assert min(found.bound_max_stretch, found.bound_mean_stretch) >= 1 - slack


@st.composite
def alike(draw: st.DrawFn, kinds: tuple[str, ...] = ("compute", "read", "write")) -> Document:
    """One limit for both directions, and the same cap for all, which is no larger.

    There both models coincide. Plain fair-share divides in proportion to caps and the tier evenly up to the caps, which
    is the same for equal ones. A cap above the limit is clipped to it in the plain engine only, which shows in yields.
    """
    document = draw(buffer_documents(kinds=kinds, joint=True, most=4))
    limit = draw(amounts(0.5, 4, True))
    cap = limit * draw(st.sampled_from([1.0, 0.75, 0.5]))
    both = {f"{way}_bandwidth": cap for way in ("read", "write")}
    applications = [application | both for application in document["applications"]]
    return document | {"platform": {"bandwidth": limit}, "applications": applications}


def in_turns(document: Document) -> Document:
    """The same with operations between computes only, and one at the end.

    The end of a compute that no operation follows is no event in the plain engine, and one in the tier; a policy that
    decides once more may decide differently.
    """
    applications = []
    for job in document["applications"]:
        phases: list[Document] = []
        for phase in job["phases"]:
            computes = "compute" in phase
            if phases and computes == ("compute" in phases[-1]):
                phases.append({"write" if computes else "compute": 1.0})
            phases.append(phase)
        applications.append(job | {"phases": phases + ([{"write": 1.0}] if "compute" in phases[-1] else [])})
    return document | {"applications": applications}


@settings(max_examples=3 * settings().max_examples)
@given(
    document=alike(("compute", "write")).map(in_turns),
    partition=st.sampled_from(PARTITIONS),
    sharing=st.sampled_from([name for name in SHARING if find(name).prepare is None]),
)
def test_without_a_buffer_it_is_the_plain_engine(sharing: str, document: Document, partition: str) -> None:
    scenario = Scenario.from_document(document)
    plain = [application.completion for application in simulate(scenario, sharing).applications]
    found = buffer(scenario, 0.0, partition=partition, strategy=find(sharing))
    assert found.completion == pytest.approx(plain, rel=CLOSE)


@settings(max_examples=50)
@given(alike(), st.sampled_from(PARTITIONS), st.sampled_from([1.0, 1.5, 8.0]))
def test_without_a_buffer_strategy_g_is_fair_share(document: Document, partition: str, faster: float) -> None:
    """Also where everybody could move more than the limit: evenly is evenly, whatever the yields."""
    limit = {"bandwidth": document["platform"]["bandwidth"] / faster}
    scenario = Scenario.from_document(document | {"platform": limit})
    plain = [application.completion for application in simulate(scenario, "fair-share").applications]
    assert buffer(scenario, 0.0, partition=partition).completion == pytest.approx(plain, rel=CLOSE)


@settings(max_examples=100)
@given(
    # Not with both directions: room that reading frees may be planned for another's input, and writers take it first.
    st.sampled_from([("compute", "write"), ("compute", "read")]),
    st.sampled_from(["static", "dynamic"]),
    st.sampled_from([1.0, 1.0, 1.5]),
    st.data(),
)
def test_with_enough_of_a_buffer_the_plan_holds_nobody_up(
    kinds: tuple[str, ...], partition: str, factor: float, data: st.DataObject
) -> None:
    document = data.draw(late(kinds))
    scenario = Scenario.from_document(document)
    # Fixed parts go to whoever enters first, so that plans for input ahead of its time hold in a common part only.
    writes = kinds[1] == "write"
    divided = split(scenario, partition if writes else "dynamic", lead=None if writes else math.inf)
    found = buffer(scenario, factor * divided.size, split=divided, strategy="planned")
    assert found.stretch == pytest.approx([1.0] * len(found.names), abs=grain(found, document))


@pytest.mark.parametrize(("mtbf", "load", "seed", "part"), [(50, 0.8, 6, 1.0), (25, 0.8, 3, 1.0), (25, 0.2, 7, 1.25)])
def test_flows_do_not_take_turns_at_being_ahead_of_the_plan(mtbf: int, load: float, seed: int, part: float) -> None:
    scenario = generate("checkpoints", seed, mtbf=mtbf, load=load, walltime="literature", end="compute")
    divided = split(scenario, "static")
    planned, fair = (
        buffer(scenario, part * divided.size, split=divided, strategy=name) for name in ("planned", "fair")
    )
    assert planned.max_stretch == pytest.approx(1.0, abs=1e-6)
    assert planned.events < 10 * fair.events


@st.composite
def late(draw: st.DrawFn, kinds: tuple[str, ...]) -> Document:
    """Nobody is released before everything could have been fetched: a sizing may fetch before time 0, a run cannot."""
    document = draw(buffer_documents(kinds=kinds))
    limits = document["platform"].values()
    enough = sum(volumes(document, "read")) / min(limits) * 2
    applications = [one | {"release": one["release"] + enough} for one in document["applications"]]
    return document | {"applications": applications}


@settings(max_examples=50)
@given(buffer_documents(kinds=("compute", "write")), st.sampled_from(PARTITIONS), EVERYONE)
def test_writers_wait_for_nobody_if_all_fits(document: Document, partition: str, strategy: Any) -> None:
    scenario = Scenario.from_document(document)
    divided = split(scenario, partition)
    # However large the buffer: who needs none has no part of it.
    found = buffer(scenario, 1e6, split=divided, strategy=strategy)
    if sum(found.shares) > 1e6 * (1 + CLOSE):  # parts that do not fit together are not whole
        return
    room = [share >= volume for share, volume in zip(found.shares, volumes(document, "write"), strict=True)]
    waits = [stretch > 1 + CLOSE for stretch, fits in zip(found.stretch, room, strict=True) if fits]
    assert not any(waits)


@settings(max_examples=50)
@given(
    buffer_documents(most=4, exact=False),
    st.sampled_from(PARTITIONS),
    amounts(0, 6, True),
    st.randoms(use_true_random=False),
)
def test_the_order_of_applications_does_not_matter(
    document: Document, partition: str, capacity: float, chance: Any
) -> None:
    mixed = list(document["applications"])
    chance.shuffle(mixed)
    ends = []
    for plain in (document, document | {"applications": mixed}):
        found = buffer(Scenario.from_document(plain), capacity, partition=partition)
        ends.append(dict(zip(found.names, found.completion, strict=True)))
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


def test_whole_numbers_are_numbers() -> None:
    jobs = [{"name": name, "bandwidth": 4, "phases": [{"compute": 1}, {"write": 12}]} for name in "ab"]
    scenario = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    for common in (0, 1):
        assert buffer(scenario, 3, common=common).max_stretch == buffer(scenario, 3.0, common=float(common)).max_stretch


def test_how_long_a_look_takes_does_not_matter() -> None:
    """A run in pieces is the run in one piece."""
    jobs = [
        {"name": name, "bandwidth": 4, "phases": [{"compute": 1}, {"write": 12}, {"read": 5}, {"write": 2}]}
        for name in "abc"
    ]
    scenario = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    for strategy in NAMES:
        whole = buffer(scenario, 9.0, strategy=strategy)
        assert watched(scenario, 9.0, strategy=strategy).result.completion == whole.completion
