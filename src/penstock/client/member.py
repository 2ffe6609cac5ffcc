"""One member: what a process that moves bytes for a job knows of its grant. No clock, no socket, no thread.

`step(t, event)` takes what happened and gives what is to be done, in this order. Times are the member's own clock.
Three rules carry the controller's promise that the rates in force never exceed the capacity:

- only a Rate with a higher (epoch, rev) than the one in force is applied, and only for the operation that is open;
- a lease runs from the moment at which *this side* sent the beat that the controller echoes: no delay lengthens it;
- a rate is acknowledged after the pacer has it, never before.

Without a lease the member goes on at its fallback rate, so a lost controller slows a job down but cannot stop it.
"""

from __future__ import annotations

from penstock.client.announcing import Announcing
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
    Output,
    Outside,
    Progress,
    Received,
    SeenOn,
    Switch,
    Timer,
    WakeAt,
)
from penstock.client.member_states import LinkState, MemberSettings, MemberState, OpenPhase
from penstock.client.pacing import NEVER
from penstock.wire import messages as wire
from penstock.wire.messages import Ack, Complete, Error, Goodbye, Message, Notice, Rate, Registered, Welcome

__all__ = ["Member", "MemberSettings", "MemberState"]

UNREACHABLE_PAUSE = 30.0  # seconds between two tries to reach the controller, at most
EAGER_PAUSE = 1.0  # and while there is a lease that a standby could renew
NEXT_PAUSE = 0.3  # from one address to the next, at most
REFUSED_PAUSE = 60.0  # and between two tries to be taken by one that refuses
LEAST_BEAT = 0.01  # seconds; a controller that asks for more beats than that is not in its right mind
MOST_TEXT = 300  # characters of a controller's that are logged
MOST_NOTICE = 1000  # and of what it says to people
REFUSALS = frozenset({"auth", "version", "forbidden"})


class Member(Announcing):
    """One member: what happened in, what is to be done out. What is in force is `Pacing`, what it says `Announcing`."""

    def step(self, t: float, event: Event) -> list[Output]:
        """Take what happened at `t`, which never falls; give what is to be done, in order."""
        out: list[Output] = []
        self._out = out
        if self._born is None:
            self._born = t
        self._overdue(t)
        self._take(t, event)
        self._due(t)
        wake = min(self._deadlines())
        if wake < NEVER:
            out.append(WakeAt(wake))
        return out

    def _take(self, t: float, event: Event) -> None:
        match event:
            case Received(message):
                self._received(t, message)
            case Progress(done):
                self._progress(done)
            case SeenOn(targets):
                self._seen_on(t, targets)
            case Begin():
                self._begin(t, event)
            case Outside(total, how):
                self._outside(t, total, how)
            case End(done):
                self._end(done)
            case ExtendPhase(more):
                self._extend(more)
            case LinkUp(welcome):
                self._up(t, welcome)
            case LinkDown(reason, warning):
                self._down(t, reason, warning)
            case Switch(on):
                self._switch(on)
            case Leave(reason):
                self._send(Goodbye(reason))
            case Timer():
                pass

    # What time brings.

    def _overdue(self, t: float) -> None:
        """Leave what has run out, before anything else is looked at."""
        if self._pacing is MemberState.WAIT and t >= self._answer_due:
            self._log(f"no answer within {self.settings.timeout:g} s; {self.without_grant}", warning=self.strange)
            self._open()
        elif self._pacing is MemberState.PACED and t >= self._lease_end:
            self._log(f"the lease ran out; {self.without_grant}")
            self._open()
        elif self._pacing is MemberState.PACED and t >= self._zero_since + 2 * self.settings.max_wait:
            self._log(f"at rate 0 for {2 * self.settings.max_wait:g} s; {self.without_grant}", warning=True)
            self._gave_up = True
            self._open()

    def _due(self, t: float) -> None:
        if t >= self._silence_ends():
            # Every beat of an open operation is answered; TCP may take minutes to notice that nobody is there.
            self._log(f"nothing heard for {t - self._heard:.3g} s; dialling anew")
            self._dial_again(t)
        if self._link is not LinkState.UP:
            return
        if self.op is not None and t >= self._repost_due:
            if self.app == 0:
                self._register(t)
            self._post(t, self.op)
        if t >= self._beat_due:
            waiting = self._pacing is MemberState.WAIT
            if not waiting and self.op is not None and self.op.known and not self.op.answered:
                self._post(t, self.op)  # the first one may have been lost
            self._say_beat(t)

    def _deadlines(self) -> tuple[float, ...]:
        waiting, paced = self._pacing is MemberState.WAIT, self._pacing is MemberState.PACED
        up = self._link is LinkState.UP
        return (
            self._answer_due if waiting else NEVER,
            min(self._lease_end, self._zero_since + 2 * self.settings.max_wait) if paced else NEVER,
            min(self._beat_due, self._repost_due) if up else NEVER,
            self._silence_ends(),
        )

    def _silence_ends(self) -> float:
        """Until when a link counts as one on which nothing is heard; where another may lead, while the lease lasts."""
        patience = 2 * self._lease if self.settings.addresses == 1 else 0.6 * self._lease
        return self._heard + patience if self._link is LinkState.UP and self.op is not None else NEVER

    # What the job does.

    def _begin(self, t: float, given: Begin) -> None:
        if self.op is not None:
            self._extend(given.volume)
            return
        self._ops += 1
        self.op = OpenPhase(self._ops, given.volume, given.direction, given.targets, t)
        self.op.confidence, self.op.program = given.confidence, given.program
        self._heard = t
        self._gave_up = False
        if self._link is LinkState.OFF:
            self._free()
        elif self._link is LinkState.UP:
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

    def _seen_on(self, t: float, targets: tuple[str, ...]) -> None:
        """Say where the bytes go, with a beat at once if that is news: until then others are told wrong rates."""
        if self.op is None or self.op.targets or set(targets) <= set(self.op.seen):
            return
        self.op.seen = tuple(sorted({*self.op.seen, *targets}))
        if self._link is LinkState.UP and self.op.answered:
            self._say_beat(t)

    def _outside(self, t: float, total: float, how: str) -> None:
        """Say what went past the pacer, with a beat at once if that is much more than was said before."""
        news = total > 2.0 * self.outside[0]
        self.outside = total, how
        if news and self._link is LinkState.UP and self.app:
            self._say_beat(t)

    def _end(self, done: float) -> None:
        if self.op is None:
            return
        self.op.done = done  # may be less than was thought, if the end of a file came first
        ended, self.op, self._pacing = self.op, None, None
        self._lease_end, self._zero_since, self._repost_due = -NEVER, NEVER, NEVER
        self._set(0.0, NEVER)
        if self._link is LinkState.UP:
            self._send(Complete(ended.op, ended.done))
        elif ended.known:
            self._unfinished = ended

    # What the link does.

    def _up(self, t: float, welcome: Welcome) -> None:
        if welcome.epoch < self.epoch_seen:
            self._log(f"this controller is of epoch {welcome.epoch}, older than {self.epoch_seen}", warning=True)
            self._dial_again(t)
        elif not (LEAST_BEAT <= welcome.beat < NEVER and 0 < welcome.lease < NEVER):
            self._log(f"the controller asks for a beat of {welcome.beat} s and a lease of {welcome.lease} s; ignored")
            self._dial_again(t)
        elif self._link is not LinkState.OFF:
            self.epoch_seen = welcome.epoch
            self._lease, self._beat = welcome.lease, welcome.beat
            self._link = LinkState.UP
            self._heard = t
            self._introduce(t)

    def _down(self, t: float, reason: str, warning: bool = False) -> None:
        if self._link is LinkState.OFF:
            return
        if self._link is LinkState.REFUSED:
            self._dial(60.0)
            return
        was_up, self._link = self._link is LinkState.UP, LinkState.DOWN
        if self._pacing is MemberState.WAIT:
            self._open()
        if was_up:
            self._log(f"lost the controller{f' ({reason})' if reason else ''}")
            # A restarted controller must not meet everybody at once.
            self._dial(self._chance.uniform(0.0, 2.0 if self.op else 10.0))
        else:
            first_round_over = self._fails == 0 and self._tried == self.settings.addresses - 1
            if first_round_over or (warning and reason != self._complaint):
                why = f" ({reason})" if reason else ""
                self._log(f"cannot reach the controller{why}; {self.without_grant}", warning or self.strange)
                self._complaint = reason
            self._dial_again(t)

    def _dial(self, after: float) -> None:
        self._out.append(Dial(after, self.place))

    def _dial_again(self, t: float, least: float = 0.0, most: float = UNREACHABLE_PAUSE) -> None:
        """Hang up and dial the next address."""
        if self._link is LinkState.UP:
            self._link = LinkState.DOWN
        self.place = (self.place + 1) % self.settings.addresses
        self._tried += 1
        self._dial(self._pause(t, least, most))
        if self._pacing is MemberState.WAIT:
            self._open()

    def _pause(self, t: float, least: float, most: float) -> float:
        """Before the next address a short one; after the last of them one that grows with every round."""
        if self._tried % self.settings.addresses and not least:
            return self._chance.uniform(0.0, NEXT_PAUSE)
        if self.settings.addresses > 1 and t < self._lease_end:
            most = min(most, EAGER_PAUSE)
        longest = min(most, 0.5 * 2.0 ** min(self._fails, 10))
        self._fails += 1
        # Whoever is told when to come again is not to come together with all others that were told so.
        asked = least * self._chance.uniform(1.0, 1.25) if least else 0.0
        return max(asked, self._chance.uniform(0.5, longest))

    def _switch(self, on: bool) -> None:
        if on and self._link is LinkState.OFF:
            self._link = LinkState.DOWN
            self._dial(0.0)
        elif not on and self._link is not LinkState.OFF:
            self._send(Goodbye("off"))
            self._link = LinkState.OFF
            self._forget()
            if self.op is not None:
                self._free()
            self._out.append(HangUp())

    # What the controller says.

    def _received(self, t: float, message: Message) -> None:
        if self._link is LinkState.OFF:
            return
        self._heard = t
        match message:
            case Rate():
                self._rate(t, message)
            case Registered():
                self._registered(message)
            case Error():
                self._error(t, message)
            case Notice("waiting", text, _):
                # A warning, for most jobs set up no logging, and their users are to read it all the same.
                self._log(_plain(text, MOST_NOTICE), warning=True)
            case Notice(code, text, _):
                self._log(f"the controller says {_plain(code)}: {_plain(text, MOST_NOTICE)}")

    def _rate(self, t: float, told: Rate) -> None:
        key = (told.epoch, told.rev)
        if not self.app:
            return  # who does not know its number registers anew when the link is lost, and what it held is forgotten
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
        self.paths, self.operations = told.paths, told.operations
        self._fails = self._tried = 0  # only who was taken, not who was let in and sent away
        self.fallbacks = {name: rate for name, rate in told.fallback.items() if 0.0 < rate <= wire.MOST_NUMBER}
        if self._pacing is MemberState.OPEN:
            self._set(self.fallback, NEVER)

    def _error(self, t: float, error: Error) -> None:
        if error.code in REFUSALS:
            self._refused(error)
        elif error.code == "superseded":
            self._log("another process speaks for this member; joining anew")
            self._forget()
            self._dial_again(t, error.retry_after)
        elif error.code == "unknown_app":
            self._log("the controller does not know us; joining anew")
            self._forget()
            self._introduce_again(t)
        elif error.code in ("unknown_op", "busy") and self.op is not None:
            self._introduce_again(t)
        elif self.op is not None and error.req == self._post_req and not error.fatal:
            self._post_refused(t, error)
        else:
            refused = f"; {self.without_grant}" if error.fatal and self.strange else ""
            self._log(f"the controller reports {error.code}: {_plain(error.text)}{refused}", warning=bool(refused))
            if error.fatal:
                self._dial_again(t, error.retry_after, REFUSED_PAUSE)

    def _refused(self, error: Error) -> None:
        if self._link in (LinkState.REFUSED, LinkState.OFF):
            return
        self._log(
            f"refused by the controller ({error.code}: {_plain(error.text)}); {self.without_grant}",
            warning=True,
        )
        self._link = LinkState.REFUSED
        # Who was evicted goes unpaced no more. A controller that only cannot tell who we are takes nothing back.
        if self._pacing is MemberState.WAIT or (self._pacing is MemberState.FREE and error.code == "forbidden"):
            self._open()
        self._dial(max(60.0, error.retry_after))

    def _post_refused(self, t: float, error: Error) -> None:
        self._log(
            f"the announcement was refused ({error.code}: {_plain(error.text)}); {self.without_grant}",
            error.code == "value",
        )
        if self.op is not None:
            self.op.known = False
            if error.code != "value":
                self._repost_due = t + max(10.0, error.retry_after)
        if self._pacing is MemberState.WAIT:
            self._open()


def _plain(text: str, most: int = MOST_TEXT) -> str:
    """What somebody else says, as one line of a log."""
    words = " ".join(text[:most].split())
    return "".join(letter if letter.isprintable() else "?" for letter in words)
