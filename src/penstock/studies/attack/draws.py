"""The small scenarios that a study of attacks draws and changes: a few jobs, some with a past or released late.

Numbers have three digits, so that what is found can be read. The bandwidth is 1, a window 10 s long. Phases take
between 0.25 and 2.5 s: who is served to the end of an operation that is longer than others live starves these, and
nothing else would ever be found.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

CLOSED, OPEN = "closed", "arrivals"  # all are there from the begin to the end, or jobs come and go
KINDS = (CLOSED, OPEN)
FEWEST, MOST = 2, 6  # applications
SHORTEST, LONGEST = 0.25, 2.5  # phases, in seconds
WINDOW = 10.0
_REST = 2 * WINDOW  # a last compute that ends after any window
_MOST_PHASES = 8

Document = dict[str, Any]


def drawn(draw: np.random.Generator, kind: str) -> Document:
    """A new scenario."""
    count = int(draw.integers(FEWEST, MOST + 1))
    document: Document = {"version": 1, "platform": {"bandwidth": 1.0}}
    begin = float(draw.choice([0.0, 1.0, 10.0, 1000.0]))
    if kind == CLOSED:
        document["window"] = {"begin": begin, "end": begin + WINDOW}
    document["applications"] = [_application(draw, document, kind) for _ in range(count)]
    return _named(document)


def changed(draw: np.random.Generator, document: Document, kind: str) -> Document:
    """A neighbour of a scenario: one job is new, gone, copied, or differs in one thing."""
    other = copy.deepcopy(document)
    jobs = other["applications"]
    place = int(draw.integers(len(jobs)))
    step = draw.random()
    if step < 0.08 and len(jobs) < MOST:
        jobs.insert(place, _application(draw, document, kind))
    elif step < 0.16 and len(jobs) < MOST:
        jobs.insert(place, copy.deepcopy(jobs[place]))
    elif step < 0.24 and len(jobs) > FEWEST:
        del jobs[place]
    elif step < 0.4:
        jobs[place] |= _times(draw, document, kind)
    else:
        _change_phase(draw, jobs[place]["phases"])
    return _named(other)


def _application(draw: np.random.Generator, document: Document, kind: str) -> Document:
    phases = [_phase(draw) for _ in range(int(draw.integers(1, 5)))]
    phases.append({"write": _length(draw)})
    # A closed workload never ends inside the window.
    phases += [{"compute": _REST}] if kind == CLOSED else []
    return {"phases": phases} | _times(draw, document, kind)


def _times(draw: np.random.Generator, document: Document, kind: str) -> Document:
    """When it is released and, if that is before the window, what it has done until then."""
    if kind == OPEN:
        return {"release": _rounded(WINDOW * draw.uniform() * (draw.random() < 0.7))}
    begin = document["window"]["begin"]
    release = _rounded(begin * float(draw.choice([0.0, 1.0, draw.uniform()])))
    return {"release": release, "progress": _down((begin - release) * float(draw.choice([1.0, 1.0, draw.uniform()])))}


def _change_phase(draw: np.random.Generator, phases: list[Document]) -> None:
    """Make one phase longer, shorter, new or gone."""
    place = int(draw.integers(len(phases)))
    (kind, amount), step = next(iter(phases[place].items())), draw.random()
    if step < 0.15 and len(phases) < _MOST_PHASES:
        phases.insert(place, _phase(draw))
    elif amount == _REST:
        return
    elif step < 0.3 and any("write" in each for i, each in enumerate(phases) if i != place):
        del phases[place]
    else:
        longer = amount * 10.0 ** draw.normal(0.0, 0.3)
        phases[place] = {kind: _rounded(min(LONGEST, max(SHORTEST, longer)))}


def _phase(draw: np.random.Generator) -> Document:
    return {"write" if draw.random() < 0.5 else "compute": _length(draw)}


def _length(draw: np.random.Generator) -> float:
    """Seconds; short and long ones alike."""
    return _rounded(SHORTEST * (LONGEST / SHORTEST) ** draw.uniform())


def _named(document: Document) -> Document:
    for number, job in enumerate(document["applications"]):
        document["applications"][number] = {"name": f"job-{number + 1}"} | {k: v for k, v in job.items() if k != "name"}
    return document


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _down(value: float) -> float:
    """Three digits, and not more than it was."""
    near = _rounded(value)
    return near if near <= value else _rounded(value * 0.99)
