"""A process that forks agents: `python -m penstock.cli.parts.agent_load.host FOLDER ADDRESS FIRST COUNT JOBS UID`.

What each of them runs is `penstock node` after its start; forking spares the machine hundreds of starts of Python.
Every agent has its own spool, state and segments below FOLDER, and one job, whose program has announced a phase.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from pathlib import Path

from penstock.cli.parts.agent_load.virtual import VOLUME
from penstock.client.agent.node import Node, NodeConfig
from penstock.client.agent.roster import Roster
from penstock.client.config import parse_address
from penstock.client.segment import Segment, announce, segment_path
from penstock.wire.spool import Spool, this_boot

GIVES_WAY = 10  # to the controller, which has a machine of its own at a site


def folder_of(folder: Path, number: int) -> Path:
    """Where an agent has what it needs."""
    return folder / f"n{number}"


def job_of(number: int, jobs: int) -> str:
    """The job on a node."""
    return f"job{number % jobs}"


def prepare(folder: Path, number: int, jobs: int, uid: int) -> None:
    """A spool with a start in it, and a segment in which the program has announced its phase."""
    own = folder_of(folder, number)
    (own / "spool").mkdir(parents=True, mode=0o700)
    lines = ("kind=job_start", f"job={job_of(number, jobs)}", "restart=0", f"uid={uid}", f"gid={os.getgid()}", "")
    word = own / "spool" / f"{this_boot()}.1.00.1"
    word.touch(0o600)
    word.write_text("\n".join(lines))
    segment = Segment.make(segment_path(job_of(number, jobs), 0, uid, own))
    announce(segment, int(VOLUME))
    segment.close()


def run_agent(folder: Path, number: int, address: str) -> None:
    """Be one agent until somebody ends it."""
    own = folder_of(folder, number)
    # Two hundred agents on one host would each look at the processes of all: a node has one.
    config = NodeConfig(f"n{number}", parse_address(address), folder=own, off_file=own / "off", compares=False)
    logging.disable(logging.CRITICAL)
    node = Node(config, Roster(Spool(str(own / "spool")), own / "node.json"))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    node.run()


def main(folder: str, address: str, first: str, count: str, jobs: str, uid: str) -> None:
    """Fork them all, say so, and wait for the end of standard input."""
    numbers = range(int(first), int(first) + int(count))
    for number in numbers:
        prepare(Path(folder), number, int(jobs), int(uid))
    gc.freeze()
    os.nice(GIVES_WAY)
    children = []
    for number in numbers:
        if (child := os.fork()) == 0:
            try:
                run_agent(Path(folder), number, address)
            finally:
                os._exit(1)
        children.append(child)
    print("ready", *children, flush=True)
    sys.stdin.read()
    for child in children:
        os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
