"""The page on mappings of one's own, followed to the letter: its file is written, its commands and code are run."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

import penstock
from docs.test_own_policy_page import BLOCK, ROOT, Block
from penstock.policies.mapping import View, find

PAGE = (ROOT / "docs" / "guide" / "own-mapping.md").read_text()
BLOCKS = [Block(*found) for found in BLOCK.findall(PAGE)]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the example of the page and those of the checkout."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in BLOCKS:
        if block.title:
            (tmp_path / block.title).write_text(block.code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_commands_of_the_page(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.cli import main  # noqa: PLC0415

    (shown,) = [block for block in BLOCKS if block.language == "console"]
    outputs = []
    for line in shown.code.splitlines():
        monkeypatch.setattr(sys, "argv", shlex.split(line[2:]))
        with pytest.raises(SystemExit) as left:
            main()
        assert not left.value.code
        outputs.append(capsys.readouterr().out)
    assert "quiet-queue, list-fifo, on 3 I/O nodes of 128 processors" in outputs[0]
    assert json.loads(outputs[1])["mapping"] == "quiet-queue(limit=0.5)"


def test_the_python_of_the_page(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = [block for block in BLOCKS if block.language == "python" and not block.title]
    exec(shown.code, {})
    sys.modules.pop("my_mapping", None)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["backfill", "easy", "quiet-queue"]


def test_the_example_keeps_its_word(desk: Path) -> None:
    night = penstock.load("examples/pack-night.yaml")
    packing = penstock.pack(night, mapping=find("my_mapping.py"))
    starts = [job.start for job in packing.jobs]
    assert starts == sorted(starts), "first come, first served"
    for moment in starts:
        for node in range(packing.io_nodes):
            there = [job for job in packing.jobs if job.io_node == node and job.start <= moment < job.end * (1 - 1e-9)]
            assert len(there) <= 1 or sum(job.io_share for job in there) <= 0.8 * (1 + 1e-9)


def test_the_table_has_all_of_the_view() -> None:
    rows = PAGE.split("| --- | --- | --- |")[1]
    assert all(f"`{name}`" in rows for name in (*View._fields, "waiting", "running"))
