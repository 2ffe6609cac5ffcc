"""How fast a client may go that has not met the controller: it may be stopped, unreachable, or not let the job in.

The rate is that of one node without a grant, and all processes of a user on this node share it. In this order it comes
from PENSTOCK_FALLBACK, from the file of the site (PENSTOCK_SITE, or beside the controller's socket, or
/etc/penstock/site.json), or is the last resort. Only a file of the site can let such jobs go unpaced.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from penstock.client.shared_bucket import FOLDER, Claim, SharedBucket
from penstock.errors import PenstockError
from penstock.wire.site import beside, read_site

LAST_RESORT = 10e6  # bytes/s: slow enough for any site, and no job stands still
SITE_FILE = "/etc/penstock/site.json"
_NAME = "penstock-first"
_ATTEMPTS = 20  # to open the bucket, which may be taken away at that moment


@dataclass(frozen=True)
class FirstContact:
    """What to go by until the controller has told the job its own rate; no rates: unpaced."""

    rates: Mapping[str, float] = field(default_factory=dict)  # bytes/s by target; "" for a phase that names none
    words: str = ""  # whose word that is


def first_contact(given: float | None, env: Mapping[str, str], sockets: tuple[str, ...]) -> FirstContact:
    """What counts here; `given` is the job's own PENSTOCK_FALLBACK."""
    if given is not None:
        return FirstContact({"": given}, "by PENSTOCK_FALLBACK")
    named = env.get("PENSTOCK_SITE")
    for path in (named,) if named else (*map(beside, sockets), SITE_FILE):
        if (site := read_site(path)) is not None:
            if site.first_contact == "open":
                return FirstContact({}, f"as {path} lets jobs do that have not met the controller")
            return FirstContact(site.fallback, f"the rate of one node in {path}")
    return FirstContact({"": LAST_RESORT}, "the last resort, for no file of the site names a rate")


def common_bucket(rate: float) -> SharedBucket | None:
    """What all processes of this user on this node pay from as long as they have met nobody; None: there is none.

    It is taken away by the last of them to leave, and made anew by the next that comes.
    """
    for attempt in range(_ATTEMPTS):
        # Nobody can keep a user from having one by making a file of that name first.
        path = FOLDER / f"{_NAME}.{os.geteuid()}.{attempt // 2}"
        with suppress(OSError, PenstockError):
            bucket = SharedBucket(path) if os.path.lexists(path) else _made(path, rate)
            bucket.enter_phase(0)
            if bucket.is_at(path):
                if not bucket.others_in_phase(0):  # left behind by one that was killed
                    bucket.set_rate(rate, fallback=rate)
                return bucket
    return None


def leave_common(bucket: SharedBucket) -> None:
    """Pay from it no more."""
    bucket.leave_phase(0)
    if not bucket.others_in_phase(0) and bucket.is_at(bucket.path):
        bucket.remove()


class InCommon:
    """For processes that pay from a bucket of `penstock run` or of ranks: their part in that of the node."""

    def __init__(self) -> None:
        self._bucket: SharedBucket | None = None
        self._lock = threading.Lock()

    def serve(self, claim: Claim, rate: float) -> float:
        """Seconds to wait before asking again, 0 when all is paid; without a place for a bucket there is none."""
        with self._lock:
            bucket = self._bucket = self._bucket or common_bucket(rate)
        if bucket is None:
            return 0.0
        if claim.inner is None:
            claim.inner = bucket.enter(claim.amount, lambda: None)
        return bucket.serve(claim.inner)

    def leave(self) -> None:
        """The controller was met, or the process ends."""
        with self._lock:
            bucket, self._bucket = self._bucket, None
        if bucket is not None:
            leave_common(bucket)


def shared(path: str | Path) -> SharedBucket:
    """The bucket of a node or of a command, with what all of the node have in common until the controller was met."""
    bucket = SharedBucket(path)
    bucket.common = InCommon()
    return bucket


def leave_segment(bucket: SharedBucket) -> None:
    """At the end of a process that paid from a bucket which it did not make, or from that of the node itself."""
    if bucket.common is not None:
        bucket.common.leave()
    elif bucket.path.name.startswith(_NAME):
        leave_common(bucket)


def _made(path: Path, rate: float) -> SharedBucket:
    """A new one, complete before anybody can find it."""
    new = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    made = SharedBucket.make(new)
    made.set_rate(rate, fallback=rate)
    try:
        os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
    made.path = path
    return made
