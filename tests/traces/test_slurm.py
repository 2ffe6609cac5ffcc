"""sacct in its many forms: delimiters, steps, arrays, requeues, heterogeneous jobs, units, and joined with logs."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx

from penstock.errors import InvalidOption
from penstock.traces import Options, import_darshan, import_slurm
from penstock.traces.darshan.log import read_log
from penstock.traces.slurm.accounting import read_accounting

EXAMPLE = Path(__file__).parents[2] / "examples" / "traces" / "sacct.txt"
GIB = 1024.0**3
# What rug-cit-hpc/hb-jobinfo asks sacct for.
HB_FIELDS = (
    "JobID,JobName,User,Partition,NodeList,NNodes,NCPUs,NTasks,State,Submit,Start,End,Timelimit,Elapsed,TotalCPU,"
    "CPUTime,UserCPU,SystemCPU,ReqMem,MaxRSS,MaxVMSize,ReqTRES,AllocTRES,TRESUsageInMax,TRESUsageInTot,"
    "TRESUsageOutTot,MaxDiskRead,MaxDiskWrite,MaxRSSNode,MaxRSSTask,MaxVMSizeNode,MaxVMSizeTask,MaxDiskReadNode,"
    "MaxDiskReadTask,MaxDiskWriteNode,MaxDiskWriteTask,Reason"
)


def written(tmp_path: Path, text: str, name: str = "sacct.txt") -> Path:
    file = tmp_path / name
    file.write_text(text)
    return file


def test_the_example_by_hand() -> None:
    found = read_accounting(EXAMPLE)
    assert found.id == ["1001", "1002_1", "1002_2", "1005", "1007"]
    assert found.raw_id == ["1001", "1003", "1004", "1005", "1007"]
    assert found.nodes.tolist() == [32, 4, 4, 8 + 2, 1]  # the parts of a heterogeneous job add up
    # Steps add up: batch, extern and srun; suffixes are binary.
    assert found.read[:4] == approx([80_000_000_000 + 1_048_576, 55 * GIB, 20 * GIB, 3e9])
    assert found.written[:4] == approx([360_000_000_000 + 2048, 83 * 1024**2, 1024, 12e9])
    assert np.isnan(found.read[4])
    assert (found.end - found.start).tolist() == [9000, 3000, 1800, 7200, 4500]  # the last from its elapsed time
    assert [each.why for each in found.skipped] == ["job 1002_[3-9] never started"]


@pytest.mark.parametrize("delimiter", [",,", "☃", ";", "\t", "^"])
def test_any_delimiter(tmp_path: Path, delimiter: str) -> None:
    other = written(tmp_path, EXAMPLE.read_text().replace("|", delimiter))
    assert read_accounting(other).read == approx(read_accounting(EXAMPLE).read, nan_ok=True)


def test_a_delimiter_at_the_end_of_each_row(tmp_path: Path) -> None:
    other = written(tmp_path, EXAMPLE.read_text().replace("\n", "|\n"))
    assert read_accounting(other).id == read_accounting(EXAMPLE).id


def test_fields_in_any_order_and_seconds_since_1970(tmp_path: Path) -> None:
    text = "End|State|Start|JobIDRaw|AllocNodes\n1793613600|COMPLETED|1793606400|7|3\n"
    found = read_accounting(written(tmp_path, text))
    assert (found.id, found.start.tolist(), found.end.tolist(), found.nodes.tolist()) == (
        ["7"],
        [1793606400.0],
        [1793613600.0],
        [3],
    )


def test_a_requeued_job_has_two_runs(tmp_path: Path) -> None:
    text = (
        "JobID|State|Start|End|TRESUsageInTot|TRESUsageOutTot\n"
        "5|NODE_FAIL|2026-11-02T08:00:00|2026-11-02T09:00:00||\n"
        "5.0|CANCELLED|2026-11-02T08:00:00|2026-11-02T09:00:00|fs/disk=10|fs/disk=1\n"
        "5|COMPLETED|2026-11-02T10:00:00|2026-11-02T12:00:00||\n"
        "5.0|COMPLETED|2026-11-02T10:00:00|2026-11-02T12:00:00|fs/disk=30|fs/disk=3\n"
    )
    found = read_accounting(written(tmp_path, text))
    assert (found.id, found.read.tolist(), found.written.tolist()) == (["5", "5"], [10.0, 30.0], [1.0, 3.0])
    names = [each.name for each in import_slurm(tmp_path / "sacct.txt", io="period=1h").applications]
    assert names == ["job-5", "job-5#2"]


def test_rows_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    text = (
        "JobID|JobName|Start|End\n1|good|2026-11-02T08:00:00|2026-11-02T09:00:00\n"
        "2|a|name|2026-11-02T08:00:00|2026-11-02T09:00:00\n"  # the delimiter is in the job's name
        "3|late|2026-11-02T08:00:00|2026-11-02T07:00:00\n4|quick|2026-11-02T08:00:00|2026-11-02T08:00:00\n"
    )
    file = written(tmp_path, text)
    found = read_accounting(file)
    assert found.id == ["1"]
    assert sorted(each.why for each in found.skipped) == [
        "1 row with more or fewer fields than the header",
        "job 3 ends before it starts",
        "job 4 ran for no time at all",
    ]
    with pytest.raises(InvalidOption, match="without --strict"):
        import_slurm(file, Options(strict=True), io="period=1h,fraction=1%")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no header of sacct"),
        ("1|2|3\n4|5|6\n", "no header of sacct"),
        ("JobID|Start|End\n", "has a header and no rows"),
        ("{}", "has no list of jobs"),
        ("{not json", "is not valid JSON"),
    ],
)
def test_files_that_are_not_from_sacct(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        read_accounting(written(tmp_path, text))
    with pytest.raises(InvalidOption, match="is a directory"):
        read_accounting(tmp_path)


def test_json_is_the_same(tmp_path: Path) -> None:
    def number(value: float) -> dict[str, object]:
        return {"set": True, "infinite": False, "number": value}

    def job(identity: int, start: int, end: int, nodes: int, steps: list[tuple[int, int]], **more: object) -> object:
        return {
            "job_id": identity,
            "user": "ada",
            "name": "climate",
            "state": {"current": ["COMPLETED"]},
            "time": {"start": start, "end": end, "elapsed": end - start},
            "allocation_nodes": nodes,
            "steps": [
                {
                    "tres": {
                        "requested": {"total": [{"type": "fs", "name": "disk", "count": read}]},
                        "consumed": {"total": [{"type": "fs", "name": "disk", "count": wrote}]},
                    }
                }
                for read, wrote in steps
            ],
            **more,
        }

    jobs = [
        job(11, 1793606400, 1793610000, 4, [(100, 7), (50, 1)]),
        job(13, 1793606400, 1793610000, 1, [(1, 1)], array={"job_id": 12, "task_id": number(3)}),
        job(14, 1793606400, 1793610000, 2, [(2, 2)], het={"job_id": 14, "job_offset": number(0)}),
        job(15, 1793606400, 1793610000, 5, [(3, 3)], het={"job_id": 14, "job_offset": number(1)}),
        job(16, 0, 0, 5, []),
        "nonsense",
    ]
    found = read_accounting(written(tmp_path, json.dumps({"jobs": jobs}), "sacct.json"))
    assert (found.id, found.nodes.tolist()) == (["11", "12_3", "14"], [4, 1, 7])
    assert (found.read.tolist(), found.written.tolist()) == ([150.0, 1.0, 5.0], [8.0, 1.0, 5.0])
    assert len(found.skipped) == 2


def test_real_rows_with_a_snowman(shared_data: Path) -> None:
    file = shared_data / "slurm" / "hb-jobinfo-sacct.txt"
    if not file.is_file():
        pytest.skip("the rows of sacct are not among the data sets (../shared/data/slurm)")
    found = read_accounting(file, HB_FIELDS.split(","))
    jobs: dict[str, list[list[str]]] = {}
    for line in file.read_text().splitlines():
        cells = line.split("☃")
        jobs.setdefault(cells[0].split(".")[0], []).append(cells)
    ran = {name: rows for name, rows in jobs.items() if rows[0][10] not in ("None", "Unknown", "")}
    assert sorted(found.id) == sorted(ran)
    volumes = dict(zip(found.id, found.read.tolist(), strict=True))
    checked = 0
    for name, rows in ran.items():
        amounts = [cell[8:] for row in rows[1:] for cell in row[24].split(",") if cell.startswith("fs/disk=")]
        if amounts and all(amount.isdigit() for amount in amounts):
            assert volumes[name] == approx(sum(map(int, amounts)))
            checked += 1
    assert checked > 20
    assert [each.why for each in found.skipped] == ["job 4047445 never started (and 9 more jobs)"]


def test_the_model_of_io_is_needed_and_stamped() -> None:
    with pytest.raises(InvalidOption, match="--io period=1h"):
        import_slurm(EXAMPLE)
    found = import_slurm(EXAMPLE, Options(node_bandwidth=2e9), io="period=1h")
    told: Any = found.scenario.provenance
    assert told["applications"]["*"]["times"] == "model"
    climate = found.scenario.to_document()["applications"][0]
    assert climate["phases"][0] == {"read": 80_001_048_576}
    assert [phase["write"] for phase in climate["phases"] if "write" in phase] == approx(
        [360_000_002_048 * part / 2.5 for part in (1.0, 1.0, 0.5)], rel=1e-8
    )
    assert [each.job.source for each in found.applications].count("accounting") == 4
    dropped = import_slurm(EXAMPLE, Options(unseen="drop"), io="period=1h")
    assert len(dropped.applications) == 4


def sacct_of(log: Path, tmp_path: Path, zone: float = 0.0, nodes: int = 96) -> Path:
    seen = read_log(log)

    def stamp(seconds: float) -> str:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds + zone))

    start, end = seen.start - 30.0, seen.end + 60.0
    rows = [
        "JobIDRaw|User|JobName|State|Start|End|NNodes",
        f"{seen.job}|ada|vpic|COMPLETED|{stamp(start)}|{stamp(end)}|{nodes}",
        f"99|bob|other|COMPLETED|{stamp(start)}|{stamp(end)}|{nodes}",
    ]
    return written(tmp_path, "\n".join(rows) + "\n")


@pytest.mark.parametrize("zone", [0.0, 7200.0, -5.5 * 3600])
def test_joined_with_logs_by_job_id(logs: Path, tmp_path: Path, zone: float) -> None:
    log = logs / "example.darshan"
    sacct = sacct_of(log, tmp_path, zone)
    found = import_darshan(log, slurm=sacct)
    both, only = sorted(found.applications, key=lambda each: -each.job.pieces.total)
    assert (both.job.nodes, both.job.nodes_origin, both.job.seconds) == (96, "measured", approx(117 + 90, abs=1.5))
    assert both.job.written == approx(2_199.023e9, rel=1e-6)
    assert both.job.pieces.start.min() >= 30.0 - 1.5
    assert only.job.flags == ("no log",) and only.job.pieces.total == 0
    assert found.more["node_hour_coverage"] == approx(0.5)
    assert any("zone" in note for note in found.notes) == (zone != 0.0)
    assert len(import_darshan(log, Options(unseen="drop"), slurm=sacct).applications) == 1


def test_another_clusters_job_of_the_same_id_is_not_joined(logs: Path, tmp_path: Path) -> None:
    log = logs / "example.darshan"
    seen = read_log(log)
    text = f"JobIDRaw|Start|End|NNodes\n{seen.job}|2020-01-01T00:00:00|2020-01-01T01:00:00|7\n"
    found = import_darshan(log, slurm=written(tmp_path, text))
    assert sorted(each.job.nodes or 0 for each in found.applications) == [0, 7]


def test_given_node_bandwidth_makes_the_cap(logs: Path, tmp_path: Path) -> None:
    log = logs / "example.darshan"
    found = import_darshan(log, Options(node_bandwidth=1e9, unseen="drop"), slurm=sacct_of(log, tmp_path))
    (told,) = found.applications
    assert (told.bandwidth, told.bandwidth_origin) == (96e9, "given")
    assert found.scenario.applications[0].bandwidth is None
    slow = import_darshan(log, replace(Options(), node_bandwidth=1e6, unseen="drop"), slurm=sacct_of(log, tmp_path))
    assert slow.applications[0].bandwidth_origin == "lower_bound"  # 96 MB/s could not have moved 2 TB


@pytest.mark.parametrize("jobs", [33_334, pytest.param(333_334, marks=pytest.mark.soak)])
def test_a_million_rows_take_three_seconds(tmp_path: Path, jobs: int) -> None:
    """In processor time; a tenth of them, a tenth of that."""
    file = tmp_path / "million.txt"
    with file.open("w") as stream:
        stream.write("JobID|JobName|User|State|Start|End|Elapsed|NNodes|TRESUsageInTot|TRESUsageOutTot\n")
        for i in range(jobs):
            times = f"2026-11-{1 + i % 14:02d}T08:{i % 60:02d}:00|2026-11-{15 + i % 14:02d}T09:00:00|14-00:00:00"
            stream.write(f"{i}|job{i % 50}|u{i % 99}|COMPLETED|{times}|4||\n")
            for step in ("batch", "0"):
                stream.write(f"{i}.{step}|{step}||COMPLETED|{times}|1|cpu=00:00:01,fs/disk={i},mem=1K|fs/disk=5M\n")
    before = time.process_time()
    found = read_accounting(file)
    took = time.process_time() - before
    assert len(found) == jobs
    assert found.read[found.id.index("7")] == 14.0
    assert took < 4.0 * jobs / 333_334  # 2.3 for all on a quiet machine


def test_jobs_that_cannot_be_are_named(tmp_path: Path) -> None:
    when = "2026-11-02T08:00:00|2026-11-02T09:00:00"
    rows = [
        f"1|{when}|4|fs/disk=5G",
        f"1|{when}|4|fs/disk=5G",  # two files that overlap, put into one
        f"2|{when}|-4|fs/disk=5G",
        f"3|{when}|99999999999999|fs/disk=5G",
        f"4|{when}|4|fs/disk=9999E",
    ]
    file = written(tmp_path, "\n".join(["JobID|Start|End|NNodes|TRESUsageOutTot", *rows]) + "\n")
    found = read_accounting(file)
    assert found.id == ["1"]
    assert [each.why for each in found.skipped] == [
        "job 1 is there twice, with the same start and end",
        "job 2 has an absurd number of nodes (and 1 more job)",
        "job 4 has an absurd number of bytes",
    ]
    assert all(each.damaged for each in found.skipped)
    (only,) = import_slurm(file, io="period=1h").applications
    assert (only.job.read, only.job.written) == (0.0, approx(5 * GIB))  # one direction was not asked for


@pytest.mark.parametrize("size", [200, 333, 1000])
@pytest.mark.parametrize("delimiter", ["|", "☃"])
def test_blocks_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, delimiter: str) -> None:
    """Wherever a file is cut into blocks, steps find their job, and runs of a requeued job stay two."""
    header, *lines = EXAMPLE.read_text().splitlines()
    text = "\n".join([header, *(line for _ in range(3) for line in lines)]).replace("|", delimiter) + "\n"
    file = written(tmp_path, text)
    whole = read_accounting(file)
    monkeypatch.setattr("penstock.traces.slurm.rows.BLOCK", size)
    blocks = read_accounting(file)
    assert (blocks.id, blocks.user, blocks.skipped) == (whole.id, whole.user, whole.skipped)
    assert blocks.read == approx(whole.read, nan_ok=True)
    assert blocks.nodes.tolist() == whole.nodes.tolist()
