"""The controller holds policies of a site's own to their time: nobody waits for a decision that does not come.

Such a policy decides in a process of its own (`policy_process`), which its own timers end. Here, timers of the
controller interrupt whatever else is done for it in Python, as a plan that is made before it is asked, and a process
that does not answer. Policies of penstock's own tables are not timed.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.live.core.decide import OutOfTime
from penstock.policies.sharing import NAMES, Sharing

CPU = 0.05  # seconds of processor time for a decision
WALL = 0.5  # seconds, for a policy that sleeps or waits
_TIMERS = {signal.SIGVTALRM: (signal.ITIMER_VIRTUAL, CPU), signal.SIGALRM: (signal.ITIMER_REAL, WALL)}


@contextmanager
def limited(policy: Sharing) -> Iterator[None]:
    """Raise OutOfTime in the block that asks this policy, if it takes too long."""
    if policy.name in NAMES or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _over) for number in _TIMERS}
    try:
        for timer, seconds in _TIMERS.values():
            signal.setitimer(timer, seconds)
        yield
    finally:
        for timer, _ in _TIMERS.values():
            signal.setitimer(timer, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _over(number: int, frame: object) -> None:
    raise OutOfTime(_TIMERS[signal.Signals(number)][1])
