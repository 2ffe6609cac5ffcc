"""Applications on I/O nodes of their own: each node is a file system of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from penstock import Scenario, simulate
from penstock.errors import InvalidScenario
from penstock.policies.sharing import NAMES
from strategies import documents


def close(value):
    return value if value is None or isinstance(value, str) else approx(value, rel=1e-12)


def calm(document):
    """Without noise: it is drawn by an application's place, which differs between a whole and its parts."""
    return {key: value for key, value in document.items() if key != "noise"}


@given(documents().map(calm), st.data(), st.sampled_from(NAMES), st.integers(1, 3))
def test_nodes_do_not_disturb_each_other(document, data, name, count):
    platform = document["platform"]
    bandwidth = platform.pop("bandwidth")
    on = [data.draw(st.integers(0, count - 1), label="io_node") for _ in document["applications"]]
    nodes = {"count": count, "bandwidth": bandwidth, "nodes": 64}
    applications = [each | {"io_node": node} for each, node in zip(document["applications"], on, strict=True)]
    spread = document | {"platform": platform | {"io_nodes": nodes}, "applications": applications}
    whole = simulate(Scenario.from_document(spread), name, timeline=True)
    bounds, events = [], 0
    for node in set(on):
        own = [each for each, its in zip(document["applications"], on, strict=True) if its == node]
        alone = document | {"platform": platform | {"bandwidth": bandwidth}, "applications": own}
        part = simulate(Scenario.from_document(alone), name, timeline=True)
        bounds.append(part.bound_interval)
        events += part.events
        mine = [each for each, its in zip(whole.applications, on, strict=True) if its == node]
        # Each part has a clock of its own, which starts with its first application.
        for ours, theirs in zip(mine, part.applications, strict=True):
            assert ours.to_dict() == {key: close(value) for key, value in theirs.to_dict().items()}
        rows = np.isin(whole.timeline.application, np.flatnonzero(np.array(on) == node))
        assert whole.timeline.start[rows] == approx(part.timeline.start)
    assert whole.bound_interval == min(bounds)
    assert whole.events == events


def scenario(on, count=2, **platform):
    chosen = [{} if node is None else {"io_node": node} for node in on]
    phases = [{"write": 4}, {"compute": 4}]
    applications = [{"name": f"j{i}", "phases": phases} | each for i, each in enumerate(chosen)]
    nodes = {"io_nodes": {"count": count, "bandwidth": 1, "nodes": 8}} if count else {}
    document = {"version": 1, "platform": nodes | platform, "window": {"end": 10}, "applications": applications}
    return Scenario.from_document(document)


def test_pressure_counts_every_node():
    assert simulate(scenario([0, 1])).pressure == approx(0.4)
    assert simulate(scenario([0, 0])).pressure == approx(0.4)
    assert simulate(scenario([0, 0])).min_yield < simulate(scenario([0, 1])).min_yield == 1.0


def test_a_single_node_is_the_bandwidth():
    assert simulate(scenario([None, None], count=1)).min_yield == simulate(scenario([0, 0], count=1)).min_yield < 1.0


def test_without_a_choice_the_platform_bandwidth_is_shared():
    shared = simulate(scenario([None, None], bandwidth=2))
    assert [each.completion for each in shared.applications] == [8.0, 8.0]  # 4 bytes at half of 2, then 4 s


def test_refusals():
    with pytest.raises(InvalidScenario, match="say which one each application uses"):
        simulate(scenario([None, None]))
    with pytest.raises(InvalidScenario, match="for some applications only"):
        scenario([0, None])
    with pytest.raises(InvalidScenario, match=r"is 2; the platform has 2, counted from 0"):
        scenario([0, 2])
    with pytest.raises(InvalidScenario, match="the platform has no io_nodes"):
        scenario([0, 0], count=0, bandwidth=1)
