"""The gallery of notebooks: scripts in `examples/notebooks`, run, and kept with what they showed.

`python -m scripts.notebooks` runs every script cell by cell and writes it as a notebook that Jupyter opens and as a
page of the site (`docs/notebooks`). A cell begins with `# %%`, one of words with `# %% [markdown]`, as in Jupytext.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS, PAGES, PICTURES = ROOT / "examples" / "notebooks", ROOT / "docs" / "notebooks", ROOT / "docs" / "pictures"
_CELL = re.compile(r"^# %%(?: \[(markdown)\])?\n", re.MULTILINE)


class Cell(NamedTuple):
    """Words, or code with what it showed: printed text, and the last value by kind of content."""

    words: bool
    source: str
    printed: str = ""
    shown: dict[str, str] = {}  # noqa: RUF012 - never changed


def cells(script: str) -> Iterator[Cell]:
    """The cells of a script, none of them run."""
    _, *parts = _CELL.split(script)
    for kind, text in zip(parts[::2], parts[1::2], strict=True):
        words = kind == "markdown"
        yield Cell(words, re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE) if words else text.strip())


def run(script: str, folder: Path) -> list[Cell]:
    """Every cell, the code run in its order where `folder` is the current one."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        return [cell if cell.words else _ran(cell, names) for cell in cells(script)]


def _ran(cell: Cell, names: dict[str, Any]) -> Cell:
    body = ast.parse(cell.source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        value = (
            eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if isinstance(last, ast.Expr) else None
        )
    return cell._replace(printed=printed.getvalue(), shown=_shown(value))


def _shown(value: Any) -> dict[str, str]:
    """A value as notebooks show it: its text, and what is richer."""
    if value is None:
        return {}
    if hasattr(value, "savefig"):
        from penstock.report.plots import figure_bytes  # noqa: PLC0415 - only for those that draw

        return {"text/plain": "<Figure>", "image/png": base64.b64encode(figure_bytes(value, "png")).decode()}
    rich = {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {}
    return {"text/plain": repr(value), **rich}


def notebook(done: list[Cell]) -> dict[str, Any]:
    """The document that Jupyter opens (nbformat 4.5)."""
    number = 0
    found: list[dict[str, Any]] = []
    for place, cell in enumerate(done):
        source = cell.source.splitlines(keepends=True)
        if cell.words:
            found.append({"cell_type": "markdown", "id": f"cell-{place}", "metadata": {}, "source": source})
            continue
        number += 1
        outputs: list[dict[str, Any]] = []
        if cell.printed:
            outputs.append({"output_type": "stream", "name": "stdout", "text": cell.printed.splitlines(keepends=True)})
        if cell.shown:
            data = {
                kind: text if kind == "image/png" else text.splitlines(keepends=True)
                for kind, text in cell.shown.items()
            }
            outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
        about = {"cell_type": "code", "id": f"cell-{place}", "execution_count": number, "metadata": {}}
        found.append({**about, "outputs": outputs, "source": source})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": found, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def page(name: str, done: list[Cell]) -> tuple[str, dict[str, bytes]]:
    """The page of the site, and its pictures by name."""
    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in done:
        if cell.words:
            lines.append(cell.source)
            continue
        lines.append(f"```py\n{cell.source}\n```")
        if cell.printed:
            lines.append(f"```text\n{cell.printed.rstrip()}\n```")
        if "image/png" in cell.shown:
            picture = f"notebook-{name.replace('_', '-')}-{len(pictures) + 1}.png"
            pictures[picture] = base64.b64decode(cell.shown["image/png"])
            lines.append(f"![What the cell above draws](../pictures/{picture})")
        elif "text/html" in cell.shown:
            lines.append(f'<div class="notebook-output">{" ".join(cell.shown["text/html"].split())}</div>')
        elif cell.shown:
            lines.append(f"```text\n{cell.shown['text/plain']}\n```")
    lines.insert(
        1,
        f"*This notebook was run to make the page: [{name}.ipynb]({name}.ipynb), from `examples/notebooks/{name}.py`.*",
    )
    return "\n\n".join(lines) + "\n", pictures


def main() -> None:
    """Run all scripts, and write what they showed."""
    PAGES.mkdir(exist_ok=True)
    for script in sorted(SCRIPTS.glob("*.py")):
        done = run(script.read_text(encoding="utf-8"), ROOT)
        text, pictures = page(script.stem, done)
        (PAGES / f"{script.stem}.md").write_text(text, encoding="utf-8")
        (PAGES / f"{script.stem}.ipynb").write_text(json.dumps(notebook(done), indent=1, ensure_ascii=False) + "\n")
        for name, data in pictures.items():
            (PICTURES / name).write_bytes(data)
        print(script.stem, f"{len(done)} cells", *pictures)


if __name__ == "__main__":
    os.environ["PENSTOCK_QUIET"] = "1"
    main()
