"""The file for jobs that have not met the controller: it is there, true, and outlives the controller."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from penstock.wire.site import Site, beside, read_site

from .conftest import Server, until

Make = Callable[..., Server]


def test_it_is_kept_current_and_stays(server: Make) -> None:
    controller = server()
    controller.start()
    path = beside(str(controller.path))
    assert read_site(path) == Site(1, "paced", {"": 5e7})  # half of 1 GB/s, by one of ten nodes
    controller.ask("capacity", capacity="500 MB/s")
    until(lambda: read_site(path) == Site(1, "paced", {"": 2.5e7}))
    assert controller.kill(signal.SIGTERM) == 0
    assert read_site(path) == Site(1, "paced", {"": 2.5e7})
    assert Path(path).stat().st_mode & 0o777 == 0o644


def test_another_place_and_an_open_door(server: Make, tmp_path: Path) -> None:
    resources = [
        {"name": "a", "capacity": "100 MB/s", "target": "a"},
        {"name": "b", "capacity": "20 MB/s", "target": "b"},
    ]
    controller = server(capacity=None, resources=resources, first_contact="open", site_file=str(tmp_path / "site"))
    controller.start()
    assert read_site(str(tmp_path / "site")) == Site(1, "open", {"": 1e6, "a": 5e6, "b": 1e6})
    assert any("first contact is open" in warning for warning in controller.ask("server")["warnings"])


def test_nowhere_to_write_it(server: Make, tmp_path: Path) -> None:
    controller = server(site_file=str(tmp_path / "missing" / "site"))
    controller.start()
    (warning,) = controller.ask("server")["warnings"]
    assert warning.startswith(f"site file: {tmp_path}/missing/site cannot be written (no such file")
