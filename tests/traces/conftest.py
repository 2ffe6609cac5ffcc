"""Real logs, where the data sets are at hand, and PyDarshan as a witness for them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture
def logs(shared_data: Path) -> Path:
    """The folder of real Darshan logs."""
    if find_spec("darshan") is None:
        pytest.skip("the darshan wheel is not installed (penstock[traces])")
    folder = shared_data / "darshan"
    if not folder.is_dir():
        pytest.skip("Darshan logs are not among the data sets (../shared/data/darshan)")
    return folder
