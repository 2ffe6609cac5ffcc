"""Who looks at the controller is answered between turns, a piece at a time: one look can take as long as several turns.

Looks change nothing, so they need no turn and no record. One is made after the other, with a pause after every piece in
which whatever came meanwhile is taken in and decided; so looks together take at most a part of the controller's time.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.live.core import Core
from penstock.live.core.admin import look
from penstock.live.core.events import Frame
from penstock.live.core.pieces import Pieces
from penstock.wire.messages import Admin, Answer, Error, Message

PAUSE = 0.001  # seconds after a piece
MOST_WAITING = 4  # looks of one connection


class Looks:
    """Those that are under way; `say` sends an answer, `in_turn` gives what cannot be answered here to the core."""

    def __init__(
        self,
        core: Core,
        loop: asyncio.AbstractEventLoop,
        say: Callable[[int, Message], None],
        in_turn: Callable[[Frame], None],
    ) -> None:
        self._core, self._loop, self._say, self._in_turn = core, loop, say, in_turn
        self._queue: deque[tuple[Pieces[Any], Callable[[Any], None], Callable[[], None]]] = deque()
        self._waiting: Counter[int] = Counter()  # by connection

    def ask(self, session: int, message: Admin) -> None:
        """Somebody looks."""
        if self._waiting[session] >= MOST_WAITING:
            self._say(session, Error(message.req, "busy", f"{MOST_WAITING} looks of yours wait; ask one at a time"))
            return
        self._waiting[session] += 1
        self.make(
            self._answer(session, message), partial(self._answered, session), partial(self._left, session, message)
        )

    def make(self, pieces: Pieces[Any], done: Callable[[Any], None], failed: Callable[[], None] = lambda: None) -> None:
        """Have something made in pieces, and be told what came of it, or that nothing did."""
        self._queue.append((pieces, done, failed))
        if len(self._queue) == 1:
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        pieces, done, failed = self._queue[0]
        try:
            next(pieces)
        except StopIteration as end:
            self._queue.popleft()
            done(end.value)
        except Exception:
            self._queue.popleft()
            failed()
        if self._queue:
            self._loop.call_later(PAUSE, self._go_on)

    def _answer(self, session: int, message: Admin) -> Pieces[Answer | None]:
        if (known := self._core.sessions.get(session)) is None:
            return None  # it has left
        return Answer(message.req, (yield from look(self._core, known, message)))

    def _answered(self, session: int, answer: Answer | None) -> None:
        self._ended(session)
        if answer is not None:
            self._say(session, answer)

    def _left(self, session: int, message: Admin) -> None:
        """It is refused, or the state changed under it: the core says which, or answers all at once."""
        self._ended(session)
        self._in_turn(Frame(session, message))

    def _ended(self, session: int) -> None:
        self._waiting[session] -= 1
        if not self._waiting[session]:
            del self._waiting[session]
