"""The environment is made with a Python that can, whichever is first on the PATH."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make-venv.sh"
# Answers what the script asks: whether it is new enough, its version, and to make an environment.
PYTHON = """#!/bin/sh
case "$*" in
    *venv*) {make} ;;
    *print*) echo python3.11 ;;
    *) exit {old} ;;
esac
"""
MAKES, CANNOT = 'for last; do :; done; mkdir -p "$last"; echo "$0" > "$last/by"', "exit 1"
NO_APT = '#!/bin/sh\necho "not here" >&2; exit 1\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "some bin"
    folder.mkdir()
    for name in ("apt-get", "sudo", "python3.11", "python3", "python3.12", "python3.13"):
        put(folder / name, NO_APT)
    return folder


def put(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def made(path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    where = {"PATH": f"{path}:{os.defpath}", **env}
    return subprocess.run(
        ["bash", SCRIPT, path.parent / "venv"], env=where, capture_output=True, text=True, check=False
    )


def by(path: Path) -> str:
    return Path((path.parent / "venv" / "by").read_text().strip()).name


def test_one_that_is_too_old_or_cannot_is_passed_over(path: Path) -> None:
    put(path / "python3.11", PYTHON.format(make=CANNOT, old=0))
    put(path / "python3", PYTHON.format(make=MAKES, old=1))
    put(path / "python3.12", PYTHON.format(make=MAKES, old=0))
    assert made(path).returncode == 0
    assert by(path) == "python3.12"


def test_the_one_that_is_asked_for(path: Path) -> None:
    for name in ("python3.11", "python3.12"):
        put(path / name, PYTHON.format(make=MAKES, old=0))
    assert made(path, PYTHON=str(path / "python3.12")).returncode == 0
    assert by(path) == "python3.12"


@pytest.mark.parametrize(
    ("old", "env", "words"),
    [
        (1, {}, "no Python of version 3.11 or newer was found"),
        (0, {}, "python3.11 cannot make a virtual environment; install the missing part with: apt-get install"),
        (1, {"PYTHON": "python3.11"}, "PYTHON=python3.11 is not a Python of version 3.11 or newer"),
    ],
)
def test_what_is_missing_is_said_and_nothing_is_left(path: Path, old: int, env: dict[str, str], words: str) -> None:
    put(path / "python3.11", PYTHON.format(make=CANNOT, old=old))
    done = made(path, **env)
    assert done.returncode == 1
    assert words in done.stderr
    assert not (path.parent / "venv").exists()
