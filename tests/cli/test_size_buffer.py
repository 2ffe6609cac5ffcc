"""`penstock size-buffer` as its users meet it: the table, the JSON of the contract, proofs, pictures and refusals."""

import csv
import json
from pathlib import Path

import pytest

from cli.test_contract import NUMBER, check, parsed
from penstock.model import load
from penstock.studies.sizing import PARTITIONS, size_buffer

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "burst-buffer.yaml"
JOBS = """\
version: 1
platform: {bandwidth: 10 GB/s, node_bandwidth: 1 GB/s}
applications:
  - {name: wide, nodes: 40, phases: [{repeat: 3, phases: [{compute: 200}, {write: 1.2 TB}]}]}
  - {name: "it's", nodes: 20, release: 100, phases: [{repeat: 4, phases: [{compute: 150}, {write: 400 GB}]}]}
"""
SIZING = {
    "partition": str,
    "size": NUMBER,
    "shares": (dict, type(None)),
    "method": str,
    "seconds": NUMBER,
    # Beyond the contract, documented with it.
    "events": int,
    "limits": dict,
    "lead": (NUMBER, str),
    "infeasible": (dict, type(None)),
    "holds_for": str,
    "peaks": dict,
    "proof": dict,
}
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture
def site(folder):
    (folder / "site.yaml").write_text(JOBS)
    return load(folder / "site.yaml")


@pytest.mark.parametrize("partition", PARTITIONS)
def test_json(penstock, site, partition):
    record = parsed(penstock("size-buffer", "site.yaml", "--partition", partition, "--json"))
    check(record, SIZING)
    assert list(record)[:5] == ["partition", "size", "shares", "method", "seconds"]
    found = json.loads(json.dumps(size_buffer(site, partition).to_dict()))
    assert record | {"seconds": 0} == found | {"seconds": 0}


def test_static_is_the_default_and_noise_changes_it(penstock, site):
    words = ["size-buffer", "site.yaml", "--json"]
    plain, static = parsed(penstock(*words)), parsed(penstock(*words, "--partition", "static"))
    assert plain["partition"] == "static" and plain["size"] == static["size"]
    noisy = parsed(penstock(*words, "--noise", "0.2", "--seed", "3"))
    assert noisy["size"] == size_buffer(site.model_copy(update={"noise": 0.2, "seed": 3})).size != plain["size"]


def test_the_table_has_every_application(penstock, site):
    found = size_buffer(site)
    out = penstock("size-buffer", "site.yaml").out
    assert f"{found.size / 1e12:.4g} TB" in out.splitlines()[0]
    for name, share in found.shares.items():
        assert any(line.startswith(name) and f"{share / 1e9:.4g} GB" in line for line in out.splitlines())
    assert "with less, somebody does not (cutting planes, " in out
    assert "needs alone" in penstock("size-buffer", "site.yaml", "--partition", "isolated").out
    assert "most held" in penstock("size-buffer", "site.yaml", "--partition", "dynamic").out


def test_explanation(penstock, site):
    out = penstock("size-buffer", "site.yaml", "--partition", "dynamic", "--explain").out
    assert "the buffer is full, whatever the schedule:" in out
    record = parsed(penstock("size-buffer", "site.yaml", "--partition", "dynamic", "--explain", "--json"))
    assert all(line in out for line in record["explanation"])
    [burst] = record["proof"]["bursts"]
    # 1.2 TB at 40 GB/s from 200 on, and the other one's at 20 GB/s somewhere near: what 10 GB/s leave of both.
    assert burst["demand"] - burst["room"] == pytest.approx(record["size"], rel=1e-9)
    assert f"so that {record['size'] / 1e12:.4g} TB must wait in the buffer." in out
    out = penstock("size-buffer", str(EXAMPLE), "--lead", "forever", "--explain").out
    assert "These bursts force the size, whatever the schedule:" in out
    assert "ocean (36 TB) and atmosphere (15 TB) write 51 TB; the file system takes 9 TB meanwhile" in out
    assert "Together: 44.26 TB." in out


@pytest.mark.parametrize("file", ["plan.csv", "plan.parquet"])
@pytest.mark.parametrize("partition", ["static", "dynamic"])
def test_a_schedule_is_written_and_verified(penstock, site, folder, partition, file):
    words = ["size-buffer", "site.yaml", "--partition", partition]
    assert f"written: {file}" in penstock(*words, "--schedule", file).out
    outcome = penstock(*words, "--verify", file)
    assert outcome.code == 0 and outcome.out.startswith(f"OK: {file} keeps every rule.")
    record = parsed(penstock(*words, "--verify", file, "--json"))
    assert record["violations"] == [] and record["schedule"] == file and record["size"] > 0


def test_a_changed_schedule_is_refused(penstock, site, folder):
    penstock("size-buffer", "site.yaml", "--schedule", "plan.csv")
    rows = list(csv.DictReader((folder / "plan.csv").open()))
    largest = max(rows, key=lambda row: float(row["bytes"]))
    largest["bytes"] = str(2 * float(largest["bytes"]))
    with (folder / "plan.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    outcome = penstock("size-buffer", "site.yaml", "--verify", "plan.csv")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.startswith("penstock: plan.csv: at ") and ": by " in outcome.err
    told = penstock("size-buffer", "site.yaml", "--verify", "plan.csv", "--json")
    assert told.code == 2
    violations = json.loads(told.out)["violations"]
    assert violations and violations[0].keys() == {"rule", "application", "time", "excess"}


def test_the_schedule_of_everybody_does_not_fit_fixed_shares(penstock, folder):
    early = ["size-buffer", str(EXAMPLE), "--lead", "forever"]
    penstock(*early, "--partition", "dynamic", "--schedule", "free.csv")
    outcome = penstock(*early, "--verify", "free.csv")
    assert outcome.code == 2 and "holds more than its share" in outcome.err


@pytest.mark.parametrize("suffix", STARTS)
@pytest.mark.parametrize("options", ["", "--partition dynamic", "--partition isolated", "--curve --price-per-tb 9"])
def test_plots(penstock, site, folder, options, suffix):
    outcome = penstock("size-buffer", "site.yaml", *options.split(), "--plot", f"it{suffix}")
    assert outcome.code == 0, outcome.err
    assert f"written: it{suffix}" in outcome.out
    assert (folder / f"it{suffix}").read_bytes().startswith(STARTS[suffix])


def test_curve(penstock, site):
    words = ["size-buffer", "site.yaml", "--partition", "dynamic", "--curve"]
    out = penstock(*words).out
    assert "bound" in out and "heuristic" in out and "cost" not in out
    assert "Above it, nothing below the bound will do under any schedule" in out
    record = parsed(penstock(*words, "--price-per-tb", "100", "--price-per-gbs", "50", "--json"))
    assert list(record) == ["partition", "prices", "bandwidth", "stretch"]
    today = next(point for point in record["bandwidth"] if point["factor"] == 1)
    assert today["size"] == pytest.approx(size_buffer(site, "dynamic").size)
    assert today["cost"] == pytest.approx(today["size"] / 1e12 * 100 + 10 * 50)
    assert "Cheapest of these: " in penstock(*words, "--price-per-tb", "100").out


def test_nothing_to_buffer_is_said(penstock, folder):
    for platform, words in {
        "{bandwidth: 9}": "The file system keeps up with all applications at every instant, so no buffer is needed.",
        "{io_nodes: {count: 1, bandwidth: 1, nodes: 1}}": "no limit to the file system, so no buffer is needed; is a",
    }.items():
        job = "{name: a, bandwidth: 1, phases: [{write: 1}]}"
        (folder / "calm.yaml").write_text(f"version: 1\nplatform: {platform}\napplications: [{job}]\n")
        for options in ([], ["--explain"], ["--partition", "dynamic"], ["--plot", "calm.svg"]):
            outcome = penstock("size-buffer", "calm.yaml", *options)
            assert outcome.code == 0 and words in outcome.out, outcome.err


REFUSED = [
    ("--partition even", "--partition is 'even'; accepted: isolated, static, dynamic"),
    ("--noise 2", "--noise is 2; the noise is a number from 0 to 1"),
    ("--schedule plan.txt", "plan.txt: a schedule is written as .csv or .parquet"),
    ("--schedule none/plan.csv", "the folder none does not exist"),
    ("--plot it.gif", "it.gif ends in .gif; a plot is saved as"),
    ("--verify none.csv", "none.csv: no such file; a schedule is what `penstock size-buffer --schedule` writes"),
    ("--verify site.yaml", "site.yaml: a schedule is written as .csv or .parquet"),
    ("--verify plan.csv --plot it.svg", "--verify checks a schedule and does nothing else; leave --schedule, --plot"),
    ("--partition isolated --schedule plan.csv", "without a common schedule; leave --schedule out"),
    ("--curve --schedule plan.csv --explain", "--curve sizes many buffers; leave --schedule and --explain out"),
    ("--price-per-tb 3", "--price-per-tb puts costs on --curve; give --curve, too"),
    ("--curve --price-per-gbs -3", "--price-per-gbs is -3; a price is a number ≥ 0"),
    ("--curve --price-per-tb nan", "--price-per-tb is nan; a price is a number ≥ 0"),
    ("--schedule site.parquet", "would replace what may be the scenario's own trace; give another name"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_options(penstock, site, folder, options, words):
    (folder / "site.parquet").write_bytes(b"a trace")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    outcome = penstock("size-buffer", "site.yaml", *options.split())
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_refused_scenarios(penstock, folder):
    for file, words in {
        "jobs.yaml": "the scenario has a window; a buffer is sized for applications that run to their end",
        "free.yaml": "application 'a' has no limit to how fast it reads or writes; give it a bandwidth",
    }.items():
        (folder / "free.yaml").write_text(
            "version: 1\nplatform: {targets: 3}\napplications: [{name: a, phases: [{write: 1}]}]\n"
        )
        outcome = penstock("size-buffer", file)
        assert (outcome.code, outcome.out) == (2, "") and words in outcome.err
