"""The controller's task prolog for Slurm: whether the library it names can be preloaded, by all and on its machine."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

NAME = "libpenstock.so"
MACHINE = "%m"  # in a path: what `uname -m` says on the node
PLACE = f"lib/{MACHINE}/{NAME}"  # below the folder of `penstock slurm files`
_ASKED = '"$(uname -m)"'
_MACHINES = {"x86_64": 62, "aarch64": 183}  # as ELF numbers them
_NOT_PACED = "programs that do not ask are not paced"


def in_shell(path: str) -> str:
    """A path as a word of sh that asks for the machine."""
    return _ASKED.join(shlex.quote(part) if part else "" for part in path.split(MACHINE))


def named_in(task_prolog: str) -> str:
    """The path that a task prolog of ours has, with %m; empty: none."""
    line = re.search(r"(?m)^library=(.*)$", task_prolog)
    return "".join(shlex.split(line[1].replace(_ASKED, MACHINE))) if line is not None else ""


def problems(path: str, folder: Path | None = None) -> Iterator[tuple[Path, str, bool]]:
    """What is wrong with the libraries at a path, and whether programs would complain of it.

    Before it is installed the library is looked for in the folder it was made in.
    """
    if folder is not None and not _there(path):
        path = str(folder / (PLACE if MACHINE in path else NAME))
    found = _there(path)
    here = os.uname().machine
    if not found:
        yield Path(path), f"is not there: {_NOT_PACED}", False
    elif MACHINE in path and here in _MACHINES and here not in found:
        yield found_at(path, here), f"is not there: {_NOT_PACED} on nodes like this one", False
    for machine, library in found.items():
        yield from _of(library, machine)


def found_at(path: str, machine: str) -> Path:
    """A library for a machine."""
    return Path(path.replace(MACHINE, machine))


def _there(path: str) -> dict[str, Path]:
    """By machine; one for all has no machine's name."""
    names = _MACHINES if MACHINE in path else ("",)
    return {machine: place for machine in names if (place := found_at(path, machine)).exists()}


def _of(library: Path, machine: str) -> Iterator[tuple[Path, str, bool]]:
    try:
        with library.open("rb") as file:
            head, mode = file.read(20), os.fstat(file.fileno()).st_mode
    except OSError as error:
        yield library, f"cannot be read ({(error.strerror or str(error)).lower()}): {_NOT_PACED}", False
        return
    if mode & 0o444 != 0o444:
        yield library, f"cannot be read by all users: {_NOT_PACED}; chmod 644 mends it", False
    if mode & 0o022:
        yield library, "can be changed by others than its owner, and is in every program; chmod go-w mends it", True
    number = int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" and len(head) == 20 else 0
    if number not in _MACHINES.values():
        known = " or ".join(_MACHINES)
        yield library, f"is no library for {known}: every program of a job would complain", True
    elif machine and number != _MACHINES[machine]:
        yield library, f"is not for {machine}: every program of a job would complain", True
