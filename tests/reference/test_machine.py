"""The reference of the whole machine judged: by the references of each kind of resource, and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.peers.build import build_peer, missing, run_shares
from benchmarks.whole_machine import crossing_flows
from outcomes import METRICS, close
from penstock.model.plain import plain
from strategies import amounts, buffer_documents, documents, site_documents, sites

from . import simulate as on_a_link
from .buffers import simulate_greedy
from .machine import simulate
from .policies import POLICIES
from .targets import simulate as on_targets

OF_EACH = ("yield", "completion", "stretch", "transferred", "cut")


def rows(result, *keys):
    """What each application has, as one list."""
    return [application[key] for application in result["applications"] for key in keys]


@given(
    sites(documents(exact=False), exact=False),
    st.sampled_from([name for name in POLICIES if name != "best-next-event"]),
)
def test_one_link_is_the_link(document, sharing):
    for app in document["applications"]:  # §1 clips a cap to the bandwidth before uneven nodes lower it; §9 does not
        app.pop("node_skew", None)
    found, known = simulate(document, {"sharing": sharing}), on_a_link(document, sharing)
    assert close([found[key] for key in METRICS], [known[key] for key in METRICS])
    assert close(rows(found, *OF_EACH), rows(known, *OF_EACH))


@given(
    documents(exact=False, max_applications=6),
    st.sampled_from(["fair-share", "greedy-yield", "periodic-greedy-yield"]),
    st.data(),
)
def test_io_nodes_are_runs_of_their_own(document, sharing, data):
    """Each decides at its own events only: as if the others were not there."""
    document.pop("noise", None)  # drawn by an application's place
    bandwidth = document["platform"]["bandwidth"]
    names = [app["name"] for app in document["applications"]]
    mapping = {name: data.draw(st.integers(0, 2)) for name in names}
    platform = {key: value for key, value in document["platform"].items() if key != "bandwidth"}
    platform["io_nodes"] = {"count": 3, "bandwidth": bandwidth, "nodes": 8}
    found = simulate(document | {"platform": platform}, {"mapping": mapping, "sharing": sharing})
    mine = dict(zip(names, rows(found, "yield"), strict=True))
    for node in set(mapping.values()):
        apps = [app for app in document["applications"] if mapping[app["name"]] == node]
        alone = on_a_link(document | {"applications": apps}, sharing)
        known = dict(zip([app["name"] for app in apps], rows(alone, "yield"), strict=True))
        assert {name: mine[name] for name in known} == pytest.approx(known, rel=1e-9, abs=1e-9)


@given(site_documents(exact=False), st.sampled_from(["fair-share", "fcfs"]), st.data())
def test_targets_are_targets(document, sharing, data):
    """The same completions; what else is told of a run on targets counts bytes at another rate (models §8)."""
    total = document["platform"]["targets"]
    total = total if isinstance(total, int) else len(total)
    placement, counts = {}, {}
    for app in document["applications"]:
        counts[app["name"]] = data.draw(st.sampled_from(sorted(n for n in app["profile"] if n <= total)))
        order = data.draw(st.permutations(range(total)))
        placement[app["name"]] = sorted(order[: counts[app["name"]]])
    found = simulate(document, {"placement": placement, "sharing": sharing})
    known = on_targets(document, counts, placement, sharing, "all")
    begin = document.get("window", {}).get("begin", 0.0)
    ends = [None if time is None else time + begin for time in rows(known, "completion")]
    assert close(rows(found, "completion"), ends, 1e-8)
    assert rows(found, "cut") == rows(known, "cut")
    assert rows(found, "transferred") == pytest.approx(rows(known, "moved"), rel=1e-7, abs=1e-7)


@given(buffer_documents(joint=False, exact=False), st.data())
def test_a_buffer_is_the_buffer(document, data):
    """Strategy G: everyone its own part, and max-min on the file system."""
    names = [app["name"] for app in document["applications"]]
    shares = {name: data.draw(st.sampled_from([0.1, 0.25, 0.3])) for name in names}
    capacity = data.draw(amounts(0.5, 8, exact=False))
    platform = document["platform"] | {"burst_buffer": {"capacity": capacity}}
    found = simulate(document | {"platform": platform}, {"buffering": {"shares": shares}, "sharing": "max-min"})
    known = simulate_greedy(document, capacity, shares, lead=0.0)
    assert close(rows(found, "completion"), [*known["completion"].values()], 1e-8)
    assert close(rows(found, "stretch"), [*known["stretch"].values()], 1e-8)


def scenario(platform, *apps):
    listed = [{"name": name, **app} for name, app in zip("abcd", apps, strict=False)]
    return {"version": 1, "platform": platform, "applications": listed}


def test_a_node_before_targets_by_hand():
    """a writes 4 on two targets (peak 1 each) behind a node of 1.5, b 3 on the second target alone, by another node.

    Alone a has 0.75 on each; b 1. On the second target (it divides its time): a 0.75 and b 1 of it, 1.75 in all, so
    α = 4/7: a has 3/7 there, b 4/7. On the node a could then have 1.07 on the first target, but its peak is 1.
    So a's second flow is over at 14/3, b's at (3 - 14/3·4/7) + 14/3 = 5.
    """
    platform = {"targets": 2, "io_nodes": {"count": 2, "bandwidth": 1.5, "nodes": 8}}
    a = {"profile": {2: 2.0}, "phases": [{"write": 4}]}
    b = {"profile": {1: 1.0}, "phases": [{"write": 3}]}
    plan = {"placement": {"a": [0, 1], "b": [1]}, "mapping": {"a": 0, "b": 1}}
    found = simulate(scenario(platform, a, b), plan)
    assert rows(found, "completion") == pytest.approx([14 / 3, 5])
    assert rows(found, "stretch") == pytest.approx([14 / 3 / (4 / 1.5), 5 / 3])
    assert found["trace"][0][1] == pytest.approx({"a": 1 + 3 / 7, "b": 4 / 7})


def test_a_buffer_before_targets_by_hand():
    """a writes 4 at 2 into a part of 2; it drains at 1 to its target: full at 2, then straight through at 1, to 4 - ...

    2 s: 4 written at 2, all of it, 2 drained, 2 held: it ends at 2 with a full part. b has no part: it shares the
    target with a's drain, half each, until that is over.
    """
    platform = {"targets": [{"name": "t", "capacity": 1.0}], "burst_buffer": {"capacity": 2.0}}
    a = {"bandwidth": 2.0, "phases": [{"write": 4}]}
    b = {"bandwidth": 1.0, "release": 2.0, "phases": [{"write": 3}]}
    plan = {"placement": {"a": [0], "b": [0]}, "buffering": {"shares": {"a": 1.0}}}
    found = simulate(scenario(platform, a, b), plan)
    # a's drain: peak 2, alone 1 (the target). b: 1. From 2 on half each: 2 bytes held are gone at 6, b has moved 2.
    assert rows(found, "completion") == pytest.approx([2.0, 7.0])
    assert rows(found, "stretch") == pytest.approx([1.0, 5 / 3])


def test_a_full_part_passes_straight_through_by_hand():
    """6 bytes at 2 into a part of 1 that drains at 1: full at 1 with 2 written, then 1 a second: over at 5."""
    platform = {"targets": [{"name": "t", "capacity": 1.0}], "burst_buffer": {"capacity": 1.0}}
    plan = {"placement": {"a": [0]}, "buffering": {"shares": {"a": 1.0}}}
    found = simulate(scenario(platform, {"bandwidth": 2.0, "phases": [{"write": 6}]}), plan)
    assert rows(found, "completion") == pytest.approx([5.0])
    assert rows(found, "stretch") == pytest.approx([5 / 3])


def test_straight_through_crosses_the_port_twice_by_hand():
    """A port of 2: at first 1 goes in while 1 drains. With a drain of 1 nothing is held, and 4 bytes take 4 s."""
    platform = {"write_bandwidth": 1.0, "burst_buffer": {"capacity": 8.0, "bandwidth": 2.0}}
    plan = {"buffering": {"shares": {"a": 1.0}}, "sharing": "max-min"}
    found = simulate(scenario(platform, {"bandwidth": 2.0, "phases": [{"write": 4}]}), plan)
    assert rows(found, "completion") == pytest.approx([4.0])


def test_the_names_of_resources_choose_policies():
    """By name, else by kind, else the default, else fair-share."""
    platform = {"targets": 2, "write_bandwidth": 1.0}
    apps = [{"bandwidth": 1.0, "phases": [{"write": 1}]} for _ in range(2)]
    placed = {"placement": {"a": [0], "b": [0]}}
    serve = {"fcfs": [1.0, 2.0], "fair-share": [2.0, 2.0]}
    for table, policy in [
        ({"target:0": "fcfs", "file_system:write": "fcfs"}, "fcfs"),
        ({"target": "fcfs", "default": "fcfs"}, "fcfs"),
        ({"target": "fcfs", "target:0": "fair-share", "link": "fair-share"}, "fair-share"),
        ({}, "fair-share"),
    ]:
        assert rows(simulate(scenario(platform, *apps), placed | {"sharing": table}), "completion") == serve[policy]


def test_flows_over_links_end_when_simgrid_ends_them(tmp_path):
    """Applications that come one after the other, each on some targets and through an I/O node: the whole run."""
    if reason := missing("shares"):
        pytest.skip(reason)
    scenario_, lines = crossing_flows(40, 9)
    (tmp_path / "flows").write_text("\n".join(lines) + "\n")
    ends = run_shares(build_peer("shares"), tmp_path / "flows", 1).ends.tolist()
    plan = plain(scenario_.plan)
    known = []
    for name in plan["placement"]:
        own, ends = ends[: len(plan["placement"][name])], ends[len(plan["placement"][name]) :]
        known.append(max(own))
    assert close(rows(simulate(plain(scenario_), plan), "completion"), known, 1e-7)
