"""On the workers of a Dask scheduler: the same results, whatever happens to workers."""

import logging
import pickle
import sys
import time
from collections import deque
from concurrent.futures import CancelledError
from importlib import import_module
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from advise import world
from campaign.small import small, with_compiled_policy, with_policy
from penstock.advise import advise
from penstock.campaign import chunks, read_results, run_campaign
from penstock.campaign import dask_feeder as feeding
from penstock.campaign import remote as elsewhere
from penstock.campaign import worker as far
from penstock.campaign.dask import Dask
from penstock.campaign.executor import Here, LostUnit, executor
from penstock.campaign.perform import perform
from penstock.campaign.units import Keys, units
from penstock.errors import InvalidOption
from penstock.kernels import compile as kernels

distributed = pytest.importorskip("distributed", reason="distributed is not installed")
dask_config = import_module("dask.config")


@pytest.fixture(scope="module")
def cluster():
    # Else it closes for good a worker that was lost and happens to begin anew for the second time when it looks.
    patient = {"distributed.scheduler.allowed-failures": 1, "distributed.deploy.lost-worker-timeout": "1 day"}
    with (
        dask_config.set(patient),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as made,
    ):
        yield made


@pytest.fixture
def on(cluster):
    cluster.wait_for_workers(2, timeout=30)
    return f"dask={cluster.scheduler_address}"


def results(folder):
    return (folder / "results.parquet").read_bytes()


def test_results_are_those_of_this_machine(tmp_path, on):
    campaign = small(metrics=["makespan", "stretch"])
    report = run_campaign(campaign, tmp_path / "far", on=on)
    assert (report.ran, report.failed) == (12, 0)
    run_campaign(campaign, tmp_path / "here", workers=1)
    assert results(tmp_path / "far") == results(tmp_path / "here")
    assert run_campaign(campaign, tmp_path / "far", on="dask=nowhere:1").ran == 0  # nothing to do, nobody to ask


def test_advice_is_that_of_this_machine(on):
    site = world.site(2, 0.3, days=4.0, per_day=6.0)
    here, there = (
        advise(site, sharing=["fcfs"], buffer=False, place=place).to_dict() for place in (Here(), executor(on))
    )
    assert {**there, "seconds": 0} == {**here, "seconds": 0}
    assert there["runs"] == 8


def test_a_worker_compiles_a_policy_in_a_file_once_and_for_no_run(tmp_path, monkeypatch):
    clock, build = [0.0], kernels.kernel

    def takes_long(*signature, **options):
        clock[0] += 100.0
        return build(*signature, **options)

    monkeypatch.setattr(kernels, "kernel", takes_long)
    monkeypatch.setattr(far, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    for part in (1.0, 0.5):  # two campaigns with the same labels
        campaign = with_compiled_policy(tmp_path, part)
        monkeypatch.setattr(kernels, "_built", {})  # as in a process that has compiled nothing yet
        clock[0] = 0.0
        for unit in units(campaign, Keys(campaign), ()):
            [rows], seconds = pickle.loads(far.far_perform(pickle.dumps((perform, (unit,))), far.identity()))
            assert [row.error for row in rows] == [None, None]
            assert seconds == 0.0
        assert clock == [100.0]


@pytest.mark.slow
def test_a_unit_that_ends_workers_costs_nobody_else_anything(tmp_path, on):
    with_policy(tmp_path, "deadly")
    workloads = [{"generate": "chains", "set": {"m": m}, "seeds": seeds} for m, seeds in ((3, 1), (2, "1-5"))]
    campaign = small(tmp_path, workloads=workloads, plans=["fair-share", "own.py:deadly"])
    report = run_campaign(campaign, tmp_path / "out", on=on)
    assert (report.ran, report.failed) == (12, 2)
    failures = read_results(tmp_path / "out").failures()
    assert {(failure["seed"], failure["parameters"]["m"]) for failure in failures} == {(1, 3)}
    assert all("2 workers in a row ended while they had it" in failure["error"] for failure in failures)


@pytest.mark.slow
def test_a_worker_that_dies_once_costs_nothing(tmp_path, on):
    report = run_campaign(with_policy(tmp_path, "deadly_once"), tmp_path / "out", on=on)
    assert (report.ran, report.failed) == (12, 0)
    assert (tmp_path / "mark").exists()


def test_closing_ends_all_work_and_units_are_drawn_as_needed(cluster, on, monkeypatch):
    monkeypatch.setattr(feeding, "MOST_IN_CHUNK", 2)
    drawn = count()
    campaign = small(workloads=[{"generate": "chains", "set": {"m": 2}, "seeds": "1-1000"}])
    work = (unit for unit in units(campaign, Keys(campaign), ()) if next(drawn) >= 0)
    place = executor(on)
    outcomes: Any = place.map(perform, work)  # a generator
    for _ in range(20):
        next(outcomes)
    outcomes.close()
    assert next(drawn) <= 20 + 2 * chunks.AHEAD * 2 + 2
    assert place.words == f"2 workers at {cluster.scheduler_address}"
    end = 100
    while cluster.scheduler.tasks and end:
        time.sleep(0.05)
        end -= 1
    assert not cluster.scheduler.tasks


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("numpy", "0.9"), r"has numpy \d\S+, this machine 0\.9; install the same on both"),
        ((far.SOURCES, "0"), "has other sources of penstock than this machine; install the same on both"),
    ],
)
def test_workers_that_are_not_the_same_are_refused(tmp_path, on, monkeypatch, place, words):
    other = tuple(place if name == place[0] else (name, value) for name, value in far.identity())
    monkeypatch.setattr(feeding, "identity", lambda: other)
    with pytest.raises(InvalidOption, match=f"the worker on .* {words}"):
        run_campaign(small(), tmp_path / "out", on=on)


def test_workers_without_penstock_are_refused(tmp_path, on, monkeypatch):
    (tmp_path / "only_here.py").write_text("def far_perform(message, asker):\n    return b''\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(far, "far_perform", import_module("only_here").far_perform)
    with pytest.raises(InvalidOption, match="a worker has no module 'only_here'; install the same penstock where"):
        run_campaign(small(), tmp_path / "out", on=on)
    sys.modules.pop("only_here")


def test_a_scheduler_that_goes_leaves_what_was_found(tmp_path, monkeypatch):
    monkeypatch.setattr("penstock.campaign.runner.WRITE_ROWS", 1)
    campaign = small(workloads=[{"generate": "synthetic", "set": {"horizon": 200_000}, "seeds": "1-40"}])
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as own:

        def end(report):
            if report.ran >= 10:
                own.close()

        with pytest.raises(InvalidOption, match="the Dask scheduler has gone; what was found before is kept"):
            run_campaign(campaign, tmp_path / "out", on=f"dask={own.scheduler_address}", progress=end)
    assert read_results(tmp_path / "out").status()["done"] >= 10


def test_nobody_at_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr(feeding, "CONNECT_SECONDS", 0.5)
    for address in ("127.0.0.1:9", "nonsense://x:1"):
        with pytest.raises(InvalidOption, match=f"no Dask scheduler answers at '{address}'"):
            run_campaign(small(), tmp_path / "out", on=f"dask={address}")


def test_options_that_are_refused(monkeypatch):
    with pytest.raises(InvalidOption, match="--on is 'dusk=1'; accepted: local, dask, slurm"):
        executor("dusk=1")
    with pytest.raises(InvalidOption, match="--on dask lacks the address of a scheduler"):
        executor("dask")
    with pytest.raises(InvalidOption, match="--workers is for processes of this machine"):
        executor("dask=127.0.0.1:1", workers=2)
    monkeypatch.setattr(elsewhere, "find_spec", lambda name: None)
    with pytest.raises(InvalidOption, match=r"need dask, distributed; install penstock\[cluster\]"):
        executor("dask=127.0.0.1:1")


def test_waiting_is_said_aloud_after_a_while(capsys, monkeypatch):
    monkeypatch.setattr(elsewhere, "PATIENCE", 0.0)
    place = Dask("there")
    shown: list[Any] = []
    place.show = shown.append
    place._watch({})
    place._watch({})
    assert shown == ["the scheduler at there has no workers"] * 2
    assert capsys.readouterr().err.count("the scheduler at there has no workers (for 0 s now; still waiting)") == 1
    place._watch({"a": 4})
    place._watch({"a": 4})
    assert capsys.readouterr().err.count("has 4 threads but does one run at a time") == 1


def units_sent(message, asker):
    return pickle.dumps(pickle.loads(message)[1])


class Pretended:
    """A client whose workers die over the seeds it is told, and over all that is under way at that time."""

    def __init__(self, deadly):
        self.deadly = deadly
        self.under_way: deque[Any] = deque()
        self.together = []  # the units that were under way at a time, whenever some were lost

    def nthreads(self):
        self._end_all()
        return {"a": 1, "b": 1}

    def submit(self, function, message, key):
        future = SimpleNamespace(key=key, units=pickle.loads(pickle.loads(message)), call=None)
        future.add_done_callback = lambda call: self._added(future, call)
        return future

    def cancel(self, futures):
        self.under_way.clear()

    def _added(self, future, call):
        future.call = call
        self.under_way.append(future)

    def _end_all(self):
        lost = any(unit.seed in self.deadly for future in self.under_way for unit in future.units)
        if lost:
            self.together.append([unit.seed for future in self.under_way for unit in future.units])
        while self.under_way:
            future = self.under_way.popleft()
            future.result = (
                self._killed if lost else lambda units=future.units: pickle.dumps(([[] for _ in units], 0.01))
            )
            future.call(future)

    def _killed(self):
        raise distributed.KilledWorker("x", SimpleNamespace(address="a"), 1)


def test_only_those_to_blame_are_given_up(monkeypatch):
    """Dask blames all that a lost worker had; nobody is given up before he was lost with nobody else under way."""
    monkeypatch.setattr(feeding, "CHUNK_SECONDS", 1.0)
    monkeypatch.setattr(feeding, "TICK", 0.0)
    campaign = small(workloads=[{"generate": "chains", "set": {"m": 2}, "seeds": "1-40"}], plans=["fcfs"])
    monkeypatch.setattr(far, "far_perform", units_sent)
    client = Pretended(deadly={5, 17})
    feeder = feeding.Feeder(client, perform, units(campaign, Keys(campaign), ()), lambda threads: None)
    feeder._chunks._unit_seconds = 0.4
    outcomes = {unit.seed: outcome for unit, outcome in feeder.outcomes()}
    assert sorted(outcomes) == list(range(1, 41))
    assert {seed for seed, outcome in outcomes.items() if isinstance(outcome, LostUnit)} == {5, 17}
    assert [5] in client.together
    assert [17] in client.together


def test_a_mistake_of_ours_keeps_its_traceback():
    error = ZeroDivisionError()
    assert feeding._explained(error) is error
    assert isinstance(feeding._explained(CancelledError()), InvalidOption)
