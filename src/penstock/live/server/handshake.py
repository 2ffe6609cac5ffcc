"""The controller lets somebody in, without I/O: Hello → Challenge → Auth → Welcome, or an Error that says why not.

Three kinds of proof are known. *peer*: the kernel tells who is at the other end of a UNIX socket; over TLS, a client's
certificate does, for operators. *hmac*: claims signed by the site, and proofs of their secret both ways (`tokens`).
*munge*: a credential over our nonce and the job, which munged takes once only. Whoever is let in is bound to one user
and, but for *peer*, to one job; the core checks every later word against that.
"""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from penstock.live.core.events import Identity
from penstock.wire import messages as wire
from penstock.wire import tokens
from penstock.wire.messages import Auth, Challenge, Error, FromClient, Hello, Message, Welcome

OLDEST_VERSION = 1
NONCE = 16  # bytes
MOST_TEXT = 256  # characters of a job's name or an agent's


@dataclass(frozen=True)
class Peer:
    """What the transport itself proves."""

    address: str  # "uid 1000, process 77" or "10.0.0.7": for the log, and to count bad frames by
    uid: int | None = None  # None: not on this host
    pid: int | None = None
    groups: frozenset[int] = frozenset()
    admin_socket: bool = False  # it came through the door that only operators can open
    certificate: str | None = None  # the name in a client certificate that was checked

    @property
    def owner(self) -> str:
        """Whose connections are counted together: those of a user, or of another host."""
        return self.address if self.uid is None else f"uid {self.uid}"


@dataclass(frozen=True)
class House:
    """Who we are and whom we let in."""

    epoch: int
    name: str
    lease: float
    beat: float
    pace: float
    kinds: Collection[str] = ("peer",)
    keys: Mapping[str, bytes] = field(default_factory=dict)  # of the site, by kid
    own_uid: int = field(default_factory=os.geteuid)
    admin_group: int | None = None
    hook_uids: Collection[int] = ()
    revoked: Collection[str] = ()  # jobs whose tokens count no more
    wall: Callable[[], float] = time.time

    def is_chief(self, peer: Peer) -> bool:
        """Whether it is root, our own user, or whoever has a certificate."""
        return peer.uid in (0, self.own_uid) or peer.certificate is not None

    def is_operator(self, peer: Peer) -> bool:
        """Whether it may give orders."""
        return self.is_chief(peer) or peer.admin_socket or self.admin_group in peer.groups


@dataclass(frozen=True)
class Say:
    """To be sent."""

    message: Message


@dataclass(frozen=True)
class Decode:
    """A MUNGE credential that somebody must decode; the answer goes to `decoded` or `not_decoded`."""

    credential: bytes


@dataclass(frozen=True)
class Admit:
    """Let in; the Welcome is to be sent once the session has a number."""

    identity: Identity
    epoch_seen: int
    proof: bytes
    agent: str


@dataclass(frozen=True)
class Refuse:
    """Not let in: what the peer is told. `detail` is for the log only."""

    error: Error
    detail: str = ""


Step = Say | Decode | Admit | Refuse


class ServerHandshake:
    """One attempt to be let in."""

    def __init__(self, house: House, peer: Peer) -> None:
        self._house, self._peer = house, peer
        self._nonce = os.urandom(NONCE)
        self._hello: Hello | None = None
        self._version = 0
        self._decoding = False

    def received(self, message: FromClient) -> Step:
        """What to do about a message."""
        if self._hello is None:
            return self._greeted(message) if isinstance(message, Hello) else _refuse("auth", "a Hello comes first")
        if not isinstance(message, Auth) or self._decoding:
            return _refuse("auth", "an Auth comes after the Challenge, once")
        if self._hello.auth == "peer":
            return self._admit(self._by_peer(self._hello))
        if self._hello.auth == "hmac":
            return self._by_token(self._hello, message.proof)
        self._decoding = True
        return Decode(message.proof)

    def decoded(self, uid: int, payload: bytes) -> Step:
        """What to do when munged says who made the credential."""
        assert self._hello is not None
        job = self._hello.claims
        if not hmac.compare_digest(payload, self._nonce + job):
            return _refuse("auth", "the credential was made for another connection or job")
        if self._hello.role == "node":
            root = Identity("munge", uid, "node", node=job.decode())
            return self._admit(root if uid == 0 else _refuse("forbidden", "only root speaks for a whole node"))
        return self._admit(Identity("munge", uid, "client", job.decode()))

    def not_decoded(self, reason: str) -> Step:
        """What to do when munged refuses."""
        return _refuse("auth", "the MUNGE credential was not accepted", reason)

    def welcome(self, session: int, proof: bytes) -> Welcome:
        """What an admitted one is told."""
        house = self._house
        return Welcome(session, house.epoch, house.lease, house.beat, house.pace, proof)

    def _greeted(self, hello: Hello) -> Step:
        if (refused := self._not_acceptable(hello)) is not None:
            return refused
        self._hello = hello
        self._version = min(hello.v_max, wire.VERSION)
        return Say(Challenge(self._version, self._house.epoch, self._house.name, self._nonce))

    def _not_acceptable(self, hello: Hello) -> Refuse | None:
        for wrong, code, text in self._rules(hello):
            if wrong:
                return _refuse(code, text)
        if hello.auth == "peer":
            identity = self._by_peer(hello)
            return identity if isinstance(identity, Refuse) else None
        if hello.auth == "hmac":
            claims = self._claimed(hello)
            return claims if isinstance(claims, Refuse) else None
        return None if _is_name(hello.claims) else _refuse("auth", "the claims of munge are the name of a job")

    def _rules(self, hello: Hello) -> Iterator[tuple[bool, str, str]]:
        """What every Hello is held to: whether it is broken, the code, and what to say."""
        common = hello.v_max >= OLDEST_VERSION and hello.v_min <= min(hello.v_max, wire.VERSION)
        offered, ours = f"{hello.v_min} to {hello.v_max}", f"{OLDEST_VERSION} to {wire.VERSION}"
        yield not common, "version", f"you speak versions {offered}; this controller speaks {ours}"
        yield hello.role not in wire.ROLES, "value", f"the role is one of {', '.join(wire.ROLES)}"
        yield hello.role == "standby", "forbidden", "this controller keeps no standby"
        yield len(hello.nonce) != NONCE, "value", f"a nonce has {NONCE} bytes"
        kinds = self._house.kinds
        yield hello.auth not in kinds, "auth", f"this controller takes {' or '.join(sorted(kinds))}"
        far = hello.auth != "peer" and (hello.role, hello.auth) != ("node", "munge") and hello.role != "client"
        yield far, "forbidden", f"the role {hello.role!r} needs the UNIX socket or a client certificate"

    def _by_peer(self, hello: Hello) -> Identity | Refuse:
        peer, house = self._peer, self._house
        if peer.uid is None and peer.certificate is None:
            return _refuse("auth", "only a UNIX socket, or a client certificate, shows who you are by itself")
        if peer.uid is None and hello.role == "client":
            return _refuse("auth", "a certificate is for operators; jobs show a token or a MUNGE credential")
        uid = -1 if peer.uid is None else peer.uid
        if hello.role == "admin" and not house.is_operator(peer):
            return _refuse("forbidden", "operators are root, the controller's user, and the group of operators")
        if hello.role == "node" and not house.is_chief(peer):
            return _refuse("forbidden", "only root, or the controller's user, speaks for a whole node")
        if hello.role == "hook" and not (house.is_chief(peer) or uid in house.hook_uids):
            return _refuse("forbidden", "hooks are run by root or the batch system's user")
        return Identity("peer", uid, hello.role, None, peer.pid)

    def _claimed(self, hello: Hello) -> tokens.Claims | Refuse:
        claims = tokens.read_claims(hello.claims)
        if claims is None or not _is_name(claims.job.encode()) or not _is_sound(claims):
            return _refuse("auth", "the claims of the token cannot be read")
        if claims.kid not in self._house.keys:
            return _refuse("auth", "the token was made with a key that this controller does not know", claims.kid)
        if not claims.exp > self._house.wall():
            return _refuse("auth", "the token has expired")
        if claims.job in self._house.revoked:
            return _refuse("auth", "the token was revoked")
        return claims

    def _by_token(self, hello: Hello, given: bytes) -> Step:
        claims = self._claimed(hello)
        if isinstance(claims, Refuse):
            return claims
        secret = tokens.secret_of(self._house.keys[claims.kid], hello.claims)
        if not tokens.is_proof(given, secret, b"client", hello.nonce, self._nonce):
            return _refuse("auth", "the proof does not fit the claims")
        ours = tokens.proof(secret, b"server", hello.nonce, self._nonce)
        known = Identity("hmac", claims.uid, "client", claims.job, None, claims.nodes, claims.account)
        return self._admit(known, ours)

    def _admit(self, identity: Identity | Refuse, proof: bytes = b"") -> Admit | Refuse:
        assert self._hello is not None
        if isinstance(identity, Refuse):
            return identity
        trusted = identity.role != "client" or identity.uid in (0, self._house.own_uid)
        return Admit(replace(identity, trusted=trusted), self._hello.epoch_seen, proof, self._hello.agent[:MOST_TEXT])


def _is_sound(claims: tokens.Claims) -> bool:
    """Whether claims say what a token can say."""
    account = not claims.account or _is_name(claims.account.encode())
    return claims.uid >= 0 and claims.nodes >= 1 and account


def _is_name(raw: bytes) -> bool:
    """Whether a job may be called so."""
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        return False
    return 0 < len(name) <= MOST_TEXT and name.isprintable()


def _refuse(code: str, text: str, detail: str = "") -> Refuse:
    return Refuse(Error(0, code, text, fatal=True), detail)
