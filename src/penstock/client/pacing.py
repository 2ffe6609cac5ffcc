"""What is in force for a client's member: its link, its lease, its rate; and how the pacer is told of it.

Without a lease the member goes on at its fallback rate, so a lost controller slows a job down but cannot stop it.
"""

from __future__ import annotations

import math
import random

from penstock.client.events import LogLine, Output, SetRate
from penstock.client.member_states import LinkState, MemberSettings, MemberState, OpenPhase

NEVER = math.inf


class Pacing:
    """The state of one member, and the rates that it may be at."""

    def __init__(self, settings: MemberSettings) -> None:
        self.settings = settings
        self.app = 0  # 0: not known to any controller
        self.op: OpenPhase | None = None
        self.rate: float | None = 0.0  # in force; None: unpaced
        self.key = (0, 0)  # epoch and rev of the last Rate applied
        self.epoch_seen = 0
        self.fallbacks: dict[str, float] = {}
        self.paths: dict[str, str] = {}  # where targets are mounted
        self.operations = 0.0  # on names, a second, that the node may do without a grant; 0: nobody shares them
        self.outside = (0.0, "")  # bytes that went past the pacer, and how
        self.place = 0  # of the addresses, the one that is in use or dialled next
        self._chance = random.Random(settings.seed)
        self.member = settings.member if settings.member is not None else self._draw_member()
        self._link = LinkState.OFF if settings.off else LinkState.DOWN
        self._pacing: MemberState | None = None  # WAIT, PACED, OPEN or FREE; None without an operation
        self._unfinished: OpenPhase | None = None  # ended while cut off: the controller still counts on it
        self._lease, self._beat = 8.0, 2.0
        self._lease_end = -NEVER
        self._hb = 0
        self._sent: dict[int, float] = {}
        self._ops = self._req = self._post_req = self._fails = self._tried = 0
        self._born: float | None = settings.released
        self._answer_due = self._beat_due = self._repost_due = self._zero_since = NEVER
        self._resync_after = -NEVER
        self._heard = -NEVER  # when the controller said something, or should have begun to
        self._gave_up = False
        self._complaint = ""  # about the link, in the log already
        self._out: list[Output] = []

    @property
    def state(self) -> MemberState:
        """Where the member stands: the link and the pacing, put together."""
        if self._link is LinkState.OFF:
            return MemberState.OFF
        if self._link is LinkState.REFUSED:
            return MemberState.REFUSED
        if self._pacing is None:
            return MemberState.IDLE if self._link is LinkState.UP else MemberState.DIAL
        if self._pacing is MemberState.PACED and self._link is not LinkState.UP:
            return MemberState.STALE
        return self._pacing

    @property
    def linked(self) -> bool:
        """Whether the controller can hear us."""
        return self._link is LinkState.UP

    @property
    def lease_end(self) -> float:
        """Until when the granted rate may be used."""
        return self._lease_end

    @property
    def fallback(self) -> float | None:
        """The rate without a grant, for the open operation; None: unpaced."""
        targets = self.op.targets if self.op and self.op.targets else ("",)
        before = self.settings.fallbacks
        told = before if self.strange else self.fallbacks
        rates = [told.get(target, told.get("", before.get(""))) for target in targets]
        known = [rate for rate in rates if rate is not None]
        if not known:
            return None
        return min(known) if self.settings.cap is None else min(*known, self.settings.cap)

    @property
    def strange(self) -> bool:
        """Whether no controller has named a fallback rate: until then that of the node is used, with all others."""
        return not self.fallbacks

    @property
    def without_grant(self) -> str:
        """How fast this goes on without a grant, and by whose word."""
        rate, words = self.fallback, self.settings.fallback_words if self.strange else ""
        if rate is None:
            return f"going on unpaced{f', {words}' if words else ''}"
        return f"going on at the fallback rate, {shown_rate(rate)}{f' ({words})' if words else ''}"

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

    def _draw_member(self) -> int:
        return self._chance.randrange(1, 1 << 32)

    def _log(self, text: str, warning: bool = False) -> None:
        self._out.append(LogLine(text, warning))


def shown_rate(rate: float) -> str:
    """A rate for a person.

    >>> shown_rate(12_345_678.0), shown_rate(7.0)
    ('12.3 MB/s', '7 B/s')
    """
    return f"{shown_amount(rate)}/s"


def shown_amount(rate: float) -> str:
    """A number of bytes for a person.

    >>> shown_amount(12_345_678.0)
    '12.3 MB'
    """
    steps = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 0.0))
    prefix, size = next(step for step in steps if rate >= step[1])
    return f"{rate / (size or 1.0):.3g} {prefix}B"
