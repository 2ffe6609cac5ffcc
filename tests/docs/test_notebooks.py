"""The gallery: every notebook is run again and shows what its page shows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scripts.notebooks import PAGES, PICTURES, SCRIPTS, cells, notebook, page, run

NAMES = sorted(script.stem for script in SCRIPTS.glob("*.py"))
ROOT = Path(__file__).resolve().parents[2]


def without_pictures(document: dict[str, Any]) -> dict[str, Any]:
    """A notebook but for the bytes of its pictures, which another version of Matplotlib draws a little otherwise."""
    for cell in document["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = "drawn"
    return document


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_its_page_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setenv("PENSTOCK_QUIET", "1")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = run((SCRIPTS / f"{name}.py").read_text(), tmp_path)
    kept = json.loads((PAGES / f"{name}.ipynb").read_text())
    anew = "`python -m scripts.notebooks` writes it anew"
    assert without_pictures(notebook(done)) == without_pictures(kept), anew
    text, pictures = page(name, done)
    assert text == (PAGES / f"{name}.md").read_text(), anew
    assert all((PICTURES / picture).is_file() for picture in pictures)
    assert any(cell.shown for cell in done)


def test_there_are_three() -> None:
    assert NAMES == ["campaign", "own_policy", "policies"]
    assert {page.stem for page in PAGES.glob("*.ipynb")} == set(NAMES)


def test_cells_are_told_apart() -> None:
    words, code = cells("# %% [markdown]\n# # Title\n#\n# text\n\n# %%\nx = 1\n\n# a comment\nx\n")
    assert (words.words, words.source) == (True, "# Title\n\ntext")
    assert (code.words, code.source) == (False, "x = 1\n\n# a comment\nx")


def test_a_notebook_that_shows_something_else_is_noticed(tmp_path: Path) -> None:
    one, other = (run(f"# %%\nprint({number})\n{number}\n", tmp_path) for number in (1, 2))
    assert notebook(one) != notebook(other)
    assert one[0].printed == "1\n" and one[0].shown == {"text/plain": "1"}
