"""What is saved and loaded again is the same scenario, in every format and from one format to another."""

import json
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model import Compute, Read, Repeat, Scenario, Trace, Write, load, save
from strategies import documents, scenarios

FULL = {
    "version": 1,
    "platform": {
        "bandwidth": "160 GB/s",
        "nodes": 60,
        "node_bandwidth": "1 GiB/s",
        "io_nodes": {"count": 3, "bandwidth": 1.5, "nodes": 2048},
        "targets": ["ost0", {"name": "ost1", "bandwidth": 2}],
        "read_bandwidth": 1,
        "write_bandwidth": "1e9",
        "burst_buffer": {"capacity": "10 TB", "shares": {"a": 0.4}},
    },
    "window": {"begin": "1 h", "end": "1 d"},
    "seed": 2**70,
    "noise": "1e-3",
    "applications": [
        {
            "name": "a",
            "nodes": 4.0,
            "bandwidth": 1e300,
            "read_bandwidth": 0.1,
            "write_bandwidth": 3,
            "release": 5e-324,
            "progress": 1.25,
            "profile": {"1": 0.5, 2: 0.9},
            "phases": [
                {"write": "3.2 TB"},
                {"repeat": "1e3", "phases": [{"compute": 1 / 3}, {"repeat": 2, "phases": [{"read": 0}]}]},
                {"repeat": "forever", "phases": [{"compute": 9}]},
            ],
        },
        {"name": "yes", "phases": [{"compute": "5 min"}]},
        {"name": "1e9 ünïcode: {odd} - #name", "phases": [{"read": 2.0**60 + 2**20}]},
    ],
    "provenance": {"platform": {"bandwidth": "lower_bound"}, "applications": {"a": {"error_seconds": 0.25}}},
}


def through(scenario, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        save(scenario, path)
        return load(path)


@pytest.mark.parametrize("name", ["s.yaml", "s.yml", "s.json"])
def test_every_field(name):
    scenario = Scenario.from_document(FULL)
    assert through(scenario, name) == scenario
    a = scenario.applications[0]
    phases: Any = a.phases
    assert phases[0] == Write(write=3.2e12)
    inner = Repeat(repeat=2, phases=(Read(read=0),))
    assert phases[1] == Repeat(repeat=1000, phases=(Compute(compute=1 / 3), inner))
    assert a.profile == {1: 0.5, 2: 0.9}
    assert (a.nodes, scenario.seed, scenario.noise) == (4, 2**70, 1e-3)
    assert scenario.platform.node_bandwidth == 1024**3


def test_document_is_plain_and_leaves_defaults_out():
    document = Scenario.from_document(FULL).to_document()
    assert json.loads(json.dumps(document))["platform"]["targets"] == ["ost0", {"name": "ost1", "bandwidth": 2}]
    assert document["applications"][1] == {"name": "yes", "phases": [{"compute": 300}]}
    assert document["window"] == {"begin": 3600, "end": 86400}


@settings(max_examples=60)
@given(scenarios(), st.sampled_from(["s.yaml", "s.json"]))
def test_random_scenarios(scenario, name):
    assert through(scenario, name) == scenario
    assert Scenario.from_document(scenario.to_document()) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario


@settings(max_examples=40)
@given(documents())
def test_bare_documents_come_back_as_written(document):
    back = Scenario.from_document(document).to_document()
    assert back["applications"][0]["phases"] == document["applications"][0]["phases"]
    assert [entry["name"] for entry in back["applications"]] == [entry["name"] for entry in document["applications"]]


AMOUNTS = st.floats(0, 1e300) | st.integers(0, 3)
ROWS = st.lists(st.tuples(st.integers(0, 2), AMOUNTS), min_size=1, max_size=30)


@settings(max_examples=40)
@given(st.lists(ROWS, min_size=1, max_size=4), st.sampled_from(["s.yaml", "s.json"]))
def test_random_traces(lists, name):
    entries = [
        {"name": f"a{index}", "phases": Trace([kind for kind, _ in rows] + [0], [amount for _, amount in rows] + [1])}
        for index, rows in enumerate(lists)
    ]
    inline = {"name": "inline", "phases": [{"compute": 1}]}
    document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [*entries, inline]}
    scenario = Scenario.from_document(document)
    again = through(scenario, name)
    assert again == scenario
    assert through(again, "s.yaml") == through(again, "s.json") == scenario


def test_long_plain_lists_become_traces_and_loops_do_not():
    def phases_of(phases):
        document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [{"name": "a", "phases": phases}]}
        return Scenario.from_document(document).applications[0].phases

    short, long = [{"compute": 1}, {"write": "2 B"}] * 500, [{"compute": 1}, {"write": "2 B"}] * 501
    assert isinstance(phases_of(short), tuple)
    assert isinstance(phases_of(long), Trace)
    assert isinstance(phases_of([Compute(compute=1)] * 1001), Trace)
    looped = [*long, {"repeat": 2, "phases": short}]
    assert isinstance(phases_of(looped), tuple)
    assert phases_of(looped)[-1].unrolled == 2000


def test_a_trace_equals_the_tuple_of_its_phases():
    phases = (Compute(compute=1), Read(read=2), Write(write=3))
    trace = Trace([0, 1, 2], [1, 2, 3])
    assert trace == phases
    assert phases == trace
    assert trace != phases[:2]
    assert trace != Trace([0, 1, 1], [1, 2, 3])
    assert trace != Trace([0, 1, 2], [1, 2, 4])
    assert trace != (Repeat(repeat=1, phases=phases),)
    assert trace != "trace"
    assert len(trace) == 3


def test_a_trace_does_not_follow_the_array_it_was_made_from():
    amount = np.ones(3)
    trace = Trace(np.zeros(3, dtype=np.int8), amount)
    amount[0] = 5
    assert trace.amount.tolist() == [1, 1, 1]
