"""The bell beside a job's segment: a pipe with a name in which a process of the job that has to wait leaves a byte.

So an owner of many segments can sleep until somebody needs it: the bell in a `select`, then `Segment.answer`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def bell_of(path: Path) -> Path:
    """Where the bell of a segment is."""
    return path.with_name(f"{path.name}.bell")


def make_bell(path: Path, user: tuple[int, int] | None = None) -> int:
    """A bell beside a segment, in place of any that is there; a descriptor for `select`, to be emptied by reading."""
    bell = bell_of(path)
    bell.unlink(missing_ok=True)
    os.mkfifo(bell, 0o600)
    # Open for writing, too: so it never ends, whoever comes and goes.
    fd = os.open(bell, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    if user is not None:
        os.fchown(fd, *user)
    return fd


def hear_bell(fd: int) -> None:
    """Empty a bell, before `answer` is called on its segment."""
    with suppress(BlockingIOError):
        while os.read(fd, 4096):
            pass


def ring(path: Path) -> None:
    """Ring the bell of a segment; without one, the owner looks at the word in the segment now and then."""
    with suppress(OSError):
        bell = os.open(bell_of(path), os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.write(bell, b"!")
        finally:
            os.close(bell)
