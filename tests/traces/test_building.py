"""From jobs to a scenario: caps, windows, slack, provenance, pseudonyms."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pytest import approx

from penstock import simulate
from penstock.errors import InvalidOption
from penstock.model import load, save
from penstock.traces import Imported, Options
from penstock.traces.build import build
from penstock.traces.caps import coverage, peak
from penstock.traces.gaps import without_gaps
from penstock.traces.inspecting import checked, inspect_import, inspect_scenario
from penstock.traces.job import Job
from penstock.traces.names import Pseudonyms
from penstock.traces.options import share, window_of
from penstock.traces.pieces import IoPieces

GB = 1e9


def job(
    name: str, start: float, writes: list[tuple[float, float, float]], seconds: float = 1000.0, **more: object
) -> Job:
    at, until, volume = (np.array(column, float) for column in zip(*writes, strict=True))
    pieces = IoPieces(at, until, volume, np.ones(len(at), bool), np.zeros(len(at)))
    known = {"id": name, "user": "ada", "executable": "sim", "pieces": pieces, "source": "dxt"}
    return Job(start=start, seconds=seconds, **known | more)  # type: ignore[arg-type]


def made(jobs: list[Job], **options: object) -> Imported:
    return build(jobs, Options(**options), kind="darshan", what="test", begun=0.0)  # type: ignore[arg-type]


def test_the_cap_is_the_median_of_runs_that_were_alone() -> None:
    runs = [
        job("1", 0.0, [(100, 110, 50 * GB)], io_seconds=10.0),  # 5 GB/s, alone
        job("2", 2000.0, [(100, 108, 48 * GB)], io_seconds=8.0),  # 6 GB/s, alone
        job("3", 4000.0, [(100, 150, 50 * GB)], io_seconds=50.0),  # 1 GB/s beside another
        job("4", 4000.0, [(100, 150, 50 * GB)], io_seconds=50.0, executable="other"),
    ]
    assert coverage(runs) == approx([1.0, 1.0, 0.5, 0.5])
    alone = {each.name: (each.bandwidth, each.bandwidth_origin) for each in made(runs).applications}
    assert alone["sim-3"] == (approx(5.5 * GB), "model")
    assert alone["other-4"] == (approx(1 * GB), "lower_bound")
    median = {each.name: each.bandwidth for each in made(runs, cap="median").applications}
    assert median["sim-3"] == approx(5 * GB)
    fastest = {each.name: (each.bandwidth, each.bandwidth_origin) for each in made(runs, cap="max").applications}
    assert fastest["sim-3"] == (approx(6 * GB), "lower_bound")


def test_caps_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "caps.csv"
    file.write_text("application,bandwidth\nsim,7 GB/s\n")
    (told,) = made([job("1", 0.0, [(100, 110, 50 * GB)])], cap=file).applications
    assert (told.bandwidth, told.bandwidth_origin) == (7 * GB, "given")
    file.write_text("application,bandwidth\nsim,7 GB\n")
    with pytest.raises(InvalidOption, match=r"caps.csv:2: bandwidth is '7 GB', a volume"):
        made([job("1", 0.0, [(100, 110, 50 * GB)])], cap=file)
    with pytest.raises(InvalidOption, match="alone, median, max or a CSV file"):
        Options(cap="fastest")


def test_bandwidth_has_no_default_but_a_lower_bound() -> None:
    jobs = [job("1", 0.0, [(100, 120, 40 * GB)]), job("2", 0.0, [(110, 130, 40 * GB)])]
    assert peak(jobs) == approx(4 * GB)  # both together, for ten seconds
    found = made(jobs)
    assert found.scenario.platform.bandwidth == approx(4 * GB)
    assert found.scenario.provenance["platform"] == {"bandwidth": "lower_bound"}
    given = made(jobs, bandwidth=9 * GB)
    assert (given.scenario.platform.bandwidth, given.to_dict()["bandwidth_origin"]) == (9 * GB, "given")


def test_slack_brackets_the_run_time() -> None:
    """A burst of 50 s that the cap would move in 10: the rest is computing, or it was in the way of others."""
    slow = [job("1", 0.0, [(100, 150, 50 * GB)], io_seconds=10.0)]
    compute, contention = (made(slow, slack=slack).scenario for slack in ("compute", "contention"))
    assert simulate(compute).makespan == approx(1000.0)
    assert simulate(contention).makespan == approx(1000.0 - 40.0)
    phases = compute.to_document()["applications"][0]["phases"]
    assert phases == [{"compute": 120}, {"write": 50 * GB}, {"compute": 870}]  # around the centre, 125 s


def test_a_window_cuts_jobs_and_says_how_far_they_were() -> None:
    jobs = [
        job("1", 0.0, [(100, 110, 10 * GB), (600, 610, 10 * GB)], io_seconds=20.0),
        job("2", 500.0, [(500, 510, 10 * GB)], io_seconds=10.0),
        job("3", 5000.0, [(100, 110, 10 * GB)]),
    ]
    found = made(jobs, window="300..900", cap="max").scenario
    assert [each.name for each in found.applications] == ["sim-1", "sim-2"]
    assert (found.window.begin, found.window.end) == (300.0, 900.0)
    first = found.applications[0]
    assert (first.release, first.progress) == (0.0, 300.0)
    assert found.to_document()["applications"][0]["phases"] == [{"compute": 300}, {"write": 10 * GB}, {"compute": 390}]
    run = simulate(found)
    assert run.min_yield == approx(1.0)
    with pytest.raises(InvalidOption, match="in that window"):
        made(jobs, window="2000..3000")


def test_a_window_inside_a_burst_leaves_its_rest() -> None:
    jobs = [job("1", 0.0, [(100, 200, 100 * GB)], io_seconds=100.0)]
    (entry,) = made(jobs, window="150..900").scenario.to_document()["applications"]
    assert entry["phases"][0] == {"write": 50 * GB}


def test_windows_are_dates_or_times_since_the_first_start() -> None:
    assert window_of("1h..1-00:00:00", 1000.0) == (4600.0, 87400.0)
    assert window_of("2026-11-02..2026-11-02T06:00", 0.0) == (1793577600.0, 1793577600.0 + 21600)
    for text, words in [("1h", "A..B"), ("2h..1h", "ends before it begins"), ("a..b", "neither a date")]:
        with pytest.raises(InvalidOption, match=words):
            window_of(text, 0.0)


def test_shares() -> None:
    assert share("0.5%", "x") == share("0.005", "x") == 0.005
    for text in ("half", "", "5 %%"):
        with pytest.raises(InvalidOption, match="a share such as"):
            share(text, "--tolerance")
    with pytest.raises(InvalidOption, match="from 0 to 50 %"):
        Options(tolerance=0.7)


def test_stripe_counts_of_one_application_become_its_profile() -> None:
    runs = [
        job(str(i), 2000.0 * i, [(100, 200, 100 * GB)], io_seconds=100.0 / count, stripes={count: 100 * GB})
        for i, count in enumerate([1, 1, 4, 8])
    ]
    profile = made(runs).scenario.applications[0].profile
    assert profile == {1: approx(1 * GB), 4: approx(4 * GB), 8: approx(8 * GB)}
    assert made(runs[:2]).scenario.applications[0].profile is None


def test_unknown_structure_is_a_hundred_bursts_and_never_one() -> None:
    wide = job("1", 0.0, [(0, 1000, 100 * GB)], source="counters", io_seconds=50.0)
    wide = replace(wide, pieces=wide.pieces._replace(doubt=np.array([500.0])))
    (told,) = made([wide]).applications
    assert (told.job.structure, told.job.quality) == ("unknown", "C")
    assert len(told.transfers.centre) == 100
    assert len(made([wide], bursts=10).applications[0].transfers.centre) == 10


def test_every_number_says_where_it_comes_from(tmp_path: Path) -> None:
    found = made(
        [job("1", 0.0, [(100, 110, 50 * GB)]), job("2", 10.0, [(100, 110, 5 * GB)], nodes=4, nodes_origin="given")]
    )
    save(found.scenario, tmp_path / "s.yaml")
    again = load(tmp_path / "s.yaml")
    assert again == found.scenario
    told = again.provenance["applications"]
    assert told["*"]["volumes"] == told["*"]["times"] == told["*"]["release"] == "measured"  # type: ignore[index, call-overload]
    assert (told["sim-1"]["nodes"], told["sim-2"]["nodes"]) == ("assumed", "given")  # type: ignore[index, call-overload]


def test_pseudonyms_are_stable_and_hide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    # Pseudonyms have digits of a key that is drawn at random: none of these words can be among them.
    secret = [job("4711_3", 1.7e9, [(100, 110, 50 * GB)], executable="secretcode", user="zoe")]
    one, two = (made(secret, anonymise=True) for _ in range(2))
    assert one.applications[0].name == two.applications[0].name
    file = tmp_path / "s.json"
    save(one.scenario, file)
    for word in ("secretcode", "zoe", "4711_3", "2023-11"):
        assert word not in file.read_text()
    key = tmp_path / "config" / "penstock" / "pseudonyms.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    key.unlink()
    assert made(secret, anonymise=True).applications[0].name != one.applications[0].name
    assert Pseudonyms(b"k")("user", "ada") != Pseudonyms(b"k")("app", "ada")


def test_months_without_jobs_are_closed() -> None:
    jobs = [job("1", 1.5e9, [(1, 2, GB)]), job("2", 1.6e9, [(1, 2, GB)]), job("3", 1.6e9 + 7200, [(1, 2, GB)])]
    moved, notes = without_gaps(jobs)
    assert [each.start - 1.5e9 for each in moved] == [0.0, 4600.0, 11800.0]
    assert notes == ["1 gap of 1,157 days in which nothing ran, made an hour each"]
    assert without_gaps(jobs[1:]) == (jobs[1:], [])


def test_checking_compares_observed_and_simulated_times() -> None:
    jobs = [job(str(i), 0.0, [(100, 110, 50 * GB)], io_seconds=10.0, executable=f"e{i}") for i in range(2)]
    found = made(jobs, bandwidth=5 * GB)
    rows = checked(inspect_import(found).rows, found.scenario)
    assert [row.observed_seconds for row in rows] == [1000.0, 1000.0]
    # Both want 5 GB/s at the same time, so that each waits for the other.
    assert [row.simulated_seconds for row in rows] == approx([1010.0, 1010.0])
    again = inspect_scenario(found.scenario)
    assert [row.volume for row in again.rows] == approx([50 * GB] * 2)
    assert [row.observed_seconds for row in again.rows] == [1000.0, 1000.0]


def test_the_grade_of_a_site_is_that_of_four_fifths_of_its_bytes() -> None:
    good = job("1", 0.0, [(100, 110, 79 * GB)])
    bad = replace(job("2", 0.0, [(100, 110, 21 * GB)], executable="b"), complete=False)
    assert inspect_import(made([good, bad])).grade == "D"
    better = job("1", 0.0, [(100, 110, 85 * GB)])
    assert inspect_import(made([better, bad])).grade == "A"


def steady(count: int, length: float, every: float) -> list[Job]:
    """Jobs of a node each, one after the other: the machine fills for `length` and then has length / every of them."""
    return [job(str(i), i * every, [(1.0, 2.0, GB)], length) for i in range(count)]


def test_a_window_begins_and_ends_where_the_machine_is_full() -> None:
    found = made(steady(40, 1000.0, 100.0), window="busy")  # 10 are usual: 8 from 700 s on, and until 4000 + 200
    assert found.window == approx((700.0, 4200.0))
    assert found.applications[0].job.id == "0"
    assert found.notes == (
        "the window begins 0.194 h later and ends 0.194 h earlier than asked for: "
        "outside fewer than 80% of the usual 10 nodes were busy",
    )
    assert found.scenario.applications[0].progress == approx(700.0)


def test_a_window_that_is_full_already_stays() -> None:
    found = made(steady(40, 1000.0, 100.0), window="1200s..3500s")
    assert found.window == approx((1200.0, 3500.0))
    assert not found.notes


def test_a_quiet_night_stays_in_the_window() -> None:
    jobs = [*steady(40, 1000.0, 100.0), *(replace(each, start=each.start + 8000) for each in steady(40, 1000.0, 100.0))]
    assert made(jobs, window="busy").window == approx((700.0, 12200.0))


def test_of_few_jobs_nobody_knows_what_is_usual() -> None:
    assert made(steady(5, 1000.0, 100.0), window="0s..900s").window == approx((0.0, 900.0))


def test_phases_of_many_jobs_are_in_a_parquet_file_beside_the_scenario(tmp_path: Path) -> None:
    found = made(steady(1_001, 1000.0, 100.0), bandwidth=1e12).scenario
    save(found, tmp_path / "many.yaml")
    assert (tmp_path / "many.parquet").stat().st_size > 0
    assert "phases" not in (tmp_path / "many.yaml").read_text()
    assert load(tmp_path / "many.yaml") == found
