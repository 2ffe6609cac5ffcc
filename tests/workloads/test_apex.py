"""P1 §6.3: the table, who runs when, which windows are steady, what runs in them and at which pressure, bad input."""

from __future__ import annotations

import csv
import math
from collections import Counter
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from penstock import load, save, simulate
from penstock.errors import InvalidOption, PenstockError
from penstock.model import Compute, Read, Repeat, Scenario, Write
from penstock.studies.study import Study
from penstock.workloads import first_fit as kernels
from penstock.workloads import generate
from penstock.workloads.apex import CIELO_CORES, JobSchedule, Life, apex_schedule, mean_rate, scaled
from penstock.workloads.apex_table import COLUMNS, read_table
from penstock.workloads.first_fit import first_fit

WORKLOADS = ("NERSC", "TRILAB")
HOUR, DAY = 3600.0, 86400.0
FIGURES = COLUMNS[3:11]
HEAD = "workload,workflow,share_pct,wall_time_h,cores,input,output,checkpoint_size_gb,checkpoint_period"


@pytest.fixture(scope="module", params=[("NERSC", 0), ("NERSC", 7), ("TRILAB", 0), ("TRILAB", 7)], ids=str)
def drawn(request: pytest.FixtureRequest) -> JobSchedule:
    workload, machine = request.param
    return apex_schedule(workload, seed=11, machine=machine)


def written(folder: Path, *rows: str, head: str = HEAD) -> str:
    file = folder / "table.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return str(file)


# The table


def shipped() -> list[dict[str, str]]:
    text = (files("penstock.workloads") / "data" / "apex.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_every_figure_of_the_shipped_table_names_its_source() -> None:
    for row in shipped():
        sourced = {
            column.strip() for part in row["source"].split(";") if part for column in part.partition(":")[0].split(",")
        }
        assert sourced == {column for column in FIGURES if row[column]}, row["workflow"]
        assert row["source"] or row["notes"].startswith("not found")


def test_the_shipped_table_says_what_is_missing_and_what_is_assumed() -> None:
    nersc, trilab = read_table("NERSC"), read_table("TRILAB")
    assert nersc.missing == ("ALS", "HipMER", "Materials by design", "MILC")
    assert trilab.missing == ("Dakota A", "Dakota S", "(workflows)")
    volumes = ("input", "output", "checkpoint_size_gb")
    assert {each.name: each.assumed for each in nersc.workflows} == {
        "CESM": ("share_pct", *volumes),
        "GTS": ("share_pct", *volumes),
        "Sky Survey": volumes[:2],
    }
    assert {each.assumed for each in trilab.workflows} == {volumes[:2]}


def test_the_figures_of_the_papers() -> None:
    known = {each.name: each for name in WORKLOADS for each in read_table(name).workflows}
    assert {name: (each.cores, each.wall / HOUR) for name, each in known.items()} == {
        "CESM": (8_000, 240), "GTS": (16_512, 48), "Sky Survey": (24, 4),
        "EAP": (16_000, 262.4), "LAP": (4_000, 64), "Silverton": (32_000, 128), "VPIC": (30_000, 157.2),
    }  # fmt: skip
    assert [known[name].checkpoint / 1e9 for name in ("EAP", "LAP", "Silverton", "VPIC")] == [3200, 2000, 44800, 3750]
    assert [known[name].share for name in ("EAP", "LAP", "Silverton", "VPIC")] == approx([0.65, 0.21, 0.08, 0.06])
    assert [known[name].share for name in ("CESM", "GTS", "Sky Survey")] == approx([0.44, 0.44, 0.12])
    assert known["Sky Survey"].checkpoint == 0
    assert known["GTS"].checkpoint == known["GTS"].input == 16_512e9
    assert {each.period for each in known.values()} == {HOUR}


def test_a_table_of_the_user(tmp_path: Path) -> None:
    table = read_table("NERSC", written(
        tmp_path,
        "NERSC,a,30,2,100,5 %,3.2 TB,10,30 min",
        "trilab,other,100,1,1,,,,",
        "nersc,b,30,0.5,1e3,0,,,",
        "NERSC,c,,,,,,,",
    ))  # fmt: skip
    a, b = table.workflows
    assert (a.share, b.share, table.missing) == (0.5, 0.5, ("c",))
    assert (a.wall, a.cores, a.input, a.output, a.checkpoint, a.period) == (7200, 100, 5e9, 3.2e12, 10e9, 1800)
    assert (b.input, b.output, b.checkpoint, b.period) == (0, 1e12, 1e12, 3600)
    assert (a.assumed, b.assumed) == ((), ("output", "checkpoint_size_gb", "checkpoint_period"))


def test_columns_that_may_be_left_out_are_assumed(tmp_path: Path) -> None:
    head = "workload,workflow,share_pct,wall_time_h,cores,checkpoint_pct_mem"
    [one] = read_table("TRILAB", written(tmp_path, "TRILAB,a,,2,100,160", head=head)).workflows
    assert (one.share, one.input, one.output, one.checkpoint) == (1, 100e9, 100e9, 160e9)
    assert one.assumed == ("share_pct", "input", "output", "checkpoint_period")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("NERSC,a,0,2,10,,,,", "2: share_pct is '0'; a share is a number > 0 and at most 100"),
        ("NERSC,a,101,2,10,,,,", "2: share_pct is '101'; a share is a number > 0 and at most 100"),
        ("NERSC,a,5,-2,10,,,,", "2: wall_time_h is '-2'; a wall time is a number of hours > 0 and at most 1e6"),
        ("NERSC,a,5,2 h,10,,,,", "2: wall_time_h is '2 h'; a wall time is a number of hours > 0 and at most 1e6"),
        ("NERSC,a,5,nan,10,,,,", "2: wall_time_h is 'nan'; a wall time is a number of hours > 0 and at most 1e6"),
        ("NERSC,a,5,2,1.5,,,,", "2: cores is '1.5'; a count is a whole number ≥ 1 and at most 2^53"),
        ("NERSC,a,5,2,10,7,,,", "2: input is '7'; a volume is 0, has a unit, as in 3.2 TB, or is a part of the memory"),
        ("NERSC,a,5,2,10,,-5 %,,", "2: output is '-5'; a volume is 0, has a unit, as in 3.2 TB, or is a part of the"),
        ("NERSC,a,5,2,10,,3 h,,", "2: output is '3 h', a time; a volume is a number ≥ 0 or text such as"),
        ("NERSC,a,5,2,10,,,1 GB,", "2: checkpoint_size_gb is '1 GB'; a size is a number of GB from 0 to 1e9"),
        ("NERSC,a,5,2,10,,,,60", "2: checkpoint_period is '60'; a period has a unit, as in 1 h, and is at least"),
        ("NERSC,a,5,2,10,,,,1 ms", "2: checkpoint_period is '1 ms'; a period has a unit, as in 1 h, and is at least"),
        ("NERSC,a,5,2,10,,,,soon", "2: checkpoint_period is 'soon'; a time is a number ≥ 0 or text such as"),
        ("NERSC,,5,2,10,,,,", "2: workflow is ''; a name is printable text, not empty"),
        ("NERSC,a,5,2,10", "2: has 5 cells; the header names 9 columns"),
        ("NERSC,a,5,2,10,,,,\nNERSC,a,5,2,10,,,,", "3: workflow is 'a', as in line 2; every workflow has one row"),
        ("NERSC,a,5,,10,,,,", " has no row of NERSC with wall_time_h and cores; expected at least one"),
        ("TRILAB,a,5,2,10,,,,", " has no row of NERSC with wall_time_h and cores; expected at least one"),
        ("NERSC,a,100,2,10,,,,\nNERSC,b,,2,10,,,,", " share_pct of NERSC leaves nothing of 100 % for the 1 rows"),
    ],
)  # fmt: skip
def test_a_bad_row_is_refused_in_one_sentence(tmp_path: Path, row: str, sentence: str) -> None:
    file = written(tmp_path, row)
    with pytest.raises(InvalidOption) as refused:
        generate("apex-nersc", table=file)
    assert str(refused.value).startswith(f"{file}:{sentence}")
    assert "\n" not in str(refused.value)


def test_both_sizes_of_a_checkpoint_are_one_too_many(tmp_path: Path) -> None:
    head = "workload,workflow,share_pct,wall_time_h,cores,checkpoint_size_gb,checkpoint_pct_mem"
    with pytest.raises(InvalidOption, match=":2: has both checkpoint_size_gb and checkpoint_pct_mem; keep one of them"):
        read_table("NERSC", written(tmp_path, "NERSC,a,5,2,10,1,1", head=head))


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        ("workload,workflow,share_pct,walltime,cores", "1: has the unknown column 'walltime'; accepted are workload, "),
        ("workload,workflow,share_pct,cores", "1: has no column wall_time_h; needed are workload, workflow, share_pct"),
        ("", " is empty; expected a CSV"),
    ],
)
def test_other_columns_are_refused(tmp_path: Path, head: str, sentence: str) -> None:
    file = written(tmp_path, head=head)
    with pytest.raises(InvalidOption) as refused:
        read_table("NERSC", file)
    assert str(refused.value).startswith(f"{file}:{sentence}")


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.csv").write_bytes(b"workload\xff")
    for place in (tmp_path, tmp_path / "none.csv", tmp_path / "bytes.csv"):
        with pytest.raises(PenstockError, match="expected a CSV with the columns of the APEX table") as refused:
            read_table("NERSC", place)
        assert str(refused.value).startswith(f"{place}: ")


# The schedule


def slow_first_fit(jobs: list[tuple[int, int]], cores: int) -> list[float]:
    """Each at the first instant, second by second, from which enough cores are free throughout."""
    busy: Counter[int] = Counter()
    starts = []
    for width, length in jobs:
        start = 0
        while any(busy[second] + width > cores for second in range(start, start + length)):
            start += 1
        busy.update({second: width for second in range(start, start + length)})
        starts.append(float(start))
    return starts


KINDS = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 9)), min_size=1, max_size=5)


@given(KINDS, st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(8, 12))
@settings(deadline=None)
def test_first_fit_is_that_of_the_slow_one(kinds: list[tuple[int, int]], picks: list[int], cores: int) -> None:
    chosen = np.array([pick % len(kinds) for pick in picks])
    width, length = np.array([w for w, _ in kinds]), np.array([float(seconds) for _, seconds in kinds])
    starts = first_fit(chosen, width, length, cores)
    assert starts.tolist() == slow_first_fit([kinds[i] for i in chosen], cores)
    plain = np.empty(chosen.size)
    at, free = np.empty(chosen.size + 1), np.empty(chosen.size + 1, dtype=np.int64)
    cast(Any, kernels.place_all).py_func(chosen, width, length, cores, at, free, np.zeros(width.size), plain)
    assert plain.tolist() == starts.tolist()


def busy_cores(schedule: JobSchedule) -> tuple[np.ndarray, np.ndarray]:
    """Instants, and how many cores are busy from each on; what ends within a millisecond of an instant is gone."""
    width = np.array([life.cores for life in schedule.lives])[schedule.kinds]
    times = np.concatenate([schedule.starts, schedule.ends - 1e-3])
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(np.concatenate([width, -width])[order])


def test_no_core_is_used_twice_at_a_time(drawn: JobSchedule) -> None:
    assert busy_cores(drawn)[1].max() <= CIELO_CORES


def test_the_machine_is_as_good_as_full_while_it_is_watched(drawn: JobSchedule) -> None:
    times, busy = busy_cores(drawn)
    inside = np.clip(np.append(times, drawn.end), drawn.begin, drawn.end)
    assert np.diff(inside) @ busy / (CIELO_CORES * (drawn.end - drawn.begin)) > 0.95


def test_it_is_watched_for_three_months_between_filling_and_draining(drawn: JobSchedule) -> None:
    longest = max(life.seconds for life in drawn.lives)
    assert (drawn.begin, drawn.end) == (longest, longest + 92 * DAY)
    assert drawn.starts.max() > drawn.end


def test_node_hours_follow_the_table(drawn: JobSchedule) -> None:
    """To half an application in the whole list; while it is watched, as far as a few hundred of them can."""
    work = np.array([life.cores * life.seconds for life in drawn.lives])
    counts = np.bincount(drawn.kinds)
    total = (counts * work).sum()
    share = np.array([each.share for each in drawn.table.workflows])
    assert np.abs(counts * work / total - share).max() <= work.max() / total
    watched = np.clip(np.minimum(drawn.ends, drawn.end) - np.maximum(drawn.starts, drawn.begin), 0, None)
    spent = np.array([life.cores for life in drawn.lives]) * np.bincount(drawn.kinds, watched)
    assert spent / spent.sum() == approx(share, abs=0.08)


def test_order_is_random(drawn: JobSchedule) -> None:
    """Every kind has its part of the first half of the list, within five standard deviations."""
    half = drawn.kinds.size // 2
    for kind, count in enumerate(np.bincount(drawn.kinds)):
        early = np.count_nonzero(drawn.kinds[:half] == kind)
        assert early == approx(count / 2, abs=5 * math.sqrt(count) / 2)


# Windows


def test_windows_are_steady_and_the_longest(drawn: JobSchedule) -> None:
    assert len(drawn.windows) == 20
    events = np.concatenate([drawn.starts, drawn.ends])
    lengths = [window.end - window.begin for window in drawn.windows]
    assert lengths == sorted(lengths, reverse=True) or np.allclose(lengths, sorted(lengths, reverse=True), atol=1e-3)
    for window in drawn.windows:
        assert drawn.begin - 1e-3 <= window.begin < window.end <= drawn.end + 1e-3
        assert not ((events > window.begin + 1e-3) & (events < window.end - 1e-3)).any()
        middle = (window.begin + window.end) / 2
        assert (
            drawn.running(window).tolist() == np.flatnonzero((drawn.starts < middle) & (drawn.ends > middle)).tolist()
        )
    seen = np.unique(events[(events >= drawn.begin) & (events <= drawn.end)])
    assert np.sort(np.diff(seen))[-20:][::-1] == approx(lengths, abs=1e-3)


def test_windows_of_trilab_are_an_order_of_magnitude_longer_and_have_fewer_applications() -> None:
    """P1 app. B.2."""
    nersc, trilab = (apex_schedule(name, seed=11) for name in WORKLOADS)
    length = {each.label: np.mean([end - begin for begin, end in each.windows]) for each in (nersc, trilab)}
    assert length["apex-trilab"] > 8 * length["apex-nersc"]
    count = {each.label: np.mean([each.running(window).size for window in each.windows]) for each in (nersc, trilab)}
    assert count["apex-nersc"] > 8 * count["apex-trilab"]


def test_a_scenario_has_those_who_run_in_its_window(drawn: JobSchedule) -> None:
    for rank in (1, 20):
        window, scenario = drawn.windows[rank - 1], drawn.scenario(rank)
        assert (scenario.window.begin, scenario.window.end) == (0, window.end - window.begin)
        assert {each.release for each in scenario.applications} == {0}
        assert {each.progress for each in scenario.applications} == {None}
        kinds = Counter(drawn.lives[kind].name for kind in drawn.kinds[drawn.running(window)])
        assert Counter(each.name.rpartition("-")[0] for each in scenario.applications) == kinds
        assert sum(each.nodes for each in scenario.applications) <= scenario.platform.nodes


def test_fresh_applications_begin_their_lives_with_the_window(drawn: JobSchedule) -> None:
    """P1 §6.3.1: each application joined the system at the window start."""
    scenario = drawn.scenario(3)
    assert scenario == drawn.scenario(3, start="fresh")
    lives = {life.name: life for life in drawn.lives}
    for each in scenario.applications:
        assert each.phases == lives[each.name.rpartition("-")[0]].after(0)
    midlife = drawn.scenario(3, start="midlife")
    assert [each.name for each in midlife.applications] == [each.name for each in scenario.applications]
    assert midlife.window == scenario.window


def test_applications_alone_last_as_long_as_the_schedule_says(drawn: JobSchedule) -> None:
    window, scenario = drawn.windows[2], drawn.scenario(3, start="midlife")
    chosen = drawn.running(window)
    for index, each in zip(chosen.tolist(), scenario.applications, strict=True):
        speed = drawn.lives[drawn.kinds[index]].speed
        seconds = math.fsum(amount / (1 if kind == "Compute" else speed) for kind, amount in flat(each.phases))
        assert window.begin + seconds == approx(drawn.ends[index], abs=1e-3)


# Lives


@pytest.fixture
def life() -> Life:
    return Life("a", 1.0, 10, speed=2.0, input=30, checkpoints=3, period=100, checkpoint=20, tail=50, output=40)


def flat(phases: Any) -> list[tuple[str, float]]:
    listed: list[tuple[str, float]] = []
    for phase in phases:
        if isinstance(phase, Repeat):
            listed += flat(phase.phases) * int(phase.repeat)
        else:
            listed.append((type(phase).__name__, phase.amount))
    return listed


CYCLE = [("Compute", 100), ("Write", 40)]
END = [("Compute", 50), ("Write", 80)]


@pytest.mark.parametrize(
    ("passed", "left"),
    [
        (0, [("Read", 60), *CYCLE * 3, *END]),
        (29, [("Read", 2), *CYCLE * 3, *END]),
        (30, [*CYCLE * 3, *END]),
        (30.0000000001, [*CYCLE * 3, *END]),
        (60, [("Compute", 70), ("Write", 40), *CYCLE * 2, *END]),
        (130, [("Write", 40), *CYCLE * 2, *END]),
        (145, [("Write", 10), *CYCLE * 2, *END]),
        (150, [*CYCLE * 2, *END]),
        (149.9999999999, [*CYCLE * 2, *END]),
        (385, [("Write", 10), *END]),
        (390, END),
        (400, [("Compute", 40), ("Write", 80)]),
        (440, [("Write", 80)]),
        (475, [("Write", 10)]),
    ],
)
def test_what_is_left_of_a_life(life: Life, passed: float, left: list[tuple[str, float]]) -> None:
    assert life.seconds == 480
    found = flat(life.after(passed))
    assert [kind for kind, _ in found] == [kind for kind, _ in left]
    assert [amount for _, amount in found] == approx([amount for _, amount in left], abs=1e-6)


def test_a_life_without_io_only_computes(life: Life) -> None:
    quiet = life._replace(input=0, checkpoints=0, checkpoint=0, output=0)
    assert quiet.after(0) == (Compute(compute=50),)
    assert quiet.after(20) == (Compute(compute=30),)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_lives_fill_their_wall_time_on_cielo_and_no_checkpoint_follows_an_hour_late(workload: str) -> None:
    schedule = apex_schedule(workload)
    for life, workflow in zip(schedule.lives, schedule.table.workflows, strict=True):
        assert life.seconds == approx(workflow.wall, rel=1e-12)
        assert life.speed == min(160e9, 0.02e9 * workflow.cores)
        assert 0 < life.tail <= (life.period + life.checkpoint if workflow.checkpoint else workflow.wall)
        assert (life.checkpoints == 0) == (workflow.name == "Sky Survey")
        assert flat(life.after(0))[0] == ("Read", approx(workflow.input))
        assert flat(life.after(0))[-1] == ("Write", approx(workflow.output))


# Machines


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("t", [1, 2.5, 10])
def test_a_later_machine_has_more_of_everything_but_a_linear_factor_less_bandwidth(workload: str, t: float) -> None:
    cielo, later = apex_schedule(workload), apex_schedule(workload, machine=t)
    one, other = cielo.scenario().platform, later.scenario().platform
    assert other.nodes == math.ceil(one.nodes * 2**t)
    assert other.bandwidth == approx(160e9 * 2**t / t)
    for before, after in zip(cielo.lives, later.lives, strict=True):
        for name in ("input", "checkpoint", "output"):
            volumes = getattr(after, name) * after.speed, getattr(before, name) * before.speed
            assert volumes[0] == approx(volumes[1] * 2**t)
        assert (after.checkpoints, after.period, after.tail) == (before.checkpoints, before.period, before.tail)
        assert after.seconds >= before.seconds * (1 - 1e-12)


CHOSEN = [(seed, rank) for seed in range(3) for rank in (1, 14)]


@pytest.mark.parametrize(("start", "most"), [("fresh", 1.6), ("midlife", 1.5)])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_pressures_are_close_to_those_of_the_paper(workload: str, start: str, most: float) -> None:
    """P1: about 0.15 on average on Cielo; up to 1.4 on later machines, the last of which is M_10."""

    def mean(machine: float) -> float:
        scenarios = (apex_schedule(workload, seed, machine).scenario(rank, start=start) for seed, rank in CHOSEN)
        return float(np.mean([Study(each).pressure for each in scenarios]))

    assert mean(0) == mean(1) == approx(0.15, abs=0.04)
    assert 0.9 < mean(10) < most


@pytest.mark.parametrize("workload", WORKLOADS)
def test_demand_is_what_a_full_machine_would_move(workload: str) -> None:
    for demand, expected in ((None, 0.15), (0.3, 0.3)):
        schedule = apex_schedule(workload, demand=demand)
        assert mean_rate(schedule.table, CIELO_CORES) / 160e9 == approx(expected, rel=1e-12)
    assert apex_schedule(workload, demand=0.0).table == read_table(workload)


def test_volumes_of_the_users_table_are_not_scaled(tmp_path: Path) -> None:
    file = written(tmp_path, "NERSC,a,100,10,1000,1 TB,2 TB,500,2 h")
    assert apex_schedule("NERSC", table=file, days=5.0).table == read_table("NERSC", file)
    twice = apex_schedule("NERSC", table=file, days=5.0, demand=0.5).table
    assert mean_rate(twice, CIELO_CORES) == approx(80e9)
    assert scaled(read_table("NERSC", file), 2.0).workflows[0].output == 4e12
    phases = flat(generate("apex-nersc", table=file, days=5).applications[0].phases)
    assert [amount for kind, amount in phases[1:] if kind == "Write"] == approx([500e9] * 4 + [2e12])


# Pressure


@pytest.mark.parametrize("kind", ["apex-nersc", "apex-trilab"])
@pytest.mark.parametrize("settings", [{}, {"machine": 4, "window": 9}, {"window": 20}], ids=str)
@pytest.mark.parametrize("pressure", [0.02, 0.15, 0.8, 1.0, 1.4])
def test_the_pressure_is_the_one_asked_for(kind: str, settings: dict[str, Any], pressure: float) -> None:
    scenario = generate(kind, seed=2, pressure=pressure, **settings)
    assert Study(scenario).pressure == approx(pressure, rel=1e-9)
    as_it_comes = generate(kind, seed=2, **settings)
    assert scenario.applications == as_it_comes.applications
    assert scenario.window == as_it_comes.window


def test_a_run_has_the_pressure_asked_for_and_a_yield_that_shows_it() -> None:
    calm, pressed = (simulate(generate("apex-trilab", seed=2, pressure=w), sharing="fair-share") for w in (0.1, 1.4))
    assert (calm.pressure, pressed.pressure) == (approx(0.1), approx(1.4))
    assert calm.min_yield > 0.95
    assert pressed.min_yield < 0.9


# Seeds, files, speed, refusals


@pytest.mark.parametrize("kind", ["apex-nersc", "apex-trilab"])
def test_a_seed_decides_everything(kind: str) -> None:
    assert generate(kind, seed=4) == generate(kind, seed=4)
    assert generate(kind, seed=4) != generate(kind, seed=5)
    assert generate(kind, seed=4) != generate(kind, seed=4, window=2)


def test_a_schedule_is_drawn_once_for_all_its_windows() -> None:
    assert apex_schedule("TRILAB", 9) is apex_schedule("TRILAB", 9, machine=0.0)
    assert apex_schedule("TRILAB", 9) is not apex_schedule("TRILAB", 9, machine=2.0)
    assert generate("apex-trilab", seed=9, window=3) == apex_schedule("TRILAB", 9).scenario(3)


def test_a_table_that_changed_is_read_again(tmp_path: Path) -> None:
    before = generate("apex-nersc", table=written(tmp_path, "NERSC,a,100,10,1000,0,0,500,2 h"), days=5)
    after = generate("apex-nersc", table=written(tmp_path, "NERSC,b,100,10,1000,0,0,500,2 h"), days=5)
    assert (before.applications[0].name[0], after.applications[0].name[0]) == ("a", "b")


def test_what_is_saved_loads_the_same(tmp_path: Path) -> None:
    scenario: Scenario = generate("apex-trilab", seed=7, window=4)
    assert any(isinstance(phase, Read | Write | Repeat) for each in scenario.applications for phase in each.phases)
    save(scenario, tmp_path / "x.yaml")
    assert load(tmp_path / "x.yaml") == scenario


@pytest.mark.timing
def test_three_months_of_nersc_take_less_than_a_second() -> None:
    apex_schedule("NERSC", seed=1000)
    begin = perf_counter()
    assert len(apex_schedule("NERSC", seed=1001).windows) == 20
    assert perf_counter() - begin < 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"pressure": 0}, "pressure is 0; accepted is a number from 1e-3 to 1e3, or none."),
        ({"pressure": "high"}, "pressure is 'high'; accepted is a number from 1e-3 to 1e3, or none."),
        ({"pressure": 900}, "pressure is 900; accepted is less than "),
        ({"window": 0}, "window is 0; accepted is a whole number from 1 to 20."),
        ({"window": 21}, "window is 21; accepted is a whole number from 1 to 20."),
        ({"days": 1, "window": 20}, "window is 20; accepted is at most "),
        ({"machine": 0.5}, "machine is 0.5; accepted is 0, which is Cielo, or a number from 1 to 20."),
        ({"machine": 21}, "machine is 21; accepted is 0, which is Cielo, or a number from 1 to 20."),
        ({"start": "late"}, "start is 'late'; accepted is one of fresh, midlife."),
        ({"table": ""}, "table is ''; accepted is a CSV file with the columns of the APEX table."),
        ({"days": 0}, "days is 0; accepted is a number from 1 to 3650."),
        ({"demand": -1}, "demand is -1; accepted is a number from 1e-6 to 1e3, 0 for the volumes of the table"),
        ({"cores": 31_999}, "cores is 31999; accepted is at least 32,000, which Silverton needs."),
        ({"bandwidth": "160 GB/s"}, "bandwidth is '160 GB/s'; accepted is a number of bytes/s from 1 to 1e18."),
        ({"core_bandwidth": 1e3}, "EAP takes "),
        ({"days": 3650, "cores": 10**9}, "3650 days on 1,000,000,000 cores take "),
    ],
)  # fmt: skip
def test_what_is_refused_is_said_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        generate("apex-trilab", **settings)
    assert str(refused.value).startswith(f"apex-trilab: {sentence}")
    assert "\n" not in str(refused.value)


def test_a_window_without_io_has_no_pressure(tmp_path: Path) -> None:
    file = written(tmp_path, "NERSC,a,100,10,1000,0,0,0,")
    with pytest.raises(InvalidOption, match="pressure is 1; accepted is less than 0, which is all that the 132 appl"):
        generate("apex-nersc", table=file, days=5, pressure=1)
    with pytest.raises(InvalidOption, match=f"demand is 1, but no workflow of {file} moves a byte"):
        generate("apex-nersc", table=file, days=5, demand=1)
