"""Running: the same results on any number of workers, only what is missing, and no run that takes others with it."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from campaign.small import SMALL, small, with_compiled_policy, with_policy
from penstock import generate, simulate
from penstock.campaign import merge, read_results, run_campaign, summarise
from penstock.campaign.chunks import AHEAD, Chunk, Chunks
from penstock.campaign.perform import perform
from penstock.campaign.store import MOST_PARTS, Store
from penstock.campaign.units import Keys, asked, units
from penstock.errors import InvalidOption
from penstock.kernels import compile as kernels


def results(folder):
    return (folder / "results.parquet").read_bytes()


def test_results_are_those_of_single_runs(tmp_path):
    report = run_campaign(small(), tmp_path / "out", workers=1)
    assert (report.runs, report.ran, report.failed) == (12, 12, 0)
    found = read_results(tmp_path / "out").rows()
    assert len(found) == 12
    for row in found:
        alone = simulate(generate("chains", seed=row["seed"], m=row["m"], n_max=20), row["plan"])
        assert row["makespan"] == alone.makespan
        assert row["events"] == alone.events
        assert row["error"] is None


def test_the_number_of_workers_makes_no_difference(tmp_path):
    campaign = small(metrics=["makespan", "stretch"])
    for workers in (1, 2, 3):
        run_campaign(campaign, tmp_path / f"out{workers}", workers=workers)
    assert results(tmp_path / "out1") == results(tmp_path / "out2") == results(tmp_path / "out3")
    table = pq.read_table(tmp_path / "out1" / "results.parquet")
    assert "seconds" not in table.column_names
    assert table["stretch"].to_pylist()[0] == [
        each.stretch for each in simulate(generate("chains", seed=1, m=2, n_max=20), "fair-share").applications
    ]
    assert pq.read_table(tmp_path / "out1" / "times.parquet")["seconds"].null_count == 0


def test_only_what_is_missing_is_run(tmp_path):
    folder = tmp_path / "out"
    run_campaign(small(), folder, workers=1)
    again = run_campaign(small(), folder, workers=1)
    assert (again.before, again.ran) == (12, 0)
    workload = SMALL["workloads"][0]
    extended = small(workloads=[workload | {"seeds": "1-4"}], plans=[{"sharing": ["fair-share", "fcfs", "list-fifo"]}])
    more = run_campaign(extended, folder, workers=2)
    assert (more.runs, more.before, more.ran) == (24, 12, 12)
    run_campaign(extended, tmp_path / "fresh", workers=1)
    assert results(folder) == results(tmp_path / "fresh")
    shrunk = run_campaign(small(), folder, workers=1)
    assert (shrunk.runs, shrunk.ran) == (12, 0)
    assert read_results(folder).size == 12


def test_a_failing_run_is_recorded_and_the_rest_goes_on(tmp_path):
    campaign = with_policy(tmp_path, "picky")
    report = run_campaign(campaign, tmp_path / "out", workers=2)
    assert (report.ran, report.failed) == (12, 3)
    found = read_results(tmp_path / "out")
    failures = found.failures()
    assert [failure["seed"] for failure in failures] == [1, 2, 3]
    for failure in failures:
        assert failure["parameters"]["m"] == 3
        assert "three are too many" in failure["error"]
        assert failure["reproducer"].startswith(f"penstock generate chains --seed {failure['seed']} --set ")
        assert failure["reproducer"].endswith(f"simulate scenario.yaml --sharing {tmp_path}/own.py:picky")
    [entry] = [each for each in summarise(found) if each.plan == "own.py:picky" and each.group["m"] == 3]
    assert (entry.runs, entry.failed, entry.missing) == (0, 3, 0)
    assert run_campaign(campaign, tmp_path / "out", workers=1).ran == 0


def test_the_reproducer_reproduces(tmp_path, monkeypatch):
    run_campaign(with_policy(tmp_path, "picky"), tmp_path / "out", workers=1)
    commands = read_results(tmp_path / "out").failures()[0]["reproducer"]
    program = tmp_path / "penstock"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m penstock "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = subprocess.run(["sh", "-c", commands], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "three are too many" in done.stderr


def test_what_failed_is_run_again_when_asked(tmp_path):
    campaign, folder = with_policy(tmp_path, "patient"), tmp_path / "out"
    assert run_campaign(campaign, folder, workers=1).failed == 3
    (tmp_path / "mark").touch()
    assert run_campaign(campaign, folder, workers=1).ran == 0
    again = run_campaign(campaign, folder, workers=1, retry=True)
    assert (again.before, again.ran, again.failed) == (9, 3, 0)
    assert not read_results(folder).failed.any()


def test_a_scenario_that_cannot_be_made_is_recorded(tmp_path):
    workload = {"generate": "synthetic", "set": {"small": [1, 9], "applications": 3, "horizon": 1e4}}
    report = run_campaign(small(workloads=[workload]), tmp_path / "out", workers=1)
    assert (report.ran, report.failed) == (4, 2)
    assert "the scenario cannot be made: synthetic: small is 9" in read_results(tmp_path / "out").failures()[0]["error"]


def test_a_worker_that_dies_costs_nobody_else_anything(tmp_path):
    campaign = with_policy(tmp_path, "deadly")
    report = run_campaign(campaign, tmp_path / "out", workers=2)
    assert (report.runs, report.ran) == (12, 12)
    failures = read_results(tmp_path / "out").failures()
    # Both plans of a scenario are one unit of work, and it is the unit that is given up.
    assert {(failure["seed"], failure["parameters"]["m"]) for failure in failures} == {(1, 3), (2, 3), (3, 3)}
    assert all("ended by signal SIGKILL, twice" in failure["error"] for failure in failures)


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    campaign = with_policy(tmp_path, "deadly_once")
    report = run_campaign(campaign, tmp_path / "out", workers=2)
    assert (report.ran, report.failed) == (12, 0)
    assert (tmp_path / "mark").exists()


def test_a_policy_in_a_file_is_compiled_before_workers_begin_and_never_again(tmp_path, monkeypatch):
    campaign = with_compiled_policy(tmp_path)

    def kernel(*signature, **options):
        raise TypeError("compiled again")

    monkeypatch.setattr(kernels, "kernel", kernel)
    for workers in (1, 2):
        report = run_campaign(campaign, tmp_path / f"out{workers}", workers=workers)
        assert (report.ran, report.failed) == (12, 0)
    assert results(tmp_path / "out1") == results(tmp_path / "out2")


def first_unit(campaign):
    return next(units(campaign, Keys(campaign), ()))


def test_a_file_that_changes_under_way_gives_no_results(tmp_path):
    before = first_unit(with_compiled_policy(tmp_path))
    good: Any = perform(before)[1]
    after = first_unit(with_compiled_policy(tmp_path, part=0.5))
    fair_share, changed = perform(before)
    assert (fair_share.error, changed.metrics) == (None, {})
    assert changed.error.startswith("a file that the plan names has changed since the campaign began")
    fresh: Any = perform(after)[1]
    assert fresh.key != good.key == changed.key
    assert fresh.metrics["makespan"] > good.metrics["makespan"]
    (tmp_path / "part.py").unlink()
    assert "there is no such file" in perform(before)[1].error


def test_a_directory_of_another_campaign_is_refused(tmp_path):
    run_campaign(small(), tmp_path / "out", workers=1)
    before = results(tmp_path / "out")
    with pytest.raises(InvalidOption, match=r"out holds the results of another campaign, 'small'; give 'other' a dir"):
        run_campaign(small(name="other"), tmp_path / "out", workers=1)
    assert results(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda place: (place / "x").mkdir(parents=True), "is not empty and holds no campaign"),
        (lambda place: place.write_text(""), "is not a directory"),
        (lambda place: place.symlink_to("/proc/nowhere"), "cannot be made"),
    ],
)
def test_directories_that_are_refused(tmp_path, make, words):
    make(tmp_path / "out")
    with pytest.raises(InvalidOption, match=words):
        run_campaign(small(), tmp_path / "out", workers=1)
    with pytest.raises(InvalidOption, match="holds no campaign"):
        read_results(tmp_path / "out")


def test_two_processes_do_not_run_one_campaign(tmp_path):
    with Store(tmp_path / "out").locked(), pytest.raises(InvalidOption, match="another process is running a campaign"):
        run_campaign(small(), tmp_path / "out", workers=1)


def test_a_full_disk_leaves_what_was_there_and_the_next_start_continues(tmp_path, monkeypatch):
    folder = tmp_path / "out"
    run_campaign(small(), folder, workers=1)
    workload = SMALL["workloads"][0]
    extended = small(workloads=[workload | {"seeds": "1-6"}])
    written = Path.write_bytes

    def full(path, content):
        if "part-" in path.name:
            written(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InvalidOption, match=r"no space left on device\); what was found before is kept"):
        run_campaign(extended, folder, workers=1)
    monkeypatch.undo()
    status = read_results(folder).status()
    assert (status["runs"], status["done"], status["missing"]) == (24, 12, 12)
    assert run_campaign(extended, folder, workers=1).ran == 12


def test_a_damaged_file_costs_only_its_own_runs(tmp_path):
    folder = tmp_path / "out"
    run_campaign(small(), folder, workers=1)
    run_campaign(small(workloads=[SMALL["workloads"][0] | {"seeds": "1-5"}]), folder, workers=1)
    first, _ = Store(folder).parts()
    first.write_bytes(first.read_bytes()[:100])
    status = read_results(folder).status()
    assert (status["done"], status["missing"], status["damaged"]) == (8, 12, [str(first)])
    assert run_campaign(small(workloads=[SMALL["workloads"][0] | {"seeds": "1-5"}]), folder, workers=1).ran == 12


def test_a_file_that_is_damaged_anywhere_is_damaged(tmp_path):
    run_campaign(small(metrics=["makespan", "completion"]), tmp_path, workers=1)
    [part] = Store(tmp_path).parts()
    column = pq.ParquetFile(part).metadata.row_group(0).column(pq.read_schema(part).names.index("completion"))
    content = bytearray(part.read_bytes())
    content[column.data_page_offset : column.data_page_offset + 8] = b"\xff" * 8
    part.write_bytes(content)
    assert read_results(tmp_path).status()["damaged"] == [str(part)]
    assert run_campaign(small(metrics=["makespan", "completion"]), tmp_path, workers=1).ran == 12


def test_a_full_disk_at_the_end_costs_nothing(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("penstock.campaign.store.write_parquet", full)
    with pytest.raises(InvalidOption, match=r"no space left on device\); what was found before is kept"):
        run_campaign(small(), tmp_path, workers=1)
    monkeypatch.undo()
    assert run_campaign(small(), tmp_path, workers=1).before == 12


def test_with_all_files_damaged_everything_is_missing(tmp_path):
    run_campaign(small(), tmp_path, workers=1)
    for part in Store(tmp_path).parts():
        part.write_bytes(b"PAR1 is how it begins")
    results = read_results(tmp_path)
    assert (results.status()["missing"], results.failures()) == (12, [])
    assert run_campaign(small(), tmp_path, workers=1).ran == 12


@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"nothing like Parquet")])
def test_the_list_of_runs_is_mended(tmp_path, lose):
    run_campaign(small(), tmp_path, workers=1)
    lose(tmp_path / "asked.parquet")
    with pytest.raises(InvalidOption, match="another campaign, 'small'"):
        run_campaign(small(name="other"), tmp_path, workers=1)
    assert run_campaign(small(), tmp_path, workers=1).before == 12


def test_many_small_files_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr("penstock.campaign.runner.WRITE_ROWS", 1)
    campaign = small(workloads=[{"generate": "chains", "set": {"m": 2}, "seeds": f"1-{MOST_PARTS + 6}"}])
    run_campaign(campaign, tmp_path / "out", workers=1)
    assert len(Store(tmp_path / "out").parts()) == 7
    run_campaign(campaign, tmp_path / "fresh", workers=2)
    assert results(tmp_path / "out") == results(tmp_path / "fresh")


def children(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def alive(process):
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0]
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


KILLED = """\
import sys
from campaign.small import with_policy
from pathlib import Path
from penstock.campaign import runner

runner.WRITE_SECONDS = 0.1
runner.run_campaign(with_policy(Path(sys.argv[1]), "slow", seeds="1-50"), sys.argv[2], workers=2)
"""


def test_killed_in_the_middle_it_continues(tmp_path):
    """SIGKILL leaves what was written readable, no worker behind, and the next start runs only the rest."""
    folder, mark = tmp_path / "out", tmp_path / "mark"
    mark.touch()  # without it, it might be over before anybody can kill it
    tests = Path(__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path, folder],
        env={**os.environ, "PYTHONPATH": f"{tests}:{os.environ.get('PYTHONPATH', '')}"},
    )
    wait_for(lambda: process.poll() is not None or len(Store(folder).parts()) >= 2)
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    mark.unlink()
    assert len(workers) == 2
    there = read_results(folder).status()
    assert 0 < there["done"] < there["runs"] == 200
    wait_for(lambda: not any(map(alive, workers)))
    campaign = with_policy(tmp_path, "slow", seeds="1-50")
    report = run_campaign(campaign, folder, workers=2)
    assert report.before == there["done"]
    assert report.before + report.ran == 200
    assert not list(folder.rglob("*.part"))
    run_campaign(campaign, tmp_path / "fresh", workers=2)
    assert results(folder) == results(tmp_path / "fresh")


def test_merging(tmp_path):
    workload = SMALL["workloads"][0]
    parts = [small(workloads=[workload | {"seeds": seeds}]) for seeds in ("1-2", "2-3")]
    for number, campaign in enumerate(parts):
        run_campaign(campaign, tmp_path / str(number), workers=1)
    assert merge([tmp_path / "0", tmp_path / "1"], tmp_path / "both") == 12
    whole = read_results(tmp_path / "both")
    assert (whole.size, whole.status()["done"]) == (12, 12)
    assert run_campaign(small(), tmp_path / "both", workers=1).ran == 0
    run_campaign(small(), tmp_path / "fresh", workers=1)
    assert results(tmp_path / "both") == results(tmp_path / "fresh")
    with pytest.raises(InvalidOption, match="holds a campaign already"):
        merge([tmp_path / "0", tmp_path / "1"], tmp_path / "both")
    with pytest.raises(InvalidOption, match="at least two"):
        merge([tmp_path / "0"], tmp_path / "none")


def test_runs_that_nobody_could_tell_apart_are_not_merged(tmp_path):
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        run_campaign(with_policy(tmp_path / str(number), "slow"), tmp_path / f"out-{number}", workers=1)
    assert merge([tmp_path / "out-1", tmp_path / "out-2"], tmp_path / "same") == 12
    own = tmp_path / "2" / "own.py"
    own.write_text(own.read_text() + "# changed\n")
    run_campaign(small(tmp_path / "2", plans=["fair-share", "own.py:slow"]), tmp_path / "out-3", workers=1)
    with pytest.raises(InvalidOption, match="is not the same run in all directories"):
        merge([tmp_path / "out-1", tmp_path / "out-3"], tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_merged_campaigns_of_different_tasks(tmp_path):
    run_campaign(small(), tmp_path / "a", workers=1)
    other = small(
        name="other", workloads=[{"generate": "packs", "seeds": 1}], plans=[{"task": "pack", "sensitivity": [1, "inf"]}]
    )
    run_campaign(other, tmp_path / "b", workers=1)
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    whole = read_results(tmp_path / "c")
    assert (whole.name, whole.size) == ("small", 14)
    assert whole.plans == ("fair-share", "list-fifo", "pack(sensitivity=1)", "pack(sensitivity=inf)")
    assert {path.name for path in (tmp_path / "c").glob("*.yaml")} == {"campaign.yaml", "campaign-2.yaml"}
    assert {entry.metric for entry in summarise(whole)} == {"makespan"}


def test_workers_share_the_plans_of_one_scenario_and_a_long_unit_keeps_nobody_waiting():
    many = [f"periodic-greedy-yield(delta={number})" for number in range(1, 41)]
    campaign = small(workloads=[SMALL["workloads"][0] | {"set": {"m": 2}, "seeds": "1"}], plans=many)
    work = list(units(campaign, Keys(campaign), ()))
    assert [len(unit.runs) for unit in work] == [16, 16, 8]
    assert {run.key for unit in work for run in unit.runs} == {each.run.key for each in asked(campaign, Keys(campaign))}
    chunks = Chunks(iter(work), 0.1, 64)
    assert chunks.ahead == AHEAD
    for _ in range(10):
        chunks.learn(Chunk(tuple(work[:1])), 10.0)
    assert (chunks.ahead, len(chunks.draw().units)) == (1, 1)
