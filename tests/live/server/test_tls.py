"""TCP with TLS: tokens, client certificates, and nobody else."""

from __future__ import annotations

import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.wire.messages import Admin, Answer, Challenge, Error, Register, Registered, Welcome
from penstock.wire.tokens import Claims, Token, make_token, proof
from ports import free_port

from .conftest import NONCE, PATIENCE, Raw, Server, until

KEY = b"the site's own key, 32 bytes at least"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*words: str) -> None:
        try:
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=60)
        except FileNotFoundError:
            pytest.skip("openssl is not installed, so there are no certificates to test with")

    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl(*new, "-x509", "-days", "2", "-subj", "/CN=our ca", "-keyout", "ca.key", "-out", "ca.crt")
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    for name, subject in (("server", "/CN=localhost"), ("operator", "/CN=operator")):
        openssl(*new, "-subj", subject, "-keyout", f"{name}.key", "-out", f"{name}.csr")
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-days", "2", "-out", f"{name}.crt")
    openssl(*new, "-x509", "-days", "2", "-subj", "/CN=impostor", "-keyout", "impostor.key", "-out", "impostor.crt")
    return folder


@pytest.fixture
def started(server: Callable[..., Server], certificates: Path, tmp_path: Path) -> Callable[..., Server]:
    key = tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o400)

    def start(**config: Any) -> Server:
        tcp = {"listen": f"127.0.0.1:{free_port()}", "certificate": str(certificates / "server.crt"),
               "key": str(certificates / "server.key"), "client_ca": str(certificates / "ca.crt")}  # fmt: skip
        made = server(tcp=tcp, auth=["peer", "hmac"], keys={"a": str(key)}, **config)
        made.start()
        return made

    return start


@pytest.fixture
def controller(started: Callable[..., Server]) -> Server:
    return started()


def place_of(controller: Server) -> tuple[str, int]:
    host, port = controller.config["tcp"]["listen"].split(":")
    return host, int(port)


def dial(controller: Server, certificates: Path, who: str | None = None, source: str = "127.0.0.1") -> Raw:
    context = ssl.create_default_context(cafile=str(certificates / "ca.crt"))
    if who is not None:
        context.load_cert_chain(certificates / f"{who}.crt", certificates / f"{who}.key")
    link = socket.create_connection(place_of(controller), PATIENCE, (source, 0))
    return Raw(context.wrap_socket(link, server_hostname="localhost"))


def token(key: bytes = KEY, **changes: Any) -> Token:
    given = {"job": "42", "uid": 1000, "nodes": 4, "exp": time.time() + 60, "kid": "a", **changes}
    return make_token(key, Claims(**given))


def with_token(shown: Token, secret: bytes | None = None) -> dict[str, Any]:
    def prove(challenge: Challenge) -> bytes:
        return proof(secret or shown.secret, b"client", NONCE, challenge.nonce)

    return {"prove": prove, "auth": "hmac", "claims": shown.claims}


def test_a_token_opens_its_own_job_and_no_other(controller: Server, certificates: Path) -> None:
    client = dial(controller, certificates).admitted(**with_token(token()))
    client.send(Register(1, "42", 0, 100))
    known = client.hear_a(Registered)
    assert known.fallback[""] == pytest.approx(0.5 * 4 / 10 * 1e9), "no more than the nodes of the token"
    client = dial(controller, certificates).admitted(**with_token(token()))
    client.send(Register(1, "43", 0, 1))
    assert client.hear_a(Error).code == "forbidden"
    assert not any(word in str(controller.log()) for word in ("claims", token().secret.hex()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: with_token(token(exp=time.time() - 1)),
        lambda: with_token(token(key=b"another site's key of some length")),
        lambda: with_token(token(kid="b")),
        lambda: with_token(token(job="43"), secret=token().secret),
        lambda: {"auth": "hmac", "claims": b"garbage"},
        lambda: {"auth": "peer"},
        lambda: {**with_token(token()), "role": "admin"},
    ],
    ids=["expired", "another site", "unknown key", "another's secret", "garbage", "no proof", "operator by token"],
)
def test_wrong_tokens_are_refused(controller: Server, certificates: Path, make: Callable[[], dict[str, Any]]) -> None:
    answer = dial(controller, certificates).hello(**make())
    assert isinstance(answer, Error) and answer.code in ("auth", "forbidden") and answer.fatal


def test_an_operator_shows_a_certificate(controller: Server, certificates: Path) -> None:
    client = dial(controller, certificates, "operator").admitted(role="admin")
    client.send(Admin(1, "status"))
    assert isinstance(client.hear(), Answer)
    assert controller.events("command")[-1]["certificate"] == "operator"


def test_an_impostor_does_not_get_past_the_handshake(controller: Server, certificates: Path) -> None:
    with pytest.raises((ssl.SSLError, EOFError, OSError)):
        dial(controller, certificates, "impostor").hello(role="admin")
    answer = dial(controller, certificates).hello(role="admin")
    assert isinstance(answer, Error)


def test_whoever_speaks_no_tls_disturbs_nobody(controller: Server, certificates: Path) -> None:
    with socket.create_connection(place_of(controller), PATIENCE) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        plain.settimeout(PATIENCE)
        assert plain.recv(100)[:4] != b"HTTP"
    assert until(lambda: controller.events("refused"))[0]["text"] == "TLS was not agreed on"
    assert isinstance(dial(controller, certificates).hello(**with_token(token())), Welcome)


# Those that come to the door and never begin with TLS, or never end it.


@pytest.fixture
def idlers() -> Iterator[Callable[[Server, int], list[socket.socket]]]:
    made: list[socket.socket] = []

    def come(controller: Server, count: int) -> list[socket.socket]:
        links = [socket.create_connection(place_of(controller), PATIENCE) for _ in range(count)]
        made.extend(links)
        return links

    yield come
    for link in made:
        link.close()


def gone(link: socket.socket) -> bool:
    """Whether the controller has hung up, after whatever it said."""
    link.setblocking(False)
    try:
        while link.recv(65_536):
            pass
        return True
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def lets_in(controller: Server, certificates: Path, source: str) -> bool:
    try:
        return isinstance(dial(controller, certificates, source=source).hello(**with_token(token())), Welcome)
    except (OSError, EOFError):
        return False


def at_the_door(controller: Server) -> int:
    """How many strangers there are, as an operator sees it, who is none any more."""
    return int(controller.ask("server")["unauthenticated"])


def test_whoever_never_begins_with_tls_shuts_nobody_out(
    started: Callable[..., Server], certificates: Path, idlers: Callable[[Server, int], list[socket.socket]]
) -> None:
    controller = started(quotas={"unauthenticated": 100, "authenticate_seconds": 60})
    links = idlers(controller, 300)
    until(lambda: sum(map(gone, links)) == 200)
    figures = controller.ask("server")
    assert (figures["unauthenticated"], figures["connections"]) == (99, 100), "one made room for the operator"
    links += idlers(controller, 1)
    assert lets_in(controller, certificates, "127.0.0.2"), "from another host, at once"
    until(lambda: sum(map(gone, links)) == 202)
    links += idlers(controller, 1)
    # Those that came first have had their time after a second, so also one of their own host takes a place of theirs.
    until(lambda: lets_in(controller, certificates, "127.0.0.1"))
    until(lambda: sum(map(gone, links)) == 203)
    refusals = [line for line in controller.events("refused") if line["address"] == "127.0.0.1"]
    assert {line["code"] for line in refusals} == {"quota"}
    for link in links:
        link.close()
    until(lambda: at_the_door(controller) == 0)
    idlers(controller, 20)
    until(lambda: at_the_door(controller) == 20)
    assert controller.kill(signal.SIGTERM) == 0, "a stop waits for nobody"
    assert (controller.folder / "stderr").read_text() == ""


def test_tls_takes_no_longer_than_it_may(
    started: Callable[..., Server], certificates: Path, idlers: Callable[[Server, int], list[socket.socket]]
) -> None:
    controller = started(quotas={"authenticate_seconds": 2})  # honest ones take less, even where all is slow
    silent, half = idlers(controller, 100), idlers(controller, 100)
    hello = client_hello(certificates)
    for number, link in enumerate(half):
        link.sendall(hello if number % 2 else hello[:50])
    slow = dial(controller, certificates)  # agrees on TLS, and says nothing then
    until(lambda: all(map(gone, silent + half)) and at_the_door(controller) == 0)  # an event loop allows a minute
    assert isinstance(slow.hear(), Error)
    assert lets_in(controller, certificates, "127.0.0.1")
    texts = {line["text"] for line in controller.events("refused")}
    assert texts == {"nobody showed who they are within 2 s"}
    assert until(lambda: controller.ask("server")["connections"] == 1)


def client_hello(certificates: Path) -> bytes:
    """What a client begins TLS with."""
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cafile=str(certificates / "ca.crt"))
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(coming, going, server_hostname="localhost").do_handshake()
    return going.read()


def test_many_of_one_host_come_at_once_and_all_get_in(
    started: Callable[..., Server], certificates: Path, idlers: Callable[[Server, int], list[socket.socket]]
) -> None:
    controller = started(quotas={"unauthenticated": 200, "authenticate_seconds": 60})
    context = ssl.create_default_context(cafile=str(certificates / "ca.crt"))
    waiting = idlers(controller, 200)  # all are there before the first of them begins
    clients = [Raw(context.wrap_socket(link, server_hostname="localhost")) for link in waiting]
    assert all(isinstance(client.hello(**with_token(token())), Welcome) for client in clients)
    assert controller.ask("server")["connections"] == 201
    for client in clients:
        client.close()
    assert until(lambda: controller.ask("server")["connections"] == 1)


def test_a_certificate_that_is_none_is_told(server: Callable[..., Server], tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no certificate")
    tcp = {"listen": f"127.0.0.1:{free_port()}", "certificate": str(tmp_path / "x"), "key": str(tmp_path / "x")}
    assert "cannot be used for TLS" in server(tcp=tcp, auth=["munge"]).start(ok=False)
