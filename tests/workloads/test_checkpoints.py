"""P5 §7.1: what `checkpoints` draws, who runs when, how often and how much they write, what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from penstock import load, save
from penstock.errors import InvalidOption
from penstock.model import COMPUTE, WRITE, Application, Scenario, Trace
from penstock.workloads import generate
from penstock.workloads.checkpoints import first_come

# P5's table 1, once more: percent of the applications, cores, GB; and hours as in the literature and as printed.
TABLE = {
    "EAP": (65, 16_000, 3_200, 262.4, 16),
    "LAP": (21, 4_000, 2_000, 64, 4),
    "Silverton": (8, 32_000, 44_800, 128, 32),
    "VPIC": (6, 30_000, 3_750, 157.2, 30),
}
SETTINGS = [
    {},
    {"mtbf": 5, "load": 0.2},
    {"mtbf": 50, "load": 0.8},
    {"walltime": "printed", "load": 0.2},
    {"bandwidth": 1e12, "cores": 200_000},  # B is above all b_k, here and in the next line
    {"core_bandwidth": 1e6, "load": 0.2},
    {"applications": 1, "load": 0.1},
    {"applications": 200, "cores": 32_000},
]


class Run(NamedTuple):
    """An application as it runs undisturbed."""

    model: str
    cores: int
    start: float
    end: float
    compute: np.ndarray
    size: float | None  # None: it writes nothing
    write: float  # seconds


def run(application: Application, scenario: Scenario) -> Run:
    assert isinstance(application.phases, Trace)
    kind, amount = application.phases.kind, application.phases.amount
    assert kind.tolist() == [COMPUTE, WRITE] * (len(kind) // 2) + [COMPUTE]
    sizes = set(amount[1::2].tolist())
    assert len(sizes) <= 1
    size = sizes.pop() if sizes else None
    write = (size or 0.0) / (application.nodes * scenario.platform.node_bandwidth)
    end = application.release + math.fsum(amount[::2]) + write * (len(kind) // 2)
    return Run(
        application.name.partition("-")[0], application.nodes, application.release, end, amount[::2], size, write
    )


def runs(scenario: Scenario) -> list[Run]:
    return [run(application, scenario) for application in scenario.applications]


def best_period(each: Run, scenario: Scenario, mtbf: float) -> float:
    """√(2·C·μ/cores), C = size/min(b_k, B)."""
    speed = min(each.cores * scenario.platform.node_bandwidth, scenario.platform.bandwidth)
    return math.sqrt(2 * each.size / speed * mtbf * 365 * 86400 / each.cores)


def io_need(scenario: Scenario, mtbf: float) -> float:
    """The maximum of Σ s/P over the instants just after a start, by looking at everybody each time."""
    all_runs = runs(scenario)
    need = 0.0
    for now in (each.start for each in all_runs):
        together = [each for each in all_runs if each.start <= now < each.end - 1e-3]
        need = max(need, math.fsum(each.size / best_period(each, scenario, mtbf) for each in together))
    return need / scenario.platform.bandwidth


def long_runs(seed: int = 0, **settings: Any) -> Scenario:
    """Wall times of the literature, used up to the second."""
    return generate("checkpoints", seed, **({"walltime": "literature", "end": "compute"} | settings))


def test_structure() -> None:
    scenario = long_runs(seed=3)
    platform = scenario.platform
    assert (platform.bandwidth, platform.nodes, platform.node_bandwidth) == (160e9, 96_000, 20e6)
    assert (scenario.window, scenario.noise, platform.burst_buffer) == (None, 0, None)
    assert [each.name.partition("-")[2] for each in scenario.applications] == [str(i + 1) for i in range(30)]
    for application in scenario.applications:
        assert application.nodes == TABLE[application.name.partition("-")[0]][1]
        assert (application.bandwidth, application.write_bandwidth) == (None, None)


def test_models_are_as_frequent_as_in_the_table() -> None:
    """Over 200 seeds and 6,000 applications, within four standard deviations."""
    drawn = [
        application.name.partition("-")[0]
        for seed in range(200)
        for application in long_runs(seed=seed, mtbf=1000).applications
    ]
    for name, (percent, *_) in TABLE.items():
        share = percent / 100
        assert drawn.count(name) / len(drawn) == approx(share, abs=4 * math.sqrt(share * (1 - share) / len(drawn)))


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_applications_start_in_order_as_early_as_the_cores_allow(settings: dict[str, Any]) -> None:
    scenario = long_runs(seed=5, **settings)
    queue = runs(scenario)
    starts = [each.start for each in queue]
    assert starts == sorted(starts)
    for i, each in enumerate(queue):
        # Ends carry the rounding of some thousand phases; starts are at least hours apart, or equal.
        held = sum(other.cores for other in queue[: i + 1] if other.end - 1e-3 > each.start)
        assert held <= scenario.platform.nodes
        if i and each.start > queue[i - 1].start:
            just_before = sum(other.cores for other in queue[:i] if other.end + 1e-3 > each.start)
            assert just_before + each.cores > scenario.platform.nodes
        elif not i:
            assert each.start == 0


def slow_first_come(widths: list[int], walls: list[float], cores: int) -> list[float]:
    """Try every instant at which somebody ends, for one after the other."""
    starts: list[float] = []
    for i, wanted in enumerate(widths):
        ends = [starts[j] + walls[j] for j in range(i)]
        earliest = max(starts, default=0.0)
        for now in sorted({earliest, *(end for end in ends if end > earliest)}):
            if sum(widths[j] for j in range(i) if ends[j] > now) + wanted <= cores:
                starts.append(now)
                break
    return starts


@given(st.lists(st.tuples(st.integers(1, 10), st.integers(1, 6)), min_size=1, max_size=12), st.integers(10, 20))
def test_first_come_first_served_is_that_of_the_slow_one(queue: list[tuple[int, int]], cores: int) -> None:
    widths, walls = [width for width, _ in queue], [float(wall) for _, wall in queue]
    assert first_come(widths, walls, cores) == slow_first_come(widths, walls, cores)


def test_a_narrow_application_does_not_overtake_a_wide_one() -> None:
    assert first_come([6, 6, 1, 4], [10, 5, 1, 1], 10) == [0, 10, 10, 11]


@pytest.mark.parametrize(("walltime", "column"), [("literature", 3), ("printed", 4)])
@pytest.mark.parametrize(("mtbf", "load"), [(5, 0.2), (50, 0.8)])
def test_wall_times_are_used_up_to_the_second(walltime: str, column: int, mtbf: float, load: float) -> None:
    for each in runs(long_runs(seed=1, walltime=walltime, mtbf=mtbf, load=load)):
        assert each.end - each.start == approx(3600 * TABLE[each.model][column], rel=1e-9)


def test_p5s_words_are_the_defaults() -> None:
    assert generate("checkpoints") == generate("checkpoints", walltime="printed", end="write")
    assert generate("checkpoints") != generate("checkpoints", walltime="literature")
    assert generate("checkpoints") != generate("checkpoints", end="compute")


@pytest.mark.parametrize(("walltime", "column"), [("literature", 3), ("printed", 4)])
@pytest.mark.parametrize(("mtbf", "load"), [(5, 0.2), (50, 0.8)])
def test_all_iterations_end_with_a_write(walltime: str, column: int, mtbf: float, load: float) -> None:
    settings: dict[str, Any] = {"walltime": walltime, "mtbf": mtbf, "load": load}
    written, computed = (generate("checkpoints", seed=1, end=end, **settings) for end in ("write", "compute"))
    for one, other, each in zip(written.applications, computed.applications, runs(computed), strict=True):
        assert one.phases.kind.tolist() == [COMPUTE, WRITE] * (len(one.phases.kind) // 2)
        assert (one.name, one.release) == (other.name, other.release)
        if each.size is not None:
            assert one.phases.amount.tolist() == other.phases.amount[:-1].tolist()
        else:  # not even one checkpoint fits: one is written all the same, as an iteration of P5 ends with a write
            assert len(one.phases) == 2
            write = one.phases.amount[1] / (one.nodes * written.platform.node_bandwidth)
            assert one.phases.amount[0] + write > 3600 * TABLE[each.model][column]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_without_variability_every_compute_is_the_best_period(settings: dict[str, Any]) -> None:
    scenario = long_runs(seed=2, variability=0, **settings)
    for each in runs(scenario):
        expected = best_period(each, scenario, float(str(settings.get("mtbf", 10))))
        assert each.compute[:-1] == approx(expected, rel=1e-12)
        assert 0 <= each.compute[-1] <= (expected + each.write) * (1 + 1e-9)


def test_the_period_of_a_known_application() -> None:
    """One EAP alone: s/P = load·B gives s = 2·μ·load²·B²/(cores·B) and P = s/(load·B), with B below b_k."""
    seed = next(i for i in range(20) if long_runs(i, applications=1).applications[0].name == "EAP-1")
    [application] = long_runs(seed, applications=1, mtbf=5, load=0.05, variability=0).applications
    size = 2 * 5 * 365 * 86400 * 0.05**2 * 160e9 / 16_000
    assert application.phases.amount[1] == approx(size, rel=1e-12)
    assert application.phases.amount[0] == approx(size / (0.05 * 160e9), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_io_need_is_the_load_asked_for(settings: dict[str, Any], seed: int) -> None:
    scenario = long_runs(seed, **settings)
    assert all(each.size for each in runs(scenario))
    expected = settings.get("load", 0.5)
    assert io_need(scenario, float(str(settings.get("mtbf", 10)))) == approx(expected, rel=1e-12)


def test_all_sizes_are_scaled_alike() -> None:
    found = runs(long_runs(seed=4, applications=60))
    assert {each.model for each in found} == set(TABLE)
    factor = [each.size / (1e9 * TABLE[each.model][2]) for each in found]
    assert factor == approx([factor[0]] * 60, rel=1e-12)


@pytest.mark.parametrize("variability", [0.15, 0.6])
def test_computes_vary_as_much_as_asked_for(variability: float) -> None:
    scenario = long_runs(seed=6, mtbf=5, load=0.2, variability=variability)
    shares = np.concatenate([each.compute[:-1] / best_period(each, scenario, 5) for each in runs(scenario)])
    assert len(shares) > 10_000
    assert 1 - variability <= shares.min() < 1 - 0.99 * variability
    assert 1 + variability >= shares.max() > 1 + 0.99 * variability
    assert shares.mean() == approx(1, abs=0.02 * variability)
    assert shares.std() == approx(variability / math.sqrt(3), rel=0.02)


def test_no_checkpoint_is_cut_short_and_none_that_fits_is_left_out() -> None:
    scenario = long_runs(seed=7)
    for each in runs(scenario):
        # What is left after the last one is less than the longest compute and a checkpoint.
        assert each.compute[-1] < 1.15 * best_period(each, scenario, 10) + each.write


def test_a_period_longer_than_the_wall_time_means_compute_only() -> None:
    found = runs(long_runs(seed=0, walltime="printed", mtbf=50, load=0.8))
    idle = [each for each in found if each.size is None]
    assert {each.model for each in idle} == {"LAP"}
    assert all(each.compute.tolist() == [4 * 3600] for each in idle)


def test_one_seed_at_several_settings_has_the_same_applications_and_starts() -> None:
    others: list[dict[str, Any]] = [{"mtbf": 50}, {"load": 0.8}, {"variability": 0.5}]
    one, *rest = ([each[:3] for each in runs(long_runs(seed=8, **other))] for other in ({}, *others))
    assert rest == [one] * 3


def test_a_seed_decides_everything() -> None:
    assert long_runs(seed=4) == long_runs(seed=4)
    assert long_runs(seed=4) != long_runs(seed=5)


def test_the_longest_traces_take_little_time_and_room() -> None:
    long_runs()
    begin = thread_time()
    scenario = long_runs(seed=1, mtbf=5, load=0.2)
    assert thread_time() - begin < 2
    assert 50_000 < sum(len(each.phases) for each in scenario.applications) < 150_000


def test_what_is_saved_loads_the_same(tmp_path: Path) -> None:
    scenario = long_runs(seed=7, applications=8, mtbf=30)
    save(scenario, tmp_path / "x.yaml")
    assert load(tmp_path / "x.yaml") == scenario


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"applications": 0}, "applications is 0; accepted is a whole number from 1 to 100,000."),
        ({"mtbf": 0}, "mtbf is 0; accepted is a number of years from 0.001 to 1e6."),
        ({"mtbf": "10 years"}, "mtbf is '10 years'; accepted is a number of years from 0.001 to 1e6."),
        ({"load": 0}, "load is 0; accepted is a number from 0.001 to 1."),
        ({"load": 1.5}, "load is 1.5; accepted is a number from 0.001 to 1."),
        ({"variability": 1}, "variability is 1; accepted is a number from 0 to 0.9."),
        ({"cores": 31_999}, "cores is 31999; accepted is a whole number from 32,000, which Silverton needs, to 1e9."),
        ({"bandwidth": "160 GB/s"}, "bandwidth is '160 GB/s'; accepted is a number of bytes/s from 1 to 1e18."),
        ({"core_bandwidth": 0.02}, "core_bandwidth is 0.02; accepted is a number of bytes/s from 1 to 1e18."),
        ({"walltime": "long"}, "walltime is 'long'; accepted is one of literature, printed."),
        ({"end": "read"}, "end is 'read'; accepted is one of write, compute."),
        ({"mtbf": 0.001, "load": 0.001}, "applications is 30, mtbf is 0.001 and load is 0.001, or up to "),
    ],
)
def test_what_is_refused_is_said_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        generate("checkpoints", **settings)
    assert str(refused.value).startswith(f"checkpoints: {sentence}")
    assert "\n" not in str(refused.value)
