"""Compiled code is kept for as long as nothing changes that it is made of, and no longer."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.kernels import sources


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package in which a loop calls a helper, which uses a constant; and a module that neither of them knows."""
    for room in ("engine", "rules", "report"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "engine" / "loop.py").write_text(
        "import numpy\nfrom penstock.rules import (\n    helper,\n    other as o,\n)\n"
    )
    (tmp_path / "rules" / "helper.py").write_text("def f():\n    from penstock.constants import SAME\n")
    (tmp_path / "rules" / "other.py").write_text("import penstock.engine.loop\n")
    (tmp_path / "constants.py").write_text("SAME = 1e-9\n")
    (tmp_path / "report" / "table.py").write_text("from penstock.engine.loop import run\n")
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """As in a new process."""
    sources._text.cache_clear()
    sources._imported.cache_clear()


def state(package: Path) -> str:
    forget()
    return sources.state_of(package / "engine" / "loop.py")


@pytest.mark.parametrize(
    "part", ["engine/loop.py", "rules/helper.py", "rules/other.py", "rules/__init__.py", "constants.py"]
)
def test_a_change_of_what_a_kernel_is_made_of_is_seen(package: Path, part: str) -> None:
    before = state(package)
    with (package / part).open("a") as file:
        file.write("# changed\n")
    assert state(package) != before


def test_what_it_does_not_know_makes_no_difference(package: Path) -> None:
    before = state(package)
    (package / "report" / "table.py").write_text("changed = True\n")
    (package / "report" / "new.py").write_text("")
    os.utime(package / "engine" / "loop.py", (1, 1))  # a checkout touches files that stay what they are
    assert state(package) == before


def test_where_the_package_lies_makes_no_difference(
    package: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(package)
    moved = tmp_path_factory.mktemp("elsewhere") / "penstock"
    shutil.copytree(package, moved)
    monkeypatch.setattr(sources, "PACKAGE", moved)
    assert state(moved) == before


def test_a_new_module_under_an_imported_name_is_seen(package: Path) -> None:
    before = state(package)
    (package / "constants").mkdir()
    (package / "constants" / "SAME.py").write_text("")
    assert state(package) != before


def test_every_import_of_the_package_is_understood() -> None:
    """Python itself is the witness: what importing the engine loads of ours is in the closure of its parts."""
    from penstock.engine.tier import loop  # noqa: PLC0415
    from penstock.kernels.compile import plain  # noqa: PLC0415

    closure = sources._closure(Path(loop.__file__))
    for value in vars(loop).values():
        function = plain(value) if hasattr(value, "py_func") else value
        code = getattr(function, "__code__", None)
        if code is not None and sources.PACKAGE in Path(code.co_filename).parents:
            assert Path(code.co_filename) in closure
