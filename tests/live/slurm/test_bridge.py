"""The bridge without Slurm: what it concludes from the queue, how it holds licences back, and what it keeps."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.live.admin import CommandRefused, NoController
from penstock.live.slurm import queue as queues
from penstock.live.slurm.bridge import Bridge
from penstock.live.slurm.licenses import MOST, BackPressure, Order, Times
from penstock.live.slurm.queue import Licenses, PendingJob, QueuedJob, Slurm, SlurmSilent, read_jobs, read_pending
from penstock.live.slurm.reconcile import Reconciler
from penstock.wire.spool import Spool, this_boot


def known(job: str = "7", restart: int = 0, **more: Any) -> dict[str, Any]:
    own = {"job": job, "restart": restart, "uid": 1000, "account": "", "nodes": 2, "names": ["n1", "n2"]}
    return {**own, "ending": False, "charge": 1.0, "leased": False, **more}


RUNS = QueuedJob("7", 0, 1000, 2, ("n1", "n2"), "physics", 60.0)


def kinds(hooks: list[Any]) -> list[tuple[str, str]]:
    return [(hook.kind, hook.node) for hook in hooks]


def test_a_job_in_both_is_left_alone():
    compare = Reconciler().compare
    assert [compare([RUNS], [known()]) for _ in range(3)] == [[], [], []]


def test_a_job_that_runs_and_is_unknown_twice_is_announced():
    compare = Reconciler().compare
    assert compare([RUNS], []) == []
    (start,) = compare([RUNS], [])
    assert (start.kind, start.job, start.uid, start.restart, start.nodes) == ("job_start", "7", 1000, 0, 2)
    assert (start.node_names, start.account, start.seconds_left) == (("n1", "n2"), "physics", 60.0)
    assert compare([RUNS], [known()]) == []


def test_a_job_that_was_unknown_once_and_then_known_begins_to_count_again():
    compare = Reconciler().compare
    assert [compare([RUNS], each) for each in ([], [known()], [])] == [[], [], []]


def test_a_job_that_is_being_configured_or_completes_is_not_announced():
    compare = Reconciler().compare
    assert [compare([RUNS._replace(started=False)], []) for _ in range(3)] == [[], [], []]


def test_a_job_that_is_absent_twice_ends_only_after_its_leases():
    compare = Reconciler().compare
    assert compare([], [known(leased=True)]) == []
    assert kinds(compare([], [known(leased=True)])) == [("job_ending", "")]
    assert kinds(compare([], [known(leased=True, ending=True)])) == []  # it may still write
    ends = compare([], [known(ending=True)])
    assert kinds(ends) == [("job_end", "n1"), ("job_end", "n2")] and {hook.restart for hook in ends} == {0}


def test_a_job_that_comes_back_was_never_gone():
    compare = Reconciler().compare
    assert compare([], [known()]) == compare([RUNS], [known()]) == compare([], [known()]) == []


def test_nodes_that_nobody_named_end_all_the_same():
    compare = Reconciler().compare
    compare([], [known(names=[], nodes=3)])
    assert len({hook.node for hook in compare([], [known(names=[], nodes=3)]) if hook.kind == "job_end"}) == 3


def test_a_life_that_is_over_is_not_ended_by_name_when_the_next_one_runs():
    """The start of the next life says it all; an end would be ambiguous."""
    compare = Reconciler().compare
    again = RUNS._replace(restart=1)
    assert compare([again], [known()]) == []
    (start,) = compare([again], [known()])
    assert (start.kind, start.restart) == ("job_start", 1)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=12))
def test_no_job_is_ended_while_it_is_in_the_queue_or_has_a_lease(looks):
    compare = Reconciler().compare
    absent = 0
    for queued, leased, ending in looks:
        absent = 0 if queued else absent + 1
        hooks = compare([RUNS] if queued else [], [known(leased=leased, ending=ending)])
        assert any(hook.kind == "job_end" for hook in hooks) == (absent >= 2 and not leased)


# What squeue prints.


def test_jobs_are_read_from_squeue_and_lines_that_are_none_are_left_out():
    text = "6|1000|R|2|phys|1-00:00:05|1|n[1-2]|\n|or half a comment\n7|0|CG|1|(null)|UNLIMITED|0|(null)|\n"
    first, second = read_jobs(f"{text}x|1|R|1||0:1|0|n|\n")
    assert first == QueuedJob("6", 1, 1000, 2, ("n1", "n2"), "phys", 86405.0, True)
    assert second == QueuedJob("7", 0, 0, 1, (), "", None, False)


def test_pending_jobs_keep_their_comment_whatever_it_holds():
    text = "6_1000_2_1:00_a|b_io=20|x|_\n8_0_1_UNLIMITED_name_(null)_\n9_0_1_1:00_name_half a\n comment_\n"
    assert read_pending(text.replace("_", "\x1f")) == [
        PendingJob("6", 1000, 2, 60.0, "a|b", "io=20|x|"),
        PendingJob("8", 0, 1, None, "name", ""),
    ]


@given(st.text(max_size=200))
def test_no_text_brings_the_readers_down(text):
    read_jobs(text), read_pending(text)


def test_a_command_that_is_missing_fails_or_hangs_is_silent():
    for command, seconds, word in (
        (["no-such-command"], 1.0, "not on the PATH"),
        (["sh", "-c", "echo no >&2; exit 3"], 5.0, "no"),
        (["sleep", "60"], 0.05, "did not answer"),
    ):
        with pytest.raises(SlurmSilent, match=word):
            queues.run(command, seconds)


def test_a_reservation_is_made_when_there_is_none_to_change():
    said: list[list[str]] = []

    def run(command, seconds):
        said.append(list(command))
        if command[1] == "update":
            raise SlurmSilent("Requested reservation is invalid")
        return ""

    Slurm(run).reserve("penstock", "iobw", 40, 120)
    assert [words[1] for words in said] == ["update", "delete", "create"]
    assert {"Licenses=iobw:40", "EndTime=now+120seconds", "Flags=LICENSE_ONLY", "Users=root"} <= set(said[-1])


def test_licenses_that_slurm_does_not_have_are_named():
    with pytest.raises(SlurmSilent, match="Licenses=iobw:100"):
        Slurm(lambda command, seconds: "LicenseName=matlab Total=5 Used=0").licenses("iobw")


# Licences.


def pressed(committed: float, used: int = 0, total: int = 100, times: Times | None = None) -> BackPressure:
    made = BackPressure(times or Times())
    made.saw(0.0, committed)
    return made


@pytest.mark.parametrize(
    "committed, used, total, count",
    [
        (0.0, 0, 100, 0),
        (0.04, 0, 100, 0),
        (0.57, 0, 100, 55),
        (0.57, 20, 100, 35),
        (1.0, 0, 100, 80),
        (0.5, 0, 1000, 500),
    ],
)
def test_as_many_licences_as_bandwidth_is_in_use_without_one(committed, used, total, count):
    assert pressed(committed).order(0.0, Licenses(total, used)) == Order(count)


def test_it_is_the_mean_of_the_last_minute_that_counts():
    made = BackPressure()
    for second in range(0, 300, 5):
        made.saw(float(second), 1.0 if second < 270 else 0.0)
    assert made.mean == pytest.approx(7 / 13)


def test_changes_are_ten_seconds_apart_and_renewals_a_minute():
    made = pressed(0.5)
    made.done(0.0, Order(50))
    licenses = Licenses(100, 0)
    assert made.order(59.0, licenses) is None
    assert made.order(60.0, licenses) == Order(50)
    made.done(60.0, Order(50))
    made._seen.clear()
    made.saw(61.0, 0.3)
    assert made.order(61.0, licenses) == Order(30)  # the last change was long ago
    made.done(61.0, Order(30))
    made._seen.clear()
    made.saw(62.0, 0.4)
    assert made.order(70.9, licenses) is None
    assert made.order(71.0, licenses) == Order(40)


def test_nothing_is_renewed_when_nothing_is_reserved():
    made = pressed(0.0)
    assert made.order(0.0, Licenses(100, 0)) == Order(0)  # what an earlier bridge left is given back
    made.done(0.0, Order(0))
    assert made.order(600.0, Licenses(100, 0)) is None


@given(st.floats(0.0, 2.0), st.integers(0, 2000), st.integers(5, 2000))
def test_never_more_than_four_fifths_never_less_than_nothing_and_in_steps(committed, used, total):
    count = pressed(committed).order(0.0, Licenses(total, used)).count
    assert 0 <= count <= MOST * total and count <= max(0.0, min(1.0, committed) * total - used)
    assert count % max(5, total // 20) == 0


# The whole, with a controller and a Slurm that are played.


class Line:
    """A controller's end: takes hooks, or does not."""

    def __init__(self) -> None:
        self.hooks: list[tuple[str, str]] = []
        self.jobs: list[dict[str, Any]] = []
        self.committed, self.away, self.refuses = 0.0, False, ""

    def hook(self, kind: str, job: str, **known: Any) -> dict[str, Any]:
        self._be_there()
        self.hooks.append((kind, job))
        return {"ok": True}

    def ask(self, verb: str) -> dict[str, Any]:
        self._be_there()
        return {"jobs": self.jobs, "committed": self.committed}

    def close(self) -> None:
        pass

    def _be_there(self) -> None:
        if self.away:
            raise NoController("nobody listens")
        if self.refuses:
            raise CommandRefused("no", self.refuses)


class Played(Slurm):
    def __init__(self) -> None:
        super().__init__(self._answer)
        self.said: list[list[str]] = []
        self.queue, self.hangs = "", threading.Event()
        self.waiting = (
            "9|1000|1|10:00|ocean|io=20|\n10|1000|1|10:00|ocean|(null)|\n11|0|1|1:00|x|penstock: stripes=2|\n"
        )
        self.hangs.set()

    def _answer(self, command, seconds):
        assert self.hangs.wait(10.0)
        self.said.append(list(command))
        if command[0] == "squeue":
            return self.waiting.replace("|", "\x1f") if "PD" in command else self.queue
        return "LicenseName=iobw Total=100 Used=0" if "show" in command else ""


class World:
    def __init__(self, folder, **options) -> None:
        self.line, self.slurm, self.now = Line(), Played(), 0.0
        self.said: list[str] = []
        self.spool = Spool(str(folder / "spool"), clock=lambda: self.now)
        self.spool.make()
        clock = lambda: self.now  # noqa: E731
        self.bridge = Bridge(lambda: self.line, [self.spool], self.slurm, say=self.said.append, clock=clock, **options)  # type: ignore[arg-type, return-value]

    def leave(self, job: int, kind: str = "job_ending") -> None:
        with open(os.path.join(self.spool.path, f"{this_boot()}.{job}.00.1"), "w", encoding="ascii") as file:
            file.write(f"kind={kind}\njob={job}\n")
        os.chmod(file.name, 0o600)

    def rounds(self, count: int, step: float = 5.0) -> None:
        for _ in range(count):
            self.bridge.round()
            if self.bridge._asking is not None and self.slurm.hangs.is_set():
                self.bridge._asking.exception(10.0)
            self.now += step


def test_what_the_controller_refuses_is_kept_in_order(tmp_path):
    world = World(tmp_path)
    world.line.away = True
    for job in (1, 2, 3):
        world.leave(job)
    world.rounds(3)
    assert world.line.hooks == [] and len(os.listdir(world.spool.path)) == 3
    assert world.said == ["nobody listens"]  # once
    world.line.away = False
    world.now += 60.0
    world.rounds(1)
    assert [job for _, job in world.line.hooks] == ["1", "2", "3"] and not os.listdir(world.spool.path)
    assert world.said[-1] == "controller: well again" and world.bridge.told.forwarded == 3


def test_what_is_refused_for_good_is_dropped_and_what_is_not_is_kept(tmp_path):
    world = World(tmp_path)
    world.leave(1)
    world.line.refuses = "quota"
    world.rounds(1)
    assert len(os.listdir(world.spool.path)) == 1
    world.line.refuses, world.now = "value", 100.0
    world.rounds(1)
    assert not os.listdir(world.spool.path) and world.bridge.told.dropped == 1


def test_a_slurm_that_hangs_holds_up_no_hook(tmp_path):
    world = World(tmp_path, license="iobw")
    world.slurm.hangs.clear()
    world.rounds(2)
    world.leave(1)
    world.rounds(1)
    assert world.line.hooks == [("job_ending", "1")]
    world.slurm.hangs.set()
    world.bridge.close()


def test_the_queue_is_asked_once_a_minute_and_only_if_the_controller_is_there(tmp_path):
    world = World(tmp_path)
    world.slurm.queue = "7|1000|R|2|(null)|1:00|0|n[1-2]|\n"
    world.rounds(25)  # two minutes
    assert world.bridge.told.compared == 2 and world.line.hooks == [("job_start", "7")]
    world.line.away = True
    before = len(world.slurm.said)
    world.rounds(25)
    assert len(world.slurm.said) == before


def test_licences_are_reserved_renewed_and_given_back_in_the_end(tmp_path):
    world = World(tmp_path, license="iobw")
    world.line.committed = 0.6
    world.rounds(26)
    reserved = [words for words in world.slurm.said if words[1] in ("update", "create")]
    assert len(reserved) == 3 and all("Licenses=iobw:60" in words for words in reserved)
    world.bridge.close()
    assert world.slurm.said[-1] == ["scontrol", "delete", "ReservationName=penstock"]


def test_advice_is_given_once_to_each_job_that_waits(tmp_path):
    world = World(tmp_path, advise=lambda jobs: {job.job: {"stripes": "4", "io_node": "1"} for job in jobs})
    world.rounds(30)
    told = [words[2:] for words in world.slurm.said if words[1] == "update"]
    assert told == [
        ["JobId=9", "Comment=io=20; penstock: stripes=4 io_node=1"],
        ["JobId=10", "Comment=penstock: stripes=4 io_node=1"],
    ]
    assert world.bridge.told.advised == 2


def test_a_fault_in_the_thread_is_told_and_the_next_look_is_taken(tmp_path):
    def advise(jobs):
        raise ZeroDivisionError("by zero")

    world = World(tmp_path, advise=advise)
    world.rounds(2)
    assert world.bridge.told.problems["fault of ours"] == "ZeroDivisionError: by zero"
    world.leave(1)
    world.rounds(2)
    assert world.line.hooks == [("job_ending", "1")] and "fault of ours" not in world.bridge.told.problems
