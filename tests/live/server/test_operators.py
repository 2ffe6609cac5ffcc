"""What operators need of the server: their group, a check before the start, metrics, limits, a unit file."""

from __future__ import annotations

import configparser
import grp
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from machine import can_be_others, open_to_all
from penstock.live.journal import replay
from penstock.live.server import readiness
from penstock.live.server.config import make_config
from penstock.live.server.errors import CannotServe
from penstock.live.server.readiness import check
from penstock.wire.messages import Post, Rate, Register, Registered
from penstock.wire.tokens import Claims, make_token, proof
from ports import free_port

from .conftest import NONCE, PATIENCE, Raw, Server, until

Make = Callable[..., Server]
AS_OTHER = """
import os, sys
groups, path = [int(each) for each in sys.argv[2].split(",")], sys.argv[1]
from penstock.live.admin import Line
from penstock.client.config import Address
from penstock.errors import PenstockError
os.setgroups(groups); os.setgid(65534); os.setuid(65534)
try:
    with Line(Address(path=path)) as line:
        print(line.ask("status")["mode"])
except PenstockError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(not can_be_others(), reason="only root can be another user")
@pytest.mark.parametrize("many", [0, 100])
def test_operators_are_those_of_the_group_also_by_a_supplementary_one(server: Make, many: int) -> None:
    group = next(each for each in grp.getgrall() if each.gr_gid not in (0, 65534))
    controller = server(socket={"path": "", "admin_group": group.gr_name})
    controller.config["socket"]["path"] = str(controller.path)
    controller.start()
    open_to_all(controller.folder)
    others = [70_000 + number for number in range(many)]

    def ask(*groups: int) -> str:
        words = (str(controller.path), ",".join(map(str, groups)))
        return subprocess.run(
            [sys.executable, "-c", AS_OTHER, *words], capture_output=True, text=True, check=True, timeout=60
        ).stdout.strip()

    assert ask(*others, group.gr_gid) == "run"
    assert ask(*others, 65534).startswith("refused:")


def test_connections_to_the_metrics_that_say_nothing_cost_no_thread(server: Make) -> None:
    pytest.importorskip("prometheus_client")
    port = free_port()
    controller = server(metrics_port=port)
    controller.start()
    assert controller.process is not None
    threads = Path(f"/proc/{controller.process.pid}/task")
    before = len(list(threads.iterdir()))
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    controller.ask("status")
    assert len(list(threads.iterdir())) <= before + 1
    # They are cut off, and who asks is answered.
    until(lambda: silent[-1].recv(1) == b"")
    text = until(lambda: _metrics(port))
    assert "penstock_epoch 1.0" in text
    for each in silent:
        each.close()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/other", timeout=PATIENCE)


def _metrics(port: int) -> str:
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).read().decode()
    except OSError:
        return ""


def test_a_check_says_what_a_start_would_complain_of(tmp_path: Path) -> None:
    places = {"socket": {"path": str(tmp_path / "p.sock")}, "journal": {"directory": str(tmp_path / "journal")}}
    warnings = check(make_config(capacity="1 GB/s", first_contact="open", **places))
    assert any("first contact is open" in warning for warning in warnings)
    assert not list(tmp_path.iterdir())
    with pytest.raises(CannotServe, match=r"none\.pem"):
        missing = {"listen": "127.0.0.1:0", "certificate": "/none.pem", "key": "/none.key"}
        check(make_config(capacity="1 GB/s", tcp=missing, auth=["munge"], **places))


def test_too_few_open_files_are_told_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    monkeypatch.setattr(readiness, "file_limit", lambda: 1024)
    (warning,) = (each for each in check(make_config(capacity=1)) if "open files" in each)
    assert "1,024 open files are allowed, and 20,100 would be needed" in warning and "924 connections" in warning


def test_the_unit_does_not_start_again_what_must_not_run() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(Path(__file__).parents[3] / "examples" / "live" / "penstock.service")
    service = unit["Service"]
    assert service["Restart"] == "always" and "3" in service["RestartPreventExitStatus"].split()
    assert service["User"] != "root" and service["NoNewPrivileges"] == "yes" and service["ProtectSystem"] == "strict"
    assert service["RuntimeDirectoryPreserve"] == "yes"  # the site file is for when there is no controller
    assert int(service["LimitNOFILE"]) >= 20_100


SLEEPY = "import time\n\n\ndef sleepy(view, rates):\n    time.sleep(12)\n"


def test_a_policy_that_sleeps_does_not_hold_up_everybody(server: Make, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(SLEEPY)
    controller = server(sharing=f"{tmp_path / 'own.py'}:sleepy")
    controller.start()
    client = controller.client()
    client.send(Register(1, "a", 0, 1), Post(2, 1, 1, 1e12))
    began = time.monotonic()
    while client.hear_a(Rate).rate == 0.0:
        pass
    assert time.monotonic() - began < 6.0  # half a second, on a machine that is not busy
    status = controller.ask("status")
    assert status["policy"] == "fair-share" and "took more than" in status["last_policy_failure"]
    assert controller.kill(signal.SIGTERM) == 0
    assert not replay(controller.folder / "journal").differences


def test_a_configuration_is_read_anew_without_a_restart(server: Make, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode() * 32)
        (tmp_path / name).chmod(0o400)
    port = free_port()
    controller = server(
        auth=["peer", "hmac"], keys={"a": str(tmp_path / "a")}, tcp={"listen": f"127.0.0.1:{port}", "plain": True}
    )
    controller.start()
    client = controller.client()

    def enter(kid: str, job: str = "7") -> str:
        token = make_token(kid.encode() * 32, Claims(job, 1000, 1, time.time() + 1e4, kid))
        peer = Raw(socket.create_connection(("127.0.0.1", port)))
        answer = peer.hello(
            prove=lambda challenge: proof(token.secret, b"client", NONCE, challenge.nonce),
            auth="hmac",
            claims=token.claims,
        )
        peer.close()
        return getattr(answer, "text", "welcome")

    assert (enter("a"), enter("b")) == ("welcome", "the token was made with a key that this controller does not know")
    controller.reload(capacity="500 MB/s", keys={"b": str(tmp_path / "b")}, revoked=["8"])
    assert (enter("b"), enter("b", "8")) == ("welcome", "the token was revoked")
    assert "does not know" in enter("a")
    until(lambda: controller.ask("capacity")["capacity"]["all"]["capacity"] == 5e8)
    controller.reload(capacity="nonsense")
    assert controller.events("reload")[-1]["level"] == "error"
    assert controller.ask("capacity")["capacity"]["all"]["capacity"] == 5e8
    client.send(Register(1, "still here", 0, 1))
    assert client.hear_a(Registered)


def test_what_the_core_reckons_with_stays_until_a_restart(server: Make) -> None:
    """A newcomer that heard of a longer lease than the core counts with would move on after it was written off."""
    controller = server()
    controller.start()
    told = controller.client().welcome
    controller.reload(lease="60 s", beat="20 s")
    assert controller.events("reload")[-1]["level"] == "info"
    again = controller.client().welcome
    assert (again.lease, again.beat) == (told.lease, told.beat)
    controller.reload(shares={"accounts": {"physics": {"users": {"nobody-of-that-name": {"share": 2}}}}})
    assert controller.events("reload")[-1]["level"] == "error"
    assert controller.ask("capacity")


@pytest.mark.skipif(not can_be_others(), reason="only root can give files to any group")
def test_operators_can_read_the_journal_and_others_cannot(server: Make) -> None:
    group = next(each for each in grp.getgrall() if each.gr_gid not in (0, 65534))
    controller = server(socket={"path": "", "admin_group": group.gr_name})
    controller.config["socket"]["path"] = str(controller.path)
    controller.start()
    controller.client().send(Register(1, "a", 0, 1))
    assert controller.kill(signal.SIGTERM) == 0
    folder = controller.folder / "journal"
    kept = [path for path in folder.iterdir() if path.suffix in (".pj", ".snap")]
    assert len(kept) >= 2
    for path in (folder, *kept):
        found = path.stat()
        assert found.st_gid == group.gr_gid and found.st_mode & 0o067 == 0o040
