"""One folder for all experiments of a session, so that runs they have in common are run once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from penstock.reproduce import Reproduction, reproduce

Run = Callable[..., Reproduction]


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture(scope="session")
def run(shared) -> Run:
    """Run an experiment with two instances, once, and check what is true of every one."""

    @cache
    def checked(name: str, table: Path | None = None, output: Path = shared) -> Reproduction:
        made = reproduce(name, scale=1e-6, output=output, table=table)
        assert made.failed == 0
        assert made.summary["instances"] >= 2
        assert all(math.isfinite(number) for number in numbers(made.summary))
        svg, png, data, text = made.files
        assert svg.stat().st_size > 10_000
        assert png.stat().st_size > 10_000
        assert data.read_text().count("\n") > 10
        assert set(json.loads(text.read_text())) == {"experiment", "seconds", "summary"}
        return made

    return checked


def numbers(tree: Any) -> Iterator[float]:
    if isinstance(tree, dict):
        for value in tree.values():
            yield from numbers(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from numbers(value)
    elif isinstance(tree, int | float):
        yield tree
