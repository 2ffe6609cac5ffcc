"""Processor time of small things, and of something to compare it with on a slow machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from penstock.client.bucket import boottime


def cost(act: Callable[[], object], count: int = 5000) -> float:
    """Seconds of one call, the best of twenty rounds."""
    rounds = []
    for _ in range(20):
        start = time.thread_time()
        for _ in range(count):
            act()
        rounds.append((time.thread_time() - start) / count)
    return min(rounds)


def yardstick() -> float:
    """Seconds for a lock and a look at the clock: what nobody who paces can do without."""
    lock = threading.Lock()

    def look() -> float:
        with lock:
            return boottime()

    return cost(look)
