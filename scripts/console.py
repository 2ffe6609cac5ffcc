"""Write what commands print today into the console blocks of pages: `python -m scripts.console PAGE …`.

Files that a page tells to save are saved first, and `examples` is at hand. A block that ends in … keeps as many lines
as it had before that; commands that show nothing go on showing nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_WIDTH = 80
# Prints as a terminal of that width would show it, without colours.
_RUN = f"""\
import sys
from rich import console
real = console.Console
console.Console = lambda **given: real(**(given | {{"width": {_WIDTH}, "color_system": None}}))
from penstock.cli import main
sys.argv[0] = "penstock"
main()
"""


def refreshed(text: str, folder: Path) -> str:
    """The page with what its commands print in that folder."""
    for _, title, code in BLOCK.findall(text):
        if title:
            (folder / title).parent.mkdir(parents=True, exist_ok=True)
            (folder / title).write_text(code)
    return BLOCK.sub(lambda block: _block(block, folder) if block[1] == "console" else block[0], text)


def _block(block: re.Match[str], folder: Path) -> str:
    first, *parts = re.split(r"^\$ ", block[3], flags=re.MULTILINE)
    return f"```console\n{first}{''.join(f'$ {_part(part, folder)}' for part in parts)}```"


def _part(part: str, folder: Path) -> str:
    command, _, shown = part.partition("\n")
    lines = _printed(command.replace("make demo", "penstock demo"), folder)
    if not shown.strip() or lines is None:
        return part
    if shown.rstrip().endswith("…"):
        lines = [*lines[: len(shown.splitlines()) - 1], "…"]
    return "\n".join([command, *lines, ""])


def _printed(command: str, folder: Path) -> list[str] | None:
    if not command.startswith("penstock "):
        return None
    environment = os.environ | {"PENSTOCK_QUIET": "1"}
    # The words are those of a shell, quotes and all.
    line = f'"{sys.executable}" -c "$CODE" {command.removeprefix("penstock ")}'
    done = subprocess.run(
        line, shell=True, cwd=folder, env=environment | {"CODE": _RUN}, capture_output=True, text=True, check=False
    )
    return [each.rstrip() for each in (done.stdout or done.stderr).rstrip("\n").split("\n")]


def main() -> None:
    """Refresh every page that is named."""
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(ROOT / "examples", Path(place) / "examples")
            page = Path(name)
            page.write_text(refreshed(page.read_text(), Path(place)))


if __name__ == "__main__":
    main()
