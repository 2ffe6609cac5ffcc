"""Each rule of the lease taken away, one at a time."""

from __future__ import annotations

from penstock.live.core import ControllerState, Core
from penstock.live.standby.lease import Lease, LeaseSettings, Sight, Watch

from .candidate import BEFORE, Candidate
from .register import Register
from .world import LeadersWorld


class FromAfterTheWrite(Lease):
    """A renewed lease runs from when the renewal was finished."""

    def renewed(self, before: float, after: float) -> bool:
        return super().renewed(after, after)


class LateRenewalsCount(Lease):
    """A renewal counts even if the lease before was over when it was finished."""

    def renewed(self, before: float, after: float) -> bool:
        self.end = max(self.end, after + 1e-9)
        return super().renewed(before, after)


class FromBeforeTheLook(Watch):
    """Counts from when it began to look, though the change may be younger."""

    def looked(self, before: float, after: float, sight: Sight) -> int | None:
        return super().looked(before, before, sight)


class ClockAfterTheLook(Watch):
    """Compares with the clock as it is when the answer is there, though the answer may be old."""

    def looked(self, before: float, after: float, sight: Sight) -> int | None:
        seen = self.seen
        return super().looked(before if sight != seen else after, after, sight)


class NoMarginForDrift(Watch):
    """Waits for as long as a lease lasts on its own clock."""

    def __init__(self, settings: LeaseSettings, own: str = "") -> None:
        plain = LeaseSettings(settings.lease, settings.renew, 0.0, settings.stale)
        super().__init__(plain, own)


class FirstLeaseFromAfterTheClaim(Candidate):
    """The first lease runs from when the claim was known to have succeeded."""

    def _claimed(self, term: int, sight: Sight, before: float, fine: bool) -> None:
        super()._claimed(term, sight, self.shown, fine)


class ClaimsTheNewest(Candidate):
    claims_newest = True


class Inclusive(Register):
    exclusive = False


class ClockBeforeTheInput(Candidate):
    input_check = BEFORE


class NoCheckBeforeSending(Candidate):
    checks_sends = False


class NeitherCheck(Candidate):
    """The clock is looked at before input is taken, and no more."""

    input_check = BEFORE
    checks_sends = False


class ReleasesFirst(Candidate):
    releases_first = True


class NoGrace(LeadersWorld):
    """Takes what it knows of the leader before for all there is."""

    def make_core(self, epoch: int, boot: float, state: ControllerState | None, warm: bool) -> Core:
        return super().make_core(epoch, boot, state, True)


def _with(name: str, **parts: object) -> type[LeadersWorld]:
    return type(name, (LeadersWorld,), parts)


def _candidate(name: str, **parts: object) -> type[LeadersWorld]:
    return _with(name, candidate_class=type(name, (Candidate,), parts))


MUTANTS: dict[str, type[LeadersWorld]] = {
    "lease from after the write": _candidate("A", lease_class=FromAfterTheWrite),
    "late renewals count": _candidate("B", lease_class=LateRenewalsCount),
    "wait from before the look": _candidate("C", watch_class=FromBeforeTheLook),
    "clock after the look": _candidate("D", watch_class=ClockAfterTheLook),
    "no margin for drift": _candidate("E", watch_class=NoMarginForDrift),
    "old sights not waited for": _with("F", heeds_staleness=False),
    "the newest term + 1 claimed": _with("G", candidate_class=ClaimsTheNewest),
    "a term claimed twice": _with("H", register_class=Inclusive),
    "first lease from after the claim": _with("I", candidate_class=FirstLeaseFromAfterTheClaim),
    "clock before input and never again": _with("J", candidate_class=NeitherCheck),
    "released before it stopped": _with("K", candidate_class=ReleasesFirst),
    "no grace": NoGrace,
}
# Each of these two checks makes the other one superfluous: see docs/reference/safety-standby.md.
REDUNDANT: dict[str, type[LeadersWorld]] = {
    "clock before input": _with("M", candidate_class=ClockBeforeTheInput),
    "no check before sending": _with("N", candidate_class=NoCheckBeforeSending),
}
