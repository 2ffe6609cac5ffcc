"""Users ask the controller why their jobs waited: a process reads the journal, for one question of each at a time."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

AT_ONCE = 2  # questions of all users
SECONDS = 60.0  # for an answer


class NoAnswer(Exception):
    """Why there is none."""


class OwnJobs:
    """Asks `penstock.lookback.own`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asking: set[int] = set()

    async def explain(self, uid: int, job: str) -> Any:
        """Why a job of this user waited."""
        if uid in self._asking or len(self._asking) >= AT_ONCE:
            raise NoAnswer("another question is being answered; ask again in a moment")
        self._asking.add(uid)
        try:
            return await self._asked(str(self._folder), job, str(uid))
        finally:
            self._asking.discard(uid)

    async def _asked(self, *arguments: str) -> Any:
        pipe = asyncio.subprocess.PIPE
        command = (sys.executable, "-m", "penstock.lookback.own", *arguments)
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
        try:
            told, why = await asyncio.wait_for(process.communicate(), SECONDS)
        except TimeoutError:
            process.kill()
            raise NoAnswer(f"the journal was not read within {SECONDS:g} s; ask an operator") from None
        if process.returncode:
            raise NoAnswer(why.decode(errors="replace").strip().splitlines()[-1] if why.strip() else "it failed")
        return json.loads(told)
