"""Would a newcomer find the room? `python -m scripts.measure.rooms SEED` prints a question sheet, `--answers` its key.

The sheet has the list of folders and the first lines of twenty files, or with `--code` twenty lines of code of forty
characters or more, drawn at random. Give it to somebody who has never seen the code, and nothing else.
"""

from __future__ import annotations

import argparse
import ast
import random
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "penstock"
COUNT = 20
SHORTEST = 40  # characters of a line of code that may be drawn


def main() -> None:
    """Print the sheet or its key."""
    asked = _arguments()
    found = list(_lines_of_code() if asked.code else _first_lines())
    drawn = random.Random(asked.seed).sample(found, COUNT)
    if not asked.answers:
        print("Folders:", *_folders(), "", "In which folder below penstock/ is each of these?", sep="\n")
    for number, (file, line) in enumerate(drawn, 1):
        print(f"{number}. {file if asked.answers else line}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.measure.rooms", description="Would a newcomer find it?")
    parser.add_argument("seed", type=int)
    parser.add_argument("--code", action="store_true", help="lines of code instead of the first lines of files")
    parser.add_argument("--answers", action="store_true", help="the files instead of the lines")
    return parser.parse_args()


def _folders() -> list[str]:
    below = (each for each in PACKAGE.rglob("*/") if each.name != "__pycache__")
    return sorted(f"{each.relative_to(PACKAGE.parent)}/" for each in below)


def _files() -> list[Path]:
    return sorted(file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE)


def _first_lines() -> Iterator[tuple[str, str]]:
    for file in _files():
        said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
        if said and file.name != "__init__.py":
            yield str(file.relative_to(PACKAGE)), said.splitlines()[0]


def _lines_of_code() -> Iterator[tuple[str, str]]:
    for file in _files():
        for line in map(str.strip, file.read_text(encoding="utf-8").splitlines()):
            if len(line) >= SHORTEST and not line.startswith(("import ", "from ")):
                yield str(file.relative_to(PACKAGE)), line


if __name__ == "__main__":
    main()
