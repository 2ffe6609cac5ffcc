"""The Python face of the loop with a burst buffer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.engine.stepping import Progress, idle
from penstock.engine.tier import arrays as tier
from penstock.engine.tier import loop as tier_loop
from penstock.engine.tier.arrays import BufferContents, Script, Timetable, initial_tier, no_plan
from penstock.engine.tier.loop import run_tier
from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.policies.buffering.policy import Strategy, nothing
from penstock.policies.buffering.view import Flows, empty_flows
from penstock.policies.sharing.asking import compiled, first_class, raised
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.policies.sharing.view import View, empty_view

_CHUNK = 200_000
_ROOM = 4096  # events recorded before they are put away


@dataclass(frozen=True)
class TierRun:
    """What happened: completions, and what the buffers held at each event if that was recorded."""

    completion: Floats  # NaN: cut off
    ended: Floats  # when it completed, or was cut off
    achieved: Floats  # seconds of work alone that it had done then
    events: int
    seconds: float
    end: float  # when everything was drained
    peak: float  # the most that all buffers held together
    through: float  # bytes that were written into the buffer
    busy: tuple[float, float, float]  # seconds in which the file system read, wrote, or did either
    time: Floats
    output: Floats
    input: Floats


def execute_tier(
    script: Script,
    limits: tuple[float, float, float, float],
    strategy: Strategy | Sharing,
    plan: Timetable | None = None,
    *,
    names: Sequence[str],
    record: bool = False,
    progress: Progress | None = None,
) -> TierRun:
    """Run until everything has been written to the file system; times count from 0, when the buffer is empty.

    `limits` are those of the file system (reads, writes, both) and of the buffer. A sharing policy in place of a
    strategy sees each flow as an application, and nothing of the buffer.
    """
    m = script.release.size
    plan = no_plan(m) if plan is None else plan
    state, flows = initial_tier(script, plan), empty_flows(2 * m, *limits)
    room = _ROOM if record else 0
    contents = BufferContents(np.zeros(room), np.zeros((room, m)), np.zeros((room, m)))
    deciders = _deciders(script, strategy)
    rates, given = np.zeros(2 * m), np.zeros(2 * m)
    remembered = np.zeros(deciders[1].memory.size if script.efficiency.size else 0)
    kept: list[BufferContents] = []
    seconds, status = 0.0, tier_loop.BUDGET_SPENT
    while status in (tier_loop.BUDGET_SPENT, tier_loop.ROOM_SPENT):
        started = time.thread_time()
        try:
            status = run_tier(script, plan, state, flows, *deciders, contents, rates, given, remembered, _CHUNK)
        except Exception as error:  # only a policy that is not ours can raise in there
            raise raised(_who(strategy, float(state.clock[tier.NOW])), strategy.plain, error) from error
        seconds += time.thread_time() - started
        if record:
            used = int(state.counts[tier.RECORDS])
            kept.append(BufferContents(*(column[:used].copy() for column in contents)))
            state.counts[tier.RECORDS] = 0
        if progress is not None:
            progress(float(state.clock[tier.NOW]), int(state.counts[tier.EVENTS]))
    now = float(state.clock[tier.NOW])
    if status == tier_loop.STALLED:
        raise PolicyError(f"{_who(strategy, now)} gave nobody any bandwidth, and nothing else would ever happen")
    if status == tier_loop.REFUSED:
        raise PolicyError(_refused(strategy, now, flows, rates, int(state.counts[tier.WRONG]), names))
    parts = [np.concatenate(column) for column in zip(*kept, strict=True)] if record else list(contents)
    ends = state.completion, state.ended, state.achieved
    held = float(state.clock[tier.PEAK]), float(state.clock[tier.THROUGH])
    busy = float(state.clock[tier.READS]), float(state.clock[tier.WRITES]), float(state.clock[tier.MOVES])
    return TierRun(*ends, int(state.counts[tier.EVENTS]), seconds, now, *held, busy, *parts)


def _deciders(script: Script, strategy: Strategy | Sharing) -> tuple[Any, View, Any, float]:
    """Who decides: strategy, View, policy, and the seconds between extra decisions of a policy (0: a strategy does)."""
    rows = 2 * script.release.size
    if isinstance(strategy, Strategy):
        return strategy.divide, empty_view(rows, np.zeros(0), np.zeros(0)), idle, 0.0
    operations = int(np.count_nonzero(script.kind != tier.COMPUTING))
    tick = strategy.ticks(Outlook(0.0, np.inf, operations), strategy.settings) or np.inf
    view = empty_view(rows, strategy.settings_array(), strategy.initial_memory(rows, None))
    return nothing, view, first_class(strategy) if strategy.compiled else compiled(strategy), tick


def _who(strategy: Strategy | Sharing, now: float) -> str:
    kind = "buffering strategy" if isinstance(strategy, Strategy) else "sharing policy"
    return f"{kind} {strategy.name!r}, at t = {now:g} s,"


def _refused(
    strategy: Strategy | Sharing, now: float, flows: Flows, rates: Floats, row: int, names: Sequence[str]
) -> str:
    """What is wrong with the rates of a decision, as a sentence."""
    who = _who(strategy, now)
    if row == tier_loop.ALL:
        return f"{who} gave out more bandwidth than the file system has"
    name, rate = names[flows.application[row]], rates[row]
    if not rate >= 0.0:
        return f"{who} gave {name!r} a rate of {rate:g} bytes/s; a rate is 0 or more"
    return f"{who} gave {name!r} {rate:g} bytes/s; it can use {flows.cap[row]:g} at most"
