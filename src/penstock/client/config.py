"""What a client is told by its environment: about the controller and about the job.

| variable | meaning |
| --- | --- |
| PENSTOCK | `off`: no pacing at all |
| PENSTOCK_ADDRESS | `unix:/path`, `/path`, `tcp://host:port` (TLS), `tcp-plain://host:port`; several with commas |
| PENSTOCK_CA | file of certificates that the controller's is checked against |
| PENSTOCK_TOKEN | file with the job's token, readable by its owner only |
| PENSTOCK_MUNGE_SOCKET | of munged, if not in its usual place |
| PENSTOCK_JOB | the job; else SLURM_JOB_ID, else user and session |
| PENSTOCK_NODES | nodes that this process moves bytes for, 1 |
| PENSTOCK_CAP | the most that it can use, as `2GB/s` |
| PENSTOCK_FALLBACK | rate of this node until the controller has named one, as `100MB/s` |
| PENSTOCK_SITE | the site's file with that rate, if not beside the socket or in /etc/penstock/site.json |
| PENSTOCK_TIMEOUT | seconds to wait for the answer to an announcement, 2 |
| PENSTOCK_BUCKET | segment with the bucket of this node, as `penstock run` makes it |
"""

from __future__ import annotations

import math
import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.client.amounts import parse_amount
from penstock.client.first_contact import first_contact
from penstock.client.member import MemberSettings
from penstock.errors import InvalidOption
from penstock.wire.site import beside

OFF_FILE = Path("/etc/penstock/off")
LONGEST_NAME = 200  # characters; those of a file's name may take more than one byte each
SYSTEM_SOCKET = Path("/run/penstock/penstock.sock")


@dataclass(frozen=True)
class Address:
    """Where the controller listens: a path, or a host and port."""

    path: str = ""
    host: str = ""
    port: int = 0
    tls: bool = True

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        return f"{'tcp' if self.tls else 'tcp-plain'}://{self.host}:{self.port}"


@dataclass(frozen=True)
class ClientConfig:
    """All that a client needs to know; no address: off."""

    settings: MemberSettings
    addresses: tuple[Address, ...] = ()  # of the controller and of those who stand by
    ca: str | None = None
    token: str | None = None
    munge_socket: str | None = None
    bucket: str | None = None
    off_file: Path = OFF_FILE

    @property
    def address(self) -> Address | None:
        """The first of them."""
        return self.addresses[0] if self.addresses else None


def from_environment(env: Mapping[str, str] | None = None) -> ClientConfig:
    """The configuration of this process; an InvalidOption names the variable that cannot be taken."""
    env = os.environ if env is None else env
    addresses = () if env.get("PENSTOCK", "").lower() == "off" else _addresses(env)
    token = env.get("PENSTOCK_TOKEN") or None
    job = env.get("PENSTOCK_JOB") or (job_of_token(token) if token else "") or env.get("SLURM_JOB_ID") or _session()
    job = as_name(job)
    near = tuple(each.path for each in addresses if each.path) or (str(SYSTEM_SOCKET),)
    first = first_contact(_amount(env, "PENSTOCK_FALLBACK"), env, near)
    settings = MemberSettings(
        job=job,
        nodes=_nodes(env),
        cap=_amount(env, "PENSTOCK_CAP"),
        labels=_labels(env),
        fallbacks=first.rates,
        fallback_words=first.words,
        timeout=_timeout(env),
        off=not addresses,
        addresses=max(1, len(addresses)),
    )
    return ClientConfig(
        settings,
        addresses,
        env.get("PENSTOCK_CA") or None,
        token,
        env.get("PENSTOCK_MUNGE_SOCKET") or None,
        None if env.get("PENSTOCK", "").lower() == "off" else env.get("PENSTOCK_BUCKET") or None,
        OFF_FILE,
    )


def is_off() -> bool:
    """Whether this process is not to be paced whatever else is said, or there is nobody at this site who could."""
    try:
        nobody = not _addresses(os.environ) and not os.environ.get("PENSTOCK_BUCKET")
    except InvalidOption:
        nobody = False
    return nobody or os.environ.get("PENSTOCK", "").lower() == "off" or OFF_FILE.exists()


def own_rate(env: Mapping[str, str]) -> float | None:
    """PENSTOCK_FALLBACK, unless it is what cannot be taken."""
    try:
        return _amount(env, "PENSTOCK_FALLBACK")
    except InvalidOption:
        return None


def sockets(env: Mapping[str, str]) -> tuple[str, ...]:
    """Beside which the site's file may be: that of the address if it has one, else the usual ones."""
    given = (each.strip().removeprefix("unix:") for each in env.get("PENSTOCK_ADDRESS", "").split(","))
    return tuple(each for each in given if each.startswith("/")) or (str(SYSTEM_SOCKET),)


def as_name(job: str) -> str:
    """A job's name as controllers take it, and files: a job is not refused for what it is called.

    >>> as_name("a job" + chr(10))
    'a job_'
    """
    return "".join(letter if letter.isprintable() else "_" for letter in job[:LONGEST_NAME])


def for_many(config: ClientConfig) -> ClientConfig:
    """The same for a member whose bucket several processes pay from: the death of one of them frees nothing."""
    settings = config.settings
    return replace(config, settings=replace(settings, labels={**settings.labels, "bucket": "shared"}))


def parse_addresses(text: str) -> tuple[Address, ...]:
    """One address or several, as they are written in PENSTOCK_ADDRESS: the first is tried first.

    >>> [each.host for each in parse_addresses("tcp://io1.example.org:7070, tcp://io2.example.org:7070")]
    ['io1.example.org', 'io2.example.org']
    """
    return tuple(dict.fromkeys(parse_address(each.strip()) for each in text.split(",")))


def parse_address(text: str) -> Address:
    """An address as it is written in PENSTOCK_ADDRESS.

    >>> parse_address("tcp://io.example.org:7070").port
    7070
    """
    if text.startswith(("tcp://", "tcp-plain://")):
        scheme, _, place = text.partition("://")
        host, _, port = place.rpartition(":")
        if host and port.isascii() and port.isdigit() and 0 < int(port) < 65536:
            return Address(host=host.strip("[]"), port=int(port), tls=scheme == "tcp")
    elif (path := text.removeprefix("unix:")).startswith("/"):
        return Address(path=path)
    raise InvalidOption(
        f"PENSTOCK_ADDRESS is {text!r}; accepted are unix:/path, /path and tcp://host:port, or several with commas"
    )


def job_of_token(path: str) -> str:
    """The job that a token speaks for; empty if the file cannot be read, which the handshake will complain about."""
    from penstock.client.handshake import read_token_file  # noqa: PLC0415 - only jobs with a token need it

    try:
        return read_token_file(path)[2]
    except OSError:
        return ""


def _addresses(env: Mapping[str, str]) -> tuple[Address, ...]:
    if given := env.get("PENSTOCK_ADDRESS"):
        return parse_addresses(given)
    runtime = env.get("XDG_RUNTIME_DIR")
    for path in (*((Path(runtime) / "penstock.sock",) if runtime else ()), SYSTEM_SOCKET):
        # A controller that was stopped has no socket; its file says that this site has one.
        if os.path.exists(path) or os.path.exists(beside(str(path))):
            return (Address(path=str(path)),)
    return ()


def _session() -> str:
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    return f"{user}.{os.getsid(0)}"


def _labels(env: Mapping[str, str]) -> dict[str, str]:
    """The node counts where the batch system says that the job has it; the others for a controller of one's own."""
    known = {"user": "USER", "account": "SLURM_JOB_ACCOUNT", "qos": "SLURM_JOB_QOS", "node": "SLURMD_NODENAME"}
    found = {label: as_name(env[name]) for label, name in known.items() if env.get(name)}
    return {"node": as_name(os.uname().nodename.partition(".")[0]), **found}


def _nodes(env: Mapping[str, str]) -> int:
    text = env.get("PENSTOCK_NODES") or "1"
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 10**7):
        raise InvalidOption(f"PENSTOCK_NODES is {text!r}; a whole number ≥ 1 is accepted")
    return int(text)


def _timeout(env: Mapping[str, str]) -> float:
    text = env.get("PENSTOCK_TIMEOUT") or "2"
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds <= 3600.0:
        raise InvalidOption(f"PENSTOCK_TIMEOUT is {text!r}; seconds above 0 and up to 3600 are accepted")
    return seconds


def _amount(env: Mapping[str, str], name: str) -> float | None:
    text = env.get(name)
    amount = parse_amount(text, name) if text else None
    if amount == 0.0:
        raise InvalidOption(f"{name} is {text!r}; a rate > 0 is accepted")
    return amount
