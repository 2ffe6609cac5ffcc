"""What the dashboard asks the journal: by other processes, few at a time; answers are kept for a while for all."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from penstock.errors import PenstockError
from penstock.live.journal import JournalError, read_epoch

AT_ONCE = 2
MOST_WAITING = 8  # questions that are asked and not answered
MOST_KEPT = 64  # answers


class Kind(NamedTuple):
    """How long an answer is good, and how long it may take."""

    good: float
    limit: float


KINDS = {"history": Kind(20.0, 60.0), "explain": Kind(5.0, 60.0), "compare": Kind(600.0, 180.0)}


class NoAnswer(PenstockError):
    """Why there is none, in a sentence for the viewer."""


class Questions:
    """Asks `penstock.dashboard.answering`."""

    def __init__(self, journals: Sequence[Path]) -> None:
        self._journals = tuple(journals)
        self._turn = asyncio.Semaphore(AT_ONCE)
        self._asked: dict[tuple[str, ...], asyncio.Task[Any]] = {}
        self._kept: dict[tuple[str, ...], tuple[float, Any]] = {}

    async def ask(self, kind: str, *arguments: str) -> Any:
        """The answer, perhaps one that somebody else was given just now."""
        question = (kind, *arguments)
        if (kept := self._kept.get(question)) and time.monotonic() < kept[0]:
            return kept[1]
        if question not in self._asked:
            if len(self._asked) >= MOST_WAITING:
                raise NoAnswer("too much is asked at once; ask again in a moment")
            self._asked[question] = task = asyncio.create_task(self._find(question))
            task.add_done_callback(lambda _: self._asked.pop(question, None))
        return await asyncio.shield(self._asked[question])

    def note(self, epoch: int) -> str:
        """A sentence, if none of the journals is of the controller that leads in this epoch."""
        newest = max((_epoch(folder) for folder in self._journals), default=epoch)
        if newest >= epoch:
            return ""
        return (
            f"From a journal that ends in epoch {newest}; the controller that leads now is in epoch {epoch}, and "
            "writes another one, which the dashboard was not given (--journal DIR, once for each)."
        )

    async def _find(self, question: tuple[str, ...]) -> Any:
        kind, *arguments = question
        async with self._turn:
            found = await self._read(kind, arguments)
        while len(self._kept) >= MOST_KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[question] = time.monotonic() + KINDS[kind].good, found
        return found

    async def _read(self, kind: str, arguments: list[str]) -> Any:
        there = [str(folder) for folder in self._journals if folder.is_dir()]
        if not there:
            raise NoAnswer("the controller's journal is not on this host, or may not be read here (--journal DIR)")
        command = (sys.executable, "-m", "penstock.dashboard.answering", kind, json.dumps(there), *arguments)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        try:
            told, why = await asyncio.wait_for(process.communicate(), KINDS[kind].limit)
        except BaseException as error:
            process.kill()
            if isinstance(error, TimeoutError):
                raise NoAnswer(f"the journal was not read within {KINDS[kind].limit:g} s") from None
            raise
        if process.returncode:
            lines = why.decode(errors="replace").strip().splitlines()
            raise NoAnswer(lines[-1] if lines else "it failed")
        return json.loads(told)


def _epoch(folder: Path) -> int:
    """Of the last controller that wrote a journal; 0 if that cannot be read."""
    try:
        return read_epoch(folder)
    except (JournalError, OSError):
        return 0
