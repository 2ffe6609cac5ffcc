"""I/O phases of a job: announce how much will be moved, then move it at the rate that is granted.

    with io_phase("10GB") as phase:
        for block in blocks:
            phase.write(file, block)

A process has one phase at a time for the controller: phases inside a phase, and those of other threads meanwhile, add
to it. Whoever moves more than announced extends the announcement without being asked. Nothing here raises into the job,
and without a controller nothing is paced.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ParamSpec, TypeVar

from penstock.client.amounts import parse_amount
from penstock.client.bucket import MOST_SLICE
from penstock.client.node_bucket import Ranks
from penstock.client.notes import Left, PendingAnnouncement, log
from penstock.client.operation import SharedOperation, join, join_node, part
from penstock.client.process import here
from penstock.errors import PenstockError

DIRECTIONS = ("read", "write")

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Phase:
    """One I/O phase. Threads may share it; a forked child that uses it announces a phase of its own."""

    def __init__(
        self,
        volume: object = None,
        direction: str = "write",
        targets: Iterable[str] = (),
        node: Ranks | None = None,
    ) -> None:
        self._volume = _volume(volume)
        self._ranks = node
        self._direction = _direction(direction)
        self._targets = _targets(targets)
        self._entered = False
        self._operation: SharedOperation | None = None
        self.waited = 0.0  # seconds, over all threads
        self.done = 0.0  # bytes let pass

    def __enter__(self) -> Phase:
        asked = self.enter()
        try:
            if asked is not None:
                asked.wait()
        except BaseException:  # as Ctrl-C: nobody will call __exit__
            self.exit()
            raise
        return self

    def __exit__(self, error: object = None, *_: object) -> None:
        left = self.exit()
        if left is not None and error is None:
            left.ended.wait()

    def enter(self) -> PendingAnnouncement | None:
        """Begin without waiting for the answer. A phase of unknown volume is announced with its first byte."""
        self._entered = True
        if self._ranks is not None:
            operation = self._gather(self._ranks)
        else:
            operation = self._join(self._volume) if self._volume > 0 else None
        return operation.asked if operation is not None else None

    def exit(self) -> Left | None:
        """End the phase, or this rank's part in it; where it speaks for others, what they are still at."""
        operation, self._operation, self._entered = self._operation, None, False
        if operation is not None and operation.process is here():
            try:
                part(operation)
                return operation.left
            except Exception as error:
                _trouble(error)
        return None

    @property
    def rate(self) -> float | None:
        """In force now, bytes/s; None: unpaced."""
        operation = self._operation
        return None if operation is None else operation.bucket.rate

    @property
    def granted(self) -> bool:
        """Whether the rate is a controller's word; else, if there is one, it is the fallback."""
        operation = self._operation
        return operation is not None and operation.bucket.granted

    @property
    def slice(self) -> int:
        """Bytes to move at a time."""
        operation = self._operation
        return MOST_SLICE if operation is None else operation.bucket.slice

    def operation(self) -> SharedOperation | None:
        """What pays for the bytes of this phase; None: nothing does."""
        operation = self._operation
        if operation is not None and operation.process is here():
            return operation
        return self._join(0.0) if self._entered else None

    def acquire(self, amount: float) -> float:
        """Pay for so many bytes before they are moved; the seconds this took."""
        waited = self.pay(amount)
        self.settle()
        return waited

    def pay(self, amount: float) -> float:
        """As `acquire`, for bytes that may turn out fewer: `refund` what was not there, then `settle`."""
        operation = self.operation()
        if operation is None or not amount > 0:
            return 0.0
        waited = operation.bucket.acquire(amount)
        if waited:
            self.waited += waited
        self.done += amount
        return waited

    def refund(self, amount: float) -> None:
        """Take back what was paid for and not moved, as at the end of a file."""
        operation = self._operation
        if operation is not None and amount > 0:
            operation.bucket.refund(amount)
            self.done -= amount

    def settle(self) -> None:
        """Announce more if more was paid for than announced."""
        operation = self._operation
        if operation is not None and operation.short > 0:
            operation.grow()

    def touches(self, file: Any) -> None:
        """Let the controller know where the bytes go, if this phase names no target."""
        if (operation := self.operation()) is not None:
            operation.touches(file)

    def write(self, file: Any, data: Any) -> int:
        """Write all of `data` to a file object or descriptor at the granted rate; bytes (or characters) written."""
        self.touches(file)
        put: Callable[[Any], int | None] = functools.partial(os.write, file) if isinstance(file, int) else file.write
        content = data if isinstance(data, str) else flat(data)
        at = 0
        while at < len(content):
            piece = content[at : at + self.slice]
            size = size_of(piece)
            self.acquire(size)
            put_now = put(piece)
            if put_now is not None and put_now < len(piece):  # a raw file may take less
                self.refund(size * (1.0 - put_now / len(piece)))
                if put_now == 0:
                    break
                at += put_now
            else:
                at += len(piece)
        return at

    def read(self, file: Any, amount: int = -1) -> Any:
        """Read so much, or all there is, from a file object or descriptor at the granted rate."""
        self.touches(file)
        get: Callable[[int], Any] = functools.partial(os.read, file) if isinstance(file, int) else file.read
        pieces: list[Any] = []
        left = math.inf if amount is None or amount < 0 else amount
        while left > 0:
            size = int(min(self.slice, left))
            self.pay(size)
            piece = get(size)
            self.refund(size - len(piece or ()))
            self.settle()
            if not piece:
                pieces = pieces or [piece]
                break
            pieces.append(piece)
            left -= len(piece)
        return together(pieces)

    def pace(self, items: Iterable[T]) -> Iterator[T]:
        """The same items, each when it may be moved; what they weigh is `len` or `nbytes`."""
        for item in items:
            self.acquire(size_of(item))
            yield item

    def _gather(self, ranks: Ranks) -> SharedOperation | None:
        """Begin together with the other ranks: nobody pays before the first of them has announced."""
        try:
            node = here().node(ranks)
            number, total = node.enter(self._volume)
            if node.bucket is not None:
                self._operation = join_node(node, number, total, self._direction, self._targets)
            ranks.barrier()
        except Exception as error:
            _trouble(error)
        return self._operation or self._join(self._volume)

    def _join(self, volume: float) -> SharedOperation | None:
        try:
            with here().lock:
                operation = self._operation
                if operation is None or operation.process is not here():
                    operation = self._operation = join(volume, self._direction, self._targets)
                return operation
        except Exception as error:
            self._entered = False
            _trouble(error)
            return None


def io_phase(
    volume: object = None, direction: str = "write", targets: Iterable[str] = (), node: Ranks | None = None
) -> Phase:
    """A phase in which so many bytes ("10GB" or a number; None: not known) will be read or written.

    With `node`, a communicator of the ranks of this node, all of them begin and end it together, each with its own
    volume: the first announces the sum, and all pay from one bucket.

    >>> with io_phase("1kB") as phase:
    ...     phase.acquire(1000)
    0.0
    """
    return Phase(volume, direction, targets, node)


def paced(
    volume: object = None, direction: str = "write", targets: Iterable[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a phase of every call of a function; `volume` may be a function of its arguments.

    Files of `open_paced` and phases inside the function belong to it.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            much = volume(*args, **kwargs) if callable(volume) else volume
            with Phase(much, direction, targets):
                return function(*args, **kwargs)

        return call

    return decorate


def size_of(item: Any) -> int:
    """Bytes that an item will take in a file."""
    if isinstance(item, str):
        return len(item) if item.isascii() else len(item.encode("utf-8", "surrogatepass"))
    size = getattr(item, "nbytes", None)
    return int(size) if size is not None else len(item)


def flat(data: Any) -> memoryview:
    """Anything with a buffer, as bytes in one row."""
    view = memoryview(data)
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


def together(pieces: list[Any]) -> Any:
    """What was read piece by piece."""
    if not pieces:
        return b""
    return pieces[0] if len(pieces) == 1 else pieces[0][:0].join(pieces)


def _volume(given: object) -> float:
    if given is None:
        return 0.0
    try:
        return parse_amount(given, "the volume of a phase")
    except PenstockError as error:
        _trouble(error)
        return 0.0


def _direction(given: str) -> str:
    if given in DIRECTIONS:
        return given
    log.warning("the direction of a phase is %r; accepted are read and write; taken as write", given)
    return "write"


def _targets(given: Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if all(isinstance(name, str) for name in names):
        return names
    log.warning("the targets of a phase are %r; names are accepted; taken as all targets", given)
    return ()


def _trouble(error: Exception) -> None:
    log.warning("this phase is not paced as it should be: %s: %s", type(error).__name__, error)
