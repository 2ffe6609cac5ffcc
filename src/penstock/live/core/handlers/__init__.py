"""What members, operators and hooks say, and what becomes of it.

Every message is looked up by the connection that it came by, so nobody can speak for another; ids that it names are
only compared.

presence: who comes and goes; operations: what they move; leases: beats and acknowledgements; steps: what several of
these do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.live.core import admin, hooks
from penstock.live.core.checks import Refused
from penstock.live.core.handlers import leases, operations, presence
from penstock.live.core.handlers.steps import Handlers
from penstock.live.core.sessions import Session
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core

_HANDLERS: Handlers = presence.TAKE | operations.TAKE | leases.TAKE | {wire.Admin: admin.take, wire.Hook: hooks.take}


def take(core: Core, session: Session, message: wire.FromClient) -> None:
    """Do what a message asks for, or raise Refused."""
    if (epoch := getattr(message, "epoch", 0)) > core.state.epoch:
        core.met_newer(session, getattr(message, "req", 0), epoch)
        return
    if (handler := _HANDLERS.get(type(message))) is None:
        raise Refused("decode", f"{type(message).__name__} is only said before one is let in")
    handler(core, session, message)
