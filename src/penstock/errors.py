"""What can go wrong for a user; the command line prints each as one sentence and exits with code 2."""

from __future__ import annotations

from collections.abc import Iterable


class PenstockError(Exception):
    """Something the user can mend. Any other exception is a bug of ours and keeps its traceback."""


class InvalidScenario(PenstockError):
    """A scenario document, or a file beside it, that cannot be taken."""


class UnknownPolicy(PenstockError):
    """A policy name nobody registered."""


class PolicyError(PenstockError):
    """A policy that raised, or gave rates that no file system could serve."""


class InvalidOption(PenstockError):
    """A command-line option or argument with a value it does not accept."""


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """What a misspelt word may have meant, nearest first; capitals do not matter.

    >>> nearest("FCFS", ["fair-share", "fcfs"])
    ['fcfs']
    >>> nearest("elephant", ["fair-share", "fcfs"])
    []
    """
    from difflib import get_close_matches  # noqa: PLC0415 - few commands are misspelt

    spelt = {each.lower(): each for each in known}
    return [spelt[each] for each in get_close_matches(word.lower(), spelt, n=most, cutoff=cutoff)]
