"""Ports of this host for servers that tests start.

The system gives out ports of its own choice between 32768 and 60999, to every connection on the machine, so one that it
chose a moment ago may be taken by the time a server listens there. Below that range nobody takes one by chance.
"""

from __future__ import annotations

import itertools
import os
import socket

_FIRST, _COUNT = 20_000, 10_000
_ours = itertools.count(os.getpid() * 97)  # processes that run tests side by side begin far from each other


def free_port() -> int:
    """A port on which nobody listens, and that was not given before."""
    for number in itertools.islice(_ours, _COUNT):
        port = _FIRST + number % _COUNT
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
