"""One member: what a process that moves bytes for a job knows of its grant. No clock, no socket, no thread.

`step(t, event)` takes what happened and gives what is to be done, in this order. Times are the member's own clock.
Three rules carry the controller's promise that the rates in force never exceed the capacity:

- only a Rate with a higher (epoch, rev) than the one in force is applied, and only for the operation that is open;
- a lease runs from the moment at which *this side* sent the beat that the controller echoes: no delay lengthens it;
- a rate is acknowledged after the pacer has it, never before.

Without a lease the member goes on at its fallback rate, so a lost controller slows a job down but cannot stop it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import msgspec

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
    Progress,
    Received,
    SendTo,
    SetRate,
    Switch,
    Timer,
    WakeAt,
)
from penstock.wire import messages as wire
from penstock.wire.messages import (
    Ack,
    Beat,
    Complete,
    Error,
    Goodbye,
    Message,
    Notice,
    OpenOp,
    Post,
    Rate,
    Register,
    Registered,
    Resync,
    Welcome,
)

LEAST_BEAT = 0.01  # seconds; a controller that asks for more beats than that is not in its right mind
NEVER = math.inf
MOST_TEXT = 300  # characters of a controller's that are logged
REFUSALS = frozenset({"auth", "version", "forbidden"})


class MemberState(Enum):
    """What a member is doing, in the words of `docs/reference/protocol.md`."""

    OFF = "off"  # not configured, or switched off: unpaced
    DIAL = "dial"  # no controller at the moment, nothing to move
    IDLE = "idle"  # known to the controller, nothing to move
    WAIT = "wait"  # announced, not answered yet
    PACED = "paced"  # at the rate granted
    STALE = "stale"  # at the rate granted, but the link is lost
    OPEN = "open"  # at the fallback rate
    FREE = "free"  # unpaced by the controller's word
    REFUSED = "refused"  # the controller does not want us: at the fallback rate


@dataclass(frozen=True)
class MemberSettings:
    """Who the member is, and how long it waits. Times in seconds, rates in bytes/s."""

    job: str = "job"
    nodes: int = 1
    cap: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    fallback: float | None = None  # known beforehand; None: unpaced until the controller names one
    released: float | None = None  # on the member's clock; None: at its first step
    progress: float = 0.0
    timeout: float = 2.0  # for the answer to an announcement
    max_wait: float = 600.0  # twice this at rate 0 is a fault of the controller
    ping: float = wire.PING  # between beats of an idle member; the controller counts on it
    member: int | None = None  # its number in the job; None: drawn
    seed: int | None = None  # of the spread of dialling; None: by chance
    off: bool = False


class OpenPhase(msgspec.Struct):
    """The phase that is open."""

    op: int
    volume: float
    direction: str
    targets: tuple[str, ...]
    posted: float
    done: float = 0.0
    known: bool = False  # to the controller, as far as we can tell
    answered: bool = False

    def told(self, t: float) -> OpenOp:
        """As the controller hears of it when we come back."""
        return OpenOp(self.op, self.volume, self.done, self.direction, self.targets, t - self.posted)


class _Link(Enum):
    OFF = 0
    DOWN = 1
    REFUSED = 2
    UP = 3


class Member:
    """The state of one member; see the module's text."""

    def __init__(self, settings: MemberSettings) -> None:
        self.settings = settings
        self.app = 0  # 0: not known to any controller
        self.op: OpenPhase | None = None
        self.rate: float | None = 0.0  # in force; None: unpaced
        self.key = (0, 0)  # epoch and rev of the last Rate applied
        self.epoch_seen = 0
        self.fallbacks: dict[str, float] = {}
        self._chance = random.Random(settings.seed)
        self.member = settings.member if settings.member is not None else self._draw_member()
        self._link = _Link.OFF if settings.off else _Link.DOWN
        self._pacing: MemberState | None = None  # WAIT, PACED, OPEN or FREE; None without an operation
        self._unfinished: OpenPhase | None = None  # ended while cut off: the controller still counts on it
        self._lease, self._beat = 8.0, 2.0
        self._lease_end = -NEVER
        self._hb = 0
        self._sent: dict[int, float] = {}
        self._ops = self._req = self._post_req = self._fails = 0
        self._born: float | None = settings.released
        self._answer_due = self._beat_due = self._repost_due = self._zero_since = NEVER
        self._resync_after = -NEVER
        self._heard = -NEVER  # when the controller said something, or should have begun to
        self._gave_up = False
        self._out: list[Output] = []

    @property
    def state(self) -> MemberState:
        """Where the member stands: the link and the pacing, put together."""
        if self._link is _Link.OFF:
            return MemberState.OFF
        if self._link is _Link.REFUSED:
            return MemberState.REFUSED
        if self._pacing is None:
            return MemberState.IDLE if self._link is _Link.UP else MemberState.DIAL
        if self._pacing is MemberState.PACED and self._link is not _Link.UP:
            return MemberState.STALE
        return self._pacing

    @property
    def linked(self) -> bool:
        """Whether the controller can hear us."""
        return self._link is _Link.UP

    @property
    def lease_end(self) -> float:
        """Until when the granted rate may be used."""
        return self._lease_end

    @property
    def fallback(self) -> float | None:
        """The rate without a grant, for the open operation; None: unpaced."""
        targets = self.op.targets if self.op and self.op.targets else ("",)
        unnamed = self.fallbacks.get("", self.settings.fallback)
        rates = [self.fallbacks.get(target, unnamed) for target in targets]
        known = [rate for rate in rates if rate is not None]
        if not known:
            return None
        return min(known) if self.settings.cap is None else min(*known, self.settings.cap)

    def step(self, t: float, event: Event) -> list[Output]:
        """Take what happened at `t`, which never falls; give what is to be done, in order."""
        out: list[Output] = []
        self._out = out
        if self._born is None:
            self._born = t
        self._overdue(t)
        match event:
            case Received(message):
                self._received(t, message)
            case Progress(done):
                self._progress(done)
            case Begin(volume, direction, targets):
                self._begin(t, volume, direction, targets)
            case End(done):
                self._end(done)
            case ExtendPhase(more):
                self._extend(more)
            case LinkUp(welcome):
                self._up(t, welcome)
            case LinkDown(reason):
                self._down(reason)
            case Switch(on):
                self._switch(on)
            case Leave(reason):
                self._send(Goodbye(reason))
            case Timer():
                pass
        self._due(t)
        wake = min(self._deadlines())
        if wake < NEVER:
            out.append(WakeAt(wake))
        return out

    # What time brings.

    def _overdue(self, t: float) -> None:
        """Leave what has run out, before anything else is looked at."""
        if self._pacing is MemberState.WAIT and t >= self._answer_due:
            self._log(f"no answer within {self.settings.timeout:g} s; going on at the fallback rate")
            self._open()
        elif self._pacing is MemberState.PACED and t >= self._lease_end:
            self._log("the lease ran out; going on at the fallback rate")
            self._open()
        elif self._pacing is MemberState.PACED and t >= self._zero_since + 2 * self.settings.max_wait:
            self._log(f"at rate 0 for {2 * self.settings.max_wait:g} s; going on at the fallback rate", warning=True)
            self._gave_up = True
            self._open()

    def _due(self, t: float) -> None:
        if t >= self._silence_ends():
            # Every beat of an open operation is answered; TCP may take minutes to notice that nobody is there.
            self._log(f"nothing heard for {t - self._heard:.3g} s; dialling anew")
            self._dial_again()
        if self._link is not _Link.UP:
            return
        if self.op is not None and t >= self._repost_due:
            if self.app == 0:
                self._register(t)
            self._post(t, self.op)
        if t >= self._beat_due:
            if self._pacing is MemberState.OPEN and self.op is not None and self.op.known and not self.op.answered:
                self._post(t, self.op)  # the first one may have been lost
            self._say_beat(t)

    def _deadlines(self) -> tuple[float, ...]:
        waiting, paced = self._pacing is MemberState.WAIT, self._pacing is MemberState.PACED
        up = self._link is _Link.UP
        return (
            self._answer_due if waiting else NEVER,
            min(self._lease_end, self._zero_since + 2 * self.settings.max_wait) if paced else NEVER,
            min(self._beat_due, self._repost_due) if up else NEVER,
            self._silence_ends(),
        )

    def _silence_ends(self) -> float:
        """Until when a link counts as one on which nothing is heard."""
        return self._heard + 2 * self._lease if self._link is _Link.UP and self.op is not None else NEVER

    # What the job does.

    def _begin(self, t: float, volume: float, direction: str, targets: tuple[str, ...]) -> None:
        if self.op is not None:
            self._extend(volume)
            return
        self._ops += 1
        self.op = OpenPhase(self._ops, volume, direction, targets, t)
        self._heard = t
        self._gave_up = False
        if self._link is _Link.OFF:
            self._free()
        elif self._link is _Link.UP:
            self._pacing = MemberState.WAIT
            self._answer_due = t + self.settings.timeout
            self._set(0.0, self._answer_due)
            self._post(t, self.op)
        else:
            self._open()

    def _extend(self, more: float) -> None:
        if self.op is None:
            return
        self.op.volume += more
        if self.op.known:
            self._send(wire.Extend(self.op.op, more))

    def _progress(self, done: float) -> None:
        if self.op is not None:
            self.op.done = max(self.op.done, done)

    def _end(self, done: float) -> None:
        if self.op is None:
            return
        self.op.done = done  # may be less than was thought, if the end of a file came first
        ended, self.op, self._pacing = self.op, None, None
        self._lease_end, self._zero_since, self._repost_due = -NEVER, NEVER, NEVER
        self._set(0.0, NEVER)
        if self._link is _Link.UP:
            self._send(Complete(ended.op, ended.done))
        elif ended.known:
            self._unfinished = ended

    # What the link does.

    def _up(self, t: float, welcome: Welcome) -> None:
        if welcome.epoch < self.epoch_seen:
            self._log(f"this controller is of epoch {welcome.epoch}, older than {self.epoch_seen}", warning=True)
            self._dial_again()
        elif not (LEAST_BEAT <= welcome.beat < NEVER and 0 < welcome.lease < NEVER):
            self._log(f"the controller asks for a beat of {welcome.beat} s and a lease of {welcome.lease} s; ignored")
            self._dial_again()
        elif self._link is not _Link.OFF:
            self.epoch_seen = welcome.epoch
            self._lease, self._beat = welcome.lease, welcome.beat
            self._link, self._fails = _Link.UP, 0
            self._heard = t
            self._introduce(t)

    def _down(self, reason: str) -> None:
        if self._link is _Link.OFF:
            return
        if self._link is _Link.REFUSED:
            self._out.append(Dial(60.0))
            return
        was_up, self._link = self._link is _Link.UP, _Link.DOWN
        if self._pacing is MemberState.WAIT:
            self._open()
        if was_up:
            self._log(f"lost the controller{f' ({reason})' if reason else ''}")
            # A restarted controller must not meet everybody at once.
            self._out.append(Dial(self._chance.uniform(0.0, 2.0 if self.op else 10.0)))
        else:
            if self._fails == 0:
                self._log(f"cannot reach the controller{f' ({reason})' if reason else ''}")
            self._dial_again()

    def _dial_again(self, least: float = 0.0) -> None:
        """Hang up and dial after a pause that grows with every failure."""
        if self._link is _Link.UP:
            self._link = _Link.DOWN
        longest = min(30.0, 0.5 * 2.0 ** min(self._fails, 10))
        self._fails += 1
        self._out.append(Dial(max(least, self._chance.uniform(0.5, longest))))
        if self._pacing is MemberState.WAIT:
            self._open()

    def _switch(self, on: bool) -> None:
        if on and self._link is _Link.OFF:
            self._link = _Link.DOWN
            self._out.append(Dial(0.0))
        elif not on and self._link is not _Link.OFF:
            self._send(Goodbye("off"))
            self._link = _Link.OFF
            self._forget()
            if self.op is not None:
                self._free()
            self._out.append(HangUp())

    # What the controller says.

    def _received(self, t: float, message: Message) -> None:
        if self._link is _Link.OFF:
            return
        self._heard = t
        match message:
            case Rate():
                self._rate(t, message)
            case Registered():
                self._registered(message)
            case Error():
                self._error(t, message)
            case Notice(code, text, _):
                self._log(f"the controller says {code}: {text}")

    def _rate(self, t: float, told: Rate) -> None:
        key = (told.epoch, told.rev)
        if self.op is None or told.op != self.op.op or told.epoch < self.epoch_seen or key <= self.key:
            return
        if not 0.0 <= told.rate <= wire.MOST_NUMBER:
            self._log(f"the controller gave a rate of {told.rate}; ignored")
            return
        lease_end = max(self._lease_end, self._sent.get(told.anchor, -NEVER) + self._lease)
        free = bool(told.flags & (wire.FREE | wire.MONITOR))
        if lease_end <= t or (self._gave_up and told.rate == 0.0 and not free):
            return
        self.epoch_seen, self.key, self.op.answered = told.epoch, key, True
        if free:
            self._free()
        else:
            self._pace(t, told.rate, lease_end)
        self._send(Ack(*key))

    def _registered(self, told: Registered) -> None:
        self.app, self.member = told.app, told.member
        self.fallbacks = {name: rate for name, rate in told.fallback.items() if 0.0 < rate <= wire.MOST_NUMBER}
        if self._pacing is MemberState.OPEN:
            self._set(self.fallback, NEVER)

    def _error(self, t: float, error: Error) -> None:
        if error.code in REFUSALS:
            self._refused(error)
        elif error.code == "superseded":
            self._log("another process speaks for this member; joining anew")
            self._forget()
            self._dial_again(error.retry_after)
        elif error.code == "unknown_app":
            self._log("the controller does not know us; joining anew")
            self._forget()
            self._introduce_again(t)
        elif error.code in ("unknown_op", "busy") and self.op is not None:
            self._introduce_again(t)
        elif self.op is not None and error.req == self._post_req and not error.fatal:
            self._post_refused(t, error)
        else:
            self._log(f"the controller reports {error.code}: {_plain(error.text)}")
            if error.fatal:
                self._dial_again(error.retry_after)

    def _refused(self, error: Error) -> None:
        if self._link in (_Link.REFUSED, _Link.OFF):
            return
        self._log(
            f"refused by the controller ({error.code}: {_plain(error.text)}); going on at the fallback rate",
            warning=True,
        )
        self._link = _Link.REFUSED
        # Who was evicted goes unpaced no more. A controller that only cannot tell who we are takes nothing back.
        if self._pacing is MemberState.WAIT or (self._pacing is MemberState.FREE and error.code == "forbidden"):
            self._open()
        self._out.append(Dial(max(60.0, error.retry_after)))

    def _post_refused(self, t: float, error: Error) -> None:
        self._log(
            f"the announcement was refused ({error.code}: {_plain(error.text)}); going on at the fallback rate",
            error.code == "value",
        )
        if self.op is not None:
            self.op.known = False
            if error.code != "value":
                self._repost_due = t + max(10.0, error.retry_after)
        if self._pacing is MemberState.WAIT:
            self._open()

    # What we say.

    def _introduce(self, t: float) -> None:
        """Say who we are and what we are at."""
        if self.app == 0:
            self._register(t)
            if self.op is not None:
                self._post(t, self.op)
                if self.op.done > 0:
                    self._say_beat(t)
            else:
                self._beat_due = t + self.settings.ping
        else:
            self._resync(t)

    def _introduce_again(self, t: float) -> None:
        # Once per beat: two sides that do not understand each other must not shout.
        if self._link is _Link.UP and t >= self._resync_after:
            self._resync_after = t + self._beat
            self._introduce(t)

    def _register(self, t: float) -> None:
        released = t if self._born is None else self._born
        s = self.settings
        self._send(
            Register(self._next_req(), s.job, self.member, s.nodes, s.cap, t - released, s.progress, dict(s.labels))
        )

    def _resync(self, t: float) -> None:
        """Come back with what is in force. An operation that ended meanwhile is told of, and then completed."""
        told, ended = self.op, None
        if told is None:
            told = ended = self._unfinished
        self._unfinished = None
        left = max(0.0, self._lease_end - t) if self._pacing is MemberState.PACED else 0.0
        rate = 0.0 if self.op is None else self._bounded(self.rate)
        self._send(
            Resync(
                self._next_req(),
                self.app,
                self.member,
                *self.key,
                rate,
                left,
                self._next_hb(t),
                told.told(t) if told else None,
                self.settings.job,
                self.settings.nodes,
                self.settings.cap,
            )
        )
        if self.op is not None:
            self.op.known = True
        if ended is not None:
            self._send(Complete(ended.op, ended.done))

    def _bounded(self, rate: float | None) -> float:
        """A rate as the controller can hear it: unpaced is as much as the member can do."""
        if rate is not None:
            return rate
        return wire.MOST_NUMBER if self.settings.cap is None else self.settings.cap

    def _post(self, t: float, op: OpenPhase) -> None:
        self._post_req, self._repost_due = self._next_req(), NEVER
        op.known = True
        self._send(Post(self._post_req, op.op, self._next_hb(t), op.volume, op.direction, op.targets))

    def _say_beat(self, t: float) -> None:
        # A beat acknowledges the rate in force; at the fallback rate, none of the controller's is.
        epoch, rev = self.key if self._pacing in (MemberState.PACED, MemberState.FREE) else (0, 0)
        done, op = (self.op.done, self.op.op) if self.op else (0.0, 0)
        self._send(Beat(self._next_hb(t), epoch, rev, done, op))

    def _next_hb(self, t: float) -> int:
        """Number a message that the controller may echo as the anchor of a lease."""
        for old in [hb for hb, sent in self._sent.items() if sent + self._lease <= t]:
            del self._sent[old]
        self._hb += 1
        self._sent[self._hb] = t
        self._beat_due = t + (self._beat if self.op else self.settings.ping)
        return self._hb

    def _next_req(self) -> int:
        self._req = self._req % 0xFFFFFFFF + 1
        return self._req

    def _send(self, message: Message) -> None:
        if self._link is _Link.UP:
            self._out.append(SendTo(message))

    # How the pacer is set.

    def _pace(self, t: float, rate: float, lease_end: float) -> None:
        self._pacing, self._lease_end = MemberState.PACED, lease_end
        if rate > 0.0:
            self._zero_since, self._gave_up = NEVER, False
        else:
            self._zero_since = min(self._zero_since, t)
        self._set(rate, lease_end)

    def _open(self) -> None:
        self._pacing, self._lease_end, self._zero_since = MemberState.OPEN, -NEVER, NEVER
        self._set(self.fallback, NEVER)

    def _free(self) -> None:
        self._pacing, self._lease_end, self._zero_since = MemberState.FREE, -NEVER, NEVER
        self._set(None, NEVER)

    def _set(self, rate: float | None, expiry: float) -> None:
        self.rate = rate
        self._out.append(SetRate(rate, expiry, self.fallback))

    def _forget(self) -> None:
        """Be nobody's member any more; what was granted to the old one is not ours."""
        # The order of revisions goes on: a controller numbers them across its members.
        self.app, self.member = 0, self._draw_member()
        self._sent.clear()
        self._unfinished = None
        if self.op is not None:
            self.op.known = False
        if self._pacing is MemberState.PACED:
            self._open()

    def _draw_member(self) -> int:
        return self._chance.randrange(1, 1 << 32)

    def _log(self, text: str, warning: bool = False) -> None:
        self._out.append(LogLine(text, warning))


def _plain(text: str) -> str:
    """What somebody else says, as one line of a log."""
    words = " ".join(text[:MOST_TEXT].split())
    return "".join(letter if letter.isprintable() else "?" for letter in words)
