"""What client and controller share before they meet: a small file of the site that the controller keeps current.

    {"version": 1, "first_contact": "paced", "fallback": {"": 50000000.0, "scratch": 40000000.0}}

`fallback` is what one node may use without a grant, by target, and under "" for a phase that names none.
"""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path

import msgspec

VERSION = 1
FIRST_CONTACT = ("paced", "open")
_LARGEST = 1 << 20  # bytes


class Site(msgspec.Struct, frozen=True):
    """`first_contact` open: whoever has not met the controller goes unpaced, by the site's choice."""

    version: int
    first_contact: str
    fallback: dict[str, float]


def beside(socket: str) -> str:
    """Where the file of the controller is that listens on this UNIX socket, unless it was told another place."""
    return f"{socket}.fallback"


def usual_journal() -> Path:
    """Where a controller keeps its journal unless it was told another place."""
    if os.geteuid() == 0:
        return Path("/var/lib/penstock")
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "penstock"


def site_bytes(site: Site) -> bytes:
    """The content of the file."""
    return msgspec.json.encode(site) + b"\n"


def read_site(path: str) -> Site | None:
    """What the file says; None if there is none that could be believed: others than its owner may write it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o022:
                return None
            site = msgspec.json.decode(file.read(_LARGEST), type=Site)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return site if _is_sound(site) else None


def _is_sound(site: Site) -> bool:
    rates = site.fallback.values()
    proper = "" in site.fallback and all(math.isfinite(rate) and 0.0 < rate <= 1e18 for rate in rates)
    return site.version == VERSION and site.first_contact in FIRST_CONTACT and proper
