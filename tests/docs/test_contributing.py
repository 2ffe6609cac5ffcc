"""What CONTRIBUTING.md says of the checkout is so: files that it names are there, and its examples run."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from penstock import compare, load
from penstock.cli.parts import import_options
from penstock.policies import allocation, buffering, mapping, placement

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
PLACES = re.compile(r"\b(?:src|tests|docs|scripts|examples)/[\w./-]*\w")
OURS = re.compile(r"(?<![\w/])(?:cli|report|traces)/[\w/]+\.py")
EXAMPLES = re.compile("smallest|longest|lsf")  # what the page adds
# Where users read of the policies of a room: what they do, and the option that takes their names.
WORDS = {
    allocation: ("reference/targets.md", "reference/commands/placing.md"),
    placement: ("reference/targets.md", "reference/commands/placing.md"),
    mapping: ("guide/packs.md", "reference/commands/placing.md"),
    buffering: ("reference/buffers.md", "reference/commands/buffers.md"),
}


def test_every_file_that_is_named_is_there() -> None:
    named = {*PLACES.findall(TEXT), *(f"src/penstock/{path}" for path in OURS.findall(TEXT))}
    assert len(named) > 50
    assert [path for path in sorted(named) if not EXAMPLES.search(path) and not (ROOT / path).exists()] == []


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Any]:
    """The module in the block that has a word."""

    def loaded(word: str) -> Any:
        file = tmp_path / f"{word}.py"
        file.write_text(next(text for text in BLOCKS if word in text), encoding="utf-8")
        spec = spec_from_file_location(word, file)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return loaded


def test_the_policy_shares(example: Callable[[str], Any]) -> None:
    policy = example("smallest_first").smallest_first
    assert policy.name == "smallest-first" and policy.compiled
    [run] = compare(load(ROOT / "examples" / "four-jobs.yaml"), [policy])
    assert 0.0 < run.min_yield < 1.0


def test_the_command_answers(example: Callable[[str], Any], capsys: pytest.CaptureFixture[str]) -> None:
    example("longest").longest(ROOT / "examples" / "turn-taking.yaml")
    assert re.fullmatch(r"weather would take [\d.]+ s alone\.\n", capsys.readouterr().out)


def test_the_job_of_an_importer_is_one(example: Callable[[str], Any]) -> None:
    job = example("IoPieces").job
    assert (job.read, job.written, job.quality) == (60e9, 90e9, "A")


def test_the_options_of_an_importer_are_there() -> None:
    command = next(text for text in BLOCKS if "def lsf(" in text)
    compile(command, "lsf.py", "exec", dont_inherit=True)
    assert all(hasattr(import_options, name) for name in re.findall(r"\bof\.(\w+)", command))


@pytest.mark.parametrize("room", WORDS, ids=lambda room: room.__name__.rpartition(".")[2])
def test_users_read_of_every_policy(room: Any) -> None:
    for page in WORDS[room]:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [name for name in room.NAMES if not re.search(rf"[`*]{name}\b", text)] == [], page
