"""Replay: a controller's decisions taken again, each on the state that its records lead to, and compared bit for bit.

The records say all that a policy was shown, so the same code must come to the same rates. A difference means that a
policy or the core has changed, or that a decision was not a function of what was known: each is worth a look.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from penstock.live.core import ControllerSettings, ControllerState
from penstock.live.core.decide import Decider
from penstock.live.core.records import RatesDecided
from penstock.live.journal.errors import JournalError
from penstock.live.journal.folder import segments, snapshots
from penstock.live.journal.reader import JournalEntry, Recovered, damage, entries, newest_snapshot, segments_from
from penstock.live.journal.segment import Header, SegmentContents, load_snapshot
from penstock.live.journal.versions import core_code, policy_code
from penstock.policies.sharing import find

MOST_SHOWN = 100  # differences that are kept


@dataclass(frozen=True)
class Difference:
    """A decision that comes out otherwise now. Codes are hashes: of the policy's function, and of the core."""

    seq: int
    time: float
    recorded: RatesDecided
    again: RatesDecided
    codes: dict[str, tuple[str, str]]  # then and now

    def __str__(self) -> str:
        changed = [
            f"the {name}'s code has changed since ({then} → {now})"
            for name, (then, now) in self.codes.items()
            if then != now
        ]
        why = "; ".join(changed) or "the code is the same"
        return f"record {self.seq}, t = {self.time:.6f} s: {_described(self.recorded, self.again)}; {why}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain: dict[str, Any] = msgspec.to_builtins(
            {"seq": self.seq, "time": self.time, "recorded": _fields(self.recorded), "again": _fields(self.again)}
        )
        return plain | {"codes": {name: list(pair) for name, pair in self.codes.items()}}


@dataclass
class Replayed:
    """What a replay found."""

    records: int = 0
    decisions: int = 0
    different: int = 0
    first: int = 0
    last: int = 0
    differences: list[Difference] = field(default_factory=list)


def replay(directory: str | os.PathLike[str]) -> Replayed:
    """Take every decision of a journal again, from its oldest known state on."""
    folder = Path(directory)
    found, run = Replayed(), None
    for contents in _from_known_state(folder):
        if run is None or run.header.settings != contents.header.settings:
            run = _Run(folder, contents.header)
        run.begin(contents.header)
        for entry in entries(contents):
            if entry.seq > run.seq:
                run.take(entry, found)
        if contents.damaged:
            raise damage(contents)
    return found


class _Run:
    """A state that goes along with the records."""

    def __init__(self, folder: Path, header: Header) -> None:
        try:
            settings = msgspec.convert(header.settings, ControllerSettings)
        except msgspec.ValidationError as error:
            raise JournalError(f"{folder}: the settings in the journal cannot be read ({error})") from None
        recovered = _state_before(folder, settings, header.first)
        self.state, self.seq, self.header = recovered.state or ControllerState(settings), recovered.last_seq, header
        self._decider: Decider | None = None
        self._sharing = ""

    def begin(self, header: Header) -> None:
        """Go on with another segment."""
        self.header = header

    def take(self, entry: JournalEntry, found: Replayed) -> None:
        """One record: compare it if it is a decision, then follow it."""
        if isinstance(entry.record, RatesDecided):
            self.state.now = max(self.state.now, entry.time - self.state.origin)
            again = self._policy().decide(self.state).decision
            found.decisions += 1
            if msgspec.msgpack.encode(again) != msgspec.msgpack.encode(entry.record):
                found.different += 1
                if len(found.differences) < MOST_SHOWN:
                    found.differences.append(Difference(entry.seq, entry.time, entry.record, again, self._codes()))
        self.state.apply(entry.time, entry.record)
        self.seq = entry.seq
        found.records += 1
        found.first, found.last = found.first or entry.seq, entry.seq

    def _policy(self) -> Decider:
        if self._decider is None or self._sharing != self.state.sharing:
            self._sharing = self.state.sharing
            self._decider = Decider(find(self._sharing))
        return self._decider

    def _codes(self) -> dict[str, tuple[str, str]]:
        policy = self._policy().policy
        then = self.header.policy_code if self.header.policy == policy.label else policy_code(policy)
        return {"policy": (then, policy_code(policy)), "core": (self.header.core_code, core_code())}


def _from_known_state(folder: Path) -> Iterator[SegmentContents]:
    """The segments from the first one on before which the state is known."""
    files = segments(folder)
    if not files:
        raise JournalError(
            f"{folder}: there is no journal; expected the folder that `penstock serve --journal` was given"
        )
    if files[0].first == 1:
        yield from segments_from(folder, 0)
        return
    known = [file.seq for file in snapshots(folder) if load_snapshot(file.path) is not None]
    if not known:
        raise JournalError(f"{folder}: begins at record {files[0].first}, and no snapshot says what was before")
    yield from segments_from(folder, known[0])


def _state_before(folder: Path, settings: ControllerSettings, first: int) -> Recovered:
    """The state before a record, as a start at that moment would have found it."""
    moment, state = newest_snapshot(folder, settings, first - 1)
    seq, time = (moment.seq, moment.time) if moment else (0, 0.0)
    for contents in segments_from(folder, seq):
        if contents.header.first >= first:
            break
        for entry in entries(contents):
            if seq < entry.seq < first:
                state = state or ControllerState(settings)
                state.apply(entry.time, entry.record)
                seq, time = entry.seq, entry.time
    return Recovered(state, 0, False, seq, time, None)


def _described(recorded: RatesDecided, again: RatesDecided) -> str:
    """What differs, in words."""
    if recorded.policy != again.policy:
        return f"the decision was {recorded.policy}'s and is {again.policy}'s now"
    if recorded.digest != again.digest:
        return f"{recorded.policy} is shown something else now"
    return f"{recorded.policy} gives {_rates(again)} and gave {_rates(recorded)}"


def _rates(decision: RatesDecided) -> str:
    shown = [f"{rate:g} to {app}" for app, *_, rate in decision.rates[:3]]
    return (", ".join(shown) or "no change") + (" …" if len(decision.rates) > 3 else "")


def _fields(decision: RatesDecided) -> dict[str, Any]:
    return {name: getattr(decision, name) for name in decision.__struct_fields__}
