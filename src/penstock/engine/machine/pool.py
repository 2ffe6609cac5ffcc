"""What applications hold in a burst buffer, as the loop's arrays: their parts, their bytes, how fast these change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.kernels.arrays import Floats, Ints


class Pool(NamedTuple):
    """Per application; times count from the beginning of the run."""

    whole: Floats  # its part, if there is room for all of it
    space: Floats  # its part now
    entry: Floats  # from when on it has a part, and its input may be fetched
    order: Ints  # by release, then as in the scenario
    entered: Ints
    over: Ints  # 1: it has ended, and only drains
    out: Floats  # bytes held that were written, when it was last brought up
    input: Floats  # bytes held that were fetched
    todo: Floats  # bytes of the operation under way that are not written, or read
    ahead: Floats  # bytes that may be fetched
    updated: Floats
    since: Floats  # when output was last there after there was none
    full: Ints
    loose: Ints  # 1: its part is no longer full though nothing happened; that plays a part in the next decision
    passing: Ints  # 1: what it writes passes through
    most: Floats  # what is fetched into a full part, at most
    pinned: Ints  # 1: no pace is just right, so that most is the highest that is not too high
    write: Floats  # rates
    drain: Floats
    fetch: Floats
    read: Floats
    numbers: Floats  # the device; how fast the part of the first who lacks some grows; scratch
    who: Ints  # the first who lacks some, -1: nobody; 1: parts must be given anew; how many have a part; scratch


DEVICE, GROWTH, LOW, AT_LOW, HIGH, AT_HIGH = range(6)
GROWER, STALE, HAVING, LOOSE, SOLVING, STEPS = range(6)


def empty_pool(whole: Floats, device: float, entry: Floats, release: Floats, ahead: Floats) -> Pool:
    """Nobody has entered, and the buffer is empty."""
    m = whole.size
    zeros = ("space", "out", "input", "todo", "updated", "since", "write", "drain", "fetch", "read")
    return Pool(
        whole=whole,
        entry=entry,
        order=np.argsort(release, kind="stable").astype(np.int64),
        entered=np.zeros(m, np.int64),
        over=np.zeros(m, np.int64),
        ahead=ahead,
        full=np.zeros(m, np.int64),
        loose=np.zeros(m, np.int64),
        passing=np.zeros(m, np.int64),
        most=np.full(m, np.inf),
        pinned=np.zeros(m, np.int64),
        numbers=np.array([device, 0.0, 0.0, 0.0, 0.0, 0.0]),
        who=np.array([-1, 0, int(np.count_nonzero(whole > 0.0)), 0, -1, 0], np.int64),
        **{name: np.zeros(m) for name in zeros},
    )
