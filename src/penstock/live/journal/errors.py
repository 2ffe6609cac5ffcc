"""What can go wrong with a journal, for the person who starts the controller."""

from penstock.errors import PenstockError


class JournalError(PenstockError):
    """A journal that cannot be used as it is."""


class JournalDamaged(JournalError):
    """A journal that has lost something from its middle; the controller can only start without it."""
