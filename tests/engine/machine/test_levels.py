"""Decisions that leave alone what is below the levels of what comes and goes, against deciding for everybody."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from penstock import simulate
from penstock.engine.machine import rules
from penstock.kernels.arrays import Ints
from penstock.model import Scenario


def crossing(seed: int, sharing: str, smallest: float = 1.0) -> Scenario:
    """Flows that I/O nodes and targets join: writes and reads again and again."""
    draw = random.Random(seed)
    nodes, targets = draw.choice([1, 2, 5]), draw.choice([4, 9])
    jobs, mapping, placement = [], {}, {}
    for i in range(40):
        name, count = f"j{i}", draw.choice([1, 1, 2, 4])
        body = [{"compute": draw.uniform(0, 3)}, {draw.choice(["write", "read"]): draw.uniform(0.2, 3)}]
        phases = [{"repeat": draw.randint(1, 3), "phases": body}]
        cap, release = draw.uniform(0.5, 4) if i else smallest, draw.uniform(0, 9)
        jobs.append({"name": name, "bandwidth": cap, "release": release, "phases": phases})
        mapping[name], placement[name] = draw.randrange(nodes), draw.sample(range(targets), count)
    document: dict[str, Any] = {
        "version": 1,
        "platform": {
            "io_nodes": {"count": nodes, "bandwidth": draw.choice([2, 6]), "nodes": 1000},
            "targets": [{"name": f"t{k}", "capacity": draw.uniform(0.5, 2)} for k in range(targets)],
        },
        "applications": jobs,
        "plan": {"mapping": mapping, "placement": placement, "sharing": sharing},
    }
    return Scenario.from_document(document)


def noted(decided, found):
    """The same, with what it says kept."""

    def note(*given):
        found.append(decided(*given))
        return found[-1]

    return note


@pytest.mark.parametrize("sharing", ["fair-share", "max-min"])
@pytest.mark.parametrize("seed", range(12))
def test_what_stays_is_what_would_be_decided_again(seed, sharing, monkeypatch):
    scenario, steady = crossing(seed, sharing), rules._steady
    found: list[Ints] = []
    monkeypatch.setattr(rules, "_steady", noted(steady, found))
    some = simulate(scenario)
    monkeypatch.setattr(rules, "_steady", lambda *given: np.zeros_like(steady(*given)))
    everybody = simulate(scenario)
    assert found[0].any()
    assert some.events == everybody.events
    ends = [each.completion for each in everybody.applications]
    assert [each.completion for each in some.applications] == pytest.approx(ends, rel=1e-12)


def test_where_a_flow_may_be_next_to_nothing_everybody_decides(monkeypatch):
    steady = rules._steady
    found: list[Ints] = []
    monkeypatch.setattr(rules, "_steady", noted(steady, found))
    simulate(crossing(1, "fair-share", smallest=1e-7))
    assert not found[0].any()
