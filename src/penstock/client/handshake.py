"""How a client shows who it is: Hello → Challenge → Auth → Welcome, without I/O but for files and munged.

On a UNIX socket the kernel tells the controller (*peer*). Elsewhere the job has a token (*hmac*): the claims travel,
its secret only proves both sides to each other. Or munged vouches for the user (*munge*).
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod

import msgspec

from penstock.wire.messages import VERSION, Auth, Challenge, FromController, Hello, Welcome

AGENT = "penstock-python"
LIBRARY = "libmunge.so.2"
MUNGE_LIMIT = 1.0  # seconds
_SOCKET_OPTION = 8


class NotLetIn(Exception):
    """The other side does not behave as a controller that knows us."""


class Credential(ABC):
    """One way to show who we are."""

    kind: str
    claims: bytes = b""

    @abstractmethod
    def prove(self, ours: bytes, theirs: bytes) -> bytes:
        """What convinces the controller, over both nonces."""

    def recognise(self, ours: bytes, theirs: bytes, proof: bytes) -> bool:
        """Whether the controller has convinced us."""
        return True


class ByPeer(Credential):
    """The kernel knows us."""

    kind = "peer"

    def prove(self, ours: bytes, theirs: bytes) -> bytes:
        """Nothing to add."""
        return b""


class ByToken(Credential):
    """A token of the job, in a file of ours."""

    kind = "hmac"

    def __init__(self, path: str) -> None:
        from penstock.wire import tokens  # noqa: PLC0415 - loads a library that only jobs with a token need

        self._tokens = tokens
        self.claims, self._secret, _ = read_token_file(path)

    def prove(self, ours: bytes, theirs: bytes) -> bytes:
        """That we know the secret."""
        return self._tokens.proof(self._secret, b"client", ours, theirs)

    def recognise(self, ours: bytes, theirs: bytes, proof: bytes) -> bool:
        """Whether the controller knows the secret, too."""
        return self._tokens.is_proof(proof, self._secret, b"server", ours, theirs)


class ByMunge(Credential):
    """A credential of munged over the controller's nonce and the job."""

    kind = "munge"

    def __init__(self, job: str, socket: str | None = None) -> None:
        self.claims = job.encode()
        self._socket = socket

    def prove(self, ours: bytes, theirs: bytes) -> bytes:
        """The credential; munged may hang, so it is asked from a thread that can be left behind."""
        answer: list[bytes] = []

        def ask() -> None:
            answer.append(munge(theirs + self.claims, self._socket))

        worker = threading.Thread(target=ask, name="penstock-munge", daemon=True)
        worker.start()
        worker.join(MUNGE_LIMIT)
        if not answer or not answer[0]:
            raise NotLetIn("no MUNGE credential to be had")
        return answer[0]


class ClientHandshake:
    """One attempt to be let in."""

    def __init__(self, identity: Credential, epoch_seen: int, role: str = "client") -> None:
        self._identity = identity
        self._nonce = os.urandom(16)
        self._theirs: bytes | None = None
        self.hello = Hello(1, VERSION, role, AGENT, self._nonce, epoch_seen, identity.kind, identity.claims)

    def received(self, message: FromController) -> Auth | Welcome:
        """The answer to give, or the Welcome, checked; anything out of order raises NotLetIn."""
        if isinstance(message, Challenge) and self._theirs is None:
            if not 1 <= message.version <= VERSION:
                raise NotLetIn(f"the controller chose version {message.version}, which was not offered")
            self._theirs = message.nonce
            return Auth(self._identity.prove(self._nonce, message.nonce))
        if isinstance(message, Welcome) and self._theirs is not None:
            if not self._identity.recognise(self._nonce, self._theirs, message.proof):
                raise NotLetIn("the controller does not know the secret of our token")
            return message
        raise NotLetIn(f"the controller sent a {type(message).__name__} in the middle of the handshake")


def read_token_file(path: str) -> tuple[bytes, bytes, str]:
    """Claims, secret and job of a token; a file that others can read is not used."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise OSError(f"the token {path} cannot be read ({(error.strerror or str(error)).lower()})") from None
    with os.fdopen(fd, encoding="ascii", errors="replace") as file:
        if os.fstat(fd).st_mode & 0o077:
            raise PermissionError(f"{path} can be read by others; a token is for its owner only (chmod 400)")
        text = file.read(16_384)
    from penstock.wire import tokens  # noqa: PLC0415 - as above

    try:
        token = tokens.read_token(text)
        return token.claims, token.secret, str(msgspec.json.decode(token.claims)["job"])
    except (tokens.InvalidToken, msgspec.DecodeError, KeyError, TypeError) as error:
        raise OSError(f"{path}: {error}") from None


def munge(payload: bytes, socket: str | None = None) -> bytes:
    """A credential that carries `payload`, by the library or else by the command; empty if there is none."""
    import ctypes  # noqa: PLC0415 - only jobs that use MUNGE need it

    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return _munge_command(payload, socket)
    library.munge_ctx_create.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.munge_ctx_create())
    made = ctypes.c_void_p()
    try:
        if socket is not None:
            library.munge_ctx_set(context, _SOCKET_OPTION, ctypes.c_char_p(socket.encode()))
        failed = library.munge_encode(ctypes.byref(made), context, ctypes.c_char_p(payload), ctypes.c_int(len(payload)))
        return b"" if failed or not made.value else ctypes.string_at(made.value)
    finally:
        if made.value:
            ctypes.CDLL(None).free(made)
        library.munge_ctx_destroy(context)


def _munge_command(payload: bytes, socket: str | None) -> bytes:
    import subprocess  # noqa: PLC0415

    where = [f"--socket={socket}"] if socket is not None else []
    try:
        done = subprocess.run(
            ["munge", *where], input=payload, capture_output=True, timeout=MUNGE_LIMIT, check=False, close_fds=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout.strip() if done.returncode == 0 else b""
