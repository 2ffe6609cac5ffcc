"""Who is let in, and as whom: for each kind of proof, nobody can speak for another."""

from __future__ import annotations

import msgspec
import pytest

from penstock.live.server.handshake import Admit, Decode, House, Peer, Refuse, Say, ServerHandshake
from penstock.wire.messages import Ack, Auth, Challenge, Hello
from penstock.wire.tokens import Claims, make_token, proof, read_token

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NONCE = b"n" * 16
NOW = 1_000_000.0
USER = Peer("uid 1000", uid=1000, pid=77, groups=frozenset({1000}))
ROOT = Peer("uid 0", uid=0, pid=1)
FAR = Peer("10.0.0.7")


def house(**changes: object) -> House:
    given = {
        "kinds": ("peer", "hmac", "munge"),
        "keys": {"a": KEY},
        "own_uid": 990,
        "admin_group": 77,
        "wall": lambda: NOW,
    }
    return House(epoch=7, name="here", lease=8.0, beat=2.0, pace=0.002, **{**given, **changes})  # type: ignore[arg-type]


def hello(**changes: object) -> Hello:
    given = {"v_min": 1, "v_max": 1, "role": "client", "agent": "test", "nonce": NONCE, "epoch_seen": 3, "auth": "peer"}
    return Hello(**{**given, **changes})  # type: ignore[arg-type]


def challenged(shake: ServerHandshake, word: Hello) -> Challenge:
    step = shake.received(word)
    assert isinstance(step, Say), step
    assert isinstance(step.message, Challenge)
    return step.message


def refused(step: object) -> str:
    assert isinstance(step, Refuse), step
    assert step.error.fatal and step.error.text
    return step.error.code


def claims(**changes: object) -> Claims:
    return Claims(**{"job": "42", "uid": 1000, "nodes": 4, "exp": NOW + 60, "kid": "a", **changes})  # type: ignore[arg-type]


def by_token(token_claims: bytes, secret: bytes, side: bytes = b"client") -> object:
    shake = ServerHandshake(house(), FAR)
    challenge = challenged(shake, hello(auth="hmac", claims=token_claims))
    return shake.received(Auth(proof(secret, side, NONCE, challenge.nonce)))


def test_a_peer_is_who_the_kernel_says() -> None:
    shake = ServerHandshake(house(), USER)
    challenge = challenged(shake, hello())
    assert (challenge.version, challenge.epoch, challenge.server, len(challenge.nonce)) == (1, 7, "here", 16)
    step = shake.received(Auth(b""))
    assert isinstance(step, Admit)
    who = step.identity
    assert (who.kind, who.uid, who.pid, who.job, who.role, step.epoch_seen) == ("peer", 1000, 77, None, "client", 3)
    welcome = shake.welcome(5, step.proof)
    assert (welcome.session, welcome.epoch, welcome.lease, welcome.beat) == (5, 7, 8.0, 2.0)


def test_nobody_is_a_peer_over_tcp() -> None:
    assert refused(ServerHandshake(house(), FAR).received(hello())) == "auth"


@pytest.mark.parametrize(
    ("peer", "role", "let_in"),
    [
        (USER, "admin", False),
        (ROOT, "admin", True),
        (Peer("", uid=990), "admin", True),
        (Peer("", uid=1000, groups=frozenset({77})), "admin", True),
        (Peer("", uid=1000, admin_socket=True), "admin", True),
        (Peer("", certificate="operator"), "admin", True),
        (Peer("", certificate="operator"), "client", False),
        (USER, "hook", False),
        (ROOT, "hook", True),
        (Peer("", uid=64030), "hook", True),
        (Peer("", uid=1000, admin_socket=True), "hook", False),
        (ROOT, "standby", False),
    ],
)
def test_roles_have_their_people(peer: Peer, role: str, let_in: bool) -> None:
    shake = ServerHandshake(house(hook_uids=(64030,)), peer)
    step = shake.received(hello(role=role))
    if let_in:
        step = shake.received(Auth(b""))
        assert isinstance(step, Admit)
        assert step.identity.role == role
    else:
        assert refused(step) in ("forbidden", "auth")


def test_a_group_that_does_not_exist_makes_nobody_an_operator() -> None:
    assert refused(ServerHandshake(house(admin_group=None), USER).received(hello(role="admin"))) == "forbidden"


@pytest.mark.parametrize("offer", [(2, 3), (0, 0), (-5, 0), (2, 1)])
def test_a_version_nobody_shares_is_refused_with_ours(offer: tuple[int, int]) -> None:
    step = ServerHandshake(house(), USER).received(hello(v_min=offer[0], v_max=offer[1]))
    assert refused(step) == "version"
    assert "1 to 1" in step.error.text


def test_the_highest_common_version_is_taken() -> None:
    assert challenged(ServerHandshake(house(), USER), hello(v_min=0, v_max=99)).version == 1


@pytest.mark.parametrize("changes", [{"role": "king"}, {"nonce": b"short"}, {"auth": "password"}])
def test_what_makes_no_sense_is_refused(changes: dict[str, object]) -> None:
    assert refused(ServerHandshake(house(), USER).received(hello(**changes))) in ("value", "auth")


def test_a_kind_that_is_not_configured_is_refused() -> None:
    assert refused(ServerHandshake(house(kinds=("munge",)), USER).received(hello())) == "auth"


def test_the_order_of_words() -> None:
    assert refused(ServerHandshake(house(), USER).received(Auth(b""))) == "auth"
    assert refused(ServerHandshake(house(), USER).received(Ack(1, 1))) == "auth"
    shake = ServerHandshake(house(), USER)
    challenged(shake, hello())
    assert refused(shake.received(hello())) == "auth"


def test_a_token_shows_its_job_and_the_controller_shows_itself() -> None:
    token = make_token(KEY, claims())
    shake = ServerHandshake(house(), FAR)
    challenge = challenged(shake, hello(auth="hmac", claims=token.claims))
    step = shake.received(Auth(proof(token.secret, b"client", NONCE, challenge.nonce)))
    assert isinstance(step, Admit)
    who = step.identity
    assert (who.kind, who.uid, who.job, who.nodes, who.pid) == ("hmac", 1000, "42", 4, None)
    assert step.proof == proof(token.secret, b"server", NONCE, challenge.nonce)


@pytest.mark.parametrize("changes", [{"job": "43"}, {"uid": 0}, {"nodes": 4000}, {"exp": NOW + 1e9}])
def test_the_secret_of_one_job_does_not_open_another(changes: dict[str, object]) -> None:
    secret = make_token(KEY, claims()).secret
    assert refused(by_token(msgspec.json.encode(claims(**changes)), secret)) == "auth"


def test_a_token_of_another_site_is_refused() -> None:
    token = make_token(OTHER_KEY, claims())
    assert refused(by_token(token.claims, token.secret)) == "auth"


def test_our_own_proof_thrown_back_is_refused() -> None:
    token = make_token(KEY, claims())
    assert refused(by_token(token.claims, token.secret, side=b"server")) == "auth"


@pytest.mark.parametrize(
    "changes", [{"exp": NOW - 1}, {"exp": NOW}, {"exp": float("nan")}, {"kid": "b"}, {"job": ""}, {"nodes": 0}]
)
def test_an_expired_or_odd_token_is_refused_at_once(changes: dict[str, object]) -> None:
    signed = msgspec.json.encode(claims(**changes))
    assert refused(ServerHandshake(house(), FAR).received(hello(auth="hmac", claims=signed))) == "auth"


def test_a_token_that_expires_during_the_handshake_is_refused() -> None:
    times = iter([NOW, NOW + 61])
    token = make_token(KEY, claims())
    shake = ServerHandshake(house(wall=lambda: next(times)), FAR)
    challenge = challenged(shake, hello(auth="hmac", claims=token.claims))
    assert refused(shake.received(Auth(proof(token.secret, b"client", NONCE, challenge.nonce)))) == "auth"


@pytest.mark.parametrize("garbage", [b"", b"{}", b"[" * 5000, b"\xff\xfe", b'{"job": 1}'])
def test_garbage_instead_of_claims_is_refused(garbage: bytes) -> None:
    assert refused(ServerHandshake(house(), FAR).received(hello(auth="hmac", claims=garbage))) == "auth"


def test_a_token_cannot_make_an_operator() -> None:
    token = make_token(KEY, claims(uid=0))
    assert (
        refused(ServerHandshake(house(), FAR).received(hello(auth="hmac", role="admin", claims=token.claims)))
        == "forbidden"
    )


def munged(payload_of: bytes | None = None, job: bytes = b"42") -> object:
    shake = ServerHandshake(house(), FAR)
    challenge = challenged(shake, hello(auth="munge", claims=job))
    step = shake.received(Auth(b"MUNGE:x:"))
    assert isinstance(step, Decode)
    return shake.decoded(1000, challenge.nonce + job if payload_of is None else payload_of)


def test_a_munge_credential_shows_its_user_and_one_job() -> None:
    step = munged()
    assert isinstance(step, Admit)
    assert (step.identity.kind, step.identity.uid, step.identity.job) == ("munge", 1000, "42")


@pytest.mark.parametrize("payload", [b"", b"x" * 16 + b"42", b"\x99" * 18])
def test_a_credential_for_another_connection_or_job_is_refused(payload: bytes) -> None:
    assert refused(munged(payload)) == "auth"


def test_a_credential_cannot_be_stretched_to_another_job() -> None:
    shake = ServerHandshake(house(), FAR)
    challenge = challenged(shake, hello(auth="munge", claims=b"421"))
    shake.received(Auth(b"MUNGE:x:"))
    assert refused(shake.decoded(1000, challenge.nonce + b"42")) == "auth"


@pytest.mark.parametrize("job", [b"", b"\xff", b"a\nb", b"x" * 300])
def test_a_job_has_a_decent_name(job: bytes) -> None:
    assert refused(ServerHandshake(house(), FAR).received(hello(auth="munge", claims=job))) == "auth"


def test_nothing_is_taken_while_munged_is_asked() -> None:
    shake = ServerHandshake(house(), FAR)
    challenged(shake, hello(auth="munge", claims=b"42"))
    shake.received(Auth(b"MUNGE:x:"))
    assert refused(shake.received(Auth(b"MUNGE:y:"))) == "auth"
    assert refused(shake.not_decoded("expired")) == "auth"


def test_a_token_file_reads_back() -> None:
    token = make_token(KEY, claims())
    assert read_token(token.text()) == token
    assert "\n" not in token.text().strip()
    assert b"k" * 8 not in token.text().encode()
