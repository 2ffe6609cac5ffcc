"""One text for one meaning: what is hashed to tell whether two runs are the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.model import Scenario, Trace
from penstock.model.plain import plain

_DIGITS = 32  # of a hash, in base 16: two of a billion runs are alike by chance once in 10^20 campaigns


def canonical(value: object) -> str:
    """JSON without any choice left: keys in order, no spaces, floats with all their digits."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(*pieces: str | bytes) -> str:
    """The hash of some pieces, one after the other."""
    found = hashlib.sha256()
    for piece in pieces:
        data = piece.encode() if isinstance(piece, str) else piece
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()[:_DIGITS]


def file_digest(path: Path) -> str:
    """The hash of what is in a file."""
    with reading(path, InvalidOption):
        return digest(path.read_bytes())


def scenario_digest(scenario: Scenario) -> str:
    """The hash of a scenario; long traces go in as the arrays that they are, not as text."""
    pieces: list[str | bytes] = [canonical(plain(scenario, traces=False))]
    for application in scenario.applications:
        if isinstance(application.phases, Trace):
            pieces += [application.phases.kind.tobytes(), application.phases.amount.tobytes()]
    return digest(*pieces)
