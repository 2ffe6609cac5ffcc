"""Applications that are all there from the beginning fare as before there were arrivals, to the last bit.

What the policies and the engine gave then is kept in a file; the documents that it belongs to are drawn here.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from penstock import Scenario
from penstock.errors import PolicyError
from penstock.studies.targets import Allotment, allocate, improve

Document = dict[str, Any]
BEFORE = Path(__file__).with_name("closed_world.json")
# What there was then: later ones are in no entry of the file.
ALLOCATIONS = ["random", "static", "best-bandwidth", "nsys", "tcpu", "mckp"]
PLACEMENTS = ["random", "greedy-non-clairvoyant", "greedy-clairvoyant"]
SHARING = ["fair-share", "fair-share", "fcfs", "greedy-yield", "greedy-com", "lookahead-greedy-yield"]
SHARING += ["periodic-greedy-yield", "set-10", "best-next-event"]
ABOUT_ALL = ("load", "least_load", "interval", "mean_io_slowdown", "machine_idletime", "imbalance", "events")
ABOUT_EACH = ("targets", "stress", "shares", "io_slowdown", "io_seconds", "moved", "compute_done")


def closed_document(draw: random.Random) -> Document:
    """A few applications that are released together, at 0 or later."""
    targets, release = draw.randint(1, 7), draw.choice([0.0, 0.0, 3.7])
    listed = [{"name": f"t{i}", **({"bandwidth": 1.3} if draw.random() < 0.2 else {})} for i in range(targets)]
    applications: list[Document] = []
    for i in range(draw.randint(1, 7)):
        counts = sorted({1, *(draw.randint(1, targets) for _ in range(3))})
        body = [
            {"compute": draw.choice([0.5, 2, draw.uniform(0, 9)])},
            {"write": draw.choice([1, 3, draw.uniform(0.1, 6)])},
        ]
        applications.append(
            {
                "name": f"a{i}",
                "nodes": draw.choice([1, 4, 12]),
                "release": release,
                "profile": {count: draw.choice([1.0, 1.5, draw.uniform(0.4, 3)]) for count in counts},
                "phases": [{"repeat": draw.randint(1, 6), "phases": body}, *draw.choice([[], [{"compute": 1.5}]])],
            }
        )
    platform: Document = {"targets": draw.choice([targets, listed])}
    if draw.random() < 0.5:
        platform["nodes"] = sum(each["nodes"] for each in applications) + 5
    noise = draw.choice([0.0, 0.0, 0.3])
    return {
        "version": 1,
        "platform": platform,
        "applications": applications,
        "seed": draw.randint(0, 99),
        "noise": noise,
    }


def runs() -> list[tuple[str, Document, Document]]:
    """A name, a document, and how targets are to be given out, for every entry of the file."""
    draw, found = random.Random(17), []
    for number in range(120):
        document = closed_document(draw)
        how: Document = {"allocation": draw.choice(ALLOCATIONS), "placement": draw.choice(PLACEMENTS)}
        how |= {"sharing": draw.choice(SHARING), "error": draw.choice([0.0, 0.0, 0.2])}
        found.append((f"{number}: {' '.join(map(str, how.values()))}", document, how))
    return found


def numbers(found: Allotment) -> Document:
    each = {name: [getattr(one, name) for one in found.applications] for name in ABOUT_EACH}
    busy = [(target.stress, target.busy, target.applications) for target in found.targets]
    whole = {name: getattr(found, name) for name in ABOUT_ALL} | each | {"target_use": busy}
    document: Document = json.loads(json.dumps(whole))
    return document


def outcome(document: Document, how: Document) -> Document:
    """What comes of it; for every fourth scenario, of a local search besides."""
    site = Scenario.from_document(document)
    try:
        found = allocate(site, **how)
    except PolicyError as refused:
        return {"refused": str(refused)}
    if document["seed"] % 4 == 0 and found.mean_io_slowdown is not None:
        found = improve(site, found, most_runs=30, seconds=1e9)
    return numbers(found)


@pytest.mark.parametrize(("name", "document", "how"), runs(), ids=[name for name, _, _ in runs()])
def test_what_is_there_from_the_beginning_fares_as_before(name: str, document: Document, how: Document) -> None:
    expected = json.loads(BEFORE.read_text())[name]
    assert outcome(document, how) == expected
