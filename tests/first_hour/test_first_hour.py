"""Three people's first hours, played: what each of them types, what penstock answers, and the time that it takes."""

from __future__ import annotations

import ast
import io
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from first_hour.transcript import BLOCK, Printed, Step, files, plain, play, steps
from penstock.cli import main
from penstock.errors import PenstockError
from penstock.kernels.cold import is_cold

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COLD, COMPILING = is_cold("engine.link.loop"), 60.0  # whether kernels must be made first, and the seconds it takes


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Step], Printed]:
    """Someone's folder, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_QUIET", "1")

    def run(step: Step) -> Printed:
        monkeypatch.setattr(sys, "argv", ["penstock", *step.words])
        monkeypatch.setattr(sys, "stdin", io.StringIO(Path(step.piped).read_text() if step.piped else ""))
        with pytest.raises(SystemExit) as left:
            main()
        code: Any = left.value.code
        out, err = capsys.readouterr()
        return Printed(code or 0, err + out if code else out + err)

    return run


def played(page: str, run: Callable[[Step], Printed]) -> list[str]:
    """What went otherwise than told; files that the page tells to save are there from the start."""
    for name, text in files(page).items():
        Path(name).write_text(text)
    return play(page, run)


@contextmanager
def taking_as_long_as_told(page: str) -> Iterator[None]:
    """What is done inside takes the time that the page states, generously, for machines differ."""
    told = re.search(r"takes about ([\d.]+) s of processor time", page)
    assert told, "the page states no time"
    begun = time.process_time()
    yield
    took = time.process_time() - begun
    print(f"{took:.1f} s of processor time")
    assert took <= 4 * float(told[1]) + COMPILING * COLD


def test_a_researcher(terminal: Callable[[Step], Printed]) -> None:
    page = (HERE / "researcher.md").read_text()
    with taking_as_long_as_told(page):
        assert played(page, terminal) == []
    assert Path("penstock-demo.html").stat().st_size < 1_000_000


def test_an_administrator(terminal: Callable[[Step], Printed]) -> None:
    page = (HERE / "administrator.md").read_text()
    first, rest = page.split("```yaml", 1)
    with taking_as_long_as_told(page):
        assert played(first, terminal) == []
        assert played(f"```yaml{rest}", terminal) == []
    assert Path("run.svg").exists()


def test_the_first_run_of_the_guide(terminal: Callable[[Step], Printed]) -> None:
    anew = "`python -m scripts.console docs/guide/first-run.md` writes anew what it shows"
    assert played((ROOT / "docs/guide/first-run.md").read_text(), terminal) == [], anew


def test_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    page = (HERE / "notebook.md").read_text()
    cells = [(kind, text) for kind, _, text in BLOCK.findall(page)]
    names: dict[str, Any] = {}
    with taking_as_long_as_told(page):
        for (kind, code), (_, shown) in zip(cells[::2], cells[1::2], strict=True):
            assert kind == "python"
            assert plain(answer(code, names)) == plain(shown)


def answer(code: str, names: dict[str, Any]) -> str:
    """What a notebook shows below a cell: its last expression, or its error."""
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    try:
        exec(compile(ast.Module(before, []), "<cell>", "exec"), names)
        return repr(eval(compile(ast.Expression(last.value), "<cell>", "eval"), names))
    except PenstockError as error:
        return f"{type(error).__name__}: {error}"


def test_a_transcript_that_tells_lies_is_noticed() -> None:
    page = "```console\n$ penstock policies\nfirst … last\n$ penstock nothing\npenstock: no\n```\n"
    assert [step.words for step in steps(page)] == [["policies"], ["nothing"]]
    assert play(page, lambda step: Printed(2 if step.refused else 0, "penstock: no first and last")) == []
    assert len(play(page, lambda step: Printed(0, "last, then first"))) == 2
