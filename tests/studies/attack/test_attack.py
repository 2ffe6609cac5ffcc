"""Attacks: what is found is found again, can be run again, and is worse than what was drawn first."""

from __future__ import annotations

import pytest

from penstock import Scenario, attack, simulate
from penstock.errors import InvalidOption
from penstock.model import load, save


@pytest.mark.parametrize("jobs", ["closed", "arrivals"])
def test_the_figure_is_that_of_the_scenario(jobs, tmp_path):
    found = attack("greedy-yield", jobs=jobs, budget=150, seed=3)
    save(found.kept(), tmp_path / "worst.yaml")
    again = load(tmp_path / "worst.yaml")
    assert simulate(again, "greedy-yield").min_yield == found.min_yield
    assert simulate(again, "fair-share").min_yield == found.min_yield_against
    assert again.provenance == {"attack": found.figures()}
    assert found.ratio < 0.8
    assert found.to_dict() == attack("greedy-yield", jobs=jobs, budget=150, seed=3).to_dict()


def test_searching_near_the_worst_finds_worse():
    drawn_only = attack("fcfs", "greedy-yield", budget=1, seed=5)
    assert attack("fcfs", "greedy-yield", budget=120, seed=5).ratio < drawn_only.ratio


def test_closed_jobs_stay_to_the_end():
    found = attack("reserve-credit", budget=90)
    result = simulate(found.scenario, "fair-share")
    assert result.unfinished == len(found.scenario.applications)


def test_against_itself_nothing_is_found():
    assert attack("fair-share", budget=20).ratio == 1.0


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidOption, match="closed or arrivals"):
        attack("fcfs", jobs="some")
    with pytest.raises(InvalidOption, match="accepted is 1 to"):
        attack("fcfs", budget=0)

    def refuses(view, rates):
        raise ValueError("never")

    with pytest.raises(InvalidOption, match="under both policies"):
        attack(refuses, budget=5)
    assert isinstance(attack("fcfs", budget=3).scenario, Scenario)
