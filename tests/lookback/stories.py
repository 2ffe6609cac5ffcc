"""Journals whose every number is known: of a scenario in virtual time, or of words said one by one."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from live.harness import live_decider
from live.harness.lockstep import Lockstep
from penstock import Scenario
from penstock.engine.link.execution import origin_of, tick_of
from penstock.live.core import ControllerSettings, Core, Resource
from penstock.live.core.events import Closed, Connected, Frame, Identity, Input, Output, Send, WriteRecords
from penstock.live.journal import Header, boot_id, raise_epoch, recover
from penstock.live.journal import JournalWriter as Pen
from penstock.policies.sharing import find
from penstock.studies.study import Study
from penstock.wire.messages import Ack, Beat, Complete, Message, Post, Rate, Register

WALL = 1_000_000.0  # the time of day when a story's clock shows 0
SETTINGS = ControllerSettings(resources=(Resource("all", 100.0),), machine_nodes=100, pace=0.0, epsilon=0.0)


def written(folder: Path, settings: ControllerSettings, epoch: int, first: int, time: float, warm: bool = True) -> Pen:
    """A journal to write to."""
    facts: dict[str, Any] = {
        "boot_id": boot_id(),
        "offset": 0.0,
        "wall": WALL + time,
        "time": time,
        "boot": time,
        "warm": warm,
    }
    return Pen(folder, Header(epoch=epoch, first=first, settings=dataclasses.asdict(settings), **facts))


def journal_of(scenario: Scenario, policy: str, folder: Path) -> None:
    """The journal of a controller that served the jobs of a scenario, all of them without delay."""
    folder.mkdir()
    told: list[tuple[float, Message]] = []

    class Recording(Core):
        def step(self, t: float, inputs: Sequence[Input]) -> list[Output]:
            outputs = super().step(t, inputs)
            told.extend((t, output.record) for output in outputs if isinstance(output, WriteRecords))
            return outputs

    program, chosen = Study(scenario).program, find(policy)
    tick = tick_of(chosen, Study(scenario).outlook, program)
    with patch.object(live_decider, "Core", Recording):
        decider = live_decider.LiveDecider(program, chosen, origin_of(program, tick))
        Lockstep(program, origin_of(program, tick), tick, decider).run()
        decider.rates([])  # the end of the last operation
    pen = written(folder, decider.core.settings, raise_epoch(folder), 1, 0.0)
    for time, record in told:
        pen.write(time, [record])
    pen.close()


class Story:
    """A controller that hears what the test says, one life after the other; `at` is its clock."""

    def __init__(self, folder: Path, settings: ControllerSettings = SETTINGS) -> None:
        self.folder, self.settings, self.at = folder, settings, 0.0
        folder.mkdir(exist_ok=True)
        self.deaf: set[int] = set()  # sessions that do not ack
        self.unacked: list[tuple[int, Rate]] = []
        self._sessions: dict[str, int] = {}
        self.begin()

    def begin(self) -> None:
        """A life begins, with what the journal knows."""
        found = recover(self.folder, self.settings)
        epoch = raise_epoch(self.folder)
        policy = find(self.settings.sharing)
        self.core = Core(self.settings, policy, epoch=epoch, boot=self.at, state=found.state, warm=found.warm)
        self._pen = written(self.folder, self.settings, epoch, found.last_seq + 1, self.at, found.warm)
        self._turn()

    def die(self) -> None:
        """It ends without a word."""
        self._pen.close()
        self._sessions.clear()
        self.unacked.clear()

    end = die

    def connect(self, job: str) -> int:
        """A connection of a job's process."""
        self._sessions[job] = session = len(self._sessions) + 1
        self._turn(Connected(session, Identity("peer", 1000 + session)))
        return session

    def register(self, job: str, nodes: int = 1, cap: float | None = None) -> None:
        session = self.connect(job)
        self._turn(Frame(session, Register(1, job, 1, nodes, cap)))

    def say(self, job: str, message: Any) -> None:
        """A word of a job, whose rates it acks at once."""
        self._turn(Frame(self._sessions[job], message))

    def hang_up(self, job: str) -> None:
        self._turn(Closed(self._sessions[job]))

    def wait(self, seconds: float, **done: float) -> None:
        """Time passes, with a beat every two seconds of those in `done`, which have moved so much in the end."""
        beats = max(1, round(seconds / 2))
        for number in range(1, beats + 1):
            self.at += seconds / beats
            for job, moved in done.items():
                rev = self.core.state.by_job[job, 1000 + self._sessions[job]].members[1].rev
                self.say(job, Beat(int(self.at * 10) + 10, self.core.state.epoch, rev, moved * number / beats))
        self._turn()

    def snapshot(self) -> None:
        """The state goes to a file, whose age is that of the story."""
        self._pen.snapshot_now(self.at, self.core.state.snapshot())
        newest = max(self.folder.glob("*.snap"))
        os.utime(newest, (WALL + self.at, WALL + self.at))

    def heed(self) -> None:
        """Those who did not ack do so."""
        self.deaf.clear()
        while self.unacked:
            session, rate = self.unacked.pop(0)
            self._turn(Frame(session, Ack(rate.epoch, rate.rev)))

    def _turn(self, *inputs: Input) -> None:
        outputs = self.core.step(self.at, list(inputs))
        self._pen.write(self.at, [output.record for output in outputs if isinstance(output, WriteRecords)])
        for output in outputs:
            if isinstance(output, Send) and isinstance(output.message, Rate):
                rate = output.message
                if output.session in self.deaf:
                    self.unacked.append((output.session, rate))
                else:
                    self._turn(Frame(output.session, Ack(rate.epoch, rate.rev)))


class Job:
    """A job of a story that moves what it is told to: one operation after the other, computing between them."""

    def __init__(self, name: str, starts: float, *operations: tuple[float, float, tuple[str, ...]]) -> None:
        self.name, self.starts, self.operations = name, starts, list(operations)  # work before it, volume, targets
        self.number, self.done = 0, 0.0


def played(story: Story, *jobs: Job) -> None:
    """The jobs run under the controller, which is told of every second that they move, until all are done."""
    for job in jobs:
        story.register(job.name)
    waiting, moving = {job: job.starts + job.operations[0][0] for job in jobs}, list[Job]()
    while waiting or moving:
        rates = {job: _rate(story, job) for job in moving}
        ends = [story.at + (_volume(job) - job.done) / rates[job] for job in moving if rates[job] > 0.0]
        now = min([*ends, *waiting.values(), story.at + 1.0])
        for job in moving:
            job.done += rates[job] * (now - story.at)
        story.at = now
        for job in [job for job in moving if job.done >= _volume(job) * (1 - 1e-12)]:
            story.say(job.name, Complete(job.number, _volume(job)))
            moving.remove(job)
            if job.number < len(job.operations):
                waiting[job] = now + job.operations[job.number][0]
        for job in [job for job, at in waiting.items() if at <= now]:
            del waiting[job]
            work, volume, targets = job.operations[job.number]
            job.number, job.done = job.number + 1, 0.0
            story.say(job.name, Post(job.number + 1, job.number, _beat(now), volume, "write", targets, work=work))
            moving.append(job)
        for job in moving:
            story.say(job.name, Beat(_beat(now) + 1, story.core.state.epoch, _member(story, job).rev, job.done))


def _beat(now: float) -> int:
    return int(now * 1e6) + 10


def _member(story: Story, job: Job) -> Any:
    (app,) = (app for app in story.core.state.apps.values() if app.job == job.name)
    return app.members[1]


def _rate(story: Story, job: Job) -> float:
    return float(_member(story, job).rate)


def _volume(job: Job) -> float:
    return job.operations[job.number - 1][1]
