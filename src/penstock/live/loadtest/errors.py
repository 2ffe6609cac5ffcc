"""What can go wrong with a load test of the controller."""

from penstock.errors import PenstockError


class LoadTestFailed(PenstockError):
    """A load that does not fit on this machine, or a controller that did not stand it."""
