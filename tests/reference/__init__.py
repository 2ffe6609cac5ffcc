"""The slow, obvious twin of the engine: the judge in property tests. It shares no code with the package."""

from .engine import bound_min_yield, simulate
from .policies import decide

__all__ = ["bound_min_yield", "decide", "simulate"]
