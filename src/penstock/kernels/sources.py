"""Which source files compiled code is made of: its module, all that this imports from the package, and so on.

A kernel is made of functions and constants of these files only, so compiled code is good for as long as none of them
changes; a change elsewhere in the package costs no compilation.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

# As our code writes imports: names in one line, or in parentheses over several.
_IMPORT = re.compile(
    rb"^\s*from (penstock[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))|^\s*import (penstock[\w.]*)", re.MULTILINE
)


def state_of(path: Path) -> str:
    """Changes with the text of any file that the module in `path` is made of."""
    digest = hashlib.blake2b(digest_size=8)
    for each in sorted(_closure(path)):
        digest.update(f"{each.relative_to(PACKAGE)} ".encode() + _text(each))
    return digest.hexdigest()


def _closure(path: Path) -> set[Path]:
    found, ahead = {path}, [path]
    while ahead:
        new = _imported(ahead.pop()) - found
        found |= new
        ahead += new
    return found


@cache
def _text(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _imported(path: Path) -> frozenset[Path]:
    """The files of this package that a module names in its imports."""
    modules = set()
    for package, several, few, whole in _IMPORT.findall(_text(path)):
        named = (several or few).decode().replace("\n", " ").split(",")
        modules.add((package or whole).decode())
        modules |= {f"{package.decode()}.{name.split()[0]}" for name in named if name.strip()}
    return frozenset(file for module in modules if (file := _file(module)))


def _file(module: str) -> Path | None:
    place = PACKAGE.joinpath(*module.split(".")[1:])
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((each for each in candidates if each != PACKAGE / "__init__.py" and each.is_file()), None)
