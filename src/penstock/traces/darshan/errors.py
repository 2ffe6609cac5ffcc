"""Why a Darshan log is not taken."""

from __future__ import annotations


class BadLog(Exception):
    """A log that cannot be used; the words say why, without its name."""
