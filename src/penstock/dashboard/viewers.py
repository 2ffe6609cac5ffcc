"""Who looks at the dashboard: the kernel knows the user at the other end of a connection on this host.

Linux lists every TCP socket with the user that opened it. Of a connection from this host to this host, the other end is
in that list, whether a browser opened it or the `ssh -L` of a user who is logged in. From elsewhere nobody is known.
"""

from __future__ import annotations

import grp
import os
import pwd
import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
NOBODY = -1


@dataclass(frozen=True)
class Viewer:
    """Whose names somebody may see: all, or those of one user; `NOBODY`: none."""

    uid: int = NOBODY
    all_names: bool = False

    def may_see(self, uid: int) -> bool:
        """Whether a job of this user is shown with its name."""
        return self.all_names or (uid == self.uid != NOBODY)


class Viewers:
    """Operators see all names: root, who runs the dashboard, and a group; everybody does if the site says so."""

    def __init__(self, all_names: bool = False, group: str | None = None) -> None:
        self._all, self._group = all_names, group

    def viewer(self, local: tuple[str, int], remote: tuple[str, int]) -> Viewer:
        """Who is at the other end of a connection."""
        uid = owner(local, remote)
        return Viewer(uid, self._all or self._operates(uid))

    def _operates(self, uid: int) -> bool:
        if uid in (0, os.geteuid()):
            return True
        return uid != NOBODY and self._group is not None and _in_group(uid, self._group)


def owner(local: tuple[str, int], remote: tuple[str, int], tables: Iterable[Path] = TABLES) -> int:
    """The user that opened the connection from `remote` to `local`, if that is on this host."""
    if not is_loopback(remote[0]):
        return NOBODY
    wanted = (_coded(*remote), _coded(*local))
    for table in tables:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 7 and (fields[1], fields[2]) == wanted:
                return int(fields[7])
    return NOBODY


def is_loopback(host: str) -> bool:
    """Whether an address is this host's own."""
    return host == "::1" or host.startswith("127.")


def _coded(host: str, port: int) -> str:
    """An address as the kernel prints it: words of 32 bits in the machine's own order.

    >>> _coded("127.0.0.1", 80) in ("0100007F:0050", "7F000001:0050")
    True
    """
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    words = struct.unpack(f"!{len(packed) // 4}I", packed)
    native = struct.unpack(f"!{len(words)}I", struct.pack(f"={len(words)}I", *words))
    return f"{''.join(f'{word:08X}' for word in native)}:{port:04X}"


def _in_group(uid: int, name: str) -> bool:
    try:
        user, group = pwd.getpwuid(uid), grp.getgrnam(name)
    except KeyError:
        return False
    return user.pw_gid == group.gr_gid or user.pw_name in group.gr_mem
