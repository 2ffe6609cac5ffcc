"""What a mapping policy may know when it is asked: the jobs that have come, what they announced, and who runs where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats, Ints


class View(NamedTuple):
    """The machine and its queue now.

    The arrays from `job` on have a row for each job that has been released, in the order in which they came, those of
    one instant as in the scenario. They are not to be written. Times are seconds since the first release; what is
    announced is without noise.
    """

    now: float
    room: int  # processors that each I/O node has
    free: Ints  # of each I/O node, the processors without a job
    open: Ints  # the I/O nodes where something has changed: where a job has ended, or, if jobs came, all
    more: bool  # whether other jobs will come later
    settings: Mapping[str, float]  # parameters of the policy
    memory: dict[str, Any]  # empty at first; what the policy puts there, it finds again when it is asked next
    job: Ints  # place in the scenario
    arrival: Ints  # jobs that came at one instant have the same number: 0, 1, …
    release: Floats  # when it came
    seconds: Floats  # T: how long it takes alone, as announced
    io: Floats  # V: how long what it moves keeps a whole I/O node busy
    processors: Ints  # Q: how many it needs
    walltime: Floats  # how long it may run, as its user said; infinity: nothing was said
    node: Ints  # the I/O node on which it was started; -1: it waits
    start: Floats  # when it was started; NaN: it waits
    end: Floats  # when it ended; NaN: it has not

    @property
    def waiting(self) -> Ints:
        """The rows of jobs that wait, first come first."""
        return np.flatnonzero(self.node < 0)

    @property
    def running(self) -> Ints:
        """The rows of jobs that run."""
        return np.flatnonzero((self.node >= 0) & np.isnan(self.end))
