"""Which target a job's file is on: the site says where its targets are mounted, the kernel which device that is.

The table of mounts is read instead of asking each mount: one that hangs must not hold up a job that does not use it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")


def devices_of(paths: Mapping[str, str], mounts: str | None = None) -> dict[int, str]:
    """Targets by the devices that they are on; one that several targets share tells nothing, and is left out."""
    known = _mounted(_MOUNTS.read_text("utf-8", "surrogateescape") if mounts is None else mounts)
    on = {target: _device(path, known) for target, path in paths.items()}
    return {device: target for target, device in on.items() if device and list(on.values()).count(device) == 1}


def devices_under(paths: Sequence[str], mounts: str | None = None) -> tuple[int, ...]:
    """The devices that some folders are on."""
    known = _mounted(_MOUNTS.read_text("utf-8", "surrogateescape") if mounts is None else mounts)
    return tuple(dict.fromkeys(device for path in paths if (device := _device(path, known))))


def device_of(file: object) -> int:
    """The device of an open file or descriptor; 0 if it has none that could be known."""
    try:
        descriptor = file if isinstance(file, int) else file.fileno()  # type: ignore[attr-defined]
        return os.fstat(descriptor).st_dev
    except (AttributeError, OSError, ValueError, TypeError):
        return 0


def _device(path: str, mounted: Mapping[str, int]) -> int:
    """That of the innermost mount above a path."""
    above = [place for place in mounted if path == place or path.startswith(place.rstrip("/") + "/")]
    return mounted[max(above, key=len)] if above else 0


def _mounted(table: str) -> dict[str, int]:
    """Devices by where they are mounted; of two in one place, the later one is seen."""
    lines = (line.split() for line in table.splitlines())
    return {_plain(line[4]): os.makedev(*map(int, line[2].split(":"))) for line in lines if len(line) > 4}


def _plain(place: str) -> str:
    """A folder's name, of which the kernel writes blanks in octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), place)
