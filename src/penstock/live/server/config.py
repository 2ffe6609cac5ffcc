"""What a controller is told: one YAML file, units as in a scenario. A capacity is all it needs.

    capacity: 160 GB/s
    machine_nodes: 4096
    sharing: fair-share
    journal: {directory: /var/lib/penstock}
    tcp: {listen: "0.0.0.0:7440", certificate: /etc/penstock/tls.crt, key: /etc/penstock/tls.key}
    auth: [peer, munge]

Instead of one capacity there may be `resources`, each with a name, a capacity, and perhaps a target and a direction.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from penstock.errors import InvalidScenario
from penstock.files import reading
from penstock.live.core import ControllerSettings, Resource
from penstock.live.core import shares as tree
from penstock.live.core.settings import UNKNOWN
from penstock.live.journal import Retention
from penstock.live.server.config_values import (
    AuthKind,
    Direction,
    Durability,
    File,
    FirstContact,
    Kind,
    Level,
    Listen,
    Mode,
    Part,
    Port,
    Reserve,
    Switch,
    TimeOfDay,
    User,
)
from penstock.live.server.errors import InvalidConfig
from penstock.live.server.quotas import Quotas
from penstock.live.server.schedule import Step
from penstock.model import yaml_text
from penstock.model.problems import Path as Place
from penstock.model.problems import reject
from penstock.model.record import Bytes, BytesPerSecond, Count, Name, Record, Seconds, Share
from penstock.wire.messages import AUTH_KINDS
from penstock.wire.site import beside, usual_journal
from penstock.wire.tokens import read_key

LARGEST = 1_000_000  # bytes of a configuration


class StepConfig(Record):
    """From this time of every day on, a capacity is another."""

    at: TimeOfDay
    capacity: BytesPerSecond


class ResourceConfig(Record):
    """A limit: of one target, of one direction, or of all together; `path` is where the target is mounted."""

    name: Name
    capacity: BytesPerSecond
    target: Name | None = None
    direction: Direction | None = None
    path: File | None = None
    kind: Kind = "bytes"
    in_service: Switch = True
    schedule: tuple[StepConfig, ...] = ()


class SocketConfig(Record):
    """The UNIX sockets: one for all, and one for operators only if it has a path."""

    path: File | None = None
    mode: Mode = 0o666
    admin_path: File | None = None
    admin_mode: Mode = 0o660
    admin_group: Name = "penstock"


class TcpConfig(Record):
    """The way in from other hosts. Without TLS everybody in between can read along, and it has to be said aloud."""

    listen: Listen
    certificate: File | None = None
    key: File | None = None
    client_ca: File | None = None
    plain: Switch = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("TcpConfig", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Place, object, str]]:
        if self.plain and (self.certificate or self.key or self.client_ca):
            yield ("plain",), True, "is true, yet there is a certificate; keep one of them"
        if not self.plain and not (self.certificate and self.key):
            yield (), None, "needs a certificate and its key, or `plain: true` on a network where everybody is trusted"


class JournalConfig(Record):
    """Where the journal is, how it is kept."""

    directory: File | None = None
    durability: Durability = "write"
    keep: Seconds = Retention.seconds
    keep_bytes: Bytes = Retention.bytes


class QuotasConfig(Record):
    """How much one peer may take from the others."""

    connections: Count = Quotas.connections
    connections_per_uid: Count = Quotas.connections_per_uid
    unauthenticated: Count = Quotas.unauthenticated
    authenticate_seconds: Seconds = Quotas.authenticate_seconds
    bad_frames: Count = Quotas.bad_frames
    frames_per_second: Share = Quotas.frames_per_second
    frames_burst: Share = Quotas.frames_burst


class UserShareConfig(Record):
    """What one user gets among those of the same account."""

    share: Share = 1.0
    limit: BytesPerSecond | None = None


class AccountShareConfig(UserShareConfig):
    """What one account gets among all, and its users that differ from the others."""

    users: dict[str, UserShareConfig] = Field(default={})


class SharesConfig(Record):
    """A tree of accounts and users; whoever is not named has a share of 1. `users`: of jobs without an account."""

    accounts: dict[str, AccountShareConfig] = Field(default={})
    users: dict[str, UserShareConfig] = Field(default={})

    def settings(self) -> tuple[tree.Share, ...]:
        """What the core is told of it."""
        accounts = {"": AccountShareConfig(users=self.users), **self.accounts}
        found = [tree.Share(name, None, each.share, each.limit) for name, each in accounts.items()]
        for name, each in accounts.items():
            found += [tree.Share(name, uid_of(user), its.share, its.limit) for user, its in each.users.items()]
        return tuple(found)


def uid_of(user: str) -> int:
    """The number of a user, by name or as it is."""
    if user.isascii() and user.isdigit():
        return int(user)
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise InvalidConfig(f"shares: no user named {user!r} on this host; give the user id") from None


class StandbyConfig(Record):
    """A folder that another controller watches, to take over; how old what it shows may be."""

    folder: File
    stale: Seconds = 0.0


class LogConfig(Record):
    """Where the log goes; standard error without a file."""

    file: File | None = None
    level: Level = "info"


class ServerConfig(Record):
    """All that a controller is told."""

    capacity: BytesPerSecond | None = None
    capacity_schedule: tuple[StepConfig, ...] = ()
    resources: tuple[ResourceConfig, ...] = ()
    machine_nodes: Count | None = None
    sharing: Name = "fair-share"
    cluster: Name = "penstock"
    lease: Seconds = 8.0
    beat: Seconds = 2.0
    pace: Seconds = 0.002
    epsilon: Part = 0.02
    phi: Part = 0.5
    max_wait: Seconds = 600.0
    floor: BytesPerSecond | None = None
    forget: Seconds = 3600.0
    members_per_job: Count = 64
    jobs_per_user: Count = 20_000
    reserve: Reserve = "bounded"
    shares: SharesConfig | None = None
    first_contact: FirstContact = "paced"
    site_file: File | None = None
    socket: SocketConfig = SocketConfig()
    tcp: TcpConfig | None = None
    auth: tuple[AuthKind, ...] = ("peer",)
    keys: dict[str, File] = Field(default={})
    munge_socket: File | None = None
    hook_uids: tuple[User, ...] = ()
    revoked: tuple[Name, ...] = ()
    quotas: QuotasConfig = QuotasConfig()
    journal: JournalConfig = JournalConfig()
    metrics_port: Port | None = None
    standby: StandbyConfig | None = None
    contact: Name = "the operators of this machine"
    opt_out: Name = "PENSTOCK=off in the job's environment before it starts; operators can exempt a job"
    log: LogConfig = LogConfig()

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("ServerConfig", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Place, object, str]]:
        if (self.capacity is None) == (not self.resources):
            yield (), None, 'needs either a capacity, such as "160 GB/s", or resources with theirs'
        if self.capacity_schedule and self.resources:
            yield ("capacity_schedule",), (), "is for one capacity; a resource has a `schedule` of its own"
        names = [resource.name for resource in self.resources]
        for place, name in enumerate(names):
            if name in names[:place]:
                yield ("resources", place, "name"), name, f"is {name!r}, which is there twice; names are unique"
        yield from self._resource_problems()
        if not 0 < 2 * self.beat <= self.lease:
            yield (
                ("beat",),
                self.beat,
                f"is {self.beat:g} s; it is above 0 and at most half of the lease, {self.lease:g} s",
            )
        if self.phi == 0:
            yield ("phi",), 0, "is 0; without a share to go on with, jobs would hang when the controller is gone"
        if not self.auth:
            yield ("auth",), (), f"is empty; accepted: {', '.join(AUTH_KINDS)}"
        if "hmac" in self.auth and not self.keys:
            yield ("keys",), {}, "are missing; the kind hmac needs the site's keys, as `name: file`"
        if self.tcp and not self.tcp.client_ca and not {"munge", "hmac"} & set(self.auth):
            yield ("auth",), self.auth, "is only peer, which nobody can show over TCP; add munge or hmac"

    def _resource_problems(self) -> Iterator[tuple[Place, object, str]]:
        for place, each in enumerate(self.resources):
            if each.path is not None and each.target in (None, UNKNOWN):
                yield ("resources", place, "path"), each.path, "is of no target; only a target has a path"
            if each.kind != "bytes" and (each.target or each.direction):
                yield ("resources", place, "kind"), each.kind, "is operations, which have no target and no direction"
        if self.resources and all(each.kind != "bytes" for each in self.resources):
            yield ("resources",), None, "are of operations only; a controller shares bytes, and operations beside them"

    def standby_folder(self) -> Path:
        """That which two controllers share."""
        assert self.standby is not None
        return Path(self.standby.folder)

    def settings(self) -> ControllerSettings:
        """What the core is told of it."""
        names_of = ("name", "capacity", "target", "direction", "path", "kind")
        given = [Resource(*(getattr(each, name) for name in names_of)) for each in self.resources]
        resources = tuple(given or [Resource("all", self.capacity or 0.0)])
        nodes: dict[str, Any] = {} if self.machine_nodes is None else {"machine_nodes": self.machine_nodes}
        names = (
            "sharing",
            "lease",
            "beat",
            "pace",
            "epsilon",
            "phi",
            "max_wait",
            "floor",
            "forget",
            "members_per_job",
            "jobs_per_user",
            "reserve",
        )
        shares = None if self.shares is None else self.shares.settings()
        plain = {name: getattr(self, name) for name in names}
        return ControllerSettings(resources=resources, **nodes, **plain, shares=shares)

    def schedules(self) -> dict[str, list[Step]]:
        """When capacities change, by resource."""
        steps = {each.name: each.schedule for each in self.resources} or {"all": self.capacity_schedule}
        return {name: [Step(each.at, each.capacity) for each in given] for name, given in steps.items() if given}

    def out_of_service(self) -> list[str]:
        """The resources that nobody may use."""
        return [each.name for each in self.resources if not each.in_service]

    def socket_path(self) -> Path:
        """Where clients of this host connect: as told, or where they look by themselves."""
        return Path(self.socket.path) if self.socket.path else default_folder("XDG_RUNTIME_DIR", "/run/penstock")

    def site_path(self) -> Path:
        """Where jobs find how fast to go before they have met the controller: as told, or beside the socket."""
        return Path(self.site_file or beside(str(self.socket_path())))

    def journal_folder(self) -> Path:
        """Where the journal is: as told, or the usual place of such data."""
        if self.journal.directory:
            return Path(self.journal.directory)
        return usual_journal()

    def retention(self) -> Retention:
        """What the journal is told of it."""
        return Retention(self.journal.keep, self.journal.keep_bytes)

    def admin_group(self) -> int | None:
        """The number of the group of operators, if there is such a group."""
        try:
            return grp.getgrnam(self.socket.admin_group).gr_gid
        except KeyError:
            return None

    def site_keys(self) -> dict[str, bytes]:
        """The site's keys by their names, from their files."""
        return {kid: read_key(Path(file)) for kid, file in self.keys.items()}


def default_folder(variable: str, otherwise: str) -> Path:
    """The socket's usual place: the user's own runtime folder, or the system's."""
    folder = os.environ.get(variable)
    return Path(folder) / "penstock.sock" if folder and os.geteuid() != 0 else Path(otherwise) / "penstock.sock"


def load_config(path: str | os.PathLike[str]) -> ServerConfig:
    """The configuration in a YAML file."""
    file = Path(path)
    with reading(file, InvalidConfig):
        if file.stat().st_size > LARGEST:
            raise InvalidConfig(f"{file}: has {file.stat().st_size:,} bytes; a configuration is a small file")
        text = file.read_text("utf-8")

    def locate(place: Place) -> str:
        line = yaml_text.line_of(text, place) if place else None
        return f"{file}:{line}" if line else str(file)

    try:
        document: Any = yaml_text.parse(text, str(file))
        return ServerConfig.checked({} if document is None else document, locate)
    except InvalidScenario as error:
        raise InvalidConfig(str(error)) from None


def make_config(**given: Any) -> ServerConfig:
    """The configuration of a command line."""
    try:
        return ServerConfig.checked(given, lambda _: "the options")
    except InvalidScenario as error:
        raise InvalidConfig(str(error)) from None
