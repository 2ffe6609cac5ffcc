"""How clients reach the server in a load test of the controller: by a UNIX socket, or a port, with TLS or without."""

from __future__ import annotations

import random
import socket
import ssl
import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from penstock.live.loadtest.errors import LoadTestFailed

TRANSPORTS = ("unix", "tcp", "tcp-plain")  # as in addresses: tcp is with TLS
HOST = "127.0.0.1"
NAME = "localhost"  # in the certificate
KID = "loadtest"  # what the site calls its key
CONNECT_LIMIT = 10.0  # seconds
_AT_A_TIME = 4096
_PORTS = range(20_000, 30_000)  # connections get theirs from 32768 on


@dataclass(frozen=True)
class Transport:
    """Where a server listens, and what is needed to be let in."""

    transport: str
    path: str = ""  # of a UNIX socket
    port: int = 0  # of TCP
    papers: Path | None = None  # the folder of the certificate
    key: bytes = b""  # of the site, which signs who jobs are; on a UNIX socket the kernel tells

    @property
    def place(self) -> str:
        """In words."""
        return self.path or f"port {self.port}"

    @property
    def certificate(self) -> Path:
        """What the server shows."""
        assert self.papers is not None
        return self.papers / "tls.crt"

    @property
    def certificate_key(self) -> Path:
        """What the server proves it with."""
        return self.certificate.with_suffix(".key")

    @cached_property
    def tls(self) -> ssl.SSLContext | None:
        """How clients check the server; None: without TLS."""
        if self.transport != "tcp":
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.certificate)
        return context

    def for_another(self, path: Path) -> Transport:
        """The same way to another server."""
        return replace(self, path=str(path)) if self.path else replace(self, port=free_port())

    def make_papers(self) -> None:
        """A certificate for the server, if it needs one."""
        if self.transport != "tcp":
            return
        files = ("-keyout", str(self.certificate_key), "-out", str(self.certificate))
        new = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
        names = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}")
        try:
            subprocess.run(["openssl", "req", *new, *names, *files], check=True, capture_output=True)
        except FileNotFoundError:
            raise LoadTestFailed(
                "openssl, which makes the certificate, is not installed; install it, or use another --transport"
            ) from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip().splitlines()
            raise LoadTestFailed(f"openssl made no certificate: {said[-1] if said else 'no reason given'}") from None


def free_port() -> int:
    """A port that nobody listens on, and that the system gives to none of our thousands of connections."""
    for port in random.sample(_PORTS, len(_PORTS)):
        with socket.socket() as link, suppress(OSError):
            link.bind((HOST, port))
            return port
    raise LoadTestFailed(f"no port from {_PORTS.start} to {_PORTS.stop - 1} is free")


class ClientConnection:
    """One connection. To make it may take a moment if the server is busy; from then on nothing waits."""

    __slots__ = ("_agreed", "_link")

    def __init__(self, way: Transport) -> None:
        self._link = socket.socket(socket.AF_UNIX if way.path else socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._link.settimeout(CONNECT_LIMIT)
            self._link.connect(way.path or (HOST, way.port))
            self._link.setblocking(False)
            if not way.path:
                self._link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            self._link.close()
            raise
        self._agreed = way.tls is None
        if way.tls is not None:
            self._link = way.tls.wrap_socket(self._link, server_hostname=NAME, do_handshake_on_connect=False)

    def fileno(self) -> int:
        """Its number."""
        return self._link.fileno()

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def agreed(self) -> bool:
        """Whether something can be said: with TLS, only after a few calls. OSError: it will never be."""
        if not self._agreed:
            assert isinstance(self._link, ssl.SSLSocket)
            try:
                self._link.do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return False
            self._agreed = True
        return True

    def receive(self) -> bytes | None:
        """What has come; None: nothing new, nothing at all: it is over."""
        try:
            data = self._link.recv(_AT_A_TIME)
            if isinstance(self._link, ssl.SSLSocket) and (more := self._link.pending()):
                data += self._link.recv(more)  # which the system would not tell of
            return data
        except (BlockingIOError, ssl.SSLWantReadError):
            return None
        except OSError:
            return b""

    def send(self, data: bytes) -> bool:
        """Say it; whether the other end takes it. What is over takes everything: its end is read next."""
        try:
            return self._link.send(data) == len(data)
        except (BlockingIOError, ssl.SSLWantWriteError):
            return False
        except OSError:
            return True
