"""libdarshan-util, as the `darshan` wheel ships it, called through ctypes.

The wheel's Python is not imported: it loads pandas for a third of a second, and we need ten C functions. The library
complains on the error stream in words of its own; `quiet` holds these back, for the caller says why a log is refused.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from penstock.errors import InvalidOption

_NEEDED = "reading Darshan logs needs the library of the darshan wheel; install penstock[traces]"


class JobRecord(ctypes.Structure):
    """`struct darshan_job`."""

    _fields_ = (
        ("uid", ctypes.c_int64),
        ("start_sec", ctypes.c_int64),
        ("start_nsec", ctypes.c_int64),
        ("end_sec", ctypes.c_int64),
        ("end_nsec", ctypes.c_int64),
        ("nprocs", ctypes.c_int64),
        ("jobid", ctypes.c_int64),
        ("metadata", ctypes.c_char * 1024),
    )


class ModuleRecord(ctypes.Structure):
    """`struct darshan_mod_info`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("len", ctypes.c_int),
        ("ver", ctypes.c_int),
        ("idx", ctypes.c_int),
        ("partial_flag", ctypes.c_int),
    )


_HANDLE, _ADDRESS = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "darshan_log_open": (_HANDLE, [ctypes.c_char_p]),
    "darshan_log_close": (None, [_HANDLE]),
    "darshan_log_get_job": (ctypes.c_int, [_HANDLE, ctypes.POINTER(JobRecord)]),
    "darshan_log_get_job_runtime": (ctypes.c_int, [_HANDLE, JobRecord, ctypes.POINTER(ctypes.c_double)]),
    "darshan_log_get_exe": (ctypes.c_int, [_HANDLE, ctypes.c_char_p]),
    "darshan_log_get_modules": (None, [_HANDLE, _ADDRESS, ctypes.POINTER(ctypes.c_int)]),
    "darshan_log_get_record": (ctypes.c_int, [_HANDLE, ctypes.c_int, _ADDRESS]),
    "darshan_log_get_mod": (ctypes.c_int, [_HANDLE, ctypes.c_int, _HANDLE, ctypes.c_int]),
    "darshan_free": (None, [_HANDLE]),
}


@cache
def library() -> Any:
    """The library, loaded once; refused with a sentence where it is not installed."""
    path = _place()
    if path is None:
        raise InvalidOption(_NEEDED)
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise InvalidOption(f"{_NEEDED} ({path.name} cannot be loaded: {error})") from None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


@cache
def counter_names(variable: str) -> tuple[str, ...]:
    """The names of a module's counters, which the library keeps in this variable; the last says that the list ends."""
    names: list[str] = []
    listed = (ctypes.c_char_p * 256).in_dll(library(), variable)
    for name in listed:
        if name is None or name.endswith(b"NUM_INDICES"):
            break
        names.append(name.decode())
    return tuple(names)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that C code writes on the error stream is seen."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _place() -> Path | None:
    found = find_spec("darshan")
    folders = found.submodule_search_locations if found else None
    beside = [Path(folder).parent / "darshan.libs" for folder in folders or ()]
    return next((file for folder in beside for file in sorted(folder.glob("libdarshan-util*.so*"))), None)
