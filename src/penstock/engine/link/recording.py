"""Segments of I/O as loops record them: kept whenever their room is full, and made into a timeline at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.engine.link.state import Segments, no_segments, segments_room
from penstock.engine.program import Program
from penstock.engine.timeline import Timeline
from penstock.kernels.arrays import Floats, Ints


class Recording:
    """What a loop has recorded so far, and the room that it records to: none if nobody asks for a timeline."""

    def __init__(self, applications: int, wanted: bool) -> None:
        self.room = segments_room(max(4096, 8 * applications)) if wanted else no_segments()
        self.kept: list[Segments] = []
        self.wanted = wanted

    def keep(self, used: int) -> None:
        """Put what has been recorded aside, so that the room can be used again."""
        columns: Any = [column[:used].copy() for column in self.room]
        self.kept.append(Segments(*columns))

    def timeline(
        self, program: Program, origin: float, end: float, ended: Floats, still: Segments, broken: Ints
    ) -> Timeline:
        """All segments; `still` are those that the end of the run closes.

        `ended`: when each application did, NaN if it did not; `broken`: the operation of each that its walltime cut
        off, below 0 if none. What was cut off, by a walltime or the end of the run, comes last.
        """
        columns = [np.concatenate(column) for column in zip(*self.kept, still, strict=True)]
        whole = columns[1] != broken[columns[0]]
        whole[whole.size - still.start.size :] = False
        application, operation, start, stop, rate = (column[np.argsort(~whole, kind="stable")] for column in columns)
        return Timeline(
            names=program.names,
            capacity=program.capacity,
            begin=program.begin,
            end=origin + end,
            started=program.start,
            stopped=origin + np.where(np.isnan(ended), end, ended),
            application=application,
            operation=operation - program.first[application],
            start=origin + start,
            stop=origin + stop,
            rate=rate,
            cut=int(np.count_nonzero(whole)),
        )
