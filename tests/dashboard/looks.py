"""Answers of a controller, made up; and one that gives them."""

from __future__ import annotations

from typing import Any

from penstock.dashboard.poll import Seen
from penstock.live.admin import NoController

CAPACITY = 100.0
# Users are 3000000001, 3000000002, …: a host that runs the tests may have names for 1001 and 1002.
NAMELESS = 3_000_000_000


def job(app: int, rate: float = 0.0, name: str = "", **changes: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {
        "app": app,
        "job": name or f"name-{app}",
        "uid": NAMELESS + app,
        "active": True,
        "stages": ["posted"],
        "direction": "write",
        "rate": rate,
        "wanted": rate,
        "granted": {"fs": rate},
        "limit": CAPACITY,
        "usable": None,
        "volume": 1000.0,
        "done": 600.0,
        "remaining": 400.0,
        "waited": 0.0 if rate else 7.0,
        "lease": 8.0,
    }
    return usual | changes


def idle(app: int) -> dict[str, Any]:
    return job(
        app, active=False, stages=["idle"], granted={}, limit=0.0, volume=0.0, done=0.0, remaining=0.0, waited=0.0
    )


def status(**changes: Any) -> dict[str, Any]:
    resource = {"capacity": CAPACITY, "charged": CAPACITY, "granted": CAPACITY, "in_service": True}
    usual: dict[str, Any] = {
        "mode": "run",
        "settling": 0,
        "draining": False,
        "frozen": False,
        "policy": "fcfs",
        "epoch": 3,
        "active": 2,
        "applications": 3,
        "held_back": 0,
        "stopped": 0,
        "exempt": [],
        "policy_failures": 0,
        "last_policy_failure": "",
        "capacity": {"fs": resource},
    }
    return usual | changes


FORESEEN = {
    "start": 4.0,
    "start_earliest": 3.0,
    "start_latest": 5.0,
    "end": 8.0,
    "earliest": 6.0,
    "latest": 10.0,
    "sure": "good",
    "behind": 1,
    "ahead": 400.0,
}
SERVER = {"uptime": 60.0, "connections": 3, "warnings": []}


def seen(*jobs: dict[str, Any], time: float = 1000.0, **changes: Any) -> Seen:
    counts = {"active": sum(each["active"] for each in jobs), "applications": len(jobs)}
    return Seen(time, status=status(**counts | changes), server=SERVER, jobs=jobs)


class FakeLine:
    """A controller that answers with what it is given; None: it is away."""

    def __init__(self, now: dict[str, Any]) -> None:
        self.now, self.asked = now, 0

    def ask(self, verb: str, **args: Any) -> Any:
        self.asked += 1
        if self.now.get("away"):
            raise NoController("nobody listens there")
        jobs = [{"app": each["app"], **FORESEEN} for each in self.now["jobs"]]
        foreseen = {"contact": "help@site", "opt_out": "PENSTOCK=off", "jobs": jobs}
        return {"status": status(), "server": SERVER, "top": self.now["jobs"], "forecasts": foreseen}[verb]

    def close(self) -> None:
        pass
