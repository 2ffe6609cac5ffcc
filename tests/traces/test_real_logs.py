"""Every real log imports or is refused with its reason; PyDarshan is the witness for bytes and times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pytest import approx

from penstock import simulate
from penstock.traces import Options, import_darshan
from penstock.traces.darshan import jobs as darshan_jobs
from penstock.traces.darshan import reading, records
from penstock.traces.darshan.log import read_log
from traces import witness

COMPLETE = ("dxt", "nonmpi_dxt_anonymized", "treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1")
CUT_OFF = ("imbalanced-io", "partial_data_stdio")
EMPTY = "empty_log"


def names(logs: Path) -> list[str]:
    return sorted(file.stem for file in logs.glob("*.darshan"))


def test_every_log_is_taken_or_refused_with_a_reason(logs: Path) -> None:
    found = import_darshan(logs)
    # The 24 logs of DLIO are one job; one log has no module at all.
    assert len(found.applications) == len(names(logs)) - 1 + 1
    assert [(Path(each.file).stem, each.why) for each in found.skipped] == [(EMPTY, "moved no bytes")]


def test_bytes_are_those_of_posix_and_stdio(logs: Path) -> None:
    compared = 0
    for name in names(logs):
        if name in (EMPTY, *CUT_OFF):
            continue
        file = logs / f"{name}.darshan"
        (job,) = (each.job for each in import_darshan(file).applications)
        assert (job.read, job.written) == approx(witness.totals(file, "POSIX", "STDIO"), rel=1e-6), name
        compared += 1
    assert compared >= 10


def test_phases_hold_the_same_bytes(logs: Path) -> None:
    found = import_darshan(logs)
    for entry, told in zip(found.scenario.to_document()["applications"], found.applications, strict=True):
        moved = [phase.get(way, 0.0) for phase in entry["phases"] for way in ("read", "write")]
        assert sum(moved) == approx(told.job.read + told.job.written, rel=1e-6)


def test_layers_are_counted_once(logs: Path) -> None:
    (job,) = (each.job for each in import_darshan(logs / "example.darshan").applications)
    assert job.written == approx(2_199.023e9, rel=1e-6)
    assert witness.totals(logs / "example.darshan", "POSIX", "MPI-IO")[1] == approx(2 * job.written, rel=1e-6)


def test_what_posix_was_cut_off_in_is_counted_by_mpi_io(logs: Path) -> None:
    file = logs / "imbalanced-io.darshan"
    posix, mpi = witness.counted(file, "POSIX"), witness.counted(file, "MPI-IO")
    more = {each for each in mpi if sum(mpi[each]) > sum(posix.get(each, (0, 0)))}
    expected = sum(sum(volume) for each, volume in posix.items() if each not in more)
    expected += sum(sum(mpi[each]) for each in more) + sum(witness.totals(file, "STDIO"))
    (job,) = (each.job for each in import_darshan(file).applications)
    assert len(more) == 2
    assert job.read + job.written == approx(expected, rel=1e-6)
    assert job.quality == "D"


@pytest.mark.parametrize("name", CUT_OFF)
def test_what_was_cut_off_says_so(logs: Path, name: str) -> None:
    (told,) = import_darshan(logs / f"{name}.darshan").applications
    assert told.job.quality == "D"
    assert any("cut off" in flag for flag in told.job.flags)


def test_the_logs_of_a_job_are_one_job(logs: Path) -> None:
    found = import_darshan(logs / "dlio_job")
    (told,) = found.applications
    files = sorted((logs / "dlio_job").glob("*.darshan"))
    assert len(files) == 24 == told.job.logs + found.dropped
    assert sum(sum(witness.totals(file, "POSIX", "STDIO")) for file in files) == approx(130.48e9, rel=1e-4)
    assert told.job.read + told.job.written == approx(130.48e9, rel=1e-4)
    # They start up to 80 s apart, so one starts long after the job.
    assert told.job.seconds > 150 > max(read_log(file).seconds for file in files)


@pytest.mark.parametrize("name", COMPLETE)
def test_phases_lie_where_dxt_saw_the_bytes(logs: Path, name: str) -> None:
    file = logs / f"{name}.darshan"
    (told,) = import_darshan(file).applications
    assert told.job.source == "dxt" and told.job.seconds >= 5.0
    apart = displacement_of(file, Options())
    assert apart <= 0.01 * told.job.seconds
    assert told.error_seconds is not None
    assert apart <= told.error_seconds + 0.001 * told.job.seconds


@pytest.mark.parametrize("name", COMPLETE)
def test_a_wider_tolerance_gives_fewer_phases_that_lie_further_off(logs: Path, name: str) -> None:
    file = logs / f"{name}.darshan"
    fine, coarse = (import_darshan(file, Options(tolerance=share)).applications[0] for share in (0.001, 0.05))
    assert coarse.phases < fine.phases
    assert displacement_of(file, Options(tolerance=0.001)) <= 0.004 * fine.job.seconds


@pytest.mark.parametrize("name", COMPLETE)
def test_the_bound_holds_when_dxt_is_stripped(logs: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = logs / f"{name}.darshan"
    monkeypatch.setattr(reading, "read_log", lambda path: replace(read_log(path), segments={}))
    found = import_darshan(file)
    (told,) = found.applications
    assert told.job.source == "counters"
    assert told.error_seconds is not None
    assert displacement_of(file, Options()) <= told.error_seconds * 1.01


def test_a_heat_map_is_as_good_as_its_bins(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = logs / "runtime_and_dxt_heatmaps_diagonal_write_only.darshan"
    monkeypatch.setattr(reading, "read_log", lambda path: replace(read_log(path), segments={}))
    (told,) = import_darshan(file).applications
    assert told.job.source == "heatmap"
    assert told.job.pieces.bound == approx(0.05)  # half of a bin of 0.1 s
    assert displacement_of(file, Options()) <= 0.1


def test_alone_every_job_takes_as_long_as_was_observed(logs: Path) -> None:
    for file in [*sorted(logs.glob("*.darshan")), logs / "dlio_job"]:
        if file.stem != EMPTY:
            found = import_darshan(file)
            (run,) = simulate(found.scenario).applications
            assert run.completion == approx(found.applications[0].job.seconds, rel=1e-3), file.stem


def test_contention_leaves_less_than_the_run_time(logs: Path) -> None:
    file = logs / f"{COMPLETE[2]}.darshan"
    found = import_darshan(file, Options(slack="contention"))
    (run,) = simulate(found.scenario).applications
    job = found.applications[0].job
    assert job.io_seconds is not None
    assert job.io_seconds < run.completion < 0.5 * job.seconds  # 2.7 s of I/O in a run of 14 s that is mostly I/O


def test_metadata_imbalance_stripes_and_hosts_are_told(logs: Path) -> None:
    (vpic,) = import_darshan(logs / "example.darshan").applications
    record = next(witness.records(logs / "example.darshan", "POSIX"))
    slowest, spent = record["fcounters"]["POSIX_F_SLOWEST_RANK_TIME"], record["fcounters"]["POSIX_F_WRITE_TIME"]
    assert vpic.job.imbalance == approx(slowest / (spent / 2048), rel=0.01)
    assert vpic.job.io_seconds == approx(slowest, rel=0.01)
    assert vpic.job.meta_seconds == approx(
        sum(
            r["fcounters"][f"{m}_F_META_TIME"]
            for m in ("POSIX", "STDIO")
            for r in witness.records(logs / "example.darshan", m)
        )
        / 2048,
        rel=1e-6,
    )
    assert list(vpic.job.stripes) == [24]
    (mpi,) = import_darshan(logs / f"{COMPLETE[2]}.darshan").applications
    assert (mpi.job.nodes, mpi.job.nodes_origin) == (1, "lower_bound")
    assert vpic.job.nodes is None


def test_job_id_0_groups_by_executable_user_and_overlap(logs: Path) -> None:
    seen = [darshan_jobs.seen(read_log(file)) for file in sorted((logs / "dlio_job").glob("*.darshan"))]
    anonymous = [replace(log, job=0) for log in seen]
    jobs, dropped = darshan_jobs.jobs_of(anonymous)
    assert sum(job.logs for job in jobs) + dropped == 24
    assert len(jobs) == 1
    later = [replace(log, job=0, start=log.start + 1e5) for log in seen]
    assert len(darshan_jobs.jobs_of([*anonymous, *later])[0]) == 2
    other = [replace(log, job=0, executable="other") for log in seen]
    assert len(darshan_jobs.jobs_of([*anonymous, *other])[0]) == 2


def test_ids_that_come_round_are_two_jobs(logs: Path) -> None:
    seen = [darshan_jobs.seen(read_log(logs / "example.darshan"))]
    again = [replace(log, start=log.start + 7200.0) for log in seen]
    assert len(darshan_jobs.jobs_of([*seen, *again])[0]) == 2


def displacement_of(file: Path, options: Options) -> float:
    """How far the phases of a log lie from what DXT saw, by the witness."""
    found = import_darshan(file, options)
    document = found.scenario.to_document()["applications"][0]
    return witness.displacement(witness.traced(file), witness.played(document["phases"], document["bandwidth"]))


def test_the_stream_of_a_module_is_what_the_library_hands_out(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions that are read from the raw stream, against the library, which brings every record up to date."""
    files = sorted(logs.rglob("*.darshan"))
    streamed = [read_log(file).counters for file in files]
    monkeypatch.setattr(records, "_STREAMED", {})
    for own, file in zip(streamed, files, strict=True):
        for name, table in read_log(file).counters.items():
            for column, ours, theirs in zip(table._fields, own[name], table, strict=True):
                assert ours.tolist() == theirs.tolist(), (file.name, name, column)
