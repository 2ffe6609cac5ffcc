"""The slow, obvious twin of the engine: the judge in property tests. It shares no code with the package."""

from . import engine
from .engine import bound_min_yield
from .orders import ORDERS, follow
from .policies import Policy, decide
from .steady import WITH_MEMORY

__all__ = ["ORDERS", "bound_min_yield", "decide", "follow", "simulate"]


def simulate(document: engine.Document, sharing: str | Policy = "fcfs", delta: float | None = None) -> engine.Document:
    """Run a scenario under a strategy or an order, by name or by function."""
    if isinstance(sharing, str) and sharing in ORDERS:
        return engine.simulate(document, ORDERS[sharing](document)) | {"sharing": sharing}
    if isinstance(sharing, str) and sharing in WITH_MEMORY:
        return engine.simulate(document, WITH_MEMORY[sharing]()) | {"sharing": sharing}
    return engine.simulate(document, sharing, delta)
