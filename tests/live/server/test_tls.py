"""TCP with TLS: tokens, client certificates, and nobody else."""

from __future__ import annotations

import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.live.tokens import Claims, Token, make_token, proof
from penstock.live.wire import Admin, Answer, Challenge, Error, Register, Registered, Welcome

from .conftest import NONCE, Raw, Server
from .test_serving import free_port

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
def controller(server: Callable[..., Server], certificates: Path, tmp_path: Path) -> Server:
    key = tmp_path / "key"
    key.write_bytes(KEY)
    key.chmod(0o400)
    tcp = {"listen": f"127.0.0.1:{free_port()}", "certificate": str(certificates / "server.crt"),
           "key": str(certificates / "server.key"), "client_ca": str(certificates / "ca.crt")}  # fmt: skip
    made = server(tcp=tcp, auth=["peer", "hmac"], keys={"a": str(key)})
    made.start()
    return made


def dial(controller: Server, certificates: Path, who: str | None = None) -> Raw:
    context = ssl.create_default_context(cafile=str(certificates / "ca.crt"))
    if who is not None:
        context.load_cert_chain(certificates / f"{who}.crt", certificates / f"{who}.key")
    return Raw.tls(int(controller.config["tcp"]["listen"].split(":")[1]), context)


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
    port = int(controller.config["tcp"]["listen"].split(":")[1])
    with socket.create_connection(("127.0.0.1", port), 5.0) as plain:
        plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
        plain.settimeout(5.0)
        assert plain.recv(100)[:4] != b"HTTP"
    assert isinstance(dial(controller, certificates).hello(**with_token(token())), Welcome)


def test_a_certificate_that_is_none_is_told(server: Callable[..., Server], tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no certificate")
    tcp = {"listen": f"127.0.0.1:{free_port()}", "certificate": str(tmp_path / "x"), "key": str(tmp_path / "x")}
    assert "cannot be used for TLS" in server(tcp=tcp, auth=["munge"]).start(ok=False)
