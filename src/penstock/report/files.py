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
