"""What a user, a site or a CI may have set does not reach the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from machine import odd, open_to_all

SITE = {
    "PENSTOCK_ADDRESS": "unix:/run/penstock.sock",
    "PENSTOCK": "off",
    "FORCE_COLOR": "1",
    "COLUMNS": "40",
    "HTTPS_PROXY": "http://proxy:3128",
    "https_proxy": "http://proxy:3128",
    "PYTHONOPTIMIZE": "1",
    "PYTHONWARNINGS": "error",
    "LC_ALL": "C",
    "SLURM_CONF": "/etc/slurm/slurm.conf",
}
SHOW = "from machine import make_plain; make_plain(); import os, tempfile; print(tempfile.gettempdir(), *os.environ)"


def test_nothing_odd_is_left() -> None:
    assert odd(os.environ) == ["LANG"]
    assert len(os.fsencode(tempfile.gettempdir())) <= 50


@pytest.mark.parametrize("name", ["PATH", "HOME", "PYTHONPATH", "HYPOTHESIS_PROFILE", "TERM", "USER"])
def test_what_programs_need_stays(name: str) -> None:
    assert odd([name]) == []


def test_a_process_that_begins_on_an_odd_machine_goes_on_on_a_plain_one(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parent), "TMPDIR": str(deep), **SITE}
    folder, *names = subprocess.run(
        [sys.executable, "-c", SHOW], env=env, capture_output=True, text=True, check=True
    ).stdout.split()
    assert folder == ("/tmp" if os.access("/tmp", os.W_OK) else str(deep))
    assert sorted(names) == ["LANG", "PATH", "PYTHONPATH", "TMPDIR"]


def test_only_folders_of_pytest_are_opened_to_other_users(tmp_path: Path) -> None:
    """The folder for all temporary files has a mode of its own, on which everybody relies."""
    inner = tmp_path / "pytest-of-me" / "pytest-0" / "a0"
    inner.mkdir(parents=True)
    outside = next(each for each in tmp_path.parents if "pytest-of-" not in str(each))
    before = outside.stat().st_mode
    open_to_all(inner)
    assert inner.stat().st_mode & 0o777 == 0o755
    assert outside.stat().st_mode == before
