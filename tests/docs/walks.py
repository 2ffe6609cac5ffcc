"""Following a call through the package: which files it enters, in the order of their first functions."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import penstock

PACKAGE = str(Path(penstock.__file__).parent)


@contextmanager
def followed() -> Iterator[list[str]]:
    """The files of the package that are entered inside, those of new threads included."""
    entered: list[str] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PACKAGE) and frame.f_code.co_name != "<module>":
            short = name[len(PACKAGE) + 1 :]
            if short not in entered:
                entered.append(short)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def told(page: str, heading: str, until: str) -> list[str]:
    """The files that a part of a page names, once each; what is compiled is never seen to be entered."""
    part = page.split(heading, 1)[1].split(until, 1)[0]
    names = [match[1] for match in re.finditer(r"`([a-z_]+/[\w/]+\.py)`(?! \(compiled\))", part)]
    return list(dict.fromkeys(names))


def out_of_order(expected: list[str], entered: list[str]) -> str | None:
    """The first file that was not entered, or not after the one before it; None if all is as told."""
    place = -1
    for name in expected:
        if name not in entered:
            return f"{name} was not entered"
        if entered.index(name) < place:
            return f"{name} was entered before the one that stands before it on the page"
        place = entered.index(name)
    return None


def rooms(files: list[str]) -> list[str]:
    """The rooms in the order of their first file."""
    return list(dict.fromkeys(name.split("/")[0] for name in files))
