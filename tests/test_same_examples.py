"""`make test` draws the same examples whatever a worker has loaded before."""

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
