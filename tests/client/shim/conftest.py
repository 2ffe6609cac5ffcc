from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from client.shim.job import Job
from penstock.client.shim.library import NoLibrary, library


@pytest.fixture(scope="session")
def preload() -> Path:
    try:
        return library()
    except NoLibrary as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where programs are compiled, each once."""
    return tmp_path_factory.mktemp("programs")


@pytest.fixture
def job(tmp_path: Path, preload: Path) -> Iterator[Job]:
    yield Job(tmp_path, preload)
