"""The one link of a job's process: made at its first use, forgotten by forked children, told when the process ends."""

from __future__ import annotations

import atexit
import os
import threading

from penstock.client.bucket import Bucket
from penstock.client.config import ClientConfig, from_environment, is_off, own_rate, sockets
from penstock.client.first_contact import common_bucket, first_contact, leave_segment, shared
from penstock.client.link import Link
from penstock.client.node_bucket import Node, Ranks
from penstock.client.notes import log
from penstock.client.pacing import shown_rate
from penstock.client.shared_bucket import SharedBucket
from penstock.errors import PenstockError

Segment = SharedBucket | Bucket


class Process:
    """What all phases of a process share. `generation` rises with every fork."""

    def __init__(self, generation: int = 0) -> None:
        self.generation = generation
        self.lock = threading.RLock()
        self._config: ClientConfig | None = None
        self._link: Link | None = None
        self._segment: Segment | None = None
        self._looked = False
        self._nodes: list[Node] = []

    def look(self) -> tuple[Link | None, Segment | None]:
        """The link to the controller, or a bucket that is filled without one, or neither: unpaced."""
        with self.lock:
            if not self._looked:
                self._looked = True
                self._find()
            return self._link, self._segment

    def _find(self) -> None:
        try:
            config = from_environment()
        except PenstockError as error:
            self._segment = _without_controller(str(error))
            return
        why = self._open(config.bucket) if config.bucket is not None else ""
        if self._segment is None and config.address is not None:
            try:
                self._link = Link(config)
                why = ""
            except OSError as error:
                why = f"this process cannot reach the controller ({error.strerror or error})"
        if why:
            self._segment = _without_controller(why)

    def _open(self, bucket: str) -> str:
        """Pay from the bucket of a command; why that cannot be."""
        try:
            self._segment = shared(bucket)
        except (OSError, PenstockError) as error:
            log.warning("the bucket of this node cannot be used: %s", error)
            return f"PENSTOCK_BUCKET is {bucket!r}, which cannot be used"
        return ""

    def node(self, ranks: Ranks) -> Node:
        """What these ranks share. All of them come here together."""
        for known in self._nodes:
            if known.ranks == ranks:
                return known
        self._nodes.append(Node(ranks))
        return self._nodes[-1]

    def leave(self) -> None:
        """The process ends."""
        for each in (self._link, *self._nodes):
            if each is not None:
                each.leave()
        if isinstance(self._segment, SharedBucket):
            leave_segment(self._segment)

    def forget(self) -> None:
        """The process is a child of the one that made the link."""
        for each in (self._link, *self._nodes):
            if each is not None:
                each.forget()


def _without_controller(why: str) -> Segment | None:
    """What a process pays from that cannot even look for its controller, with a word in its log; None: unpaced."""
    if is_off():
        return None
    first = first_contact(own_rate(os.environ), os.environ, sockets(os.environ))
    rate = first.rates.get("")
    if rate is None:
        log.warning("%s; going on unpaced, %s", why, first.words)
        return None
    log.warning("%s; going on at the fallback rate, %s (%s)", why, shown_rate(rate), first.words)
    return common_bucket(rate) or Bucket(rate, fallback=rate)


_here = Process()


def here() -> Process:
    """What this process shares."""
    return _here


def begin() -> None:
    """Say that the job begins now: the controller counts its time from here, else from its first phase. Never waits."""
    _here.look()


def reset() -> None:
    """Leave the controller and begin anew, as a test or a changed environment needs it."""
    global _here  # noqa: PLW0603 - there is one process
    _here.leave()
    _here = Process(_here.generation + 1)


def _forked() -> None:
    global _here
    parent, _here = _here, Process(_here.generation + 1)
    parent.forget()


def _exit() -> None:
    _here.leave()


os.register_at_fork(after_in_child=_forked)
atexit.register(_exit)
