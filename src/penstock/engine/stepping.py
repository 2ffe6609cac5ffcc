"""Taking a compiled loop from stop to stop: it stops for a plain Python policy, for a word on progress, or at its end.

Every loop keeps all it needs in arrays, so it can stop between two events and go on. What a policy does wrong becomes
a sentence here.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from penstock.engine.link import loop
from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.kernels.compile import kernel
from penstock.policies.sharing.asking import ask, at, first_class, raised
from penstock.policies.sharing.policy import Sharing
from penstock.policies.sharing.view import DECIDE, View

Progress = Callable[[float, int], None]  # (simulated time, events so far)


class Stepping(ABC):
    """One run under way. `rates` is where decisions go; `seconds` counts the time in the loop and in the policy."""

    def __init__(self, policy: Sharing, origin: float, rates: Floats) -> None:
        self.policy, self.origin, self.rates = policy, origin, rates
        self.decide = first_class(policy) if policy.compiled else idle
        self.seconds = 0.0
        self.decided = False  # whether the loop stopped with a decision that is still to be used

    @abstractmethod
    def _run(self, budget: int, resuming: bool) -> int:
        """Call the loop; how it came to stop."""

    @property
    @abstractmethod
    def _now(self) -> float:
        """Where the loop stands; it counts from the origin."""

    @property
    @abstractmethod
    def _events(self) -> int:
        """How many have passed."""

    @abstractmethod
    def _shown(self, now: float) -> View:
        """What the policy that is to decide sees, or has decided badly by."""

    @abstractmethod
    def _refused(self, view: View) -> str:
        """What is wrong with the rates in force, as a sentence."""

    def set_up(self) -> None:
        """Make the first call of a process, which sets things up, no part of the run."""
        self._go_on(budget=0, resuming=False)
        self.seconds = 0.0

    def stretch(self, budget: int, progress: Progress | None) -> int:
        """Go on for as long as nobody but the policy is needed, or a while; how it came to stop."""
        status = self._go_on(budget, resuming=self.decided)
        while status == loop.PAUSED:
            self._ask()
            status = self._go_on(budget, resuming=True)
        self.decided = False
        if status == loop.STALLED:
            raise PolicyError(
                f"{at(self.policy, self.time)} gave nobody any bandwidth, and nothing else would ever happen"
            )
        if status == loop.REFUSED:
            raise PolicyError(self._refused(self._shown(self.time)))
        if progress is not None and status != loop.DONE:
            progress(self.time, self._events)
        return status

    @property
    def time(self) -> float:
        """The scenario's time."""
        return self.origin + self._now

    def _go_on(self, budget: int, resuming: bool) -> int:
        started = time.thread_time()
        try:
            status = self._run(budget, resuming)
        except Exception as error:  # only the policy's own code can raise in there
            raise raised(at(self.policy, self.time), self.policy.plain, error) from error
        self.seconds += time.thread_time() - started
        return status

    def _ask(self) -> None:
        """Let a plain Python policy decide."""
        started = time.thread_time()
        view = self._shown(self._now)
        self._decide(view, self.rates[: view.limit.size])
        self.seconds += time.thread_time() - started

    def _decide(self, view: View, rates: Floats) -> None:
        ask(self.policy, view, rates)


@kernel(DECIDE)
def idle(view: View, rates: Floats) -> None:
    """Stands in where a plain Python policy decides outside the loop."""
