"""Where the client's preloaded library is: in the wheel, or for a checkout in the user's cache, compiled there once."""

from __future__ import annotations

import mmap
import os
import stat
import zlib
from collections.abc import Mapping
from pathlib import Path

_SOURCE = Path(__file__).resolve().parent
SHIPPED = _SOURCE / "lib"
MACHINES = ("x86_64", "aarch64")
_NAME = "libpenstock.so"
_NO_PLACE = (" ", ":", "\t", "\n")  # the loader takes these for the end of a name


class NoLibrary(Exception):
    """Why programs cannot be paced that do not ask; one sentence."""


def library(compile_it: bool = True) -> Path:
    """The library for this machine; compiled first if that is needed and wanted."""
    machine = os.uname().machine
    if machine not in MACHINES:
        raise NoLibrary(f"there is no library for {machine}, only for {' and '.join(MACHINES)}")
    shipped = SHIPPED / machine / _NAME
    if not shipped.exists():
        return _usable(_compiled(machine, compile_it))
    return _usable(shipped)


def libraries() -> dict[str, Path]:
    """By machine, all that there are: those of the wheel, or the one for this machine."""
    shipped = {machine: path for machine in MACHINES if (path := SHIPPED / machine / _NAME).exists()}
    return shipped or {os.uname().machine: library()}


def preloaded(path: Path, env: Mapping[str, str]) -> str:
    """LD_PRELOAD with the library behind what the user has there: the order of others is theirs to choose.

    A copy at another place, as of the batch system's hooks, goes: two of them would pay twice.
    """
    before = env.get("LD_PRELOAD", "").replace(":", " ").split()
    return ":".join([*(name for name in before if Path(name).name != path.name), str(path)])


def _usable(path: Path) -> Path:
    if any(letter in str(path) for letter in _NO_PLACE):
        raise NoLibrary(f"{path} cannot be preloaded: its name has a blank or a colon")
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC):
            return path
    except (
        OSError,
        ValueError,
    ) as error:  # nothing may be executed there: every program would complain
        raise NoLibrary(f"{path} cannot be loaded ({error})") from None


def _compiled(machine: str, compile_it: bool) -> Path:
    folder = _cache()
    path = folder / f"{machine}-{fingerprint()}" / _NAME
    if path.exists():
        return path
    if not compile_it:
        raise NoLibrary(f"the library is not compiled yet ({path})")
    from penstock.client.shim import compiling  # noqa: PLC0415 - jobs wait for what is loaded at once

    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        compiling.compile_library(machine, path)
    except (compiling.CannotCompile, OSError) as error:
        raise NoLibrary(str(error)) from None
    return path


def fingerprint() -> str:
    """Of all that the library is made of: the next version of penstock compiles its own."""
    made_of = sorted(path for path in _SOURCE.iterdir() if path.suffix in (".c", ".h") or path.name == "compiling.py")
    return f"{zlib.crc32(b''.join(path.read_bytes() for path in made_of)):08x}"


def _cache() -> Path:
    """A folder that nobody else can write to: what is in it is run."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"
        folder = base / "shim"
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        theirs = [place for place in (base, folder) if not _is_ours(place)]
    except (OSError, RuntimeError) as error:
        raise NoLibrary(f"there is no place to compile the library in ({error})") from None
    if theirs:
        raise NoLibrary(f"{theirs[0]} is not used: it is no folder that only we can write to")
    return folder


def _is_ours(folder: Path) -> bool:
    found = folder.stat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022
