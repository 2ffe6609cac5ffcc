"""MUNGE at the controller's door: a credential tells the user id of who made it, wherever the site's key is shared.

The library is called by its C interface, so that nothing needs to be compiled; where it is missing, the command
`unmunge` does the same in a few milliseconds. Both may wait for a daemon that does not answer, so callers use `Munge`,
which asks in threads of its own and gives up after a second.
"""

from __future__ import annotations

import asyncio
import ctypes
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

TIME_LIMIT = 1.0
MOST_CREDENTIAL = 8_192  # bytes
_SOCKET_OPTION = 8
_STATUS = {15: "expired credential", 16: "rewound credential", 17: "replayed credential"}


class MungeError(Exception):
    """A credential that is not taken, or no way to tell."""


class Decoded(NamedTuple):
    """Who made a credential, and what it carries."""

    uid: int
    payload: bytes


class Munge:
    """Decodes credentials; `socket` is that of munged, None: its usual place."""

    def __init__(self, socket: Path | None = None) -> None:
        self._socket = socket
        self._workers = ThreadPoolExecutor(4, "penstock-munge")

    @cached_property
    def _library(self) -> Any:
        try:
            library = ctypes.CDLL("libmunge.so.2")
        except OSError:
            return None
        library.munge_ctx_create.restype = ctypes.c_void_p
        library.munge_strerror.restype = ctypes.c_char_p
        return library

    @property
    def available(self) -> bool:
        """Whether there is any way to decode."""
        return self._library is not None or shutil.which("unmunge") is not None

    async def decode(self, credential: bytes) -> Decoded:
        """Who made a credential; raises MungeError, after a second at the latest."""
        if len(credential) > MOST_CREDENTIAL or b"\0" in credential:
            raise MungeError("the credential is no text of reasonable length")
        work = self._by_library if self._library is not None else self._by_command
        asked = asyncio.get_running_loop().run_in_executor(self._workers, work, credential)
        try:
            return await asyncio.wait_for(asked, TIME_LIMIT)
        except TimeoutError:
            raise MungeError(f"munged did not answer within {TIME_LIMIT:g} s") from None

    def close(self) -> None:
        """Wait for nobody."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _by_library(self, credential: bytes) -> Decoded:
        library = self._library
        context = ctypes.c_void_p(library.munge_ctx_create())
        payload, length = ctypes.c_void_p(), ctypes.c_int()
        uid, gid = ctypes.c_uint32(), ctypes.c_uint32()
        try:
            if self._socket is not None:
                library.munge_ctx_set(context, _SOCKET_OPTION, ctypes.c_char_p(str(self._socket).encode()))
            out = (ctypes.byref(item) for item in (payload, length, uid, gid))
            status = library.munge_decode(ctypes.c_char_p(credential), context, *out)
            if status != 0:
                raise MungeError(library.munge_strerror(status).decode().lower())
            carried = ctypes.string_at(payload.value, length.value) if payload.value else b""
            return Decoded(uid.value, carried)
        finally:
            if payload.value:
                ctypes.CDLL(None).free(payload)
            library.munge_ctx_destroy(context)

    def _by_command(self, credential: bytes) -> Decoded:
        where = [f"--socket={self._socket}"] if self._socket is not None else []
        shown = ["--keys=UID", "--numeric", "--metadata=/dev/stderr", "--output=/dev/stdout"]
        try:
            done = subprocess.run(
                ["unmunge", *where, *shown], input=credential, capture_output=True, timeout=TIME_LIMIT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MungeError(f"unmunge did not run: {error}") from None
        told = done.stderr.decode("utf-8", "replace").split()
        if done.returncode != 0 or len(told) != 2 or not told[1].isdigit():
            raise MungeError(_STATUS.get(done.returncode, f"unmunge failed with status {done.returncode}"))
        return Decoded(int(told[1]), done.stdout)
