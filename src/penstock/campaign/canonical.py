"""One text for one meaning: what is hashed to tell whether two runs of a campaign are the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.model import Scenario, Trace

_DIGITS = 32  # of a hash, in base 16: two of a billion runs are alike by chance once in 10^20 campaigns


def canonical(value: object) -> str:
    """JSON without any choice left: keys in order, no spaces, floats with all their digits."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(*pieces: str | bytes | memoryview) -> str:
    """The hash of some pieces, one after the other."""
    found = hashlib.sha256()
    for piece in pieces:
        data = memoryview(piece.encode() if isinstance(piece, str) else piece)
        found.update(data.nbytes.to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()[:_DIGITS]


def file_digest(path: Path) -> str:
    """The hash of what is in a file."""
    with reading(path, InvalidOption):
        return digest(path.read_bytes())


def scenario_digest(scenario: Scenario) -> str:
    """The hash of a scenario; long traces go in as the arrays that they are, not as text.

    Fields that have their default do not count, so that a later version may have more of them.
    """
    applications = enumerate(scenario.applications)
    traces = {place: each.phases for place, each in applications if isinstance(each.phases, Trace)}
    left_out = {"applications": {place: {"phases"} for place in traces}}
    text = scenario.model_dump_json(exclude_defaults=True, exclude=left_out)
    if not traces:
        return digest(text)
    lengths = canonical([len(trace) for trace in traces.values()])
    kinds, amounts = (np.concatenate([getattr(each, name) for each in traces.values()]) for name in ("kind", "amount"))
    return digest(text, lengths, kinds.data, amounts.data)
