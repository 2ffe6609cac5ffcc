"""`make test` draws the same examples whatever a worker has loaded before, and in every process."""

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers


def test_loaded_code_adds_nothing_to_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    if settings.get_current_profile_name() != "ci":
        pytest.skip("only the profile `ci` promises the same examples")
    module = types.ModuleType("loaded_meanwhile")
    module.__file__ = str(Path(__file__).with_name("strategies.py"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert len(providers._get_local_constants()) == 0


DRAWN = """
from hypothesis import HealthCheck, given, settings, strategies as st
from machines import machines
from strategies import documents, site_documents

@settings(derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck), max_examples=5)
@given(st.tuples(documents(), site_documents(), machines()))
def draw(drawn):
    print(drawn)

draw()
"""


def test_strings_hashed_otherwise_draw_the_same() -> None:
    """The order of a set of strings is another one in every process: nothing may be drawn in it."""
    tests = str(Path(__file__).parent)
    drawn = [
        subprocess.run(
            [sys.executable, "-c", DRAWN],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": tests},
            cwd=tests,
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert drawn[0].count(b"version") >= 5
    assert drawn[0] == drawn[1] == drawn[2]
