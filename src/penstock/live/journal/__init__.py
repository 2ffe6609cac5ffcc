"""The journal: everything that changed the state of a controller, written before anybody is told of it."""

from penstock.live.journal.errors import JournalDamaged, JournalError
from penstock.live.journal.folder import Lock, boot_id, raise_epoch, read_epoch
from penstock.live.journal.reader import Entry, Recovered, read, recover
from penstock.live.journal.replay import Difference, Replayed, replay
from penstock.live.journal.retention import Retention
from penstock.live.journal.segment import Header
from penstock.live.journal.writer import Journal

__all__ = [
    "Difference",
    "Entry",
    "Header",
    "Journal",
    "JournalDamaged",
    "JournalError",
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
