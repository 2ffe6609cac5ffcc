"""Names of applications from logs: what was run and its job id, each once; or pseudonyms that say neither.

Pseudonyms are stable: the same user, executable or job gets the same one in every import, so that weeks can be
compared. They come from a secret key that is made at the first use and kept with the user's settings; without it nobody
can find out a name by trying names.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from penstock.errors import InvalidOption
from penstock.traces.job import Job

_KEY_BYTES = 32
_LETTERS = 10


class Pseudonyms:
    """Text to pseudonyms: `executable-3f9a…`, the same for the same text as long as the key is."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = _own_key() if key is None else key

    def __call__(self, kind: str, text: str) -> str:
        """The pseudonym of a text."""
        digest = hmac.new(self._key, f"{kind}\0{text}".encode(), hashlib.sha256).hexdigest()
        return f"{kind}-{digest[:_LETTERS]}"


def hidden(job: Job, pseudonyms: Pseudonyms) -> Job:
    """The job without what tells who and what it was."""
    return replace(
        job,
        id=pseudonyms("job", f"{job.id} {job.start:.0f}"),
        user=pseudonyms("user", job.user),
        executable=pseudonyms("app", job.executable),
    )


def unique(jobs: Iterable[Job]) -> list[str]:
    """A name for each job."""
    seen: dict[str, int] = {}
    names = []
    for job in jobs:
        name = _printable(job.executable if job.id in ("", "0") else f"{job.executable}-{job.id}")
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def _printable(text: str) -> str:
    return re.sub(r"\s+", " ", "".join(letter if letter.isprintable() else "?" for letter in text)).strip() or "unknown"


def _own_key() -> bytes:
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "penstock"
    file = folder / "pseudonyms.key"
    try:
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                stream.write(os.urandom(_KEY_BYTES))
        return file.read_bytes()
    except OSError as error:
        raise InvalidOption(f"{file}: the key of pseudonyms cannot be kept there: {error.strerror}") from None
