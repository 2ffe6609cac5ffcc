"""A real controller in a process of its own, and a client that speaks raw frames."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from forked import Forked
from penstock.wire import messages as wire
from penstock.wire.messages import Auth, Challenge, Hello, Message, Welcome

SERVE = """
import sys
from penstock.errors import PenstockError
from penstock.live.server.config import load_config
from penstock.live.server.serve import serve
try:
    grace = "--grace" in sys.argv
    ready = lambda address: print("ready", flush=True)
    again = lambda: load_config(sys.argv[1])
    sys.exit(serve(again(), grace=grace, ready=ready, again=again))
except PenstockError as error:
    print(f"refused: {error}", flush=True)
    sys.exit(2)
"""
NONCE = b"n" * 16
PATIENCE = 30.0  # seconds: a busy machine may take long for anything


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What is true at last."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


class Raw:
    """A client that says what it is told to say."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        link.settimeout(PATIENCE)
        self._frames = wire.Frames(wire.MOST_FROM_CONTROLLER)
        self._inbox: list[Message] = []

    @classmethod
    def unix(cls, path: Path) -> Raw:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect(str(path))
        return cls(link)

    def send(self, *messages: Message) -> None:
        self.link.sendall(b"".join(wire.frame(message) for message in messages))

    def hear(self) -> Message:
        """The next message; EOFError when the controller hangs up."""
        while not self._inbox:
            try:
                data = self.link.recv(65_536)
            except ConnectionResetError:
                data = b""
            if not data:
                raise EOFError
            self._inbox += [wire.read_controller(body) for body in self._frames.feed(data)]
        return self._inbox.pop(0)

    def hear_a(self, kind: type[Any]) -> Any:
        """The next message of a kind, over all others."""
        while not isinstance(message := self.hear(), kind):
            pass
        return message

    def hello(self, prove: Callable[[Challenge], bytes] = lambda challenge: b"", **changes: Any) -> Message:
        """Greet; the Welcome, or what comes instead."""
        given = {
            "v_min": 1,
            "v_max": 1,
            "role": "client",
            "agent": "raw",
            "nonce": NONCE,
            "epoch_seen": 0,
            "auth": "peer",
        }
        self.send(Hello(**{**given, **changes}))
        answer = self.hear()
        if not isinstance(answer, Challenge):
            return answer
        self.send(Auth(prove(answer)))
        return self.hear()

    def admitted(self, **changes: Any) -> Raw:
        answer = self.hello(**changes)
        assert isinstance(answer, Welcome), answer
        self.welcome = answer
        return self

    def close(self) -> None:
        self.link.close()


class Server:
    """A controller in a process of its own."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        self.folder = folder
        self.config = {
            "capacity": "1 GB/s",
            "machine_nodes": 10,
            "lease": PATIENCE,  # clients here send no beats but those that a test is about
            "beat": 0.5,
            "socket": {"path": str(folder / "p.sock")},
            "journal": {"directory": str(folder / "journal")},
            "log": {"file": str(folder / "log"), "level": "debug"},
            **config,
        }
        self.process: subprocess.Popen[str] | None = None

    @property
    def path(self) -> Path:
        return self.folder / "p.sock"

    def start(self, *options: str, ok: bool = True) -> str:
        """Start it; its first line: `ready`, or why not."""
        file = self.folder / "config.yaml"
        file.write_text(yaml.safe_dump(self.config))
        with (self.folder / "stderr").open("wb") as errors:
            command = [sys.executable, "-c", SERVE, str(file), *options]
            self.process = Forked(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if ok:
            assert line == "ready", line + (self.folder / "stderr").read_text()
        return line

    def client(self, **changes: Any) -> Raw:
        return Raw.unix(self.path).admitted(**changes)

    def ask(self, verb: str, **args: Any) -> Any:
        """An operator's question."""
        client = self.client(role="admin")
        client.send(wire.Admin(9, verb, args))
        answer = client.hear()
        client.close()
        assert isinstance(answer, wire.Answer), answer
        return answer.body

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.log() if line["event"] == name]

    def reload(self, **changes: Any) -> None:
        """Change the configuration, and have it read again."""
        told = len(self.events("reload"))
        self.config |= changes
        (self.folder / "config.yaml").write_text(yaml.safe_dump(self.config))
        assert self.process is not None
        self.process.send_signal(signal.SIGHUP)
        until(lambda: len(self.events("reload")) > told)

    def kill(self, number: int = signal.SIGKILL) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.wait()

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        assert self.process is not None
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def make(**config: Any) -> Server:
        folder = tmp_path / f"s{len(made)}"
        folder.mkdir()
        made.append(Server(folder, config))
        return made[-1]

    yield make
    for each in made:
        if each.process is not None and each.process.poll() is None:
            each.kill()
