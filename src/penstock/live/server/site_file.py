"""The controller keeps the site's file current, for jobs that have not met it: every capacity that changes shows in it.

It outlives the controller, for it is needed when there is none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from penstock.live.core import ControllerState
from penstock.wire.site import VERSION, Site, site_bytes

READABLE = 0o644


class SiteFile:
    """At `path`; None: nobody needs one."""

    def __init__(self, path: Path | None, first_contact: str) -> None:
        self.path, self.problem = path, ""
        self._first_contact = first_contact
        self._written = b""

    def keep(self, state: ControllerState) -> None:
        """Write it if it would say something new; what kept it from being written is `problem`."""
        site = Site(VERSION, self._first_contact, state.told(state.parts(1.0)))
        if self.path is None or (content := site_bytes(site)) == self._written:
            return
        self._written, self.problem = content, ""
        try:
            _replace(self.path, content)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            self.problem = f"{self.path} cannot be written ({reason}): jobs that meet no controller go by what it says"


def _replace(path: Path, content: bytes) -> None:
    """Put a whole file in place of the one before."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, READABLE)
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, READABLE)
            file.write(content)
            file.flush()
            os.fsync(fd)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
