"""What a member in a job says to its controller: who it is, what it has open, how far it is, that it is still there."""

from __future__ import annotations

from penstock.client.events import SendTo
from penstock.client.member_states import LinkState, MemberState, OpenPhase
from penstock.client.pacing import NEVER, Pacing
from penstock.wire import messages as wire
from penstock.wire.messages import Beat, Complete, Message, Post, Register, Resync


class Announcing(Pacing):
    """A member that can speak."""

    def _introduce(self, t: float) -> None:
        """Say who we are and what we are at."""
        if self.app == 0:
            self._register(t)
            if self.op is not None:
                self.op.answered = False
                self._post(t, self.op)
                if self.op.done > 0:
                    self._say_beat(t)
            else:
                self._beat_due = t + self.settings.ping
        else:
            self._resync(t)

    def _introduce_again(self, t: float) -> None:
        # Once per beat: two sides that do not understand each other must not shout.
        if self._link is LinkState.UP and t >= self._resync_after:
            self._resync_after = t + self._beat
            self._introduce(t)

    def _register(self, t: float) -> None:
        released = t if self._born is None else self._born
        s = self.settings
        self._send(
            Register(
                self._next_req(),
                s.job,
                self.member,
                s.nodes,
                s.cap,
                t - released,
                s.progress,
                dict(s.labels),
                s.uid,
                s.kind,
            )
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
                self.settings.uid,
                self.settings.kind,
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
        hb = self._next_hb(t)
        said = (op.op, hb, op.volume, op.direction, op.targets, op.confidence)
        self._send(Post(self._post_req, *said, program=op.program))

    def _say_beat(self, t: float) -> None:
        # A beat acknowledges the rate in force; at the fallback rate, none of the controller's is.
        epoch, rev = self.key if self._pacing in (MemberState.PACED, MemberState.FREE) else (0, 0)
        done, op = (self.op.done, self.op.op) if self.op else (0.0, 0)
        seen = self.op.seen if self.op and not self.op.targets else ()
        self._send(Beat(self._next_hb(t), epoch, rev, done, op, seen, *self.outside))

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
        if self._link is LinkState.UP:
            self._out.append(SendTo(message))

    def _forget(self) -> None:
        """Be nobody's member any more; what was granted to the old one is not ours."""
        # The order of revisions goes on: a controller numbers them across its members.
        self.app, self.member = 0, self._draw_member()
        self._sent.clear()
        self._unfinished = None
        if self.op is not None:
            self.op.known = False
        if self._pacing in (MemberState.PACED, MemberState.FREE):
            self._open()
