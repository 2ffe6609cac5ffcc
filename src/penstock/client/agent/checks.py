"""What would keep the agent of a node from working, found without touching any job."""

from __future__ import annotations

import os
import select
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.client.agent.connection import Connection, Lost, Up
from penstock.client.agent.node import NodeConfig
from penstock.errors import PenstockError
from penstock.wire.spool import Spool

PATIENCE = 4.0  # seconds for being let in


def problems(config: NodeConfig, spool: Spool, state: Path) -> list[str]:
    """Each in a sentence; none: it would work."""
    at_home = (*_of_spool(spool), *_of_state(state), *_of_folder(config))
    return [*at_home, *_of_paths(config), *_of_controller(config)]


def _of_spool(spool: Spool) -> Iterator[str]:
    if not os.path.lexists(spool.path):  # the start makes it
        if (wrong := _cannot_hold(Path(spool.path))) is not None:
            yield f"the spool {spool.path} cannot be made ({wrong})"
        return
    if not os.path.isdir(spool.path):
        yield f"the spool {spool.path} is no folder"
        return
    try:
        spool.pending(0)
    except PenstockError as error:
        yield str(error)


def _of_state(state: Path) -> Iterator[str]:
    if (wrong := _cannot_hold(state)) is not None:
        yield f"{state} cannot be written ({wrong}); --state FILE names another place"


def _cannot_hold(path: Path) -> str | None:
    """Why nothing can be put there, its folders made if need be; None: it can."""
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError:
        return f"{folder} cannot be written to"


def _of_folder(config: NodeConfig) -> Iterator[str]:
    if not os.access(config.folder, os.W_OK | os.X_OK):
        yield f"segments cannot be made in {config.folder}"
    if os.geteuid() != 0:
        yield "it does not run as root: it can pace jobs of its own user only"


def _of_paths(config: NodeConfig) -> Iterator[str]:
    for path in config.paths:
        if not os.path.exists(path):
            yield f"{path} is not there: no file of it would be paced"
        elif not os.path.ismount(path):
            yield f"{path} is no mount point: all files of the file system that it is on would be paced"


def _of_controller(config: NodeConfig) -> Iterator[str]:
    connection = Connection(config.address, config.ca, "node", config.node, config.munge_socket)
    deadline = time.monotonic() + PATIENCE
    lost = connection.dial(time.monotonic(), 0)
    while lost is None and (now := time.monotonic()) < deadline:
        lost = connection.check(now)
        if connection.socket >= 0:
            read = [connection.socket] if connection.wanted & 1 else []
            ready = select.select(read, [connection.socket] if connection.wanted & 2 else [], [], 0.1)
            mask = (1 if ready[0] else 0) | (2 if ready[1] else 0)
            for event in connection.ready(now, mask) if mask else ():
                if isinstance(event, Up):
                    connection.hang_up()
                    return
                if isinstance(event, Lost):
                    lost = event
        else:
            time.sleep(0.02)
    connection.hang_up()
    yield f"the controller does not let a node in ({lost.reason if lost else 'no answer'})"
