"""One agent on a node: two would write different rates into the same segments."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import PenstockError


class AnotherAgent(PenstockError):
    """There is one already."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock, which ends with this process however it ends; AnotherAgent if somebody else does."""
    try:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise AnotherAgent(f"{path} cannot be opened ({error.strerror}); --state FILE names another place") from None
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AnotherAgent(f"another agent runs on this node: it holds {path}") from None
        yield
    finally:
        os.close(fd)
