"""Standing by in a running process: watch in a thread, let the event loop hear of it, and of a signal to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

from penstock.live.journal import read_epoch
from penstock.live.journal.takeover import journal_id
from penstock.live.server.config import ServerConfig
from penstock.live.server.log import LogWriter
from penstock.live.standby.folder import TermFolder
from penstock.live.standby.leadership import Leader, Standing, within
from penstock.live.standby.lease import LeaseSettings


class StandingBy:
    """Between two terms of ours. The journal is locked, so whoever wrote it before is dead."""

    def __init__(self, config: ServerConfig, log: LogWriter) -> None:
        assert config.standby is not None
        self._journal, self._log = config.journal_folder(), log
        folder = TermFolder(config.standby_folder())
        own = f"{os.uname().nodename}:{journal_id(self._journal)}"
        address = config.tcp.listen if config.tcp else f"unix:{config.socket_path()}"
        settings = LeaseSettings(stale=config.standby.stale)
        self._standing = Standing(folder, settings, own, address, within(self._journal, folder.path))
        self._handed_over = 0

    async def wait_to_lead(self) -> Leader | None:
        """The term that is ours; None: told to stop before."""
        loop, stop = asyncio.get_running_loop(), threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGHUP, self._log.reopen)
        self._log.info("standing by", folder=str(self._standing.folder.path))
        found: asyncio.Future[Leader | None] = loop.create_future()

        def settle(leader: Leader | None, error: BaseException | None) -> None:
            if error is not None:
                found.set_exception(error)
            else:
                found.set_result(leader)

        def watch() -> None:
            leader = error = None
            try:
                leader = self._standing.follow(stop, lambda: read_epoch(self._journal) + 1, self._handed_over)
            except BaseException as raised:
                error = raised
            loop.call_soon_threadsafe(settle, leader, error)

        threading.Thread(target=watch, name="penstock-standby", daemon=True).start()
        leader = await found
        if leader is not None:
            before = leader.before.host if leader.before else None
            self._log.info("leading", term=leader.record.term, epoch=leader.record.epoch, before=before)
        return leader

    def ended(self, leader: Leader, released: bool) -> None:
        """A term of ours is over."""
        leader.end(released)
        self._handed_over = leader.record.term if leader.asked_to_hand_over else 0
