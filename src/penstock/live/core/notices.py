"""A word from the controller in the log of a job that waits: when it moves, behind how many, whom to ask.

This is a kindness and no part of the state: nothing of it is recorded, nothing goes by it, no turn waits for it, nobody
is woken for it (those who wait beat), and if it fails, everybody goes on without it.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from penstock.live.core.forecast import for_user, forecasts
from penstock.live.core.members import Member, RouteRow, Stage
from penstock.live.core.pieces import Pace, Pieces
from penstock.live.core.state import RUN
from penstock.live.core.waiting_words import waiting_words
from penstock.wire import messages as wire

if TYPE_CHECKING:
    from penstock.live.core.core import Core

WAITED = 10.0  # seconds at rate 0 before a job is told
AGAIN = 60.0  # before it is told again
LOOK = 1.0  # between two looks for somebody who is to be told
PAUSE = 15.0  # after a look that found somebody: a forecast takes as long as many decisions


class Notices:
    """Who was told, and when."""

    def __init__(self) -> None:
        self._told: dict[int, float] = {}  # by application
        self._look_at = -inf

    def is_time(self, core: Core) -> bool:
        """Whether to look for somebody who waits; only where the site has said whom they can ask."""
        now, rows = core.state.now, core.state.rows
        if now < self._look_at or not core.contact or core.state.mode != RUN or core.frozen:
            return False
        self._look_at = now + LOOK
        return bool((now - rows.waits[: rows.count] >= WAITED).any())  # NaN for those that move

    def look(self, core: Core) -> Pieces[list[tuple[int, wire.Notice]]]:
        """What to tell those who wait and do not know yet, by their connections."""
        now = core.state.now
        self._told = {app: told for app, told in self._told.items() if now < told + AGAIN}
        due = yield from self._due(core)
        if not due:
            return []
        self._look_at = now + PAUSE
        self._told |= dict.fromkeys((member.app.number for member, _ in due), now)
        foreseen = yield from forecasts(core)
        found = []
        for member, waited in due:
            if member.session is not None and (forecast := foreseen.get(member.app.number)) is not None:
                told = for_user(core.state, member.app.uid, forecast)
                text = waiting_words(waited, told, core.contact, core.opt_out)
                found.append((member.session, wire.Notice("waiting", text)))
        return found

    def _due(self, core: Core) -> Pieces[list[tuple[Member, float]]]:
        """One member of each job that has waited for so long on all its ways, and for how long."""
        rows, pace = core.state.rows, Pace()
        waited = core.state.now - rows.waits[: rows.count]
        of_apps: dict[int, list[tuple[RouteRow, float]]] = {}
        for row, since in zip(list(rows.rows), waited.tolist(), strict=True):
            if row.app.kind == wire.BYTES and row.app.number not in self._told:
                of_apps.setdefault(row.app.number, []).append((row, since))
            if pace.enough():
                yield
        found = []
        for own in of_apps.values():
            least = float(np.min([since for _, since in own]))  # NaN if one of them moves
            if least >= WAITED and (member := _listener([row for row, _ in own])) is not None:
                found.append((member, least))
            if pace.enough():
                yield
        return found


def _listener(rows: list[RouteRow]) -> Member | None:
    """Who hears it for its job: a job of a thousand members does not want it a thousand times."""
    members = (member for row in rows for member in row.members.values())
    there = (each for each in members if each.stage is Stage.POSTED and each.session is not None and not each.unpaced)
    return min(there, key=lambda member: member.number, default=None)
