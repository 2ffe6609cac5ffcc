"""Forked processes are as new ones: own words, environment, folder and streams, and children of this process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from forked import Forked

TELL = """
import json, os, sys
print(json.dumps([sys.argv[1:], os.environ.get("OWN"), os.getcwd(), os.getppid(), input(), "numba" in sys.modules]))
print("é", file=sys.stderr)
sys.exit(7)
"""
PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | {"text": True}


def told(folder: Path, **changes: str) -> tuple[Any, str, int]:
    command = [sys.executable, "-c", TELL, "a b", ""]
    with Forked(command, cwd=folder, env=os.environ | {"OWN": "1"} | changes, **PIPES) as child:
        out, err = child.communicate("said\n")
    return json.loads(out), err, child.returncode


def test_it_is_a_process_of_its_own_and_has_all_loaded(tmp_path: Path) -> None:
    found = [["a b", ""], "1", str(tmp_path), os.getpid(), "said", True]
    assert told(tmp_path) == (found, "é\n", 7)


def test_what_is_read_while_libraries_load_takes_a_new_interpreter(tmp_path: Path) -> None:
    (*_, loaded), err, code = told(tmp_path, PYTHONIOENCODING="ascii:backslashreplace")
    assert (loaded, err, code) == (False, "\\xe9\n", 7)


def test_it_can_be_stopped_and_a_mistake_is_shown() -> None:
    waiting = Forked([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with waiting:
        waiting.kill()
        assert waiting.wait(30) == -signal.SIGKILL
    with Forked([sys.executable, "-c", "1 / 0"], **PIPES) as wrong:
        assert "ZeroDivisionError" in wrong.communicate()[1]
    assert wrong.returncode == 1


def test_a_command_is_called_as_its_module() -> None:
    with Forked([sys.executable, "-m", "penstock", "--version"], **PIPES) as child:
        assert child.communicate()[0].startswith("penstock ")
    assert child.returncode == 0
