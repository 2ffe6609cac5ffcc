"""The thread that talks to the controller, so that the job never has to.

One daemon thread steps the member: it dials, keeps the beats, and turns what the controller says into rates of the
bucket. The job's threads only leave it notes. It raises nothing: should it fail, it says so once and the job goes on at
the fallback rate, as the bucket does by itself whenever nobody renews its rate.
"""

from __future__ import annotations

import logging
import math
import os
import selectors
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from penstock.client.bucket import Bucket, Clock, boottime
from penstock.client.config import Address, ClientConfig
from penstock.client.events import (
    Begin,
    Dial,
    End,
    Event,
    ExtendPhase,
    HangUp,
    Leave,
    LinkDown,
    LinkUp,
    LogLine,
    Output,
    Outside,
    Progress,
    Received,
    SeenOn,
    SendTo,
    SetRate,
    Switch,
    Timer,
    WakeAt,
)
from penstock.client.first_contact import common_bucket, leave_common
from penstock.client.handshake import ByMunge, ByPeer, ByToken, ClientHandshake, Credential, NotLetIn
from penstock.client.member import Member, MemberState
from penstock.client.mounts import device_of, devices_of
from penstock.client.notes import Left, Pacer, PendingAnnouncement, log
from penstock.client.shared_bucket import SharedBucket
from penstock.client.transport import LinkLost, Transport, is_tls, words
from penstock.wire.messages import BadFrame, Error, FromController, Welcome, read_controller

CONNECT_LIMIT = 1.0  # seconds
HELLO_LIMIT = 2.0
LEAVE_LIMIT = 0.1
SWITCH_EVERY = 10.0  # how often the off file is looked for
ASK_AGAIN = 0.05  # how often a full queue of connections is tried
LOOK_AGAIN = 0.02  # how often other ranks are looked for in a phase that this one has left


class Link:
    """The member of this process and its thread."""

    def __init__(self, config: ClientConfig, clock: Clock = boottime) -> None:
        self.config = config
        self._clock = clock
        # The thread starts with an eye on the off file; a job that begins after it was made is not paced either.
        self.member = Member(replace(config.settings, off=config.off_file.exists()))
        self._notes: deque[PendingAnnouncement | Left | Event] = deque()
        self._asked: PendingAnnouncement | None = None
        self._phase_left: Left | None = None
        self._pacer: Pacer | None = None
        self._base = 0.0
        self._devices: tuple[int, ...] = ()  # that files of the phase are on
        self._mounted: tuple[dict[str, str], dict[int, str]] = {}, {}  # paths of targets, and their devices
        self._announced = math.inf  # by a phase that is extended here
        self._broken = False
        self._left = threading.Event()
        self._transport: Transport | None = None
        self._handshake: ClientHandshake | None = None
        self._attempts = self._place = 0
        self._limit = math.inf  # of dialling and of the handshake
        self._dial_at = math.inf if self.member.state is MemberState.OFF else clock()
        self._wake_at = math.inf
        self._look_at = clock() + SWITCH_EVERY
        self._settled = self.member.state is MemberState.OFF  # the first attempt to reach the controller is over
        self._settled_by = clock() + CONNECT_LIMIT * max(1, len(config.addresses))
        self._common: SharedBucket | None = None
        self._sharing = threading.Lock()
        self._selector = selectors.DefaultSelector()
        self._bell = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._start()

    # For the job's threads: leave a note, ring.

    def announce(self, pacer: Pacer, begin: Begin, shared: bool = False) -> PendingAnnouncement:
        """Announce a phase; the pacer lets nothing pass before the answer, or before it is overdue.

        Where it is shared by processes of which none sees what the others move, more is announced here when needed.
        """
        limit = self.config.settings.timeout + max(0.0, 0.0 if self._settled else self._settled_by - self._clock())
        asked = PendingAnnouncement(begin, pacer, limit, shared)
        if self._broken:
            self.release(pacer)
            asked.answered.set()
        else:
            self._devices = ()
            self._share(pacer)
            pacer.set_rate(0.0, self._clock() + asked.limit, self.member.fallback)
            self._note(asked)
        return asked

    def extend(self, more: float) -> None:
        """More will be moved than announced."""
        self._note(ExtendPhase(more))

    def went_past(self, total: float, how: str) -> None:
        """So many bytes of the job, so far, went past its pacer."""
        self._note(Outside(total, how))

    def touches(self, file: object) -> None:
        """Bytes of the phase go to this file. Only where the site says which targets are where."""
        if self.member.paths and (device := device_of(file)) not in self._devices:
            self._devices = (*self._devices, device)
            self._note(Timer())

    def release(self, pacer: Pacer) -> None:
        """What is paid for from now on is not part of a phase: it goes by the fallback."""
        fallback = self.member.fallback
        self._share(pacer)
        pacer.set_rate(fallback, math.inf, fallback)

    def _share(self, pacer: Pacer | None) -> None:
        """Until the controller has named a rate, what this process uses is part of what its node may use."""
        rate = self.member.fallback if self.member.strange else None
        with self._sharing:
            if self._common is None and rate is not None:
                self._common = common_bucket(rate)
            if isinstance(pacer, Bucket):
                pacer.common = self._common if rate is not None else None
            elif isinstance(pacer, SharedBucket):
                pacer.set_common(self._common.path if rate is not None and self._common is not None else None)
            if rate is None and self._common is not None:
                leave_common(self._common)
                self._common = None

    def end(self, done: float) -> None:
        """The phase is over."""
        self._note(End(done))

    def end_with_others(self, pacer: Pacer, base: float, others: Callable[[], bool]) -> Left:
        """The phase is over for this process; it ends, with all moved since `base`, when no others are in it."""
        left = Left(pacer, base, others)
        self._note(left)
        if self._broken:
            left.ended.set()
        return left

    def leave(self) -> None:
        """Say goodbye, within a tenth of a second."""
        if not self._broken:
            self._note(Leave())
            self._left.wait(LEAVE_LIMIT)

    def forget(self) -> None:
        """In a forked child: let go of what belongs to the parent, without a word on its connection."""
        self._broken = True
        # The number of a closed bell may soon be that of a file of the job.
        bell, self._bell = self._bell, -1
        for close in (self._selector.close, lambda: os.close(bell), self._hang_up_quietly):
            with suppress(Exception):  # the thread may have been in the middle of anything
                close()

    def _note(self, note: PendingAnnouncement | Left | Event) -> None:
        self._notes.append(note)
        if self._bell >= 0:
            os.eventfd_write(self._bell, 1)

    # The thread.

    def _start(self) -> None:
        try:
            threading.Thread(target=self._run, name="penstock-link", daemon=True).start()
        except RuntimeError as error:
            self._fail(error)

    def _run(self) -> None:
        try:
            # Signals are the job's; this thread must not be where they arrive.
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            while not self._left.is_set():
                self._turn()
            self._hang_up()
            if self._common is not None:
                leave_common(self._common)
            self._selector.close()
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._broken = True
        log.warning("pacing goes on at the fallback rate, because of %s: %s", type(error).__name__, error)
        for pacer in (self._pacer, *(note.pacer for note in self._notes if isinstance(note, PendingAnnouncement))):
            if pacer is not None:
                self.release(pacer)
        for note in (self._asked, self._phase_left, *self._notes):
            if isinstance(note, PendingAnnouncement):
                note.answered.set()
            if isinstance(note, Left):
                note.ended.set()
        self._hang_up_quietly()

    def _turn(self) -> None:
        """Wait for something to happen, and see to it."""
        self._read_notes()
        if self._left.is_set():
            return
        if self._phase_left is not None and not self._phase_left.others():
            self._end_left()
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + SWITCH_EVERY
            self._switch()
        if now >= self._wake_at:
            self._step(Timer())
        if now >= self._dial_at:
            self._dial()
        self._check_limits(self._clock())
        self._watch()
        for key, mask in self._selector.select(self._rest(self._clock())):
            if key.fd == self._bell:
                os.eventfd_read(self._bell)
            else:
                self._hear(mask)

    def _rest(self, now: float) -> float:
        due = min(self._wake_at, self._dial_at, self._limit, self._look_at)
        if self._transport is not None and self._transport.queued:
            due = min(due, now + ASK_AGAIN)
        if self._phase_left is not None:
            due = min(due, now + LOOK_AGAIN)
        if self._notes:
            due = min(due, self._settled_by) if self._holding(now) else now
        return max(0.0, due - now)

    def _holding(self, now: float) -> bool:
        """Whether notes wait for the first attempt to reach the controller."""
        return not self._settled and now < self._settled_by

    def _read_notes(self) -> None:
        while self._notes and not self._holding(self._clock()):
            self._read(self._notes.popleft())

    def _read(self, note: PendingAnnouncement | Left | Event) -> None:
        match note:
            case PendingAnnouncement():
                self._end_left()  # all ranks have met since
                self._asked, self._pacer, self._base = note, note.pacer, note.pacer.moved
                self._announced = note.begin.volume if note.shared else math.inf
                self._step(note.begin)
            case Left():
                self._phase_left = note
            case Leave():
                # Where ranks go on, nothing is said: the controller counts on them for a while, as after a death.
                if self._phase_left is None or not self._phase_left.others():
                    self._end_left()
                    self._step(note)
                self._left.set()
            case _:
                if isinstance(note, ExtendPhase):
                    self._announced += note.more
                if isinstance(note, End):
                    self._pacer = None  # closed by its owner
                self._step(note)

    def _end_left(self) -> None:
        """End the phase that this process has left: close the pacer, then tell the controller."""
        left, self._phase_left = self._phase_left, None
        if left is not None:
            self._pacer = None
            self.release(left.pacer)
            self._step(End(left.pacer.moved - left.base))
            left.ended.set()

    def _switch(self) -> None:
        off = self.config.off_file.exists()
        if off != (self.member.state is MemberState.OFF):
            log.warning("%s %s pacing", self.config.off_file, "switches off" if off else "is gone and no longer stops")
            self._step(Switch(on=not off))

    def _step(self, event: Event) -> None:
        """Let the member take an event, and do what it says."""
        self._wake_at = math.inf
        lost = ""
        if self._pacer is not None:
            lost = self._report(self._pacer.moved - self._base)
        lost = self._do(self.member.step(self._clock(), event)) or lost
        if self._asked is not None and self.member.state is not MemberState.WAIT:
            self._asked.answered.set()
            self._asked = None
        if self._common is not None:
            self._share(self._pacer)
        if lost:
            self._lose(lost)

    def _report(self, moved: float) -> str:
        """Tell the member how far it is."""
        lost = ""
        if moved > self._announced and not self._notes:  # one of them may say so
            more = max(moved - self._announced, self._announced / 8)
            self._announced += more
            lost = self._do(self.member.step(self._clock(), ExtendPhase(more)))
        if self._devices:
            lost = self._do(self.member.step(self._clock(), SeenOn(self._targets()))) or lost
        return self._do(self.member.step(self._clock(), Progress(moved))) or lost

    def _targets(self) -> tuple[str, ...]:
        """Those that files of the phase are on."""
        if self._mounted[0] != self.member.paths:
            self._mounted = self.member.paths, devices_of(self.member.paths)
        known = self._mounted[1]
        return tuple(known[device] for device in self._devices if device in known)

    def _do(self, outputs: list[Output]) -> str:
        """Why the link was lost on the way, if it was."""
        lost = ""
        for output in outputs:
            match output:
                case SetRate(rate, expiry, fallback):
                    if self._pacer is not None:
                        self._pacer.set_rate(rate, expiry, fallback)
                case SendTo(message):
                    if self._transport is not None and not lost:
                        try:
                            self._transport.send(message)
                        except (OSError, LinkLost) as error:
                            lost = words(error)
                case Dial(after, place):
                    self._hang_up()
                    self._dial_at, self._place = self._clock() + after, place
                case HangUp():
                    self._hang_up()
                    self._dial_at = math.inf
                case LogLine(text, warning):
                    log.log(logging.WARNING if warning else logging.INFO, "%s", text)
                case WakeAt(time):
                    self._wake_at = time
        return lost

    # The connection.

    def _dial(self) -> None:
        self._dial_at = math.inf
        if not self.config.addresses:
            return
        address = self.config.addresses[self._place]
        self._attempts += 1
        try:
            self._handshake = ClientHandshake(self._identity(address), self.member.epoch_seen)
        except OSError as error:
            self._lose(f"nothing to show who we are: {words(error)}", warning=True)
            return
        try:
            self._transport = Transport(address, self.config.ca, self._attempts)
            self._limit = self._clock() + CONNECT_LIMIT
            self._greet()
        except (OSError, LinkLost, ValueError) as error:
            self._lose(f"{address}: {words(error)}", warning=is_tls(error))

    def _identity(self, address: Address) -> Credential:
        if self.config.token is not None:
            return ByToken(self.config.token)
        if address.path:
            return ByPeer()
        return ByMunge(self.config.settings.job, self.config.munge_socket)

    def _greet(self) -> None:
        """The first word, as soon as there is a connection."""
        if self._transport is not None and self._transport.connected and self._handshake is not None:
            self._limit = self._clock() + HELLO_LIMIT
            self._transport.send(self._handshake.hello)

    def _check_limits(self, now: float) -> None:
        if self._transport is None:
            return
        if now >= self._limit:
            self._lose("no connection in time" if not self._transport.connected else "no welcome in time")
        elif self._transport.queued:
            try:
                self._transport.try_again()
                self._greet()
            except (OSError, LinkLost) as error:
                self._lose(words(error))

    def _watch(self) -> None:
        """Select for what the connection wants now."""
        if self._transport is None or not (wanted := self._transport.wanted):
            return
        key = self._selector.get_map().get(self._transport.socket)
        if key is None:
            self._selector.register(self._transport.socket, wanted)
        elif key.events != wanted:
            self._selector.modify(self._transport.socket, wanted)

    def _hear(self, mask: int) -> None:
        transport = self._transport
        if transport is None:
            return
        try:
            greeted = transport.connected
            for body in transport.ready(mask):
                self._heard(read_controller(body))
                if self._transport is not transport:
                    return
            if not greeted:
                self._greet()
        except (OSError, LinkLost, BadFrame, NotLetIn) as error:
            if self._transport is transport:
                self._lose(words(error), warning=isinstance(error, NotLetIn) or is_tls(error))

    def _heard(self, message: FromController) -> None:
        if self._handshake is None or isinstance(message, Error):
            self._settled = True
            self._step(Received(message))
            return
        answer = self._handshake.received(message)
        if isinstance(answer, Welcome):
            self._handshake, self._limit, self._settled = None, math.inf, True
            self._step(LinkUp(answer))
        elif self._transport is not None:
            self._transport.send(answer)

    def _lose(self, reason: str, warning: bool = False) -> None:
        """The link is gone; a warning if somebody has to mend that, for time does not."""
        self._hang_up()
        self._settled = self._settled or self._attempts >= len(self.config.addresses)
        self._step(LinkDown(reason, warning))

    def _hang_up(self) -> None:
        self._handshake, self._limit = None, math.inf
        if self._transport is not None:
            with suppress(KeyError):
                self._selector.unregister(self._transport.socket)
            self._transport.close()
            self._transport = None

    def _hang_up_quietly(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None
