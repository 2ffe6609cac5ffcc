"""The client's side of the handshake against the controller's own, and over real TLS and a real munged."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.controller import PATIENCE, until
from penstock.client import handshake, io_phase, process
from penstock.client.config import from_environment
from penstock.client.first_contact import LAST_RESORT
from penstock.client.handshake import ByMunge, ByPeer, ByToken, ClientHandshake, NotLetIn, munge, read_token_file
from penstock.client.member import MemberState
from penstock.live.core.events import Identity
from penstock.live.server import handshake as theirs
from penstock.wire import messages as wire
from penstock.wire.messages import Auth, Challenge, Error, Frames, Welcome
from penstock.wire.tokens import Claims, make_token

KEY = b"k" * 32


def token_file(folder: Path, job: str = "42", key: bytes = KEY, exp: float = 4e9) -> Path:
    path = folder / "token"
    path.write_text(make_token(key, Claims(job, 1000, 2, exp, "site")).text())
    path.chmod(0o400)
    return path


def house(**how: object) -> theirs.House:
    return theirs.House(3, "test", 8.0, 2.0, 0.002, kinds=("peer", "hmac", "munge"), keys={"site": KEY}, **how)  # type: ignore[arg-type]


def meet(identity: handshake.Credential, peer: theirs.Peer) -> tuple[Welcome, theirs.Admit]:
    """Both sides, face to face."""
    ours, other = ClientHandshake(identity, epoch_seen=2), theirs.ServerHandshake(house(), peer)
    step = other.received(ours.hello)
    assert isinstance(step, theirs.Say), step
    answer = ours.received(step.message)  # type: ignore[arg-type]
    assert isinstance(answer, Auth)
    admitted = other.received(answer)
    assert isinstance(admitted, theirs.Admit), admitted
    welcome = ours.received(other.welcome(7, admitted.proof))
    assert isinstance(welcome, Welcome)
    return welcome, admitted


def test_peer() -> None:
    welcome, admitted = meet(ByPeer(), theirs.Peer("uid 1000", 1000, 77))
    assert (welcome.session, welcome.epoch) == (7, 3)
    assert (admitted.identity.uid, admitted.epoch_seen) == (1000, 2)


def test_token(tmp_path: Path) -> None:
    _, admitted = meet(ByToken(str(token_file(tmp_path))), theirs.Peer("10.0.0.7"))
    assert (admitted.identity.job, admitted.identity.uid, admitted.identity.nodes) == ("42", 1000, 2)


def test_a_token_of_another_site_is_refused(tmp_path: Path) -> None:
    ours = ClientHandshake(ByToken(str(token_file(tmp_path, key=b"other" * 8))), 0)
    other = theirs.ServerHandshake(house(), theirs.Peer("10.0.0.7"))
    step = other.received(ours.hello)
    assert isinstance(step, theirs.Say)
    assert isinstance(other.received(ours.received(step.message)), theirs.Refuse)  # type: ignore[arg-type]


def test_a_controller_that_does_not_know_the_secret_is_not_believed(tmp_path: Path) -> None:
    ours = ClientHandshake(ByToken(str(token_file(tmp_path))), 0)
    ours.received(Challenge(1, 3, "x", os.urandom(16)))
    with pytest.raises(NotLetIn, match="secret"):
        ours.received(Welcome(1, 3, 8.0, 2.0, 0.0, b"x" * 32))


@pytest.mark.parametrize(
    "words",
    [
        [Welcome(1, 3, 8.0, 2.0, 0.0)],
        [Challenge(1, 3, "x", b"n" * 16), Challenge(1, 3, "x", b"n" * 16)],
        [Challenge(99, 3, "x", b"n" * 16)],
        [wire.Notice("a", "b")],
    ],
)
def test_words_out_of_order(words: list[wire.FromController]) -> None:
    ours = ClientHandshake(ByPeer(), 0)
    with pytest.raises(NotLetIn):
        for word in words:
            ours.received(word)


def test_a_token_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    path = token_file(tmp_path)
    path.chmod(0o440)
    with pytest.raises(PermissionError, match="chmod 400"):
        read_token_file(str(path))


@pytest.mark.parametrize("text", ["", "x y z", "penstock-token-1 e30= eA=="])
def test_a_file_that_is_no_token(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o400)
    with pytest.raises(OSError, match="token"):
        read_token_file(str(path))


def test_the_job_is_that_of_the_token(tmp_path: Path) -> None:
    env = {"PENSTOCK_TOKEN": str(token_file(tmp_path)), "SLURM_JOB_ID": "7", "TMPDIR": str(tmp_path)}
    assert from_environment(env).settings.job == "42"


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            *[
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
            ],
            *["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
            *("-keyout", folder / "key.pem", "-out", folder / "cert.pem"),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return folder


class TlsController:
    """Lets one client in by token, and grants what it posts."""

    def __init__(self, certificate: Path, rate: float = 6e6) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        self.rate = rate
        self.identities: list[Identity] = []
        self.problems: list[str] = []
        self._listener = context.wrap_socket(socket.create_server(("localhost", 0)), server_side=True)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
                self._talk(connection)
            except ssl.SSLError as error:
                self.problems.append(str(error))
            except OSError:
                return

    def _talk(self, connection: socket.socket) -> None:
        frames, shaking = Frames(wire.MOST_FROM_CLIENT), theirs.ServerHandshake(house(), theirs.Peer("10.0.0.7"))
        while data := connection.recv(65_536):
            for body in frames.feed(data):
                self._answer(connection, shaking, wire.read_client(body))

    def _answer(self, connection: socket.socket, shaking: theirs.ServerHandshake, word: wire.FromClient) -> None:
        reply: wire.Message | None = None
        if isinstance(word, wire.Hello | Auth):
            step = shaking.received(word)
            if isinstance(step, theirs.Say):
                reply = step.message
            elif isinstance(step, theirs.Admit):
                self.identities.append(step.identity)
                reply = shaking.welcome(1, step.proof)
            elif isinstance(step, theirs.Refuse):
                reply = step.error
        elif isinstance(word, wire.Register):
            reply = wire.Registered(word.req, 1, word.member, {"": 1e6}, 1.0)
        elif isinstance(word, wire.Post):
            reply = wire.Rate(3, 1, word.op, self.rate, word.hb)
        if reply is not None:
            # In pieces: a record of TLS and a frame need not end together.
            for byte in wire.frame(reply):
                connection.sendall(bytes([byte]))

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def tls(certificate: Path, socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TlsController]:
    controller = TlsController(certificate)
    monkeypatch.setenv("PENSTOCK_ADDRESS", f"tcp://localhost:{controller.port}")
    monkeypatch.setenv("PENSTOCK_CA", str(certificate / "cert.pem"))
    monkeypatch.setenv("PENSTOCK_TOKEN", str(token_file(socket_path.parent)))
    monkeypatch.delenv("PENSTOCK_JOB")
    yield controller
    controller.close()


def test_a_phase_over_tls(tls: TlsController) -> None:
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        assert phase.rate == 6e6
    assert tls.identities[0].job == "42"


def test_a_certificate_that_nobody_vouches_for(tls: TlsController, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_CA")
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        assert phase.rate == LAST_RESORT
    assert not tls.identities


def test_a_token_that_is_missing_is_said_once(
    tls: TlsController, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PENSTOCK_TOKEN", str(tmp_path / "none"))
    with io_phase(1e5) as phase:
        phase.acquire(1000)
        link, _ = process.here().look()
        assert link is not None
        until(lambda: link._attempts > 1)
    process.reset()  # after that attempt
    assert not tls.identities
    assert len([line for line in caplog.records if "nothing to show who we are" in line.getMessage()]) == 1


def test_an_expired_token_is_refused(tls: TlsController, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    monkeypatch.setenv("PENSTOCK_TOKEN", str(token_file(folder, exp=1.0)))
    with io_phase(1e5) as phase:
        phase.acquire(1000)
    link, _ = process.here().look()
    assert link is not None and link.member.state is MemberState.REFUSED


def test_a_port_where_nobody_listens(tls: TlsController, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PENSTOCK_ADDRESS", f"tcp://127.0.0.1:{deaf.getsockname()[1]}")
        start = time.monotonic()
        with io_phase(1e5) as phase:
            phase.acquire(1000)
        assert time.monotonic() - start < PATIENCE / 2


# MUNGE


@pytest.fixture(scope="module")
def munged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    daemon = shutil.which("munged") or shutil.which("munged", path="/usr/sbin")
    if daemon is None:
        pytest.skip("munged is not installed (Debian's package munge)")
    folder = tmp_path_factory.mktemp("munge")
    folder.chmod(0o755)
    key, place = folder / "key", folder / "socket"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    files = [f"--{name}-file={folder / name}" for name in ("log", "pid", "seed")]
    running = subprocess.Popen(
        [daemon, "--foreground", "--force", f"--socket={place}", f"--key-file={key}", *files],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    limit = time.monotonic() + PATIENCE
    while not place.exists():
        if running.poll() is not None or time.monotonic() > limit:
            running.kill()
            pytest.skip("munged does not start here")
        time.sleep(0.02)
    yield str(place)
    running.terminate()
    running.wait(PATIENCE)


@pytest.mark.parametrize("library", [True, False], ids=["library", "command"])
def test_munge(munged: str, library: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "MUNGE_LIMIT", PATIENCE)
    if not library:
        monkeypatch.setattr(handshake, "LIBRARY", "libmunge-that-is-not-there.so")
    ours = ClientHandshake(ByMunge("42", munged), 0)
    other = theirs.ServerHandshake(house(), theirs.Peer("10.0.0.7"))
    step = other.received(ours.hello)
    assert isinstance(step, theirs.Say)
    answer = ours.received(step.message)  # type: ignore[arg-type]
    assert isinstance(answer, Auth)
    asked = other.received(answer)
    assert isinstance(asked, theirs.Decode)
    told = subprocess.run(
        ["unmunge", f"--socket={munged}", "--metadata=/dev/null"],
        input=asked.credential,
        capture_output=True,
        check=True,
    )
    admitted = other.decoded(os.getuid(), told.stdout)
    assert isinstance(admitted, theirs.Admit) and admitted.identity.job == "42"


def test_no_munged_is_no_credential(tmp_path: Path) -> None:
    assert munge(b"x", str(tmp_path / "none")) == b""
    ours = ClientHandshake(ByMunge("42", str(tmp_path / "none")), 0)
    with pytest.raises(NotLetIn, match="MUNGE"):
        ours.received(Challenge(1, 3, "x", b"n" * 16))


def test_a_munged_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "MUNGE_LIMIT", 0.1)
    answer = threading.Event()
    monkeypatch.setattr(handshake, "munge", lambda *_: b"late" if answer.wait(PATIENCE) else b"never")
    with pytest.raises(NotLetIn):
        ByMunge("42").prove(b"", b"")
    answer.set()


def test_refusals_are_told_as_they_are() -> None:
    refused = theirs.ServerHandshake(house(), theirs.Peer("10.0.0.7")).received(ClientHandshake(ByPeer(), 0).hello)
    assert isinstance(refused, theirs.Refuse) and isinstance(refused.error, Error)
    with pytest.raises(NotLetIn, match="Error"):
        ClientHandshake(ByPeer(), 0).received(refused.error)
