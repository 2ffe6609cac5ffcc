"""The script that fills an environment: uv if it can be had, else pip; hashes are checked either way."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "python-packages.sh"
PYTHON = """#!/bin/sh
echo "$@" >>"$(dirname "$0")/calls"
case "$*" in
{cases}
esac
"""


def fill(folder: Path, *fails: str) -> tuple[int, list[str]]:
    """Run the script on an environment whose Python fails where its arguments match; what it was asked."""
    binaries = folder / "venv with a space" / "bin"
    binaries.mkdir(parents=True)
    python = binaries / "python"
    python.write_text(PYTHON.format(cases="\n".join(f"{pattern}) exit 1 ;;" for pattern in fails)))
    python.chmod(0o755)
    done = subprocess.run([SCRIPT, binaries.parent, folder / "locked.txt"], check=False, capture_output=True, text=True)
    return done.returncode, (binaries / "calls").read_text().splitlines()


def installs(calls: list[str], tool: str) -> list[str]:
    return [call for call in calls if call.startswith(f"-m {tool}") and " install " in call and "uv.txt" not in call]


def test_uv_installs_what_is_locked_and_then_the_checkout(tmp_path: Path) -> None:
    code, calls = fill(tmp_path)
    packages, checkout = installs(calls, "uv")
    assert code == 0
    assert packages.endswith(f"--require-hashes -r {tmp_path / 'locked.txt'}")
    assert checkout.endswith(f"--no-deps --no-build-isolation --editable {SCRIPT.parents[1]}")
    assert not installs(calls, "pip")


@pytest.mark.parametrize("fails", [("*uv.txt*", "*uv*--version*"), ("*uv*pip*",)])
def test_pip_does_it_where_uv_cannot_be_had_or_reaches_no_index(tmp_path: Path, fails: tuple[str, ...]) -> None:
    code, calls = fill(tmp_path, *fails)
    assert code == 0
    assert [("--require-hashes" in call) for call in installs(calls, "pip")] == [True, False]


def test_what_nobody_can_install_is_an_error(tmp_path: Path) -> None:
    code, calls = fill(tmp_path, "*install*")
    assert code != 0
    assert "--editable" not in calls[-1]
