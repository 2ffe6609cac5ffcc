"""Every rule of the safety argument is needed: taken away, each is caught within a few seeds.

A harness that finds nothing wrong may be blind. Here the controller or its clients break one rule at a time, and the
judge must see it, as over-commitment or as a charge below what a client uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from live.harness.judge import Judge, Violation
from live.harness.plan import AIMED
from live.harness.runs import run_seed
from live.harness.world import World
from live.test_faults import test_a_lowered_capacity_holds_one_lease_later as a_capacity_is_lowered
from live.test_faults import test_one_with_nothing_to_do_on_a_dead_link as idle_on_a_dead_link
from live.test_faults import test_the_evicted_count_until_their_lease_is_over as one_is_evicted
from live.test_faults import test_what_an_exempt_job_can_use_is_kept_free as one_is_exempt
from penstock.client.member import Member
from penstock.live.core import ControllerSettings, ControllerState, Core, charges
from penstock.live.core import records as records_of_core
from penstock.live.core.handlers import leases
from penstock.live.core.members import Member as Charged
from penstock.live.core.members import Rev, Stage
from penstock.wire.messages import Message, Rate

# Those come first that showed rare mistakes when this was written, then those that are aimed at restarts.
RARE = (145, 193)  # no grace, no margin for drift
SEEDS = sorted(range(200), key=lambda seed: (seed not in RARE, seed % AIMED != 1))


class LeaseFromReceipt(Member):
    """Counts a lease from the moment at which the Rate arrived, not from when its own beat left."""

    def _rate(self, t: float, told: Rate) -> None:
        self._sent[told.anchor] = t
        super()._rate(t, told)


class AnyOrder(Member):
    """Applies whatever arrives last."""

    def _rate(self, t: float, told: Rate) -> None:
        self.key, self.epoch_seen = (0, 0), 0
        super()._rate(t, told)


class FromReceipt(World):
    member_class = LeaseFromReceipt


class NoOrder(World):
    member_class = AnyOrder


class NoJournal(World):
    """Starts again as if nobody had been told anything."""

    def make_core(self, epoch: int, boot: float, state: ControllerState | None, warm: bool) -> Core:
        return super().make_core(epoch, boot, None, warm)


class NoGrace(World):
    """Trusts a journal that may have lost its tail."""

    def make_core(self, epoch: int, boot: float, state: ControllerState | None, warm: bool) -> Core:
        return super().make_core(epoch, boot, state, True)


class AckWithoutRate(World):
    """Writes down which revision was acked, and not what it was."""

    def journalled(self, record: Message) -> Message | None:
        if isinstance(record, records_of_core.Acked):
            return msgspec.structs.replace(record, rate=0.0)
        return record


class ExpiryNotWritten(World):
    """Uses what a lease that ran out frees without writing it down."""

    def journalled(self, record: Message) -> Message | None:
        return None if isinstance(record, records_of_core.Expired) else record


def newest_only(member: Charged, rev: Rev, rate: float, free: bool) -> None:
    """Charges the newest rate and nothing that the member may still be using."""
    member.revs = {rev: rate}
    member.rev, member.rate, member.charge = rev[1], rate, rate


def no_ack_wait(patch: pytest.MonkeyPatch) -> type[World]:
    patch.setattr(charges, "grant", newest_only)
    return World


def no_margin(patch: pytest.MonkeyPatch) -> type[World]:
    patch.setattr(ControllerSettings, "waiting", property(lambda settings: settings.lease))
    return World


def acks_of_any_epoch(patch: pytest.MonkeyPatch) -> type[World]:
    """Takes an ack of what an earlier controller said for one of its own newest word."""
    acked = leases._acked

    def careless(core: Core, member: Charged, epoch: int, rev: int) -> None:
        old = 0 < epoch < core.state.epoch
        acked(core, member, core.state.epoch if old else epoch, member.rev if old else rev)

    patch.setattr(leases, "_acked", careless)
    return World


def plainly(kind: type[World]) -> Callable[[Any], type[World]]:
    return lambda patch: kind


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], type[World]]] = {
    "no wait for acks": no_ack_wait,
    "lease from receipt": plainly(FromReceipt),
    "no journal": plainly(NoJournal),
    "no grace": plainly(NoGrace),
    "no order of revisions": plainly(NoOrder),
    "no margin for drift": no_margin,
    "ack without its rate": plainly(AckWithoutRate),
    "acks of an older epoch": acks_of_any_epoch,
    "expiry not written": plainly(ExpiryNotWritten),
}


class Untold(Judge):
    """A judge that does not replay: a broken controller replays as it is broken."""

    def _replay(self) -> None:
        pass


def caught(kind: type[World], seeds: Iterable[int], judge: type[Judge] = Untold) -> int | None:
    """The first seed whose run the judge objects to; one that breaks down by itself does not count."""
    for seed in seeds:
        try:
            run_seed(seed, kind, judge())
        except Violation:
            return seed
        except Exception:
            continue
    return None


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_the_missing_rule_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert caught(MUTANTS[name](monkeypatch), SEEDS) is not None


def test_silence_must_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that is idle for all one knows may be busy on a dead link. Chance alone rarely cuts one off so long."""
    due = Core._due

    def trusting(core: Core, whom: Any) -> float:
        idle = isinstance(whom, Charged) and whom.stage is Stage.IDLE and whom.session is not None
        return math.inf if idle else due(core, whom)

    monkeypatch.setattr(Core, "_due", trusting)
    with pytest.raises(Violation, match="in use"):
        idle_on_a_dead_link()


def test_the_unpaced_must_be_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    grant = Core.grant

    def for_nothing(core: Core, member: Charged, rate: float, flags: int = 0, small: bool = False) -> None:
        grant(core, member, 0.0 if flags else rate, flags, small)

    monkeypatch.setattr(Core, "grant", for_nothing)
    with pytest.raises(Violation, match="goes unpaced and is charged with"):
        one_is_exempt()


def test_the_others_must_leave_room_for_the_unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def unheeded(core: Core, members: Iterable[Charged]) -> None:
        for member in members:
            if flags := core.free_flags(member):
                core.grant(member, core.state.limit(member), flags)

    monkeypatch.setattr(Core, "set_free", unheeded)
    with pytest.raises(Violation, match="in use of 'all' by leases"):
        one_is_exempt()


@pytest.mark.parametrize("exempt", [False, True])
def test_the_evicted_must_be_charged(exempt: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    due = Core._due

    def at_once(core: Core, whom: Any) -> float:
        return -math.inf if isinstance(whom, Charged) and whom.app.evicted else due(core, whom)

    monkeypatch.setattr(Core, "_due", at_once)
    with pytest.raises(Violation, match="for no reason"):
        one_is_evicted(exempt)


def test_the_evicted_must_be_paced(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Member._refused

    def still_free(member: Member, error: Any) -> None:
        refused(member, msgspec.structs.replace(error, code="auth"))

    monkeypatch.setattr(Member, "_refused", still_free)
    with pytest.raises(Violation, match="was sent away and goes unpaced"):
        one_is_evicted(exempt=True)


def test_a_lowered_capacity_must_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Core, "set_free", lambda core, members: None)
    with pytest.raises(Violation, match="in use"):
        a_capacity_is_lowered(deaf=False)
