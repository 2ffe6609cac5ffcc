"""Bounds that nobody asks for are not worked out."""

import pytest

from campaign.small import small
from penstock.campaign import read_results, run_campaign
from penstock.errors import InvalidScenario
from penstock.studies import study


def test_without_bounds_runs_are_the_same_but_for_them(tmp_path, monkeypatch):
    run_campaign(small(), tmp_path / "with", workers=1)
    monkeypatch.setattr(study, "interval_bound", None)
    monkeypatch.setattr(study, "volume_bound", None)
    without = small(plans=[{"sharing": ["fair-share", "list-fifo"], "bounds": False}])
    assert run_campaign(without, tmp_path / "without", workers=1).failed == 0
    of_bounds = {"distance_to_bound", "bound_min_yield", "bound_interval"}
    for one, other in zip(
        read_results(tmp_path / "with").rows(), read_results(tmp_path / "without").rows(), strict=True
    ):
        assert one["bound_interval"] is not None
        assert one["key"] != other["key"]
        assert all(other[name] is None for name in of_bounds)
        assert all(one[name] == other[name] for name in one.keys() - of_bounds - {"key"})


def test_a_command_that_makes_a_run_again_is_told_nothing_of_it():
    (plan,) = small(plans=[{"sharing": "fcfs", "bounds": False}]).plans
    assert plan.command == ["simulate", "--sharing", "fcfs"]


def test_whether_to_bound_is_yes_or_no():
    with pytest.raises(InvalidScenario, match=r"bounds.*accepted: true, false"):
        small(plans=[{"sharing": "fcfs", "bounds": "maybe"}])
