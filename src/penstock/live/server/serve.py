"""`serve`: from a configuration to a controller that listens, and back to a folder that the next start resumes from.

The order matters. The journal is locked and the doors are bound first, so that whatever is in the way is said before
anything changes. The state comes back, the new epoch is on the disk, the core has taken its first step; then, and only
then, somebody is listened to.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import socket
import time as clocks
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from penstock.errors import PenstockError
from penstock.live.core import Core
from penstock.live.journal import JournalWriter, Lock, Recovered, boot_id, raise_epoch, read_epoch, recover
from penstock.live.journal.segment import Header
from penstock.live.journal.takeover import take_over
from penstock.live.journal.versions import core_code, policy_code
from penstock.live.server.config import ServerConfig
from penstock.live.server.errors import CannotServe
from penstock.live.server.handshake import House
from penstock.live.server.listeners import BACKLOG, tcp_socket, tls_context, unix_doors
from penstock.live.server.log import LogWriter
from penstock.live.server.metrics import Metrics
from penstock.live.server.munge import Munge
from penstock.live.server.policy_process import PolicyProcesses
from penstock.live.server.protocol import Connection, Door
from penstock.live.server.quotas import Quotas
from penstock.live.server.readiness import OWN_FILES, file_limit, raise_file_limit, warnings_of
from penstock.live.server.schedule import LOOK, CapacitySchedule
from penstock.live.server.site_file import SiteFile
from penstock.live.server.standing_by import StandingBy
from penstock.live.server.time_limit import limited
from penstock.live.server.tls_listener import Porch
from penstock.live.server.turn import Clock, Shell
from penstock.live.server.unpaced import Mark, places
from penstock.live.standby.leadership import Leader
from penstock.policies.sharing import Sharing, find
from penstock.wire.messages import Notice

MOST_EPOCH = 2**62  # so that it can still rise, and be written down
FLUSH = 0.5  # seconds that a stop waits for what is on its way
HANDED_OVER = -1  # instead of an exit code: another leads, and this one stands by again
LOOK_AT_LEASE = 0.2  # seconds


class Listening(NamedTuple):
    """A controller that can be found: where, and what it shares by which policy at first."""

    address: str
    resources: dict[str, float]
    sharing: str


def serve(
    config: ServerConfig,
    *,
    grace: bool = False,
    epoch: int = 0,
    ready: Callable[[Listening], None] = lambda _: None,
    again: Callable[[], ServerConfig] | None = None,
) -> int:
    """Run a controller until it is told to stop; the exit code. `ready` is called once it listens.

    `grace` starts cold even if the journal is whole, or without it if it is damaged; `epoch` is the least to take;
    `again` reads the configuration anew, for SIGHUP.
    """
    if not 0 <= epoch <= MOST_EPOCH:
        raise CannotServe(f"the epoch is {epoch}; a whole number from 0 to {MOST_EPOCH} is accepted")
    if config.standby is not None and (grace or epoch):
        raise CannotServe("--grace and --epoch are for one controller alone; with --standby the folder says both")
    os.umask(0o077 if config.admin_group() is None else 0o027)
    raise_file_limit()
    return _runner()(_serve(config, grace, epoch, ready, again))


def _runner() -> Callable[[Any], int]:
    """The faster event loop, where it is installed."""
    try:
        run: Callable[[Any], int] = import_module("uvloop").run
    except ImportError:
        return asyncio.run
    return run


async def _serve(
    config: ServerConfig,
    grace: bool,
    epoch: int,
    ready: Callable[[Listening], None],
    again: Callable[[], ServerConfig] | None,
) -> int:
    with ExitStack() as stack:
        log = LogWriter(Path(config.log.file) if config.log.file else None, config.log.level)
        stack.callback(log.close)
        stack.callback(Lock(config.journal_folder()).close)
        if config.standby is not None:
            return await _lead_in_turn(config, log, ready, again)
        controller = Controller(config, log, stack, again)
        return await controller.run(controller.open(grace, epoch), ready)


async def _lead_in_turn(
    config: ServerConfig,
    log: LogWriter,
    ready: Callable[[Listening], None],
    again: Callable[[], ServerConfig] | None,
) -> int:
    """Stand by, lead, and after having handed over stand by again, until somebody says stop."""
    place = StandingBy(config, log)
    Core(config.settings(), find(config.sharing), epoch=1, boot=0.0)  # whatever takes time now takes none later
    while (leader := await place.wait_to_lead()) is not None:
        with ExitStack() as term:
            controller = Controller(config, log, term, again, leader)
            code = await controller.run(controller.take_over(leader), ready)
        place.ended(leader, released=code in (0, HANDED_OVER))
        if code != HANDED_OVER:
            return code
    return 0


class Controller:
    """All that a controller holds while it runs; `stack` gives it back in the opposite order."""

    def __init__(
        self,
        config: ServerConfig,
        log: LogWriter,
        stack: ExitStack,
        again: Callable[[], ServerConfig] | None = None,
        leader: Leader | None = None,
    ) -> None:
        self._config, self._log, self._stack, self._again, self._leader = config, log, stack, again, leader
        self._ordered = _capacities(config)  # by the configuration as it was read last
        self._schedule = CapacitySchedule(self._order_capacity)
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[int] = self._loop.create_future()
        self._policies = PolicyProcesses()
        stack.callback(self._policies.close)
        self._policy = self._policies.find(config.sharing)
        self._munge = Munge(Path(config.munge_socket) if config.munge_socket else None)
        if "munge" in config.auth and not self._munge.available:
            raise CannotServe(
                "auth has munge, but neither libmunge.so.2 nor unmunge is here; install munge, or drop it"
            )
        self._keys = config.site_keys()
        self._folder = config.journal_folder()
        _let_operators_read(self._folder, config.admin_group())
        self._doors = unix_doors(config.socket_path(), config.socket)
        for door, _ in self._doors:
            stack.callback(door.close)
        self._tcp = tcp_socket(config.tcp) if config.tcp else None
        self._tls = tls_context(config.tcp) if config.tcp else None
        self._metrics = Metrics(config.metrics_port, self._figures) if config.metrics_port else None
        if self._metrics is not None:
            stack.callback(self._metrics.close)

    def open(self, grace: bool, epoch: int) -> Shell:
        """Come back to life from the journal, up to the first step."""
        return self._begin(recover(self._folder, self._config.settings(), grace), epoch)

    def take_over(self, leader: Leader) -> Shell:
        """Begin a term: with one's own journal if it says what was said last, else with the leader's before or none."""
        settings, before = self._config.settings(), leader.before
        if before is None or before.holder == leader.record.holder:
            found = recover(self._folder, settings, grace=read_epoch(self._folder) > 0 and before is None)
            if before is None or (found.header is not None and found.header.epoch == before.epoch):
                return self._begin(found, leader.record.epoch)
        source = leader.folder.path / before.journal if before is not None and before.journal else None
        shell = self._begin(take_over(self._folder, source, settings), leader.record.epoch)
        shell.save()
        return shell

    def _begin(self, found: Recovered, epoch: int) -> Shell:
        config, settings = self._config, self._config.settings()
        epoch = raise_epoch(self._folder, epoch)
        mark = Mark(places(self._folder, self._doors[0][0].path))
        if mark.there:
            found = dataclasses.replace(found, warm=False)
        clock = _clock(found)
        core = Core(
            settings, self._policy, epoch=epoch, boot=clock(), state=found.state, warm=found.warm,
            resolve=self._policies.find, limited=limited,
        )  # fmt: skip
        core.contact, core.opt_out = config.contact, config.opt_out
        header = _header(config, self._policy, found, epoch, clock)
        pen = JournalWriter(self._folder, header, config.retention(), self._on_synced, self._on_trouble, found.saved)
        self._stack.callback(pen.close)
        self._log.info(
            "started", epoch=epoch, warm=found.warm, records=found.last_seq, sharing=self._policy.label,
            set_aside=found.set_aside, term=self._leader.record.term if self._leader else None,
        )  # fmt: skip
        self._shell = Shell(
            core, pen, self._house(epoch), self._quotas(), self._log, self._loop, clock,
            self._munge, config.journal.durability == "sync", self._warnings(), mark,
            SiteFile(config.site_path(), config.first_contact), self._leader,
        )  # fmt: skip
        self._shell.on_end = self._ended
        self._shell.begin()
        self._serve_as_told(config)
        self._schedule.use(config.schedules())
        return self._shell

    def _order_capacity(self, name: str, capacity: float) -> None:
        self._shell.order("capacity", resource=name, capacity=capacity)

    def _serve_as_told(self, config: ServerConfig) -> None:
        """Take out of service what the configuration takes out, and nothing else."""
        out, before = config.out_of_service(), self._shell.core.state.out_of_service
        for name in sorted({*out} ^ {*before}):
            self._shell.order("service", resource=name, on=name not in out)

    def _look_at_the_clock(self) -> None:
        self._schedule.look()
        self._loop.call_later(LOOK, self._look_at_the_clock)

    async def run(self, shell: Shell, ready: Callable[[Listening], None]) -> int:
        """Listen until somebody says stop."""
        self._listen_to_signals()
        self._look_at_the_clock()
        doors = [await self._open_door(shell, door.socket, Door("unix", admin)) for door, admin in self._doors]
        if self._tcp is not None:
            doors.append(await self._open_door(shell, self._tcp, Door("tcp")))
        if self._metrics is not None:
            doors.append(await self._metrics.open())
        address = str(self._doors[0][0].path)
        self._log.info("listening", socket=address, tcp=self._config.tcp.listen if self._config.tcp else None)
        ready(Listening(address, *_in_force(shell)))
        if self._leader is not None:
            self._leader.begin(self._lease_trouble, lambda: self._from_thread(self._ended, HANDED_OVER))
            self._watch_lease()
        code = await self._end
        for door in doors:
            door.close()
        await self._stop(shell, code)
        return code

    async def _open_door(self, shell: Shell, bound: socket.socket, door: Door) -> asyncio.AbstractServer | Porch:
        def connection() -> Connection:
            return Connection(shell, door)

        if door.kind == "unix":
            return await self._loop.create_unix_server(connection, sock=bound, backlog=BACKLOG)
        if self._tls is not None:
            return Porch(shell, bound, self._tls)
        return await self._loop.create_server(connection, sock=bound, backlog=BACKLOG)

    async def _stop(self, shell: Shell, code: int) -> None:
        if code in (0, HANDED_OVER):
            shell.notify(Notice("restart", "the controller stops; rates stay until their leases end"))
            shell.save()
        shell.stop()
        deadline = self._loop.time() + FLUSH
        while shell.connections and self._loop.time() < deadline:
            await asyncio.sleep(0.01)
        self._munge.close()
        self._log.info("stopped", code=code)

    def _listen_to_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ended, 0)
        self._loop.add_signal_handler(signal.SIGHUP, self._reload)

    def _ended(self, code: int) -> None:
        if not self._end.done():
            self._end.set_result(code)

    def _watch_lease(self) -> None:
        """End as soon as the lease is over, also where nothing comes in and nothing is to be sent."""
        if self._leader is not None and not self._end.done():
            self._shell.leads()
            self._loop.call_later(LOOK_AT_LEASE, self._watch_lease)

    def _lease_trouble(self, problem: str) -> None:
        effect = "another controller takes over unless this passes" if problem else "the lease is renewed again"
        self._log.error("lease", problem=problem or "none any more", effect=effect)

    def _from_thread(self, then: Callable[[int], None], code: int) -> None:
        with suppress(RuntimeError):  # the loop is gone when all ends
            self._loop.call_soon_threadsafe(then, code)

    def _figures(self) -> dict[str, Any]:
        return self._shell.all_figures()

    def _on_synced(self, seq: int) -> None:
        if self._config.journal.durability == "sync":
            with suppress(RuntimeError):  # the loop is gone when the last records are synced
                self._loop.call_soon_threadsafe(lambda: self._shell.synced(seq))

    def _on_trouble(self, text: str) -> None:
        self._log.error("journal", problem=text)

    def _house(self, epoch: int) -> House:
        config = self._config
        return House(
            epoch=epoch,
            name=config.cluster,
            lease=config.lease,
            beat=config.beat,
            pace=config.pace,
            kinds=config.auth,
            keys=self._keys,
            admin_group=config.admin_group(),
            hook_uids=config.hook_uids,
            revoked=config.revoked,
        )

    def _reload(self) -> None:
        """Open the log anew, and take from the configuration what can change while everybody goes on.

        Keys, revoked tokens, who may give orders and send hooks count for whoever comes from now on; capacities that
        were changed in the file are ordered as an operator would. Whatever is wrong in the file changes nothing.
        """
        self._log.reopen()
        if self._again is None:
            return
        try:
            config = self._again()
            # All else is as it was at the start: what the core reckons with, it tells newcomers, too.
            house = dataclasses.replace(
                self._shell.house,
                kinds=config.auth,
                keys=config.site_keys(),
                admin_group=config.admin_group(),
                hook_uids=config.hook_uids,
                revoked=config.revoked,
            )
            now, scheduled = _capacities(config), config.schedules()
        except PenstockError as error:
            self._log.error("reload", problem=str(error), effect="all stays as it was")
            return
        self._shell.house = house
        before, self._ordered = self._ordered, now
        changed = {name: now[name] for name in now.keys() & before.keys() if now[name] != before[name]}
        changed |= {name: now[name] for name in self._schedule.names - scheduled.keys() if name in now}
        changed = {name: capacity for name, capacity in changed.items() if name not in scheduled}
        for name, capacity in changed.items():
            self._order_capacity(name, capacity)
        self._serve_as_told(config)
        self._schedule.use(scheduled)
        self._log.info("reload", capacities=changed, keys=sorted(house.keys), revoked=list(house.revoked))

    def _quotas(self) -> Quotas:
        """As configured, but no more connections than the system lets us have, with some files for ourselves."""
        files = file_limit()
        quotas = Quotas(**self._config.quotas.model_dump())
        return dataclasses.replace(quotas, connections=min(quotas.connections, max(1, files - OWN_FILES)))

    def _warnings(self) -> list[str]:
        return warnings_of(self._config)


def _let_operators_read(folder: Path, group: int | None) -> None:
    """The group of operators may read the journal, as `explain` and `replay` do; all files in it are the group's."""
    if group is not None:
        with suppress(OSError):  # a controller that is not in that group cannot give it anything
            os.chown(folder, -1, group)
            folder.chmod(0o2750)


def _capacities(config: ServerConfig) -> dict[str, float]:
    return {each.name: each.capacity for each in config.settings().resources}


def _clock(found: Recovered) -> Clock:
    """A clock that goes on where the journal ends."""
    if found.header is None:
        return Clock()
    if found.header.boot_id == boot_id():
        return Clock(found.header.offset)
    return Clock(found.last_time - Clock()())


def _in_force(shell: Shell) -> tuple[dict[str, float], str]:
    """Capacities and policy, which may be those that an operator chose before the last start."""
    state = shell.core.state
    capacities = zip(state.settings.resources, state.capacity, strict=True)
    return {each.name: capacity for each, capacity in capacities}, shell.core.decider.policy.label


def _header(config: ServerConfig, policy: Sharing, found: Recovered, epoch: int, clock: Clock) -> Header:
    now = clock()
    return Header(
        epoch=epoch,
        first=found.last_seq + 1,
        boot_id=boot_id(),
        offset=clock.offset,
        wall=clocks.time(),
        time=now,
        boot=now,
        warm=found.warm,
        settings=dataclasses.asdict(config.settings()),
        policy=policy.label,
        policy_code=policy_code(policy),
        core_code=core_code(),
        cluster=config.cluster,
    )
