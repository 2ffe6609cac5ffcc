"""What can go wrong for a user; the command line prints each as one sentence and exits with code 2."""


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
