"""What tests of sizing share: a scenario by hand, and our schedules in the form that the reference checks."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from penstock.model import Scenario
from penstock.studies.sizing import BufferSchedule, Sizing, size_buffer
from penstock.studies.sizing.traffic import Traffic

Document = dict[str, Any]
ONE_EACH = {"read_bandwidth": 1, "write_bandwidth": 1}
TOGETHER = {"bandwidth": 1}


def app(name: str, *phases: tuple[str, float], **more: float) -> Document:
    return {"name": name, "phases": [dict([phase]) for phase in phases], **more}


def document(platform: Document, *apps: Document) -> Document:
    return {"version": 1, "platform": platform, "applications": list(apps)}


def with_port(plain: Document, port: float | None) -> Document:
    """The same behind a buffer with a bandwidth of its own."""
    buffer = {"capacity": 1} | ({} if port is None else {"bandwidth": port})
    return plain | {"platform": plain["platform"] | {"burst_buffer": buffer}}


def bursts(seed: int) -> Document:
    """Applications that read and write a little faster than the file system, again and again, with short pauses."""
    chance = random.Random(seed)
    limits = chance.choice([{"bandwidth": 4.0}, {"read_bandwidth": 3.0, "write_bandwidth": 2.5}])
    jobs = []
    for name in "abc"[: chance.randint(1, 3)]:
        phases: list[tuple[str, float]] = []
        for _ in range(chance.randint(2, 3)):
            phases += [("read", chance.uniform(2, 8))] * (chance.random() < 0.6)
            phases += [("compute", chance.uniform(0.2, 1)), ("write", chance.uniform(2, 8))]
        caps = {f"{kind}_bandwidth": chance.uniform(1.5, 4.5) for kind in ("read", "write")}
        jobs.append(app(name, *phases, release=chance.uniform(0, 4), **caps))
    return document(limits, *jobs)


def traffic_of(plain: Document, lead: float = math.inf) -> Traffic:
    return Traffic(Scenario.from_document(plain), lead)


def sized(plain: Document, partition: str, lead: float = math.inf) -> Sizing:
    return size_buffer(Scenario.from_document(plain), partition, lead=lead)


def volume(plain: Document) -> float:
    return float(traffic_of(plain).volume.sum()) or 1.0


def for_reference(schedule: BufferSchedule, traffic: Traffic) -> Document:
    """Amounts by application and interval; what leaves after the last event is nobody's business there."""
    events = traffic.events
    moved = np.zeros((2, len(traffic.names), events.size - 1))
    before = np.zeros(len(traffic.names))
    for row in range(schedule.amount.size):
        owner, way = schedule.application[row], int(schedule.reading[row])
        if np.isneginf(schedule.start[row]):
            assert way == 1
            before[owner] += schedule.amount[row]
        elif np.isfinite(schedule.end[row]):
            interval = int(np.searchsorted(events, schedule.start[row]))
            assert (schedule.start[row], schedule.end[row]) == (events[interval], events[interval + 1])
            moved[way, owner, interval] += schedule.amount[row]
    named = dict(enumerate(traffic.names))
    return {
        "events": events.tolist(),
        "before": {name: float(before[index]) for index, name in named.items()},
        "written": {name: moved[0, index].tolist() for index, name in named.items()},
        "read": {name: moved[1, index].tolist() for index, name in named.items()},
    }
