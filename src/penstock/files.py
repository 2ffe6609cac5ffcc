"""Files of users: read with clear refusals, and written so that they are either whole or not there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import InvalidOption, PenstockError

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link in a circle",  # any other was followed
}


@contextmanager
def reading(file: Path, refused: type[PenstockError], accepted: str = "") -> Iterator[None]:
    """What fails while a text file is read becomes one sentence, which may end in what is accepted."""
    tail = f"; {accepted}" if accepted else ""
    try:
        yield
    except FileNotFoundError:
        raise refused(f"{file}: no such file{tail}") from None
    except UnicodeDecodeError as error:
        raise refused(f"{file}: is not text in UTF-8 (byte {error.start}){tail}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise refused(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}{tail}") from None


def write_whole(path: str | Path, content: bytes) -> None:
    """Write a file so that a reader, or a crash, never meets half of it."""
    with writing_whole(path) as draft:
        draft.write_bytes(content)


@contextmanager
def writing_whole(path: str | Path) -> Iterator[Path]:
    """A place beside the target to write to; what is there in the end takes the target's name.

    A symbolic link stays one: the file that it points to is written.
    """
    target = resting_place(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            yield draft
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise InvalidOption(f"{path} cannot be written ({reason}); give a file in a writable directory.") from error


def check_place(path: str | Path) -> None:
    """Refuse a path that `write_whole` could not write to."""
    target = resting_place(path)
    if not target.parent.is_dir():
        raise InvalidOption(f"{path}: the folder {target.parent} does not exist")
    if not os.access(target.parent, os.W_OK):
        raise InvalidOption(f"{path}: the folder {target.parent} cannot be written to")


def resting_place(path: str | Path) -> Path:
    """Where what is written to a path ends up: behind a symbolic link. Refused if something is there that is no file.

    A rename would put a file in place of a device or a pipe.
    """
    place = Path(path)
    target = Path(os.path.realpath(place)) if place.is_symlink() else place
    try:
        mode = target.lstat().st_mode
    except (OSError, ValueError):  # nothing is there, or a later step says why it cannot be written
        return target
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise InvalidOption(f"{path}: is {kind}; give the name of a file")
    return target
