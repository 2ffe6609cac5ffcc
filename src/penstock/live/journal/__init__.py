"""The journal: everything that changed the state of a controller, written before anybody is told of it.

- `writer`, `reader`: the two ends; `segment`: the form of a file; `folder`: which file is what, lock and epoch.
- `replay`: every decision again; `retention`: what becomes of old files; `versions`: which code decided.
"""

from penstock.live.journal.errors import JournalDamaged, JournalError
from penstock.live.journal.folder import Lock, boot_id, raise_epoch, read_epoch
from penstock.live.journal.reader import JournalEntry, Recovered, read, recover
from penstock.live.journal.replay import Difference, Replayed, replay
from penstock.live.journal.retention import Retention
from penstock.live.journal.segment import Header
from penstock.live.journal.writer import JournalWriter

__all__ = [
    "Difference",
    "Header",
    "JournalDamaged",
    "JournalEntry",
    "JournalError",
    "JournalWriter",
    "Lock",
    "Recovered",
    "Replayed",
    "Retention",
    "boot_id",
    "raise_epoch",
    "read",
    "read_epoch",
    "recover",
    "replay",
]
