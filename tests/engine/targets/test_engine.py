"""What must be true of every run on targets: one target is a link, transfers are independent, names mean nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from engine.link.test_invariants import NAMES_PER_TIME_UNIT, ROUGH, scaled
from penstock import Result, Scenario, simulate
from penstock.errors import InvalidOption, PenstockError, PolicyError
from penstock.policies.allocation import NAMES as ALLOCATIONS
from penstock.policies.placement import NAMES as PLACEMENTS
from penstock.policies.sharing import NAMES as SHARING
from penstock.policies.sharing import View
from penstock.studies.targets import Allotment, allocate
from policies.sharing.test_bad_policies import compiled, marked
from policies.sharing.test_own_policies import FORMS
from reference.allocations import allowed
from strategies import target_documents

Document = dict[str, Any]
Plan = dict[str, list[int]]
ABOUT_THE_RUN = ("interval", "mean_io_slowdown", "machine_idletime", "load", "least_load", "imbalance", "events")


def close(value: Any, relative: float = 1e-9) -> Any:
    return value if value is None or isinstance(value, str) else pytest.approx(value, rel=relative, abs=relative)


def tolerance(sharing: str) -> float:
    return 1e-6 if sharing == ROUGH else 1e-9


@st.composite
def plans(draw: DrawFn, document: Document, most: int | None = None) -> Plan:
    """Some of the targets for every application, as many as its profile allows and at most `most`."""
    names = document["platform"]["targets"]
    places = range(names if isinstance(names, int) else len(names))
    plan = {}
    for each in document["applications"]:
        counts = [count for count in allowed(document, each) if most is None or count <= most]
        assume(counts)
        plan[each["name"]] = sorted(draw(st.permutations(places))[: draw(st.sampled_from(counts))])
    return plan


def run(document: Document, plan: Mapping[str, Any], sharing: Any = "fair-share", **more: Any) -> Allotment:
    """Until the first completion, unless something else is asked for."""
    return allocate(Scenario.from_document(document), plan=plan, sharing=sharing, **({"interval": "first"} | more))


def run_or_skip(document: Document, plan: Plan, sharing: str) -> Allotment:
    """Targets with orders of their own may wait for each other for ever; the reference says when that is right."""
    try:
        return run(document, plan, sharing)
    except PolicyError as error:
        assume("nothing else would ever happen" not in str(error))
        raise


def numbers(allotment: Allotment) -> Document:
    """All that came of it, but for how long it took."""
    whole = allotment.to_dict()
    return {key: value for key, value in whole.items() if key != "seconds"}


def job(name: str, profile: dict[int, float], *phases: tuple[str, float], **more: Any) -> Document:
    return {"name": name, "profile": profile, "phases": [dict([phase]) for phase in phases], **more}


def scenario_of(targets: Any, *jobs: Document, **more: Any) -> Document:
    return {"version": 1, "platform": {"targets": targets}, "applications": list(jobs), **more}


# One target is a link.


def on_a_link(document: Document, bandwidth: float) -> Scenario:
    """The same applications on one shared bandwidth, without caps."""
    without = ("profile", "bandwidth", "read_bandwidth", "write_bandwidth")
    jobs = [{key: value for key, value in each.items() if key not in without} for each in document["applications"]]
    return Scenario.from_document(document | {"platform": {"bandwidth": bandwidth}, "applications": jobs})


def until_the_first_end(result: Result) -> list[tuple[float, float, float]]:
    """Per application the seconds of I/O, the bytes and the seconds of compute until anyone completes."""
    line = result.timeline
    assert line is not None
    until = min(job.completion for job in result.applications if job.completion is not None)
    seconds = np.maximum(0.0, np.minimum(line.stop, until) - line.start)
    sums = [np.bincount(line.application, weights, len(line.names)) for weights in (seconds, seconds * line.rate)]
    life = np.maximum(0.0, np.minimum(line.stopped, until) - line.started)
    return list(zip(sums[0].tolist(), sums[1].tolist(), (life - sums[0]).tolist(), strict=True))


def assert_same_as_a_link(document: Document, bandwidth: float, sharing: str) -> None:
    plan = {each["name"]: [0] for each in document["applications"]}
    found = run_or_skip(document, plan, sharing)
    result = simulate(on_a_link(document, bandwidth), sharing, timeline=True)
    relative = tolerance(sharing)
    first = min(job.completion for job in result.applications if job.completion is not None)
    assert found.interval == close(first, relative)
    for ours, theirs in zip(found.applications, until_the_first_end(result), strict=True):
        assert (ours.io_seconds, ours.moved, ours.compute_done) == tuple(close(each, relative) for each in theirs)


@settings(max_examples=2 * settings().max_examples)
@given(document=target_documents(most=1), sharing=st.sampled_from(SHARING))
def test_one_application_on_one_target_is_one_on_a_link(sharing: str, document: Document) -> None:
    targets, (only,) = document["platform"]["targets"], document["applications"]
    limit = targets[0].get("bandwidth") if isinstance(targets, list) and isinstance(targets[0], dict) else None
    assert_same_as_a_link(document, min(only["profile"][1], limit or np.inf), sharing)


def all_on_one(document: Document, bandwidth: float) -> Document:
    """Everyone on a single target that is as fast for each."""
    jobs = [each | {"profile": {1: bandwidth}} for each in document["applications"]]
    return document | {"platform": {"targets": 1}, "applications": jobs}


@settings(max_examples=2 * settings().max_examples)
@given(
    document=target_documents(limits=False),
    bandwidth=st.sampled_from([1.0, 0.25, 8.0]),
    sharing=st.sampled_from(SHARING),
)
def test_many_applications_on_one_target_are_many_on_a_link(sharing: str, document: Document, bandwidth: float) -> None:
    # Powers of two, so that seconds and bytes round alike and ties stay ties. A link decides anew at every release, a
    # target only when something happens on it.
    for each in document["applications"]:
        each.pop("release", None)
    assert_same_as_a_link(all_on_one(document, bandwidth), bandwidth, sharing)


@given(document=target_documents(limits=False), bandwidth=st.sampled_from([0.7, 3.0, 12.9]))
def test_fair_share_on_a_target_of_any_speed_is_fair_share_on_a_link(document: Document, bandwidth: float) -> None:
    assert_same_as_a_link(all_on_one(document, bandwidth), bandwidth, "fair-share")


# Transfers are independent of each other.


def test_figure_2_a_slow_transfer_delays_its_phase_and_no_other_transfer() -> None:
    """P4 figure 2: `wide` has a target to itself and shares one with `narrow`; its phase ends with the slower."""
    wide, narrow = job("wide", {2: 2.0}, ("write", 4), ("compute", 10)), job("narrow", {1: 1.0}, ("write", 1))
    narrow["phases"].append({"compute": 10})
    found = run(scenario_of(2, wide, narrow), {"wide": [0, 1], "narrow": [1]})
    assert found.interval == close(12.0)
    assert [each.io_seconds for each in found.applications] == close([3.0, 2.0])
    assert [each.io_slowdown for each in found.applications] == close([1.5, 2.0])
    assert [target.busy for target in found.targets] == close([2 / 12, 3 / 12])  # the first ends as if alone


@given(data=st.data(), sharing=st.sampled_from(SHARING))
def test_applications_that_share_no_target_do_not_meet(data: st.DataObject, sharing: str) -> None:
    document = data.draw(target_documents(most=4))
    document.pop("noise", None)  # drawn by an application's place, which differs when it is alone
    plan = data.draw(plans(document))
    used = [place for places in plan.values() for place in places]
    assume(len(set(used)) == len(used))
    together = run(document, plan, sharing)
    for each, ours in zip(document["applications"], together.applications, strict=True):
        rival = job("clock", {1: 1.0}, ("compute", together.interval))
        alone = run(document | {"applications": [each, rival]}, {ours.name: plan[ours.name], "clock": [0]}, sharing)
        if alone.interval == close(together.interval):
            mine = alone.applications[0]
            assert (ours.io_seconds, ours.moved) == (close(mine.io_seconds), close(mine.moved))
            assert ours.compute_done == close(mine.compute_done)


# Names, order and units mean nothing.


@given(data=st.data(), sharing=st.sampled_from(SHARING))
def test_targets_may_trade_places(data: st.DataObject, sharing: str) -> None:
    document = data.draw(target_documents(exact=False))
    plan = data.draw(plans(document))
    listed = document["platform"]["targets"]
    listed = [f"t{i}" for i in range(listed)] if isinstance(listed, int) else listed
    order = data.draw(st.permutations(range(len(listed))))
    now_at = {old: new for new, old in enumerate(order)}
    platform = document["platform"] | {"targets": [listed[old] for old in order]}
    moved_plan = {name: sorted(now_at[place] for place in places) for name, places in plan.items()}
    one = run_or_skip(document | {"platform": document["platform"] | {"targets": listed}}, plan, sharing)
    other = run_or_skip(document | {"platform": platform}, moved_plan, sharing)
    for metric in ABOUT_THE_RUN:
        assert getattr(other, metric) == close(getattr(one, metric), tolerance(sharing)), metric
    for ours, theirs in zip(other.applications, one.applications, strict=True):
        assert ours.io_seconds == close(theirs.io_seconds, tolerance(sharing))
        assert ours.moved == close(theirs.moved, tolerance(sharing))
    for new, old in enumerate(order):
        expected = {key: close(value, tolerance(sharing)) for key, value in vars(one.targets[old]).items()}
        assert vars(other.targets[new]) == expected


# By its number, and by what each has had, which is nothing at first: there, everything ties.
TYING = ("list-lowest-id", "list-bandwidth")


@given(data=st.data(), sharing=st.sampled_from([name for name in SHARING if name not in TYING]))
def test_applications_may_trade_places_where_nothing_ties(data: st.DataObject, sharing: str) -> None:
    document = data.draw(target_documents(exact=False))
    document.pop("noise", None)  # drawn by an application's place
    # Nobody posts at the same moment as another, is as large, or has as much to do.
    for place, each in enumerate(document["applications"]):
        phases = [{"compute": 0.1 + 0.0618 * place}, *_lengthened(each["phases"], 1 + 0.00618 * place)]
        each |= {"nodes": place + 1, "release": place * 0.6180339887 + 0.1, "phases": phases}
    plan = data.draw(plans(document))
    one = run_or_skip(document, plan, sharing)
    shuffled = data.draw(st.permutations(document["applications"]))
    other = run_or_skip(document | {"applications": shuffled}, plan, sharing)
    found = {each.name: vars(each) for each in other.applications}
    for each in one.applications:
        expected = {key: close(value, tolerance(sharing)) for key, value in vars(each).items()}
        assert found[each.name] == expected
    assert [vars(target) for target in other.targets] == [
        {key: close(value, tolerance(sharing)) for key, value in vars(target).items()} for target in one.targets
    ]


def _lengthened(phases: list[Document], factor: float) -> list[Document]:
    return [
        phase | {"phases": _lengthened(phase["phases"], factor)}
        if "repeat" in phase
        else {kind: amount * factor for kind, amount in phase.items()}
        for phase in phases
    ]


@given(data=st.data(), sharing=st.sampled_from(SHARING), minutes=st.integers(-20, 20), kilo=st.integers(-20, 20))
def test_units_that_are_powers_of_two_change_nothing_at_all(
    data: st.DataObject, sharing: str, minutes: int, kilo: int
) -> None:
    seconds, size = 2.0 ** (0 if sharing == NAMES_PER_TIME_UNIT else minutes), 2.0**kilo
    document = data.draw(target_documents())
    plan = data.draw(plans(document))
    other = scaled(document, seconds, size)
    for each in other["applications"]:
        each["profile"] = {count: rate * size / seconds for count, rate in each["profile"].items()}
    expected = numbers(run_or_skip(document, plan, sharing))
    expected["interval"] *= seconds
    expected |= {key: expected[key] * seconds for key in ("node_hours_lost", "node_hours_used")}
    factors = {"io_seconds": seconds, "compute_done": seconds, "moved": size, "bandwidth": size / seconds}
    factors |= {"start": seconds, "completion": seconds}
    for each in expected["applications"]:
        each |= {key: each[key] and each[key] * factor for key, factor in factors.items()}
    for target in expected["target_use"]:
        target["limit"] = target["limit"] and target["limit"] * size / seconds
    assert numbers(run(other, plan, sharing)) == expected


# What adds up.


@given(data=st.data(), sharing=st.sampled_from(SHARING))
def test_what_applications_and_targets_did_fits_together(data: st.DataObject, sharing: str) -> None:
    document = data.draw(target_documents())
    document.pop("noise", None)  # or phases are not as long as they say
    plan = data.draw(plans(document))
    found = run_or_skip(document, plan, sharing)
    assert all(0 <= target.busy <= 1 + 1e-9 for target in found.targets)
    assert 0 <= found.machine_idletime <= 1
    for each, whole in zip(found.applications, document["applications"], strict=True):
        phases = _unrolled(whole["phases"])
        volume = sum(amount for kind, amount in phases if kind != "compute")
        assert each.moved <= volume * (1 + 1e-9)
        assert each.compute_done <= sum(amount for kind, amount in phases if kind == "compute") * (1 + 1e-9)
        life = max(0.0, found.interval - whole.get("release", 0.0))
        assert each.io_seconds + each.compute_done == close(life)
        assert each.moved <= each.bandwidth * each.io_seconds * (1 + 1e-9)
        assert each.rho_io >= 1
        assert (each.io_slowdown is None) == (each.rho_con is None) == (each.moved == 0)
        if each.io_slowdown is not None and each.rho_con is not None:
            assert each.io_slowdown == close(each.rho_io * each.rho_con)
            assert each.rho_con >= 1 - 1e-9
    slowdowns = [each.io_slowdown for each in found.applications if each.io_slowdown is not None]
    assert found.mean_io_slowdown == close(sum(slowdowns) / len(slowdowns) if slowdowns else None)


def _unrolled(phases: list[Document]) -> list[tuple[str, float]]:
    flat: list[tuple[str, float]] = []
    for phase in phases:
        if "repeat" in phase:
            flat += _unrolled(phase["phases"]) * phase["repeat"]
        else:
            flat += phase.items()
    return flat


@given(data=st.data())
def test_stress_is_what_targets_carry(data: st.DataObject) -> None:
    document = data.draw(target_documents(limits=False))
    together(document)
    found = run(document, data.draw(plans(document)))
    carried = [target.stress for target in found.targets]
    assert sum(carried) == close(sum(each.stress for each in found.applications))
    assert found.load == close(sum(carried) / len(carried))
    assert found.imbalance == close(max(carried) - min(carried))
    assert found.least_load <= found.load * (1 + 1e-9)


def together(document: Document) -> None:
    """Let all applications start at once."""
    for each in document["applications"]:
        each.pop("release", None)


@given(data=st.data())
def test_slow_targets_carry_the_time_that_transfers_take_there(data: st.DataObject) -> None:
    document = data.draw(target_documents())
    together(document)
    found = run(document, data.draw(plans(document)))
    carried = [0.0] * len(found.targets)
    for each, whole in zip(found.applications, document["applications"], strict=True):
        phases = _unrolled(whole["phases"])
        part = sum(amount for kind, amount in phases if kind != "compute") / each.count
        compute = sum(amount for kind, amount in phases if kind == "compute")
        peak = {i: min(each.bandwidth / each.count, found.targets[i].limit or np.inf) for i in each.targets}
        slowest = max(part / rate for rate in peak.values())
        for place, rate in peak.items():
            carried[place] += part / rate / (compute + slowest)
    assert [target.stress for target in found.targets] == close(carried)


@given(data=st.data())
def test_a_shared_target_is_never_idle_and_never_faster_than_it_can_be(data: st.DataObject) -> None:
    document = data.draw(target_documents())
    plan = data.draw(plans(document, most=1))
    found = run(document, plan)
    used = [0.0] * len(found.targets)
    for each in found.applications:
        (place,) = each.targets
        used[place] += each.moved / min(each.bandwidth, found.targets[place].limit or np.inf)
    assert [target.busy * found.interval for target in found.targets] == close(used)


# Policies of users.


@cache
def made(form: str) -> Any:
    """A policy in one of its forms, compiled once."""
    return FORMS[form]()


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_every_form_of_an_own_sharing_policy_gives_the_same(form: str, data: st.DataObject) -> None:
    document = data.draw(target_documents(exact=False))
    for place, each in enumerate(document["applications"]):
        each["release"] = place * 0.6180339887
    plan = data.draw(plans(document))
    expected = numbers(run(document, plan, "fcfs")) | {"sharing": "own-fcfs"}
    assert numbers(run(document, plan, made(form))) == expected


# Two applications on the target called `east`, one of them on `west` too, from t = 2.5 on.
EAST_AND_WEST = scenario_of(
    ["west", "east"],
    job("heat", {2: 4.0}, ("compute", 2.5), ("write", 6)),
    job("ocean", {1: 2.0}, ("compute", 2.5), ("write", 8)),
)
ON = {"heat": ["west", "east"], "ocean": ["east"]}


def too_much(view: View, rates: np.ndarray) -> None:
    for row in range(rates.size):
        rates[row] = 0.75


def above_its_limit(view: View, rates: np.ndarray) -> None:
    if rates.size > 1:
        rates[0] = 1.5
    else:
        rates[0] = 1.0


def below_zero(view: View, rates: np.ndarray) -> None:
    for row in range(rates.size):
        rates[row] = 1.0 if rates.size == 1 else -0.5


def no_number(view: View, rates: np.ndarray) -> None:
    for row in range(rates.size):
        rates[row] = 1.0 if rates.size == 1 else np.nan


@pytest.mark.parametrize("form", [lambda function: function, compiled, marked], ids=["plain", "compiled", "marked"])
@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (too_much, ["gave out 1.5 ", "in all; there are 1"]),
        (above_its_limit, ["1.5 ", "it can use 1 at most"]),
        (below_zero, ["a rate of -0.5", "a rate is 0 or more"]),
        (no_number, ["a rate that is not a number", "a rate is 0 or more"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_bad_decision_is_refused_in_a_sentence_that_names_the_target(
    policy: Callable[..., Any], words: list[str], form: Callable[..., Any]
) -> None:
    with pytest.raises(PolicyError) as refused:
        run(EAST_AND_WEST, ON, form(policy))
    sentence = str(refused.value)
    assert sentence.startswith(f"sharing policy {policy.__name__.replace('_', '-')!r}, at t = 2.5 s, ")
    assert all(each in sentence for each in [*words, "target", "east"]), sentence
    assert "west" not in sentence and "\n" not in sentence


def test_a_policy_that_gives_nobody_anything_or_raises() -> None:
    def nobody(view: View, rates: np.ndarray) -> None:
        pass

    def failing(view: View, rates: np.ndarray) -> None:
        raise ValueError("no\nidea")

    with pytest.raises(PolicyError, match=r"'nobody', at t = 2\.5 s, gave nobody .* nothing else would ever happen"):
        run(EAST_AND_WEST, ON, nobody)
    with pytest.raises(PolicyError, match=r"'failing', at t = 2\.5 s, raised ValueError: no idea"):
        run(EAST_AND_WEST, ON, failing)


FILE = '''
"""Policies as a site would keep them."""

import numpy as np
from penstock.allocation import allocation
from penstock.placement import placement


@allocation("fewest")
def fewest(demand, draw):
    """As few as one may."""
    return demand.first[:-1]


@placement("from-the-left", needs="nothing")
def from_the_left(demand, option, draw):
    """Everyone on the first targets."""
    return [range(count) for count in demand.count[option]]


def most(demand, draw):
    return demand.first[1:] - 1
'''


@given(document=target_documents())
def test_own_functions_say_how_many_and_where(document: Document) -> None:
    def largest(demand: Any, draw: Any) -> Any:
        return demand.first[1:] - 1

    def from_the_right(demand: Any, option: Any, draw: Any) -> Any:
        return [demand.targets - 1 - np.arange(count) for count in demand.count[option]]

    found = allocate(Scenario.from_document(document), largest, from_the_right)
    assert (found.allocation, found.placement) == ("largest", "from-the-right")
    for each, whole in zip(found.applications, document["applications"], strict=True):
        assert each.count == max(allowed(document, whole))
        assert each.targets == tuple(range(len(found.targets) - each.count, len(found.targets)))


def test_own_files_say_how_many_and_where(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    site = Scenario.from_document(
        scenario_of(3, job("a", {1: 1, 3: 2}, ("write", 1)), job("b", {2: 1, 3: 2}, ("write", 1)))
    )
    found = allocate(site, str(file), str(file))
    assert (found.allocation, found.placement) == ("fewest", "from-the-left")
    assert [each.targets for each in found.applications] == [(0,), (0, 1)]
    assert [each.count for each in allocate(site, f"{file}:most", "random").applications] == [3, 3]
    with pytest.raises(PenstockError, match="has no function 'none'"):
        allocate(site, f"{file}:none")


def returning(value: Any) -> Callable[..., Any]:
    def mine(*_: Any) -> Any:
        return value

    return mine


SMALL = scenario_of(3, job("a", {1: 1, 2: 2}, ("write", 1)), job("b", {1: 1}, ("write", 1)))


@pytest.mark.parametrize("given", [None, "ab", [0], [0, 1], [0, 3], [2, 0], [-1, 2], [0.0, 2.0], [[0], [2]], [0, 2, 2]])
def test_bad_allocations_are_refused_in_a_sentence(given: Any) -> None:
    with pytest.raises(PolicyError) as refused:
        allocate(Scenario.from_document(SMALL), returning(given))
    sentence = str(refused.value)
    assert sentence.startswith("allocation policy 'mine' must return") and "\n" not in sentence


@pytest.mark.parametrize(
    "given",
    [
        None,
        7,
        [[0, 1]],
        [[0, 1], [2], [2]],
        [[0], [2]],
        [[0, 0], [2]],
        [[0, 3], [2]],
        [[0, -1], [2]],
        [[0, 1.5], [2]],
        [["x", "y"], [2]],
        [[0, 1], 2],
    ],
    ids=str,
)
def test_bad_placements_are_refused_in_a_sentence(given: Any) -> None:
    with pytest.raises(PolicyError) as refused:
        allocate(Scenario.from_document(SMALL), "best-bandwidth", returning(given))
    sentence = str(refused.value)
    assert sentence.startswith("placement policy 'mine' ") and "\n" not in sentence


def test_own_policies_that_raise() -> None:
    def failing(*_: Any) -> Any:
        raise KeyError("no\nidea")

    with pytest.raises(PolicyError, match="allocation policy 'failing' raised KeyError"):
        allocate(Scenario.from_document(SMALL), failing)
    with pytest.raises(PolicyError, match="placement policy 'failing' raised KeyError"):
        allocate(Scenario.from_document(SMALL), "nsys", failing)


# Plans, and what policies are told.

BAD_PLANS = [
    ({"a": [0, 1]}, "the plan has no targets for application 'b'"),
    ({"a": [0, 1], "b": [0], "c": [1]}, "the plan has targets for 'c', which is no application"),
    ({"a": [0, 1], "b": []}, "the plan has 0 targets for application 'b'"),
    ({"a": [0, 0], "b": [1]}, "the plan has 2 targets for application 'a'; it must be different ones"),
    ({"a": [0, 1, 2], "b": [0]}, "the plan has 3 targets for application 'a'"),
    ({"a": [0, 3], "b": [0]}, "the plan for application 'a': there is no target '3'"),
    ({"a": [0, -1], "b": [0]}, "there is no target '-1'"),
    ({"a": [0, 1.5], "b": [0]}, "there is no target '1.5'"),
    ({"a": [0, True], "b": [0]}, "there is no target 'True'"),
    ({"a": [0, None], "b": [0]}, "there is no target 'None'"),
    ({"a": ["ost", 0], "b": [0]}, "there is no target 'ost'; a target is one of 0, 1, 2 or its place"),
]


@pytest.mark.parametrize(("plan", "words"), BAD_PLANS, ids=[words for _, words in BAD_PLANS])
def test_bad_plans_are_refused_in_a_sentence(plan: Any, words: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        run(SMALL, plan)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_a_plan_may_name_targets_in_any_order() -> None:
    by_name = run(EAST_AND_WEST, {"ocean": ["east"], "heat": ["east", "west"]})
    assert numbers(by_name) == numbers(run(EAST_AND_WEST, {"heat": [0, 1], "ocean": [1]}))
    assert (by_name.allocation, by_name.placement) == ("plan", "plan")


@given(data=st.data(), knowledge=st.sampled_from(["exact", "shape", "class"]), error=st.floats(0, 0.9))
def test_what_policies_are_told_changes_nothing_of_a_plan(data: st.DataObject, knowledge: str, error: float) -> None:
    document = data.draw(target_documents())
    plan = data.draw(plans(document))
    told = numbers(run(document, plan, knowledge=knowledge, error=error))
    assert told == numbers(run(document, plan)) | {"knowledge": knowledge, "error": error}


@given(
    document=target_documents(),
    allocation=st.sampled_from([name for name in ALLOCATIONS if name != "mckp"]),
    placement=st.sampled_from(PLACEMENTS),
    knowledge=st.sampled_from(["exact", "shape", "class"]),
    error=st.sampled_from([0.0, 0.5]),
)
def test_what_was_decided_runs_with_the_true_profiles(
    document: Document, allocation: str, placement: str, knowledge: str, error: float
) -> None:
    site = Scenario.from_document(document)
    decided = allocate(site, allocation, placement, knowledge=knowledge, error=error, interval="first")
    again = run(document, {each.name: each.targets for each in decided.applications})
    names = {key: getattr(decided, key) for key in ("allocation", "placement", "knowledge", "error", "seed")}
    assert numbers(decided) == numbers(again) | names


def test_errors_mislead_policies() -> None:
    """Of two almost equal counts, an error makes either the best one."""
    document = scenario_of(2, job("a", {1: 1.0, 2: 1.01}, ("write", 1)))
    site = Scenario.from_document(document)
    seen = {allocate(site, "best-bandwidth", error=0.5, seed=seed).applications[0].count for seed in range(20)}
    assert seen == {1, 2}
    assert {allocate(site, "best-bandwidth", seed=seed).applications[0].count for seed in range(20)} == {2}
