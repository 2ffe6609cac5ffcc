"""What can go wrong for the person who starts the controller."""

from penstock.errors import PenstockError


class InvalidConfig(PenstockError):
    """A configuration of the controller that cannot be taken."""


class CannotServe(PenstockError):
    """A controller that cannot start here, as things are."""
