"""One member of a job for each node, not for each rank: the first rank announces for all, and all pay from one bucket.

The bucket lies in shared memory. Ranks begin a phase together and leave it one by one; the first, which speaks for all,
sees when nobody is in it any more. When it dies, the others go on, at the granted rate until the lease is over, then at
the fallback: so the controller must not take that death as proof that the rate is free.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from penstock.client.config import for_many, from_environment
from penstock.client.first_contact import InCommon, leave_segment, shared
from penstock.client.link import Link
from penstock.client.notes import log
from penstock.client.shared_bucket import SharedBucket, new_path
from penstock.errors import PenstockError

T = TypeVar("T")


class Ranks(Protocol):
    """The ranks of one node, as far as they have to talk: a communicator of mpi4py, or anything like it."""

    @property
    def rank(self) -> int:
        """The number of this one; the first has 0."""

    def allreduce(self, value: float) -> float:
        """The sum over all ranks."""

    def bcast(self, value: T) -> T:
        """What the first rank gave."""

    def barrier(self) -> None:
        """Wait until all are here."""


class Node:
    """What the ranks of a node share; `link` is the first rank's only, `bucket` is None if there is no controller."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self._phases = 0
        self.link, self.bucket = _lead() if ranks.rank == 0 else (None, None)
        path = ranks.bcast("" if self.bucket is None else str(self.bucket.path))
        if ranks.rank > 0 and path:
            self.bucket = _follow(path)
        ranks.barrier()
        if self.link is not None and self.bucket is not None:
            self.bucket.remove()  # all have it open, and nobody has to clean up after a rank that is killed

    def enter(self, volume: float) -> tuple[int, float]:
        """Begin a phase with all ranks: its number, which is the same on all, and the volume of all together."""
        self._phases += 1
        number = self._phases
        if self.bucket is not None:
            self.bucket.enter_phase(number)  # before they meet, so that the first cannot miss anybody when it leaves
        try:
            return number, self.ranks.allreduce(volume)
        except BaseException:
            self.exit(number)
            raise

    def exit(self, number: int) -> None:
        """Be in that phase no more."""
        if self.bucket is not None:
            self.bucket.leave_phase(number)

    def others_in(self, number: int) -> bool:
        """Whether other ranks are in that phase."""
        return self.bucket is not None and self.bucket.others_in_phase(number)

    def leave(self) -> None:
        """The process ends."""
        if self.link is not None:
            self.link.leave()
        if self.bucket is not None:
            leave_segment(self.bucket)

    def forget(self) -> None:
        """The process is a child of the one that made the link."""
        if self.link is not None:
            self.link.forget()


def _lead() -> tuple[Link | None, SharedBucket | None]:
    """Dial the controller and make the bucket; without one, each rank is on its own."""
    try:
        config = from_environment()
        if config.bucket is not None:  # of `penstock run`, which has announced already
            return None, shared(config.bucket)
        if config.address is None:
            return None, None
        bucket = SharedBucket.make(new_path(config.settings.job))
        bucket.common = InCommon()
        return Link(for_many(config)), bucket
    except (OSError, PenstockError) as error:
        log.warning("the ranks of this node have no bucket in common: %s", error)
        return None, None


def _follow(path: str) -> SharedBucket | None:
    try:
        return shared(path)
    except (OSError, PenstockError) as error:
        log.warning("the bucket of this node cannot be used: %s", error)
        return None
