"""The event loop that the controller uses: the faster one, where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it to its end."""
    try:
        result: T = import_module("uvloop").run(work)
    except ImportError:
        return asyncio.run(work)
    return result
