"""A client's operation, as the controller sees it: one announced volume, shared by all phases open in a process.

A process has one at a time; the first phase begins it, others join it, and with the last one it ends.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

from penstock.client.bucket import Bucket
from penstock.client.events import Begin
from penstock.client.node_bucket import Node
from penstock.client.notes import Left, Pacer, PendingAnnouncement
from penstock.client.process import Process, here
from penstock.client.shared_bucket import SharedBucket

UNKNOWN = float(64 << 20)  # announced when nobody says how much, and doubled as needed


class Pace(Pacer, Protocol):
    """What a phase needs of a bucket."""

    admitted: float
    waited: float

    @property
    def rate(self) -> float | None:
        """In force now."""

    @property
    def granted(self) -> bool:
        """Whether that is a controller's word."""

    @property
    def slice(self) -> int:
        """Bytes to move at a time."""

    def close(self) -> None:
        """Pace no more."""

    def acquire(self, amount: float) -> float:
        """Pay."""

    def refund(self, amount: float) -> None:
        """Be paid back."""

    def enter(self, amount: float, wake: Callable[[], None]) -> Any:
        """Wait in one's own way."""

    def serve(self, waiter: Any) -> float:
        """Seconds to wait before asking again, 0 when all is paid."""

    def leave(self, waiter: Any) -> float:
        """Wait no more."""


class SharedOperation:
    """What the controller sees: one announced volume that all phases open at the same time share."""

    def __init__(self, process: Process, begin: Begin, known: bool, node: Node | None = None, number: int = 0) -> None:
        self.process, self.begin, self.known = process, begin, known
        self.node, self._number = node, number
        self.announced = begin.volume
        self.users = 1
        self.asked: PendingAnnouncement | None = None
        self.left: Left | None = None
        self.outer = _open
        self._link, segment = (node.link, node.bucket) if node is not None else process.look()
        self._ours = segment is None
        self.bucket: Pace = Bucket() if segment is None else segment
        if isinstance(segment, SharedBucket):
            segment.reads = begin.direction == "read"
        self._before = self.bucket.admitted, self.bucket.moved
        if self._link is not None:
            self.asked = self._link.announce(self.bucket, begin, shared=node is not None)

    @property
    def short(self) -> float:
        """Bytes that this process moved above what was announced; for a node, its link sees to that."""
        if self.node is not None:
            return 0.0
        return self.bucket.admitted - self._before[0] - self.announced

    def grow(self, most: float = 0.0) -> None:
        """Announce more: `most`, or as much as it takes to cover what has been moved, and then some."""
        with self.process.lock:
            more = most
            if not most:
                short = self.short
                more = max(short, self.announced * (0.125 if self.known else 1.0)) if short > 0 else 0.0
            if more > 0:
                self.announced += more
                if self._link is not None:
                    self._link.extend(more)

    def touches(self, file: object) -> None:
        """Bytes go to or come from this file."""
        if self._link is not None and not self.begin.targets:
            self._link.touches(file)

    def finish(self) -> None:
        """Close the pacer, then tell the controller."""
        if self._ours:
            self.bucket.close()
        if self.node is not None:
            self.node.exit(self._number)
        if self._link is None:
            return
        if self.node is not None:
            others = functools.partial(self.node.others_in, self._number)
            self.left = self._link.end_with_others(self.bucket, self._before[1], others)
        else:
            self._link.end(self.bucket.moved - self._before[1])


_open: SharedOperation | None = None


def join(volume: float, direction: str, targets: tuple[str, ...]) -> SharedOperation:
    """The operation that is open, with so much more to move, or a new one; does not wait."""
    global _open  # noqa: PLW0603 - a process has one
    process = here()
    with process.lock:
        if _open is not None and _open.process is process:
            _open.users += 1
            if volume > 0:
                _open.grow(volume)
        else:
            _open = SharedOperation(process, Begin(volume or UNKNOWN, direction, targets), volume > 0)
        return _open


def join_node(node: Node, number: int, volume: float, direction: str, targets: tuple[str, ...]) -> SharedOperation:
    """The operation of all ranks of a node, inside of which those of this process alone belong to it."""
    global _open  # noqa: PLW0603
    process = here()
    with process.lock:
        if _open is not None and _open.process is process and _open.node is node:
            _open.users += 1
            _open.grow(volume)
            node.exit(number)  # being in the outer one is enough
        else:
            _open = SharedOperation(process, Begin(volume or UNKNOWN, direction, targets), volume > 0, node, number)
        return _open


def part(operation: SharedOperation) -> None:
    """One user of the operation less; with the last one it ends."""
    global _open  # noqa: PLW0603
    with operation.process.lock:
        operation.users -= 1
        if operation.users == 0:
            if _open is operation:
                _open = operation.outer if operation.outer is not None and operation.outer.users else None
            operation.finish()
