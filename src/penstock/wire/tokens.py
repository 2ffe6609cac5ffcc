"""Tokens on the wire: how a job on another machine shows who it is without a secret of the site.

The site's key K signs claims, `{job, uid, nodes, exp, kid}` as JSON; the result, J = HMAC(K, claims), is the job's own
secret. A prolog hands it to the job in a file that only the job's user can read. Over the wire go the claims and proofs
HMAC(J, side ‖ both nonces), one from either side; J never travels. All HMACs are with SHA-256.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import stat
from pathlib import Path

import msgspec

from penstock.errors import PenstockError
from penstock.files import reading

LEAST_KEY = 16  # bytes of a site's key
LONGEST_NAME = 256  # of a job
MARK = "penstock-token-1"
MOST_UID = 2**32 - 2


class InvalidToken(PenstockError):
    """A token that cannot be made or read."""


class InvalidKey(PenstockError):
    """A key of the site that is none, or no secret."""


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who somebody claims to be: a job, its user, its nodes, until when (seconds since 1970), by which key.

    What was added later is left out where it says nothing, so that earlier controllers take such tokens.
    """

    job: str
    uid: int
    nodes: int
    exp: float
    kid: str
    account: str = ""


class Token(msgspec.Struct, frozen=True):
    """Claims as they were signed, byte for byte, and the secret J that goes with them."""

    claims: bytes
    secret: bytes

    def text(self) -> str:
        """The content of a token file: one line."""
        return (
            " ".join([MARK, *(base64.urlsafe_b64encode(part).decode() for part in (self.claims, self.secret))]) + "\n"
        )


def read_key(file: Path) -> bytes:
    """A key of the site, which nobody else may be able to read."""
    with reading(file, InvalidKey):
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise InvalidKey(f"{file}: others can read this key; chmod 0400 it")
        key = file.read_bytes().strip()
    if len(key) < LEAST_KEY:
        raise InvalidKey(f"{file}: has {len(key)} bytes; a key has at least {LEAST_KEY}, from a good source of chance")
    return key


def make_token(key: bytes, claims: Claims) -> Token:
    """The token of a job, signed with the site's key."""
    if not (0 < len(claims.job) <= LONGEST_NAME and claims.job.isprintable()):
        raise InvalidToken(f"the job is {claims.job[:80]!r}; 1 to {LONGEST_NAME} printable characters are accepted")
    if not 0 <= claims.uid <= MOST_UID:
        raise InvalidToken(f"the user id is {claims.uid}; a whole number from 0 to {MOST_UID} is accepted")
    if claims.nodes < 1:
        raise InvalidToken(f"nodes is {claims.nodes}; a whole number ≥ 1 is accepted")
    signed = msgspec.json.encode(claims)
    return Token(signed, secret_of(key, signed))


def read_token(text: str) -> Token:
    """The token in a file's text."""
    parts = text.split()
    if len(parts) != 3 or parts[0] != MARK:
        raise InvalidToken(f"a token is one line, {MARK!r} and two words; this is something else")
    try:
        claims, secret = (base64.b64decode(part, b"-_", validate=True) for part in parts[1:])
    except (binascii.Error, ValueError):
        raise InvalidToken("the token is cut or damaged; have it made again") from None
    return Token(claims, secret)


def read_claims(signed: bytes) -> Claims | None:
    """What claims say; None if they are none."""
    try:
        return msgspec.json.decode(signed, type=Claims)
    except (msgspec.DecodeError, RecursionError):
        return None


def secret_of(key: bytes, signed: bytes) -> bytes:
    """J, which only the site's key and the job know."""
    return hmac.digest(key, signed, "sha256")


def proof(secret: bytes, side: bytes, client_nonce: bytes, server_nonce: bytes) -> bytes:
    """What shows that `side`, b"client" or b"server", knows the secret, now and to this peer."""
    return hmac.digest(secret, side + client_nonce + server_nonce, "sha256")


def is_proof(given: bytes, secret: bytes, side: bytes, client_nonce: bytes, server_nonce: bytes) -> bool:
    """Whether that was shown."""
    return hmac.compare_digest(given, proof(secret, side, client_nonce, server_nonce))
