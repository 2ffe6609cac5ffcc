"""Who leads: a lease that its holder renews, and that everybody else may only see. No clock, no file, no thread.

Controllers lead in *terms*, numbered 1, 2, 3 …; a term is claimed once, by one of them, and is over for good when its
lease is. Times are seconds of one's own clock; clocks are off by a part `drift` of their speed at most, and may show
anything. Every rule is a comparison here, and `docs/reference/safety-standby.md` says why they suffice:

- a lease runs from the clock *before* it was written, the first one from before the claim;
- a renewal counts only if it was *finished* before the lease that it renews was over;
- who watches counts from *after* it saw the last change, and compares with the clock *before* its latest look;
- it claims exactly the term after the one that it watched, which only one can have.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

LEASE = 4.0  # seconds
RENEW = 1.0
LOOK = 0.2  # seconds between two looks of one that watches


@dataclass(frozen=True)
class LeaseSettings:
    """Agreed upon by all who may lead. Times in seconds."""

    lease: float = LEASE
    renew: float = RENEW
    drift: float = 1e-3
    stale: float = 0.0  # how old what the folder shows may be

    @property
    def waiting(self) -> float:
        """On any clock, longer than a lease lasts on any other."""
        return self.lease * (1 + self.drift) / (1 - self.drift) + self.stale * (1 + self.drift)


class Sight(msgspec.Struct, frozen=True):
    """What there is to see of the newest term: how often it was renewed, and whether its leader has given it up."""

    term: int = 0  # 0: nobody has ever led
    renewals: int = 0
    holder: str = ""  # the journal that its leader writes; empty: nobody can tell yet
    released: bool = False


class Watch:
    """One who would lead if nobody did. `own` is its journal, whose lock it holds."""

    def __init__(self, settings: LeaseSettings, own: str = "") -> None:
        self._settings, self._own = settings, own
        self.seen: Sight | None = None
        self._since = 0.0

    def looked(self, before: float, after: float, sight: Sight) -> int | None:
        """It began to look at `before`, knew at `after`; the term to claim, if it is time.

        Nobody has to be waited for who never led, who has said that it leads no more, or who wrote the journal that is
        locked by us: that process is dead.
        """
        if sight != self.seen:
            self.seen, self._since = sight, after
        over = before >= self._since + self._settings.waiting
        nobody = sight.term == 0 or sight.released or (self._own != "" and sight.holder == self._own)
        return sight.term + 1 if over or nobody else None

    @property
    def left(self) -> float:
        """Clock at which the lease that was seen last is over, if nothing changes."""
        return self._since + self._settings.waiting


class Lease:
    """The lease of one who has claimed a term; it began to at `before`."""

    def __init__(self, settings: LeaseSettings, before: float) -> None:
        self._settings = settings
        self.end = before + settings.lease
        self.due = before + settings.renew  # when to renew it

    def renewed(self, before: float, after: float) -> bool:
        """A renewal that was begun at `before` is finished at `after`; whether it counts."""
        if not self.valid(after):
            return False
        self.end, self.due = before + self._settings.lease, before + self._settings.renew
        return True

    def valid(self, now: float) -> bool:
        """Whether one may act on what was taken in before the clock showed `now`."""
        return now < self.end
