"""MUNGE with a real munged, on a socket and with a key of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from machine import can_be_others, open_to_all
from penstock.live.server import munge as munge_module
from penstock.live.server.munge import Decoded, Munge, MungeError
from penstock.wire.messages import Challenge, Error, Register, Registered, Welcome
from ports import free_port

from .conftest import PATIENCE, Raw, Server

DAEMON = shutil.which("munged") or shutil.which("munged", path="/usr/sbin")


@pytest.fixture(scope="module")
def munged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if DAEMON is None or shutil.which("munge") is None:
        pytest.skip("munged is not installed (Debian's package munge)")
    folder = tmp_path_factory.mktemp("munge")
    open_to_all(folder)
    key, path = folder / "key", folder / "socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    names = {
        "key-file": key,
        "socket": path,
        "pid-file": folder / "pid",
        "log-file": folder / "log",
        "seed-file": folder / "seed",
    }
    process = subprocess.Popen(
        [DAEMON, "--foreground", "--force", *(f"--{name}={file}" for name, file in names.items())],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.skip(f"munged does not start here: {process.communicate()[1].decode()[-200:]}")
        time.sleep(0.05)
    yield path
    process.terminate()
    process.communicate(timeout=PATIENCE)


def credential(path: Path, payload: bytes, uid: int | None = None) -> bytes:
    become = {"user": uid, "group": uid} if uid is not None else {}
    done = subprocess.run(
        ["munge", f"--socket={path}"],
        input=payload,
        capture_output=True,
        check=True,
        timeout=PATIENCE,
        **become,  # type: ignore[call-overload]
    )
    return bytes(done.stdout.strip())


def decoded(munge: Munge, given: bytes) -> Decoded:
    try:
        return asyncio.run(munge.decode(given))
    finally:
        munge.close()


@pytest.fixture(params=["library", "command"])
def ask(request: pytest.FixtureRequest, munged: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Munge]:
    monkeypatch.setattr(munge_module, "TIME_LIMIT", PATIENCE)

    def make() -> Munge:
        munge = Munge(munged)
        if request.param == "command":
            munge.__dict__["_library"] = None
        elif munge._library is None:
            pytest.skip("libmunge.so.2 is not here")
        return munge

    return make


def test_a_credential_tells_its_user_and_payload(ask: Callable[[], Munge], munged: Path) -> None:
    payload = b"\0\1nonce\xff job"
    assert decoded(ask(), credential(munged, payload)) == Decoded(os.getuid(), payload)


@pytest.mark.skipif(not can_be_others(), reason="needs root to become somebody else")
def test_another_user_is_another_user(ask: Callable[[], Munge], munged: Path) -> None:
    assert decoded(ask(), credential(munged, b"x", uid=1234)).uid == 1234


def test_a_credential_is_taken_once(ask: Callable[[], Munge], munged: Path) -> None:
    given = credential(munged, b"once")
    decoded(ask(), given)
    with pytest.raises(MungeError, match="replayed"):
        decoded(ask(), given)


@pytest.mark.parametrize("given", [b"", b"MUNGE:garbage:", b"x" * 10_000, b"MUNGE:\0:"])
def test_what_is_no_credential_is_refused(ask: Callable[[], Munge], given: bytes) -> None:
    with pytest.raises(MungeError):
        decoded(ask(), given)


def test_a_changed_credential_is_refused(ask: Callable[[], Munge], munged: Path) -> None:
    given = bytearray(credential(munged, b"mine"))
    given[40] = given[40] ^ 1 if given[40] ^ 1 != ord(":") else given[40] ^ 2
    with pytest.raises(MungeError):
        decoded(ask(), bytes(given))


def test_a_daemon_that_is_gone_or_silent_costs_no_more_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own library would wait for some seconds, and tell something else then."""
    monkeypatch.setattr(munge_module, "TIME_LIMIT", 0.2)
    with pytest.raises(MungeError):
        decoded(Munge(tmp_path / "none"), b"MUNGE:x:")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        with pytest.raises(MungeError, match=r"did not answer within 0\.2 s|timed out after 0\.2 seconds"):
            decoded(Munge(tmp_path / "silent"), b"MUNGE:AwQDAAB=:")


def test_over_tcp_a_credential_lets_in_for_its_own_job_only(server: Callable[..., Server], munged: Path) -> None:
    port = free_port()
    tcp = {"listen": f"127.0.0.1:{port}", "plain": True}
    controller = server(tcp=tcp, auth=["peer", "munge"], munge_socket=str(munged))
    controller.start()
    assert "not encrypted" in controller.ask("server")["warnings"][0]

    def dial() -> Raw:
        return Raw(socket.create_connection(("127.0.0.1", port), PATIENCE))

    def proving(job: bytes) -> Callable[[Challenge], bytes]:
        return lambda challenge: credential(munged, challenge.nonce + job)

    client = dial()
    assert isinstance(client.hello(proving(b"42"), auth="munge", claims=b"42"), Welcome)
    client.send(Register(1, "43", 0, 1))
    refused = client.hear_a(Error)
    assert refused.code == "forbidden"
    client = dial().admitted(prove=proving(b"42"), auth="munge", claims=b"42")
    client.send(Register(1, "42", 0, 1))
    assert isinstance(client.hear(), Registered)
    for wrong in (
        proving(b"43"),
        lambda challenge: credential(munged, b"n" * 16 + b"42"),
        lambda challenge: b"MUNGE:AA:",
    ):
        answer = dial().hello(wrong, auth="munge", claims=b"42")
        assert isinstance(answer, Error) and answer.code == "auth"
    stolen: list[bytes] = []

    def first(challenge: Challenge) -> bytes:
        stolen.append(credential(munged, challenge.nonce + b"42"))
        return stolen[0]

    dial().admitted(prove=first, auth="munge", claims=b"42")
    answer = dial().hello(lambda challenge: stolen[0], auth="munge", claims=b"42")
    assert isinstance(answer, Error) and answer.code == "auth"
    assert "replayed" in controller.events("refused")[-1]["detail"]
    answer = dial().hello()
    assert isinstance(answer, Error) and answer.code == "auth"
    assert not any("MUNGE:" in str(line) for line in controller.log())
