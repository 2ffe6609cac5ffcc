"""What a controller may be set to."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import InvalidOption
from penstock.live.core import ControllerSettings, Resource
from penstock.live.core.resources import Routes

ONE = (Resource("all", 1.0),)


def test_the_time_to_wait_covers_any_two_clocks():
    # From the arrival of a beat, on a fast clock, to the end of a lease on a slow one.
    settings = ControllerSettings(ONE)
    assert settings.waiting / 1.001 > settings.lease / 0.999
    assert settings.waiting == pytest.approx(8.016016, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"resources": ()}, "nothing to share"),
        ({"resources": (Resource("a", 1.0), Resource("a", 1.0))}, "'a' is there 2 times"),
        ({"resources": (Resource("", 1.0),)}, "printable"),
        ({"resources": (Resource("a", 0.0),)}, "capacity of 'a' is 0"),
        ({"resources": (Resource("a", float("nan")),)}, "capacity of 'a' is nan"),
        ({"resources": (Resource("a", 1.0, direction="up"),)}, "direction of 'a' is 'up'"),
        ({"lease": 0.0}, "lease is 0"),
        ({"lease": 1.0}, "beat is 2 s; it must be shorter than the lease"),
        ({"phi": 0.0}, "phi is 0"),
        ({"phi": 1.0}, "phi is 1"),
        ({"drift": 0.5}, "drift is 0.5"),
        ({"epsilon": -0.1}, "epsilon is -0.1"),
        ({"pace": -1.0}, "pace is -1"),
        ({"reserve": "none"}, "reserve is 'none'"),
        ({"floor": 0.0}, "floor is 0"),
        ({"machine_nodes": 0}, "machine_nodes is 0"),
        ({"members_per_job": 0}, "members_per_job is 0"),
        ({"max_wait": float("inf")}, "max_wait is inf"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], word: str):
    with pytest.raises(InvalidOption, match=word):
        ControllerSettings(**{"resources": ONE, **given})


def test_routes():
    routes = Routes(
        (
            Resource("x", 1.0, "x"),
            Resource("yw", 1.0, "y", "write"),
            Resource("yr", 1.0, "y", "read"),
            Resource("all", 1.0),
        )
    )
    assert routes.targets == ("x", "y")
    assert routes.find("write", ()).shares == ((0, 0.5), (1, 0.5), (3, 1.0))
    assert routes.find("read", ("y",)).shares == ((2, 1.0), (3, 1.0))
    assert routes.find("read", ("y", "x", "y")).shares == ((0, 0.5), (2, 0.5), (3, 1.0))
    assert routes.find("write", ("x", "y")) is routes.find("write", ["y", "x"])
    assert routes.find("write", ("x",)).most([8.0, 1.0, 1.0, 6.0]) == 6.0
    assert Routes((Resource("r", 1.0, direction="read"),)).find("write", ()).most([1.0]) == float("inf")


def test_routes_that_clients_make_up_do_not_pile_up():
    routes = Routes((Resource("x", 1.0, "x"),))
    for n in range(3000):
        routes.find("write", (f"t{n}",))
    assert len(routes._known) <= 1000
