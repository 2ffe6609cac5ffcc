"""P4 §4.1: what `targets` draws, that it loads the targets as asked, and what it refuses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy.special import lambertw

from penstock import load, save
from penstock.errors import InvalidOption
from penstock.model import Application, Compute, Scenario, Write
from penstock.studies.profiles import class_of
from penstock.workloads import generate
from penstock.workloads.targets import FAMILIES, SHARES, node_counts, ratio_bound

MEASURED = "application,targets,bandwidth_MB/s\nslow,1,10\nslow,2,15\nslow,40,99\nquick,1,100\nquick,4,300\n"


def sums(application: Application) -> tuple[int, float, float]:
    """Phases, T_cpu and V; fails on anything that is not n times compute, then write."""
    phases: Any = application.phases
    [loop] = phases
    compute, write = loop.phases
    assert (type(compute), type(write)) == (Compute, Write)
    return loop.repeat, loop.repeat * compute.compute, loop.repeat * write.write


def stress(application: Application) -> float:
    """On one target."""
    _, compute, volume = sums(application)
    transfer = volume / application.profile[1]
    return transfer / (compute + transfer)


def total_load(scenario: Scenario) -> float:
    targets: Any = scenario.platform.targets
    return float(sum(map(stress, scenario.applications)) / targets)


def test_structure() -> None:
    scenario = generate("targets", seed=3)
    assert (scenario.platform.targets, scenario.platform.nodes, scenario.platform.bandwidth) == (20, 480, None)
    assert [each.name for each in scenario.applications] == [f"a-{i + 1:02}" for i in range(40)]
    assert [each.nodes for each in scenario.applications] == [90] * 4 + [8] * 12 + [1] * 24
    for each in scenario.applications:
        phases, compute, volume = sums(each)
        assert 2 <= phases <= 20
        assert list(each.profile) == list(range(1, 9))
        assert compute + volume / each.profile[1] == approx(5000)
    assert generate("targets", seed=3) == scenario != generate("targets", seed=4)


def test_it_survives_a_file(tmp_path: Path) -> None:
    scenario = generate("targets", seed=1)
    save(scenario, tmp_path / "w.yaml")
    assert load(tmp_path / "w.yaml") == scenario


@pytest.mark.parametrize(("applications", "aim"), [(40, 0.5), (25, 1.0), (60, 0.2), (60, 2.0)])
def test_the_mean_stress_is_as_asked(applications: int, aim: float) -> None:
    loads = [total_load(generate("targets", seed=seed, applications=applications, load=aim)) for seed in range(60)]
    error = float(np.std(loads)) / math.sqrt(len(loads))
    assert np.mean(loads) == approx(aim, abs=4 * error)
    assert error < 0.03 * aim
    assert np.ptp(loads) > 0


def test_many_applications_load_the_targets_as_asked() -> None:
    scenario = generate("targets", applications=4000, targets=2000, nodes=10_000, load=0.8)
    assert total_load(scenario) == approx(0.8, rel=0.02)
    phases = [sums(each)[0] for each in scenario.applications]
    assert set(phases) == set(range(2, 21))
    assert np.mean(phases) == approx(11, rel=0.02)


def test_the_horizon_scales_the_work() -> None:
    short, long = (generate("targets", seed=5, horizon=horizon) for horizon in (100, 300))
    for one, other in zip(short.applications, long.applications, strict=True):
        assert np.array(sums(other)[1:]) == approx(3 * np.array(sums(one)[1:]))


@given(st.floats(1e-6, 0.999))
def test_the_bound_of_the_ratio_is_the_closed_form(stress: float) -> None:
    closed = -lambertw(-stress * math.exp(-stress), -1).real / stress - 1
    assert ratio_bound(stress) == approx(closed, rel=1e-6)
    assert math.log1p(ratio_bound(stress)) == approx(ratio_bound(stress) * stress, rel=1e-9)


@given(st.integers(1, 700), st.integers(0, 2000))
def test_nodes_are_dealt_out_whole_and_completely(applications: int, more: int) -> None:
    nodes = applications + more
    counts = node_counts(applications, nodes)
    assert (len(counts), sum(counts)) == (applications, nodes)
    assert min(counts) >= 1


@pytest.mark.parametrize(("applications", "nodes"), [(10, 480), (40, 480), (100, 2400), (33, 1000)])
def test_few_applications_have_most_nodes(applications: int, nodes: int) -> None:
    counts = np.array(node_counts(applications, nodes))
    large, medium = math.floor(applications / 10 + 0.5), math.floor(3 * applications / 10 + 0.5)
    groups = np.split(counts, [large, large + medium])
    assert [group.sum() / nodes for group in groups] == approx([0.75, 0.20, 0.05], abs=1 / nodes)
    assert all(np.ptp(group) <= 1 for group in groups)


@pytest.mark.parametrize("family", SHARES)
def test_a_family_is_of_its_class(family: str) -> None:
    scenario = generate("targets", applications=300, family=family)
    assert {class_of(each.profile) for each in scenario.applications} == {family.capitalize()}


def test_the_default_mixes_the_families() -> None:
    drawn = generate("targets", seed=2, applications=3000, nodes=3000)
    assert drawn == generate("targets", seed=2, applications=3000, nodes=3000, family="mixed")
    classes = [class_of(each.profile) for each in drawn.applications]
    for family, share in SHARES.items():
        assert classes.count(family.capitalize()) / 3000 == approx(share, abs=4 * math.sqrt(share / 3000))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("targets", [1, 2, 5])
def test_a_profile_has_no_more_targets_than_the_platform(family: str, targets: int) -> None:
    scenario = generate("targets", family=family, targets=targets)
    assert {tuple(each.profile) for each in scenario.applications} == {tuple(range(1, targets + 1))}


def test_profiles_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(MEASURED)
    scenario = generate("targets", applications=400, profiles=str(tmp_path / "p.csv"))
    profiles = [each.profile for each in scenario.applications]
    slow, quick = {1: 1e7, 2: 1.5e7}, {1: 1e8, 4: 3e8}
    assert all(profile in (slow, quick) for profile in profiles)
    assert profiles.count(slow) == approx(200, abs=40)
    assert total_load(scenario) == approx(0.5, rel=0.25)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"applications": 10}, "targets: applications is 10, load is 0.5 and targets is 20; accepted are more than"),
        (
            {"load": 2.0},
            "targets: applications is 40, load is 2 and targets is 20; accepted are more than load·targets",
        ),
        ({"nodes": 39}, "targets: nodes is 39 and applications is 40; accepted is at least one node for each."),
        ({"family": "odd"}, "targets: family is 'odd'; accepted is one of ascent, peak, descent, neutral, mixed."),
        ({"load": 0}, "targets: load is 0; accepted is a number from 1e-6 to 1e5."),
        ({"profiles": "none.csv"}, "none.csv: no such file"),
        ({"profiles": ""}, "targets: profiles is ''; accepted is a file of measurements."),
        ({"profiles": "p.csv", "family": "peak"}, "targets: family is 'peak' and profiles is 'p.csv'; accepted is one"),
        ({"profiles": "p.csv"}, "targets: p.csv has no bandwidth of 'quick' on 1 target; accepted are profiles with"),
    ],
)
def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], sentence: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text(MEASURED.replace("quick,1", "quick,2"))
    with pytest.raises(InvalidOption) as refused:
        generate("targets", **settings)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
