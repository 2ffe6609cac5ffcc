"""`penstock run`: whether its command is paced without asking, by the library in front of its reads and writes.

A command that cannot have it runs all the same; why is said on the error stream.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path

from penstock.client.bucket import boottime
from penstock.client.config import ClientConfig
from penstock.client.mounts import devices_of
from penstock.client.segment import Segment, segment_path
from penstock.client.shim.library import NoLibrary, library, preloaded
from penstock.errors import PenstockError


def with_library(env: Mapping[str, str], bucket: Path) -> tuple[dict[str, str], str]:
    """An environment in which programs pay from a bucket; without a library, those that ask, and why."""
    changed = {**env, "PENSTOCK_BUCKET": str(bucket)}
    try:
        changed["LD_PRELOAD"] = preloaded(library(), env)
    except NoLibrary as reason:
        print(f"penstock: programs that do not ask are not paced: {reason}", file=sys.stderr)
        return changed, str(reason)
    return changed, ""


def agents_segment(config: ClientConfig) -> Path | None:
    """The segment of this job that the agent of this node has made, if there is one and the agent lives."""
    restart = os.environ.get("SLURM_RESTART_COUNT", "0")
    path = segment_path(config.settings.job, int(restart) if restart.isdigit() else 0)
    if config.bucket is not None:  # of the agent, by the batch system's hooks, or of another run
        given = Path(config.bucket)
        path = given if given.name.startswith(path.name.partition(".")[0]) else Path()
    if os.environ.get("PENSTOCK", "").lower() == "off" or not path.is_file():
        return None
    try:
        segment = Segment(path)
    except (OSError, PenstockError):
        return None
    try:
        return path if boottime() < segment.alive_until < inf else None
    finally:
        segment.close()


def pace_where(segment: Segment, direction: str, paths: Mapping[str, str]) -> None:
    """Pace files of the site's targets; where it does not say where those are, all files, in the announced direction.

    Programs read themselves and their libraries from files, too.
    """
    devices = tuple(devices_of(paths)) if paths else ()
    if devices != segment.devices:
        segment.set_devices(devices)
    segment.set_ways(writes=bool(devices) or direction == "write", reads=bool(devices) or direction == "read")
