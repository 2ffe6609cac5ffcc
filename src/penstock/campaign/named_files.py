"""Files that a campaign names: found beside it, given to workers by their full path, and hashed by what is in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from penstock.campaign.canonical import file_digest

WITH = "with"  # the folder of an archive that they are in
_POLICY = re.compile(r"(.+?\.py)((?::\w+)?(?:\(.*\))?)")  # file.py:function(parameter=value)


def full_path(text: str, folder: Path) -> str:
    """The same text with the full path, if it names a file beside the campaign or a policy in one."""
    file, rest = _split(text)
    found = folder / file
    return f"{found.resolve()}{rest}" if _is_file(found) else text


def short_name(text: str, folder: Path) -> str:
    """A policy's file as seen from the campaign's folder, or by its name alone: a plan is called alike everywhere.

    >>> short_name("./own/mine.py:f(k=2)", Path("/campaign")), short_name("/home/ada/mine.py", Path("/campaign"))
    ('own/mine.py:f(k=2)', 'mine.py')
    """
    file, rest = _split(text)
    if not file.endswith(".py"):
        return text
    seen = os.path.relpath(folder / file, folder)
    return f"{Path(file).name if seen.startswith('..') else Path(seen).as_posix()}{rest}"


def named_files(plans: Iterable[str]) -> list[str]:
    """The files that plans name, as they do.

    >>> named_files(["fcfs", "my.py:f(k=2)", "pack(mapping=sub/my.py:f)"])
    ['my.py', 'sub/my.py']
    """
    words = (word.partition(":")[0] for plan in plans for word in re.split(r"[=, ()]", plan))
    return sorted({word for word in words if word.endswith(".py")})


def hashed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values, a file by its content: a run is another if the file is, wherever it lies."""
    return {name: _content(value) if isinstance(value, str) else value for name, value in values.items()}


def _content(text: str) -> str:
    file, rest = _split(text)
    path = Path(file)
    return f"{file_digest(path)}{rest}" if path.is_absolute() and _is_file(path) else text


def _split(text: str) -> tuple[str, str]:
    match = _POLICY.fullmatch(text)
    return (match[1], match[2]) if match else (text, "")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False
