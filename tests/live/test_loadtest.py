"""The load test through its command with few clients, and that what it measures is what happens."""

from __future__ import annotations

import asyncio
import json
import math
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.controlled import Controller, until
from cli.user import command, environment
from penstock.cli.commands.loadtest import loadtest
from penstock.errors import PenstockError
from penstock.live.loadtest import LoadTestFailed, arrive
from penstock.live.loadtest.clients import Crowd
from penstock.live.loadtest.load_test import part
from penstock.live.loadtest.processes import controller, way_in
from penstock.live.loadtest.transports import Transport
from penstock.live.server.config import load_config
from penstock.wire import messages as wire
from penstock.wire.messages import Challenge, Error, Frames, Message, Post, Rate, Registered, Welcome

KEYS = {
    "clients", "register_seconds", "events_per_second", "p50_ms", "p99_ms", "server_cpu", "rss_mb", "restart_seconds",
    "echo_ratio", "transport",
}  # fmt: skip
SMALL = ("--clients", "60", "--active", "20", "--seconds", "1", "--rate", "100")


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    asked = command("loadtest", *arguments)
    return subprocess.run(asked, env=environment(), capture_output=True, text=True, timeout=300, check=False, **more)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_with_a_controller_of_its_own(transport: str) -> None:
    if transport == "tcp" and shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, so there is no certificate to test with")
    done = run(*SMALL, "--transport", transport, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found.keys() == KEYS
    assert (found["clients"], found["transport"]) == (60, transport)
    assert 10.0 < found["events_per_second"] < 110.0
    assert 0.0 < found["p50_ms"] <= found["p99_ms"]
    assert 0.0 < found["server_cpu"] < 1.5
    assert 20.0 < found["rss_mb"] < 1000.0
    # Python alone takes longer than that to start.
    assert 0.05 < found["restart_seconds"] < 100.0
    assert found["echo_ratio"] > 1.0


def test_without_tls_the_controller_is_told_so(tmp_path: Path) -> None:
    way = way_in(tmp_path, "tcp-plain")
    controller(tmp_path, 7, way)
    told = load_config(tmp_path / "controller.yaml")
    assert told.tcp is not None and told.tcp.plain and told.tcp.listen == f"127.0.0.1:{way.port}"
    assert way.key in told.site_keys().values() and way.tls is None


@pytest.mark.slow
def test_with_a_controller_that_runs(tmp_path: Path) -> None:
    with Controller(tmp_path) as running:
        done = run(*SMALL, "--address", str(running.socket))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("60 clients registered on a UNIX socket in ")
        assert "It was not restarted" in done.stdout
        until(lambda: running.ask("status")["members"] == {})
        assert running.ask("status")["epoch"] == 1
        assert running.ask("server")["frames"] > 300


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"clients": 5, "active": 6}, "6 of 5 clients cannot be active; at least one is, and at most all are"),
        ({"clients": 5, "active": 0}, "0 of 5 clients cannot be active"),
        ({"clients": 10, "rate": 1000.0}, "1000 events/s are too many for 1 active clients"),
        ({"seconds": 0.0}, "1000 events/s for 0 s are no load"),
        ({"seconds": math.inf}, "1000 events/s for inf s are no load"),
        ({"rate": math.nan}, "nan events/s for 10 s are no load"),
        ({"address": "tcp://here:1"}, "the load test speaks to a running controller by its UNIX socket"),
        (
            {"address": "/nowhere/socket", "transport": "tcp"},
            "the load test speaks to a running controller by its UNIX socket",
        ),
        ({"transport": "pigeon"}, "the transport is 'pigeon'; accepted: unix, tcp, tcp-plain"),
        ({"address": "/nowhere/socket"}, "nobody listens at /nowhere/socket"),
    ],
)
def test_what_is_no_load_is_told(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PenstockError) as refused:
        loadtest(**options)
    assert str(refused.value).startswith(sentence)


def test_without_openssl_there_is_no_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LoadTestFailed, match="openssl, which makes the certificate, is not installed"):
        loadtest(clients=100, rate=10.0, transport="tcp")


def test_more_clients_than_files_are_told() -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))

    done = run("--clients", "1000", preexec_fn=few)
    assert (done.returncode, done.stdout) == (2, "")
    assert "1,000 clients need 1,200 open files, and a process may have 500 here" in done.stderr


def testparts_of_what_was_measured() -> None:
    hundred = [float(number) for number in range(1, 101)]
    assert (part(hundred, 0.5), part(hundred, 0.99), part([7.0], 0.99)) == (50.0, 99.0, 7.0)


class Slow(asyncio.Protocol):
    """A controller that answers a Post with rate 0, and grants something after `delay`; refuses the job `bad`."""

    delay, bad = 0.05, ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.frames = transport, Frames(wire.MOST_FROM_CLIENT)

    def data_received(self, data: bytes) -> None:
        for body in self.frames.feed(data):
            self.heard(wire.read_client(body))

    def heard(self, message: Message) -> None:
        loop = asyncio.get_running_loop()
        if isinstance(message, wire.Hello):
            self.say(Challenge(1, 1, "slow", bytes(16)))
        elif isinstance(message, wire.Auth):
            self.say(Welcome(1, 1, 8.0, 2.0, 0.002))
        elif isinstance(message, wire.Register) and message.job == self.bad:
            self.say(Error(1, "quota", "you are too many", fatal=True))
        elif isinstance(message, wire.Register):
            self.say(Registered(1, 1, 1, {"": 1.0}, 1.0))
        elif isinstance(message, Post):
            self.say(Rate(1, 2 * message.op, message.op, 0.0, message.hb))
            loop.call_later(self.delay, self.say, Rate(1, 2 * message.op + 1, message.op, 1.0, message.hb))

    def say(self, message: Message) -> None:
        self.transport.write(wire.frame(message))  # type: ignore[attr-defined]


async def crowd_of(folder: Path, kind: type[Slow], count: int = 10) -> Crowd:
    path = str(folder / "socket")
    await asyncio.get_running_loop().create_unix_server(kind, path)
    return Crowd(Transport("unix", path), count, "c")


def test_a_wait_ends_with_the_first_rate_above_zero(tmp_path: Path) -> None:
    async def test() -> None:
        crowd = await crowd_of(tmp_path, Slow)
        await crowd.bring_in(crowd.clients)
        await crowd.post_all(crowd.clients)
        assert len(crowd.waits) == len(crowd.clients)
        assert min(crowd.waits) >= Slow.delay - 1e-3
        crowd.waits.clear()
        events = await crowd.stream(crowd.clients, 200.0, 0.5)
        assert len(crowd.waits) == math.ceil(events / 2)
        crowd.close()

    asyncio.run(test())


def test_one_that_is_never_granted_a_rate_counts_as_well(tmp_path: Path) -> None:
    class Slower(Slow):
        delay = 3600.0

    async def test() -> None:
        crowd = await crowd_of(tmp_path, Slower, 2)
        await crowd.bring_in(crowd.clients)
        for client in crowd.clients:
            client.post()
        await asyncio.sleep(0.1)
        for client in crowd.clients:
            client.complete()
        assert len(crowd.waits) == 2
        assert min(crowd.waits) >= 0.1 - 1e-3
        crowd.close()

    asyncio.run(test())


def test_a_refusal_ends_the_test(tmp_path: Path) -> None:
    class Full(Slow):
        bad = "c-3"

    async def test() -> None:
        crowd = await crowd_of(tmp_path, Full)
        with pytest.raises(LoadTestFailed, match="the controller refused a client: you are too many"):
            await crowd.bring_in(crowd.clients)
        crowd.close()

    asyncio.run(test())


def test_members_of_one_job_arrive() -> None:
    """More than any job may have that does not prove its nodes; each has a number of its own."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, so there is no certificate to test with")
    found = arrive(100, "tcp", one_job=True)
    assert 0.0 < found.cpu_ms < 1e3 * found.seconds


@pytest.mark.timing
@pytest.mark.crowd("processors")
def test_two_thousand_members_of_one_job_arrive_in_ten_seconds() -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, so there is no certificate to test with")
    assert arrive(2000, "tcp", one_job=True).seconds <= 10.0
