"""Tables: transfers, time series, Lustre's job_stats, Prometheus; and a run written as a table and imported again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pytest import approx

from penstock import Scenario, simulate
from penstock.errors import InvalidOption
from penstock.traces import Options, import_table
from penstock.traces.tables.importing import read_table
from penstock.traces.tables.moved import differences

EXAMPLES = Path(__file__).parents[2] / "examples" / "traces"
BEGIN = 1793606400.0


def told(name: str, **options: object) -> dict[str, object]:
    found = import_table(EXAMPLES / name, Options(**options))  # type: ignore[arg-type]
    return {each.name: (each.job.read, each.job.written) for each in found.applications}


def test_transfers() -> None:
    assert told("transfers.csv") == {"climate-1001": (80e9, 360e9), "imaging-1002": (60e9, 90e9)}
    found = import_table(EXAMPLES / "transfers.csv")
    climate, imaging = found.applications
    assert (climate.job.start, climate.job.nodes, climate.job.nodes_origin) == (BEGIN, 32, "given")
    assert imaging.job.start == BEGIN + 600
    assert [phase for phase in found.scenario.to_document()["applications"][1]["phases"] if "compute" not in phase] == [
        {"read": 60e9},
        {"write": 45e9},
        {"write": 45e9},
    ]


def test_parquet_is_the_same(tmp_path: Path) -> None:
    lines = [line.split(",") for line in (EXAMPLES / "transfers.csv").read_text().split()]
    columns = {name: [line[i] for line in lines[1:]] for i, name in enumerate(lines[0])}
    stamps = {name: pa.array(np.array(columns[name], "datetime64[ms]")) for name in ("start", "end")}
    numbers = {"bytes": pa.array([int(each) for each in columns["bytes"]]), "nodes": pa.array([32] * 3 + [4] * 3)}
    file = tmp_path / "transfers.parquet"
    pq.write_table(pa.table({**columns, **stamps, **numbers}), file)
    ours, theirs = read_table(file), read_table(EXAMPLES / "transfers.csv")
    assert ours.job == theirs.job
    assert ours.start.tolist() == theirs.start.tolist()
    assert ours.volume.tolist() == theirs.volume.tolist()
    assert ours.writes.tolist() == theirs.writes.tolist()


def test_a_time_series_has_the_bytes_of_each_step() -> None:
    moved = read_table(EXAMPLES / "series.csv")
    assert moved.resolution == 60.0
    assert (moved.end - moved.start).max() == 60.0
    assert told("series.csv") == {"climate-1001": (80e9, 180e9), "imaging-1002": (60e9, 45e9)}
    assert import_table(EXAMPLES / "series.csv").applications[0].job.pieces.bound == 30.0


def test_job_stats_are_differenced_and_resets_noticed() -> None:
    # Two targets: 5 GB were there before the first dump; the job's counter of reads was reset before the last one.
    assert told("job_stats.txt") == {
        "climate-1001": (2 * 40e9, 2 * 90e9),
        "imaging-1002": (2 * (30e9 + 4e9), 2 * 22e9),
    }
    moved = read_table(EXAMPLES / "job_stats.txt")
    assert moved.resolution == 60.0
    first = [i for i, job in enumerate(moved.job) if job == "imaging.1002" and moved.start[i] == BEGIN + 60]
    assert moved.volume[first].tolist() == [15e9, 15e9]  # it was not there in the dump before


def test_prometheus_takes_the_label_of_the_job_and_not_of_the_scrape() -> None:
    assert told("prometheus.json") == {"job-1001": (40e9, 60e9), "job-1002": (20e9 + 3e9, 24e9)}
    assert read_table(EXAMPLES / "prometheus.json").resolution == 30.0
    assert set(read_table(EXAMPLES / "prometheus.json", "instance").job) == {"oss1:9169"}


def test_prometheus_series_that_say_too_little_are_named(tmp_path: Path) -> None:
    document = json.loads((EXAMPLES / "prometheus.json").read_text())
    del document["data"]["result"][0]["metric"]["jobid"]
    document["data"]["result"][1]["metric"]["__name__"] = "lustre_job_bytes"
    file = tmp_path / "range.json"
    file.write_text(json.dumps(document))
    moved = read_table(file)
    assert ["without the label jobid" in moved.skipped[0].why, "neither read nor write" in moved.skipped[1].why] == [
        True,
        True,
    ]
    assert set(moved.job) == {"1002"}
    with pytest.raises(InvalidOption, match="without --strict"):
        import_table(file, Options(strict=True))


def test_a_series_that_vanishes_starts_afresh(tmp_path: Path) -> None:
    values = [[0, "0"], [30, "10"], [60, "20"], [3000, "500"], [3030, "510"]]
    metric = {"__name__": "read_bytes", "jobid": "7"}
    document = {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": metric, "values": values}]}}
    file = tmp_path / "range.json"
    file.write_text(json.dumps(document))
    assert read_table(file).volume.tolist() == [10.0, 10.0, 10.0]


def test_differences() -> None:
    assert differences([(0, 5), (10, 8), (20, 8), (30, 2)]) == [(0, 10, 3), (20, 30, 2)]
    assert differences([(10, 8)], born=4) == [(4, 10, 8)]
    assert differences([(10, 8), (5, 9), (10, 9)]) == []  # a clock that runs backwards counts nothing


def test_rows_that_cannot_be_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(
        "job,start,end,bytes,direction\na,0,10,100,read\na,20,10,100,read\na,0,10,-5,write\na,0,10,100,sideways\na,x,10,9,read\n"
    )
    moved = read_table(file)
    assert moved.volume.tolist() == [100.0]
    assert [each.why for each in moved.skipped] == [
        "1 row with a direction other than read or write, the first in row 4",
        "1 row with end before start, the first in row 2",
        "1 row with negative or absurd bytes, the first in row 3",
        "1 row with no number where one is needed, the first in row 5",
    ]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n1,2\n", "needs the columns job, start, end, bytes, direction"),
        ("t.csv", b"job,start,end,bytes,direction\n1,2\n3\n", "has no row of 5 fields"),
        ("t.parquet", b"PAR1 nonsense", "is not Parquet"),
        ("t.json", b"{}", "is no range of Prometheus"),
        ("t.json", b"{", "is not valid JSON"),
        ("t.txt", b"job_stats:\n- nothing\n", "has no job of job_stats"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidOption, match=words):
        read_table(tmp_path / name)


def test_a_run_written_as_a_table_and_imported_fares_the_same(tmp_path: Path) -> None:
    """Under fair-share, with caps and bandwidth given: what was moved when brings back the yields."""
    jobs: list[dict[str, Any]] = [
        {"name": f"j{i}", "bandwidth": 4, "release": 7 * i, "phases": [{"compute": 5 + i}, {"write": 40 + 9 * i}] * 6}
        for i in range(5)
    ]
    truth = Scenario.from_document({"version": 1, "platform": {"bandwidth": 10}, "applications": jobs})
    run = simulate(truth, timeline=True)
    assert run.timeline is not None and run.min_yield < 0.999
    line = run.timeline
    rows = ["job,start,end,bytes,direction"]
    for k in range(len(line.start)):
        if line.rate[k] > 0:
            moved = line.rate[k] * (line.stop[k] - line.start[k])
            rows.append(f"{line.names[line.application[k]]},{line.start[k]!r},{line.stop[k]!r},{moved!r},write")
    file, caps = tmp_path / "run.csv", tmp_path / "caps.csv"
    file.write_text("\n".join(rows).replace("np.float64(", "").replace(")", "") + "\n")
    caps.write_text("application,bandwidth\njob,4\n")
    options = Options(bandwidth=10.0, cap=caps, slack="contention", tolerance=0.0)
    again = import_table(file, options)
    # The first computing is before the first byte, which a table of transfers cannot show.
    document = again.scenario.to_document()
    for entry, job in zip(document["applications"], jobs, strict=True):
        entry["release"] = job["release"]
        entry["phases"] = [{"compute": job["phases"][0]["compute"]}, *entry["phases"]]
    assert simulate(Scenario.from_document(document)).min_yield == approx(run.min_yield, abs=0.001)
