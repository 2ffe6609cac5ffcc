"""The Standard Workload Format, and models of I/O for sources that count none."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import pytest
from pytest import approx

from penstock import simulate
from penstock.errors import InvalidOption
from penstock.traces import Options, import_swf
from penstock.traces.io_model import JobDemand, io_model
from penstock.traces.swf import read_swf

EXAMPLES = Path(__file__).parents[2] / "examples" / "traces"
EXAMPLE = EXAMPLES / "jobs.swf"


def demand(seconds: float = 7200.0, nodes: int = 32, **changes: object) -> JobDemand:
    known = {"seconds": seconds, "nodes": nodes, "cores": nodes, "rate": nodes * 1e9, "kin": "1 1"}
    return JobDemand(**known | {"read": np.nan, "written": np.nan} | changes)  # type: ignore[arg-type]


def test_the_example_by_hand() -> None:
    found = read_swf(EXAMPLE)
    assert found.job.tolist() == [1, 2, 3]
    assert (found.start - 1793606400).tolist() == [60, 600, 1500]  # submit plus wait; a wait of -1 is unknown
    assert found.processors.tolist() == [32, 4, 96]
    assert found.skipped[0].why == "1 job ran for no known time or on no processors"


def test_real_logs(shared_data: Path) -> None:
    file = shared_data / "swf" / "NASA-iPSC-1993-3.1-cln.swf.gz"
    if not file.is_file():
        pytest.skip("SWF files are not among the data sets (../shared/data/swf)")
    rows = [line.split() for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
    jobs = [row for row in rows if row and row[0] != ";" and not row[0].startswith(";")]
    ran = [row for row in jobs if int(row[3]) > 0 and int(row[4]) > 0]
    found = read_swf(file)
    assert len(found.job) == len(ran) == 18066
    assert found.seconds.sum() == sum(int(row[3]) for row in ran)
    assert found.start[0] == 749458803  # UnixStartTime: the first job starts at 0


def test_without_a_model_it_is_refused() -> None:
    with pytest.raises(InvalidOption, match="SWF has no I/O; state a model"):
        import_swf(EXAMPLE)
    with pytest.raises(InvalidOption, match="add fraction"):
        import_swf(EXAMPLE, io="period=1h")


def test_everything_is_stamped_as_assumed() -> None:
    found = import_swf(EXAMPLE, io="period=1h,fraction=10%")
    provenance = found.scenario.provenance
    assert provenance is not None
    assert provenance["platform"] == {"bandwidth": "assumed", "node_bandwidth": "assumed"}
    common = provenance["applications"]["*"]  # type: ignore[index, call-overload]
    assert (common["bandwidth"], common["volumes"], common["times"]) == ("assumed", "assumed", "model")  # type: ignore[index, call-overload]
    assert all(each.error_seconds is None and each.job.quality == "D" for each in found.applications)


def test_a_fraction_of_the_time_is_io() -> None:
    found = import_swf(EXAMPLE, Options(node_bandwidth=2e9, bandwidth=1e15), io="period=1h,fraction=10%")
    run = simulate(found.scenario)
    for told, result in zip(found.applications, run.applications, strict=True):
        assert result.stretch == approx(1.0)
        assert result.transferred == approx(0.1 * told.job.seconds * told.nodes * 2e9, rel=1e-6)


def test_classes_go_by_nodes() -> None:
    model = io_model(str(EXAMPLES / "classes.csv"))
    assert model(demand(nodes=4)).total == approx(0.02 * 7200 * 4e9)
    assert len(model(demand(nodes=96)).start) == 4
    with pytest.raises(InvalidOption, match="nodes, period, fraction"):
        io_model(str(EXAMPLES / "transfers.csv"))


def test_apex_draws_the_same_workflow_for_runs_of_one_program() -> None:
    model = io_model("apex")
    volumes = {model(demand(kin=f"user {i}")).volume[0] / 32 for i in range(200)}
    # Checkpoint over cores of EAP, LAP, Silverton and VPIC.
    assert sorted(volumes) == approx([0.125e9, 0.2e9, 0.5e9, 1.4e9])
    assert model(demand(kin="a")).total == model(demand(kin="a")).total
    many = [model(demand(kin=f"{i}")).volume[0] / 32 for i in range(1000)]
    assert np.mean(np.isclose(many, 0.2e9)) == approx(0.65, abs=0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("weekly", "accepted is period=1h"),
        ("fraction=10%", "accepted is period=1h"),
        ("period=1 GB", "a volume; a time is"),
        ("period=0", "a period takes time"),
        ("period=1h,fraction=150%", "between 0 and 1"),
        ("period=1h,fraction=much", "a share such as"),
        ("period=1h,size=3", "accepted is period=1h"),
        ("none.csv", "no such file"),
    ],
)
def test_models_that_are_none(text: str, words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        io_model(text)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"; only a comment\n", "no line of 18 numbers|Standard Workload Format"),
        (b"1 2 3\n", "no line of 18 numbers|Standard Workload Format"),
        (b"a b c d e f g h i j k l m n o p q r\n", "not in the Standard Workload Format"),
        (gzip.compress(EXAMPLE.read_bytes())[:-20], "is damaged"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "jobs.swf"
    file.write_bytes(content)
    with pytest.raises(InvalidOption, match=words):
        read_swf(file)


def test_lines_that_are_cut_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "jobs.swf"
    file.write_text(EXAMPLE.read_text() + "5 6 7\n")
    assert "1 line without 18 numbers" in [each.why for each in read_swf(file).skipped]


@pytest.mark.parametrize("rows", [100_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_a_million_rows_take_three_seconds(tmp_path: Path, rows: int) -> None:
    """In processor time; a tenth of them, a tenth of that."""
    file = tmp_path / "million.swf"
    with file.open("w") as stream:
        for i in range(rows):
            stream.write(f"{i:7d} {i * 3:9d}     -1 {100 + i % 1000:6d} {1 + i % 128:4d} -1 -1 -1 -1 -1 -1 ")
            stream.write(f"{i % 90} 1 1 -1 -1 -1 -1\n")
    before = time.process_time()
    found = read_swf(file)
    took = time.process_time() - before
    assert len(found.job) == rows
    assert took < 3.0 * rows / 1_000_000
