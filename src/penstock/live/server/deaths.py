"""Death on the controller's host: the charge of a process that is gone is free at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from penstock.live.core.events import ProcessDead
from penstock.live.core.state import ControllerState


class Deaths:
    """Watches processes whose connections are over, and tells the core of those that are dead."""

    def __init__(
        self,
        state: ControllerState,
        loop: asyncio.AbstractEventLoop,
        lease: float,
        put: Callable[[ProcessDead], None],
    ) -> None:
        self._state, self._loop, self._lease, self._put = state, loop, lease, put

    def watch(self, pid: int, session: int, member: tuple[int, int]) -> None:
        """Tell the core when a process that has left is dead, which the end of its connection alone does not prove.

        The number of a process that is gone may belong to another one by now: its death is proof all the same.
        """
        if not self._away(session, member):
            return
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            self._put(ProcessDead(*member))
            return
        except OSError:
            return

        again: asyncio.TimerHandle | None = None

        def look() -> None:
            nonlocal again
            if self._away(session, member):
                again = self._loop.call_later(self._lease, look)
            else:
                done()

        def done() -> None:
            self._loop.remove_reader(handle)
            os.close(handle)
            if again is not None:
                again.cancel()

        def died() -> None:
            done()
            if self._away(session, member):
                self._put(ProcessDead(*member))

        self._loop.add_reader(handle, died)
        look()

    def _away(self, session: int, member: tuple[int, int]) -> bool:
        """Whether a member has no connection after that one, and no process but the one that left.

        A member with a shared bucket lives on in other processes.
        """
        known = self._state.find(*member)
        return known is not None and known.session in (None, session) and known.labels.get("bucket") != "shared"
