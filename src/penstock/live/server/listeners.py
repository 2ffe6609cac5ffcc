"""The doors: UNIX sockets and a TCP port, each bound before anything else is done, so that a busy one stops a start."""

from __future__ import annotations

import errno
import grp
import os
import socket
import ssl
import stat
from contextlib import suppress
from pathlib import Path

from penstock.live.server.config import SocketConfig, TcpConfig
from penstock.live.server.config_values import host_of, port_of
from penstock.live.server.errors import CannotServe

BACKLOG = 4096


class UnixDoor:
    """A bound UNIX socket with its file, which goes when it is closed."""

    def __init__(self, path: Path, mode: int, group: int | None = None) -> None:
        self.path = path
        _clear(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            before = os.umask(0o177)
            try:
                self.socket.bind(str(path))
            finally:
                os.umask(before)
            if group is not None:
                os.chown(path, -1, group)
            path.chmod(mode)
            self._inode = path.stat().st_ino
        except OSError as error:
            self.socket.close()
            reason = (error.strerror or str(error)).lower()
            raise CannotServe(f"the socket {path} cannot be made ({reason}); give another path") from None

    def close(self) -> None:
        """Take the file away, unless somebody else has put theirs in its place."""
        with suppress(OSError):
            if self.path.stat().st_ino == self._inode:
                self.path.unlink()
        self.socket.close()


def _clear(path: Path) -> None:
    """Remove the file of a server that is gone; refuse if it is not gone, or if it is something else."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # nothing is there, or binding says why not
    if not stat.S_ISSOCK(mode):
        raise CannotServe(f"{path} is there already and is no socket; give another path")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            with suppress(OSError):
                path.unlink()
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ETIMEDOUT) and not isinstance(error, TimeoutError):
                reason = (error.strerror or str(error)).lower()
                raise CannotServe(f"the socket {path} cannot be taken over ({reason}); give another path") from None
    raise CannotServe(f"another server listens on {path}; stop it first, or give another path")


def unix_doors(path: Path, config: SocketConfig) -> list[tuple[UnixDoor, bool]]:
    """The door for all and, if there is one, that for operators, each with whether it is the latter."""
    doors = [(UnixDoor(path, config.mode), False)]
    if config.admin_path:
        try:
            group = grp.getgrnam(config.admin_group).gr_gid
        except KeyError:
            group = None
        try:
            doors.append((UnixDoor(Path(config.admin_path), config.admin_mode, group), True))
        except CannotServe:
            doors[0][0].close()
            raise
    return doors


def tcp_socket(config: TcpConfig) -> socket.socket:
    """The port for jobs, bound."""
    return bound_socket(host_of(config.listen), port_of(config.listen), "port")


def bound_socket(host: str, port: int, words: str) -> socket.socket:
    """A socket that has an address of this host; `words` say what it is for."""
    link = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        link.bind((host, port))
    except OSError as error:
        link.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotServe(f"{words} {port} is busy; stop who listens there, or give another port") from None
        reason = (error.strerror or str(error)).lower()
        raise CannotServe(f"cannot use {words} {port} of {host} ({reason}); give an address of this host") from None
    return link


def tls_context(config: TcpConfig) -> ssl.SSLContext | None:
    """How the port speaks TLS; None: it does not."""
    if config.certificate is None or config.key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0  # nobody resumes: a restart loses the ticket keys, and without tickets it is faster
    files = f"{config.certificate} and {config.key}"
    try:
        context.load_cert_chain(config.certificate, config.key)
        if config.client_ca is not None:
            files = config.client_ca
            context.load_verify_locations(config.client_ca)
            context.verify_mode = ssl.CERT_OPTIONAL
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotServe(
            f"{files}: cannot be used for TLS ({reason}); expected PEM files that fit each other"
        ) from None
    return context
