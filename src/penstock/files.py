"""Files that are either whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.errors import InvalidOption


def write_whole(path: str | Path, content: bytes) -> None:
    """Write beside the target, then rename: a reader, or a crash, never meets half a file."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            draft.write_bytes(content)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidOption(f"{target} cannot be written ({reason}); give a file in a writable directory.") from error


def check_place(path: str | Path) -> None:
    """Refuse a path that `write_whole` could not write to."""
    path = Path(path)
    if path.is_dir():
        raise InvalidOption(f"{path}: is a directory; give the name of a file")
    if not path.parent.is_dir():
        raise InvalidOption(f"{path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise InvalidOption(f"{path}: the folder {path.parent} cannot be written to")
