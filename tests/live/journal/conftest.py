"""A controller in virtual time that writes a real journal, for tests that break it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.live.core import ControllerSettings, ControllerState, Core, Resource
from penstock.live.core.events import Connected, Frame, Identity, Input, Send, WriteRecords
from penstock.live.journal import Header, Lock, boot_id, raise_epoch, recover
from penstock.live.journal import JournalWriter as Pen
from penstock.live.journal.versions import core_code, policy_code
from penstock.policies.sharing import find
from penstock.wire.messages import Ack, Complete, Message, Post, Rate, Register

SETTINGS = ControllerSettings(resources=(Resource("all", 1000.0),), machine_nodes=100, lease=8.0)
ME = Identity("peer", 1000)


class Life:
    """One life of a controller, from a start to a kill."""

    def __init__(
        self, folder: Path, time: float = 100.0, grace: bool = False, settings: ControllerSettings = SETTINGS
    ) -> None:
        self.folder, self.now, self.settings = folder, time, settings
        self._lock = Lock(folder)
        self.found = recover(folder, settings, grace)
        self.epoch = raise_epoch(folder)
        policy = find(settings.sharing)
        self.core = Core(settings, policy, epoch=self.epoch, boot=time, state=self.found.state, warm=self.found.warm)
        self.pen = Pen(
            folder,
            Header(
                epoch=self.epoch,
                first=self.found.last_seq + 1,
                boot_id=boot_id(),
                offset=0.0,
                wall=0.0,
                time=time,
                boot=time,
                warm=self.found.warm,
                settings=dataclasses.asdict(settings),
                policy=policy.label,
                policy_code=policy_code(policy),
                core_code=core_code(),
            ),
            saved=self.found.saved,
        )
        self._told: list[tuple[float, Message]] = []
        self._since = self.found.state.snapshot() if self.found.state is not None else None
        self.step()

    def step(self, *inputs: Input, after: float = 0.0) -> list[Send]:
        """Let some time pass, then a turn."""
        self.now += after
        outputs = self.core.step(self.now, list(inputs))
        records = [output.record for output in outputs if isinstance(output, WriteRecords)]
        self._told += [(self.now, record) for record in records]
        self.pen.write(self.now, records)
        return [output for output in outputs if isinstance(output, Send)]

    def say(self, session: int, message: Message, after: float = 0.01) -> list[Message]:
        """A word of a client; what it is answered, and acks of its rates."""
        answers = [sent for sent in self.step(Frame(session, message), after=after) if sent.session == session]  # type: ignore[arg-type]
        for answer in answers:
            if isinstance(answer.message, Rate):
                self.step(Frame(session, Ack(answer.message.epoch, answer.message.rev)), after=0.001)
        return [answer.message for answer in answers]

    def some_work(self, jobs: int = 3, rounds: int = 2) -> None:
        """Jobs come, post, and complete, but for the last round of all."""
        for session in range(1, jobs + 1):
            self.step(Connected(session, ME))
            self.say(session, Register(1, f"job {session}", 0, 1 + session))
        for turn in range(rounds):
            for session in range(1, jobs + 1):
                self.say(session, Post(2, turn, turn, 500.0 * session), after=0.5)
            for session in range(1, jobs + (turn + 1 < rounds)):
                self.say(session, Complete(turn, 500.0 * session), after=0.25)

    def snapshot(self) -> bytes:
        """The state now; what the journal leads to counts from here."""
        self._since, self._told = self.core.state.snapshot(), []
        return self._since

    def expected(self) -> bytes:
        """What a recovery must find: what is not recorded, as renewals, is not in it."""
        state = (
            ControllerState(self.settings)
            if self._since is None
            else ControllerState.restore(self._since, self.settings)
        )
        for time, record in self._told:
            state.apply(time, record)
        return state.snapshot()

    def kill(self) -> None:
        """End without a word; what was written stays."""
        self.pen.close()
        self._lock.close()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Callable[..., Life]]:
    lives: list[Life] = []

    def start(**options: object) -> Life:
        life = Life(**{"folder": tmp_path / "journal", **options})  # type: ignore[arg-type]
        lives.append(life)
        return life

    yield start
    for life in lives:
        with suppress(OSError):
            life.kill()
