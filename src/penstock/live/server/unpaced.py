"""A mark that everybody was let go unpaced while the journal could not be written.

Who goes unpaced has no lease that would end it. The next controller must know, or it would believe the rates that the
journal ends with. So the mark is there before anybody is told, in the first place that takes it: in the journal's own
folder, or beside the socket, which is seldom on the same disk.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from penstock.live.journal.folder import write_durably

_TEXT = "Everybody was let go unpaced while the journal could not be written. The next start removes this file.\n"


def places(journal: Path, socket: Path) -> list[Path]:
    """Where the mark of a controller may be."""
    return [journal / "unpaced", socket.with_name(f"{socket.name}.unpaced")]


class Mark:
    """Made in one of `places`, looked for in all of them."""

    def __init__(self, places: Sequence[Path] = ()) -> None:
        self._places = places
        self.there = any(_is_ours(path) for path in places)

    def make(self) -> bool:
        """Leave the mark; whether it is there now."""
        for path in self._places if not self.there else ():
            with suppress(OSError):
                write_durably(path, _TEXT.encode())
                self.there = True
                break
        return self.there

    def remove(self) -> None:
        """The journal says it now. Where that fails, the next start lets everybody go unpaced once more."""
        with suppress(OSError):
            for path in self._places:
                path.unlink(missing_ok=True)
            self.there = False


def _is_ours(path: Path) -> bool:
    """Whether a file is there, and no other user put it there."""
    try:
        return path.lstat().st_uid in (0, os.geteuid())
    except OSError:
        return False
