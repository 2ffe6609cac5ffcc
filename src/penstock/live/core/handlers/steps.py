"""Steps of the controller that several messages lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.live.core import records
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.resources import Route
from penstock.live.core.sessions import Session
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core

Handlers = dict[type[wire.Message], Callable[["Core", Session, Any], None]]


def route_of(core: Core, app: App, direction: str, targets: tuple[str, ...]) -> Route:
    """What an operation uses: the targets that it names, else those that bytes of its job were last seen on."""
    return core.state.routes.find(direction, targets or app.seen_on.get(direction, ()))


def nothing_open(core: Core, member: Member) -> None:
    """A member says that it has no operation, so it uses nothing, whatever we took it for."""
    if member.op is not None:
        end_operation(core, member, member.op.number, member.op.reported, "over when it came back")
    elif member.stage is Stage.LOST:
        end_operation(core, member, member.last_op, 0.0, "nothing when it came back")


def end_operation(core: Core, member: Member, op: int, done: float, reason: str) -> None:
    """It uses nothing more."""
    core.record(records.Ended(*member.key, op, done, reason))
    core.dirty = True


def let_go(core: Core, member: Member) -> None:
    """A member begins without a lease: it goes by its fallback."""
    if member.stage is not Stage.LOST:
        core.record(records.Expired(*member.key))
        core.watch(member)
        core.dirty = True


def heard(core: Core, member: Member, hb: int) -> None:
    """A beat arrived: whatever it makes last is over when it has been silent for so long from now."""
    member.hb = max(member.hb, hb)
    member.reclaim = core.state.now + core.settings.waiting
