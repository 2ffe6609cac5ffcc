"""What a member of a job is told at the start, what it may be doing, and the phase that it has open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import msgspec

from penstock.wire import messages as wire
from penstock.wire.messages import OpenOp


class MemberState(Enum):
    """What a member is doing, in the words of `docs/reference/protocol.md`."""

    OFF = "off"  # not configured, or switched off: unpaced
    DIAL = "dial"  # no controller at the moment, nothing to move
    IDLE = "idle"  # known to the controller, nothing to move
    WAIT = "wait"  # announced, not answered yet
    PACED = "paced"  # at the rate granted
    STALE = "stale"  # at the rate granted, but the link is lost
    OPEN = "open"  # at the fallback rate
    FREE = "free"  # unpaced by the controller's word
    REFUSED = "refused"  # the controller does not want us: at the fallback rate


@dataclass(frozen=True)
class MemberSettings:
    """Who the member is, and how long it waits. Times in seconds, rates in bytes/s."""

    job: str = "job"
    nodes: int = 1
    cap: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    fallbacks: Mapping[str, float] = field(default_factory=dict)  # known beforehand, by target; empty: unpaced
    fallback_words: str = ""  # whose word that is
    released: float | None = None  # on the member's clock; None: at its first step
    progress: float = 0.0
    timeout: float = 2.0  # for the answer to an announcement
    max_wait: float = 600.0  # twice this at rate 0 is a fault of the controller
    ping: float = wire.PING  # between beats of an idle member; the controller counts on it
    member: int | None = None  # its number in the job; None: drawn
    seed: int | None = None  # of the spread of dialling; None: by chance
    off: bool = False
    uid: int = -1  # whose job it is, if this speaks for a node
    kind: str = wire.BYTES  # what its volumes and rates are counted in
    addresses: int = 1  # at which a controller may be found


class OpenPhase(msgspec.Struct):
    """The phase that is open."""

    op: int
    volume: float
    direction: str
    targets: tuple[str, ...]
    posted: float
    done: float = 0.0
    known: bool = False  # to the controller, as far as we can tell
    answered: bool = False
    seen: tuple[str, ...] = ()  # targets that its bytes were seen on
    confidence: float = 1.0  # that the volume is right
    program: str = ""

    def told(self, t: float) -> OpenOp:
        """As the controller hears of it when we come back."""
        posted = t - self.posted
        return OpenOp(self.op, self.volume, self.done, self.direction, self.targets, posted, self.confidence)


class LinkState(Enum):
    """What there is between a member and its controller."""

    OFF = 0
    DOWN = 1
    REFUSED = 2
    UP = 3
