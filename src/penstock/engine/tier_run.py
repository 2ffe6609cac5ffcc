"""The Python face of the loop with a burst buffer."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from penstock.buffering.fair import fair
from penstock.buffering.strategy import Strategy
from penstock.buffering.view import empty_flows
from penstock.engine import tier
from penstock.engine.program import Floats
from penstock.engine.stepping import Progress
from penstock.engine.tier import Contents, Script, TierState
from penstock.errors import PolicyError
from penstock.sharing import Sharing, find
from penstock.sharing.asking import first_class
from penstock.sharing.view import empty_view

_CHUNK = 200_000
_NO_POLICY = find("fcfs")


@dataclass(frozen=True)
class TierRun:
    """What happened: completions, and what the buffers held at each event if that was recorded."""

    completion: Floats
    events: int
    seconds: float
    end: float  # when everything was drained
    time: Floats
    output: Floats
    input: Floats


def execute_tier(
    script: Script,
    read: float,
    write: float,
    joint: float,
    strategy: Strategy | Sharing,
    *,
    record: bool = False,
    progress: Progress | None = None,
) -> TierRun:
    """Run until everything has been written to the file system; times count from 0, when all buffers are empty.

    A sharing policy in place of a strategy sees each flow as an application, and nothing of the buffers.
    """
    state = initial_tier(script)
    sharing = isinstance(strategy, Sharing)
    policy = strategy if isinstance(strategy, Sharing) else _NO_POLICY
    divide = fair.divide if isinstance(strategy, Sharing) else strategy.divide
    rows = 2 * script.release.size
    view = empty_view(rows, policy.settings_array(), policy.initial_memory(rows, None))
    flows = empty_flows(2 * script.release.size, read, write, joint)
    rates = np.zeros(2 * script.release.size)
    m = script.release.size
    room = 4096 if record else 0
    contents = Contents(np.zeros(room), np.zeros((room, m)), np.zeros((room, m)))
    kept: list[Contents] = []
    seconds, status = 0.0, tier.BUDGET_SPENT
    while status in (tier.BUDGET_SPENT, tier.ROOM_SPENT):
        started = time.thread_time()
        status = tier.run_tier(
            script,
            state,
            flows,
            divide,
            view,
            first_class(policy),
            sharing,
            contents,
            rates,
            np.zeros(rows),
            _CHUNK,
        )
        seconds += time.thread_time() - started
        if record:
            used = int(state.counts[tier.RECORDS])
            kept.append(Contents(*(column[:used].copy() for column in contents)))
            state.counts[tier.RECORDS] = 0
        if progress is not None:
            progress(float(state.clock[tier.NOW]), int(state.counts[tier.EVENTS]))
    if status == tier.STALLED:
        raise PolicyError(f"{strategy.name!r} lets someone wait for ever")
    parts = [np.concatenate(column) for column in zip(*kept, strict=True)] if record else list(contents)
    return TierRun(state.completion, int(state.counts[tier.EVENTS]), seconds, float(state.clock[tier.NOW]), *parts)


_FOR_SHARING = ("computed", "compute_began", "out_posted", "in_posted", "iterations", "iteration_seconds")


def initial_tier(script: Script) -> TierState:
    """Nothing has happened, and all buffers are empty."""
    m = script.release.size
    whole = lambda value=0: np.full(m, value, np.int64)  # noqa: E731
    first_of = lambda kind: np.array(  # noqa: E731
        [
            next(
                (p for p in range(script.first[k], script.first[k + 1]) if script.kind[p] == kind), script.first[k + 1]
            )
            for k in range(m)
        ],
        dtype=np.int64,
    )
    next_read = first_of(tier.READING)
    has = next_read < script.first[1:]
    horizon = np.where(has, script.amount[np.minimum(next_read, script.amount.size - 1)], 0.0)
    real = {name: np.zeros(m) for name in ("goal", "produced", "sent", "fetched", "consumed")}
    rates = {name: np.zeros(m) for name in ("producing", "sending", "fetching", "consuming")}
    return TierState(
        doing=whole(tier.AWAY),
        phase=script.first[:-1].copy(),
        next_read=next_read,
        next_write=first_of(tier.WRITING),
        until=script.release.copy(),
        horizon=horizon,
        full=(script.space == 0.0).astype(np.int64),
        completion=np.full(m, np.nan),
        **{name: np.zeros(m) for name in _FOR_SHARING},
        out_row=whole(-1),
        in_row=whole(-1),
        clock=np.zeros(1),
        counts=np.zeros(3, np.int64),
        **real,
        **rates,
    )
