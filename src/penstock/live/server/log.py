"""The controller's log: one JSON object per line, for people with `jq` and for machines.

Who was let in, who was refused and why, what operators did and who they are, alarms. Secrets, proofs and claims never
get here. A log that cannot be written is no reason to stop.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import msgspec

from penstock.live.server.errors import CannotServe

LEVELS = ("debug", "info", "warning", "error")


class LogWriter:
    """Writes lines to a file, or to standard error."""

    def __init__(self, path: Path | None = None, level: str = "info") -> None:
        self._path, self._least = path, LEVELS.index(level)
        self._stream = self._open()

    def _open(self) -> TextIO:
        if self._path is None:
            return sys.stderr
        try:
            return self._path.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise CannotServe(f"the log {self._path} cannot be written ({reason}); give another file") from None

    def reopen(self) -> None:
        """Go on in a new file of the same name, after the old one was moved away."""
        old = self._stream
        with suppress(CannotServe):
            self._stream = self._open()
        if old is not self._stream and old is not sys.stderr:
            old.close()

    def debug(self, event: str, **fields: Any) -> None:
        """What only a search for a fault needs."""
        self._write("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """What happened, as it should."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """What somebody may want to look at."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """What somebody must look at."""
        self._write("error", event, fields)

    def close(self) -> None:
        """Write no more."""
        if self._stream is not sys.stderr:
            self._stream.close()

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if LEVELS.index(level) < self._least:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        told = {key: value for key, value in fields.items() if value is not None}
        line = msgspec.json.encode({"time": time, "level": level, "event": event, **told}, enc_hook=str).decode()
        with suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()
