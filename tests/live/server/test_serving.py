"""A real controller in a process of its own: serve, die, come back, stop."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machine import can_be_others, open_to_all
from penstock.live.journal import replay
from penstock.live.server.config import make_config
from penstock.live.server.errors import CannotServe
from penstock.live.server.serve import serve
from penstock.live.server.unpaced import places
from penstock.wire import messages as wire
from penstock.wire.messages import Ack, Beat, Complete, Error, Notice, OpenOp, Post, Rate, Register, Registered, Resync
from ports import free_port

from .conftest import PATIENCE, Raw, Server, until

Make = Callable[..., Server]


def working(server: Server, job: str = "1") -> tuple[Raw, Registered, Rate]:
    client = server.client()
    client.send(Register(1, job, 0, 1))
    known = client.hear_a(Registered)
    client.send(Post(2, 1, 1, 1e12))
    rate = client.hear_a(Rate)
    while rate.rate == 0.0:
        rate = client.hear_a(Rate)
    client.send(Ack(rate.epoch, rate.rev))
    return client, known, rate


def test_register_post_rate_complete_kill_and_resume(server: Make) -> None:
    controller = server()
    controller.start()
    client, known, rate = working(controller)
    assert (rate.epoch, rate.op, rate.anchor) == (1, 1, 1)
    assert rate.rate == pytest.approx(1e9)
    client.send(Beat(2, rate.epoch, rate.rev, 5e8))
    assert client.hear_a(Rate).anchor == 2
    controller.kill()
    with pytest.raises(EOFError):
        client.hear()
    controller.start()
    again = controller.client()
    assert again.welcome.epoch == 2
    op = OpenOp(1, 1e12, 6e8, "write", (), 1.0)
    again.send(Resync(5, known.app, known.member, rate.epoch, rate.rev, rate.rate, 1.0, 3, op, "1"))
    renewed = again.hear_a(Rate)
    assert (renewed.epoch, renewed.op, renewed.rate, renewed.anchor) == (2, 1, rate.rate, 3)
    again.send(Ack(renewed.epoch, renewed.rev), Complete(1, 1e12))
    status = controller.ask("status")
    assert status["epoch"] == 2
    assert controller.events("started")[-1]["warm"] is True
    controller.kill(signal.SIGTERM)
    found = replay(controller.folder / "journal")
    assert found.decisions > 0 and found.different == 0


def test_a_stop_is_announced_and_leaves_nothing_behind(server: Make) -> None:
    controller = server()
    controller.start()
    client = controller.client()
    controller.process.send_signal(signal.SIGTERM)
    notice = client.hear_a(Notice)
    assert notice.code == "restart"
    assert controller.wait() == 0
    assert not controller.path.exists()
    assert controller.events("stopped")[-1]["code"] == 0
    controller.start()


def test_a_second_server_on_the_journal_is_told(server: Make) -> None:
    first, second = server(), server()
    first.start()
    second.config["journal"] = first.config["journal"]
    line = second.start(ok=False)
    assert re.search(rf"refused: the journal .* is in use by process {first.process.pid}; stop that controller", line)
    assert second.wait() == 2
    first.client()


def test_a_second_server_on_the_socket_is_told(server: Make) -> None:
    first, second = server(), server()
    first.start()
    second.config["socket"] = first.config["socket"]
    assert "another server listens on" in second.start(ok=False)
    first.client()


def test_the_socket_of_a_dead_server_is_taken_over(server: Make) -> None:
    controller = server()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(controller.path))
    controller.start()
    assert controller.path.stat().st_mode & 0o777 == 0o666
    controller.client()


def test_what_is_no_socket_is_not_removed(server: Make) -> None:
    controller = server()
    controller.path.write_text("precious")
    assert "is no socket" in controller.start(ok=False)
    assert controller.path.read_text() == "precious"


def test_a_busy_port_is_told(server: Make) -> None:
    controller = server()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        controller.config |= {"tcp": {"listen": f"127.0.0.1:{port}", "plain": True}, "auth": ["peer", "munge"]}
        assert (
            controller.start(ok=False) == f"refused: port {port} is busy; stop who listens there, or give another port"
        )
        assert not controller.path.exists()
        controller.kill()
        controller.config |= {"tcp": None, "metrics_port": port}
        assert f"metrics port {port} is busy" in controller.start(ok=False)
        assert not (controller.folder / "journal" / "epoch").exists()


@pytest.mark.parametrize("epoch", [-4, 10**23])
def test_an_epoch_that_cannot_be_is_told_and_the_journal_is_left_alone(tmp_path: Path, epoch: int) -> None:
    config = make_config(capacity="1 GB/s", journal={"directory": str(tmp_path / "journal")})
    with pytest.raises(CannotServe, match=f"the epoch is {epoch}; "):
        serve(config, epoch=epoch)
    assert not (tmp_path / "journal").exists()


def test_metrics_are_served_on_this_host(server: Make) -> None:
    pytest.importorskip("prometheus_client")
    port = free_port()
    controller = server(metrics_port=port)
    controller.start()
    client, _, _ = working(controller)
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read().decode()
    for line in (
        'penstock_capacity_bytes_per_second{resource="all"} 1e+09',
        "penstock_connections 1.0",
        'penstock_mode{mode="run"} 1.0',
    ):
        assert line in text
    assert 'penstock_members{stage="posted"} 1.0' in text
    assert 'penstock_charged_bytes_per_second{resource="all"} 1e+09' in text
    assert re.search(r"penstock_frames_total \d", text)
    client.close()


def test_the_log_is_reopened_and_tells_no_secrets(server: Make) -> None:
    controller = server()
    controller.start()
    working(controller)[0].close()
    log = controller.folder / "log"
    log.rename(controller.folder / "log.1")
    controller.process.send_signal(signal.SIGHUP)
    until(log.exists)
    controller.ask("status")
    line = controller.events("command")[-1]
    assert (line["verb"], line["uid"], line["role"]) == ("status", os.getuid(), "admin")
    assert "nonce" not in log.read_text() and "proof" not in log.read_text()


def test_the_death_of_a_client_is_noticed_at_once(server: Make) -> None:
    controller = server(lease=4 * PATIENCE)
    controller.start()
    script = f"""
import socket, sys, time
from penstock.live import wire
from penstock.live.wire import *
link = socket.socket(socket.AF_UNIX); link.connect({str(controller.path)!r})
def say(*messages):
    for message in messages: link.sendall(wire.frame(message))
say(Hello(1, 1, "client", "dies", b"n" * 16, 0, "peer")); link.recv(1000)
say(Auth(b"")); link.recv(1000)
say(Register(1, "dies", 0, 1)); link.recv(1000)
say(Post(2, 1, 1, 1e12)); link.recv(1000)
print("posted", flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "posted\n"
    assert controller.ask("status")["members"] == {"posted": 1}
    process.kill()
    process.wait()
    process.stdout.close()
    until(lambda: not controller.ask("status")["members"])


def test_a_full_disk_alarms_and_leases_go_on(server: Make) -> None:
    """The real thing: the process may not write files beyond a few kilobytes."""
    controller = server(log={"level": "info"})
    controller.start()
    client, _, rate = working(controller)
    size = max(path.stat().st_size for path in (controller.folder / "journal").iterdir())
    assert controller.process is not None
    resource.prlimit(controller.process.pid, resource.RLIMIT_FSIZE, (size + 60, resource.RLIM_INFINITY))
    others = []
    for number in range(5):
        other = controller.client()
        other.send(Register(1, f"more{number}", 0, 1))
        others.append(other)
    beat = 2
    deadline = time.monotonic() + PATIENCE
    while not controller.ask("server")["warnings"]:
        assert time.monotonic() < deadline
        client.send(Beat(beat, rate.epoch, rate.rev, 0.0))
        renewed = client.hear_a(Rate)
        assert (renewed.anchor, renewed.rate <= rate.rate) == (beat, True)
        beat += 1
    assert "file too large" in controller.ask("server")["warnings"][0]
    others[0].send(Post(2, 1, 1, 1e12))
    assert others[0].hear_a(Rate).rate == 0.0
    client.send(Beat(beat, rate.epoch, rate.rev, 0.0))
    assert client.hear_a(Rate).anchor == beat
    resource.prlimit(controller.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    until(lambda: not controller.ask("server")["warnings"])
    controller.kill()
    controller.start()
    assert controller.ask("status")["applications"] == 6


def test_who_was_let_go_while_the_disk_failed_stays_so_after_a_kill(server: Make) -> None:
    """The journal does not say it, the mark does: until an operator sets the mode, nobody is paced."""
    controller = server()
    controller.start()
    _, known, rate = working(controller)
    controller.kill()
    mark = places(controller.folder / "journal", controller.path)[1]
    mark.touch()
    controller.start()
    assert controller.ask("status")["mode"] == "paused"
    again = controller.client()
    op = OpenOp(1, 1e12, 6e8, "write", (), 1.0)
    again.send(Resync(5, known.app, known.member, rate.epoch, rate.rev, 1e18, 0.0, 3, op, "1"))
    assert again.hear_a(Rate).flags & wire.FREE
    until(lambda: controller.ask("status") and not mark.exists())
    controller.kill()
    controller.start()
    assert controller.ask("status")["mode"] == "paused"
    controller.ask("mode", mode="enforce")
    assert controller.ask("status")["mode"] in ("run", "grace")  # the start that found the mark was cold


def test_a_newer_journal_and_a_damaged_one_are_told(server: Make) -> None:
    controller = server()
    controller.start()
    working(controller)
    controller.kill()
    path = next((controller.folder / "journal").glob("*.pj"))
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"penstock journal\n\0\0\0\1", b"penstock journal\n\0\0\0\2"))
    assert "was written by a newer penstock" in controller.start(ok=False)
    controller.kill()
    damaged = bytearray(whole)
    damaged[-100] ^= 1
    path.write_bytes(damaged)
    assert re.search(
        r"is damaged, so the rates in force are not known; `penstock serve --grace`", controller.start(ok=False)
    )
    controller.kill()
    controller.start("--grace")
    assert controller.ask("status")["mode"] == "grace"
    assert list((controller.folder / "journal").glob("damaged-*/*.pj"))


def test_garbage_from_one_leaves_the_others_alone(server: Make) -> None:
    controller = server(quotas={"bad_frames": 1000})
    controller.start()
    client, _, rate = working(controller)
    for size in (0, 65_537, 2**31):
        guilty = controller.client()
        guilty.link.sendall(size.to_bytes(4, "big") + b"x" * 100)
        error = guilty.hear_a(Error)
        assert (error.code, error.fatal) == ("frame", True)
        with pytest.raises(EOFError):
            guilty.hear()
    client.send(Beat(7, rate.epoch, rate.rev, 0.0))
    assert client.hear_a(Rate).anchor == 7


@pytest.mark.parametrize("offer", [{"v_min": 2, "v_max": 9}, {"v_min": 0, "v_max": 0}])
def test_a_wrong_version_is_told(server: Make, offer: dict[str, Any]) -> None:
    controller = server()
    controller.start()
    answer = Raw.unix(controller.path).hello(**offer)
    assert isinstance(answer, Error) and answer.code == "version" and "1 to 1" in answer.text


def test_with_sync_rates_come_after_the_disk(server: Make) -> None:
    controller = server()
    controller.config["journal"]["durability"] = "sync"
    controller.start()
    _, _, rate = working(controller)
    assert rate.rate == pytest.approx(1e9)
    figures = controller.ask("server")
    assert figures["journal"]["synced"] > 0


@pytest.mark.skipif(not can_be_others(), reason="needs root to become somebody else")
def test_over_the_unix_socket_nobody_speaks_for_another_user(server: Make) -> None:
    controller = server()
    open_to_all(controller.folder)
    controller.start()
    hook = controller.client(role="hook")
    hook.send(wire.Hook(1, "job_start", "77", "", 1000, 4))
    hook.hear()
    _client, known, _ = working(controller, "mine")
    script = f"""
import os, socket
from penstock.live import wire
from penstock.live.wire import *
os.setgroups([]); os.setgid(1001); os.setuid(1001)
frames = wire.Frames(1 << 20)
def dial():
    global link
    link = socket.socket(socket.AF_UNIX); link.settimeout({PATIENCE}); link.connect({str(controller.path)!r})
def say(message):
    link.sendall(wire.frame(message))
    return wire.read_controller(next(iter(frames.feed(link.recv(70000)))))
for role in ("client", "admin", "hook"):
    dial()
    print(role, getattr(say(Hello(1, 1, role, "t", b"n" * 16, 0, "peer")), "code", "challenged"), flush=True)
words = (
    Register(1, "77", 0, 1), Resync(1, {known.app}, {known.member}, 1, 1, 0.0, 0.0, 1, None, ""),
    Resync(1, {known.app}, {known.member}, 1, 1, 0.0, 0.0, 1, None, "mine"), Admin(1, "mode", {{"mode": "pause"}}),
    Ack(99, 1), Hook(1, "job_end", "77"), Complete(1, 1.0),
)
for word in words:
    dial()
    say(Hello(1, 1, "client", "t", b"n" * 16, 0, "peer")); say(Auth(b""))
    answer = say(word)
    print(type(word).__name__, getattr(answer, "code", type(answer).__name__), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == [
        "client challenged",
        "admin forbidden",
        "hook forbidden",
        "Register forbidden",
        "Resync forbidden",
        "Resync forbidden",
        "Admin forbidden",
        "Ack fenced",
        "Hook forbidden",
        "Complete unknown_app",
    ], done.stderr
    assert controller.ask("status")["mode"] == "run"
