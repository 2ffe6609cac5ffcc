"""A burst buffer as tables for the terminal, and in words: how large, shared how, and why not smaller."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.parts.breakable import Breakable
from penstock.report.parts.quantities import (
    Scale,
    byte_scale,
    duration,
    fixed,
    percent,
    rate_scale,
    significant,
    time_scale,
)
from penstock.report.parts.titled_table import MOST_ROWS, rest_lines, titled_table
from penstock.studies.sizing.replay import RULES
from penstock.studies.sizing.result import HOLDS_FOR

if TYPE_CHECKING:
    from penstock.studies.buffers.needs import Need
    from penstock.studies.sizing import Burst, SizeCurve, Sizing, Violation
    from penstock.studies.sizing.lead import Infeasible
    from penstock.studies.sizing.traffic import Limits, Traffic

_NAMED = 3
_MOST_BURSTS = 8
_LARGEST = "bold red"
_NO_SIZE = "no size"  # is enough
_UNSEEN = 1e-6  # relative: differences that no reader sees
_VERBS = {"write": "write", "read": "read", "both": "read and write"}
_PLAIN = {
    "isolated": "each application alone",
    "static": "a fixed share for each application while it runs",
    "dynamic": "everybody may use all that is free",
}


def bytes_scale(limits: Limits, most: float) -> Scale:
    """The unit for volumes up to `most` on such a file system."""
    finite = [limit for limit in limits if math.isfinite(limit)]
    return byte_scale(most, pure=bool(finite) and not rate_scale(max(finite)).unit)


def shown(sizing: Sizing, amount: float) -> str:
    """One volume in the unit that fits it."""
    return bytes_scale(sizing.traffic.limits, amount).show(amount)


def money(amount: float) -> str:
    """A cost, in whatever currency the prices were."""
    return f"{amount:,.0f}" if amount >= 1e3 else significant(amount)


def sizing_table(sizing: Sizing, most: int | None = MOST_ROWS) -> Table:
    """One row per application: its share, and the most that it holds in the schedule; of very many, the largest."""
    table = titled_table(sizing_words(sizing))
    table.add_column("application", overflow="fold", min_width=12)
    shares = sizing.shares
    if sizing.partition == "isolated":
        table.add_column("needs alone", justify="right", no_wrap=True)
    elif shares is not None:
        for heading in ("share", "of the buffer", "most held"):
            table.add_column(heading, justify="right", no_wrap=True)
    else:
        table.add_column("most held", justify="right", no_wrap=True)
    values = sizing.peaks if shares is None else shares
    scale = bytes_scale(sizing.traffic.limits, max(values.values()))
    short = most is None or len(values) <= most
    listed = values.items() if short else sorted(values.items(), key=lambda each: -each[1])
    for name, value in list(listed)[:most]:
        largest = len(values) > 1 and 0.0 < value == max(values.values())
        cells = [Text(scale.show(value), style=_LARGEST if largest and sizing.partition != "dynamic" else "")]
        if shares is not None and sizing.partition == "static":
            cells.append(Text(percent(value / sizing.size if sizing.size else 0.0)))
            cells.append(Text(scale.show(sizing.peaks[name])))
        table.add_row(Breakable(Text(name)), *cells)
    return table


def sizing_words(sizing: Sizing) -> str:
    """The partition and the size, in a line."""
    return f"{sizing.partition} ({_PLAIN[sizing.partition]}): {shown(sizing, sizing.size)}"


def rest_of_table(sizing: Sizing, most: int | None = MOST_ROWS) -> list[str]:
    """How many applications the table leaves out."""
    return rest_lines(len(sizing.peaks), " that need less", shown=most)


def sizing_lines(sizing: Sizing) -> list[str]:
    """What the size means, and the one burst that does most for it."""
    how = f"{sizing.method}, {sizing.events:,} events, {duration(sizing.seconds)}"
    if sizing.size <= 0.0:
        return [_nothing(sizing), f"Found by {how}."]
    if sizing.partition == "isolated":
        owner = sizing.traffic.names[0]
        enough = f"{shown(sizing, sizing.size)} are the most that one application needs for itself alone: {owner}"
    else:
        whole = shown(sizing, sizing.size)
        enough = f"With {whole} everybody ends as if nobody were in the way; with less, somebody does not"
    bursts = [burst_words(sizing, burst) for burst in sizing.proof.bursts[:1]]
    return [f"{enough} ({how}).", *_for_whom(sizing), *bursts, *_port_line(sizing)]


def _port_line(sizing: Sizing) -> list[str]:
    """Whether the buffer's own bandwidth has anything to do with the size."""
    port = sizing.traffic.limits.port
    if math.isinf(port):
        return []
    rate = rate_scale(port).show(port)
    if any(burst.direction == "port" for burst in sizing.proof.bursts):
        return [f"The buffer's own bandwidth of {rate} is full at times; with more, a smaller buffer would do."]
    return [f"The buffer's own bandwidth of {rate} is enough for that; with more, the size is the same."]


def _for_whom(sizing: Sizing) -> list[str]:
    """Which strategy the size is for, and when input may come."""
    if sizing.partition == "isolated":
        return []
    early = " Input may be fetched at any time before it is read." if _fetched_early(sizing) else ""
    return [
        f"That holds for the planned schedule (--schedule writes it, `buffer --strategy {HOLDS_FOR}` follows it)."
        f"{early}"
    ]


def _fetched_early(sizing: Sizing) -> bool:
    return bool(sizing.traffic.reading.any()) and math.isinf(sizing.lead)


def need_lines(sizing: Sizing, needs: list[Need] | None) -> list[str]:
    """What strategies need that do not know the schedule; None: nobody has looked."""
    if sizing.size <= 0.0 or sizing.partition == "isolated":
        return []
    if needs is None:
        return ["What strategies without a schedule need, --strategies finds."]
    lines = []
    for need in needs:
        if need.size is None:
            lines.append(f"{need.strategy}: somebody takes more than 1 % longer even with room for all bytes.")
            continue
        more = f"{shown(sizing, need.size)} ({percent(need.size / sizing.size)} of that)"
        doubt = "" if need.monotone else "; a larger one was worse meanwhile, so a smaller one may do, too"
        lines.append(f"{need.strategy}: {more} until nobody takes more than 1 % longer{doubt}.")
    return lines


def impossible_lines(sizing: Sizing) -> list[str]:
    """Why no size is enough, and what is possible instead."""
    late = sizing.infeasible
    if late is None:
        raise ValueError("these lines are for a size that does not exist")
    when = time_scale(abs(late.instant)).show(late.instant)
    if late.port is not None:
        return _too_narrow_lines(sizing, late, when)
    ahead = "from its release on" if sizing.lead == 0.0 else f"from {duration(sizing.lead)} before its release on"
    return [
        f"No buffer is large enough: {late.application!r} cannot have all that it reads by {when}, if input is fetched "
        f"{ahead} only.",
        f"With the largest of buffers somebody still takes {fixed(late.stretch, 4)} times as long as without "
        "contention. --lead forever sizes a buffer that is filled before jobs start.",
    ]


def _too_narrow_lines(sizing: Sizing, late: Infeasible, when: str) -> list[str]:
    port = sizing.traffic.limits.port
    scale = rate_scale(late.port or port)
    still = f"With the largest of buffers somebody still takes at least {fixed(late.stretch, 4)} times as long"
    least = [f"{still} as without contention."] if late.stretch > 1.0 + _UNSEEN else []
    return [
        f"No buffer is large enough with a bandwidth of its own of {scale.show(port)}: from {when} on, with "
        f"{late.application!r}, more would have to go in and out of it. It takes {scale.show(late.port or port)}.",
        *least,
    ]


def explanation_lines(sizing: Sizing) -> list[str]:
    """The proof, for somebody who pays for the buffer."""
    proof, size = sizing.proof, sizing.size
    if size <= 0.0:
        return [_nothing(sizing)]
    if proof.instant is not None:
        when = time_scale(float(sizing.traffic.events[-1])).show(proof.instant)
        lines = [f"At {when} the buffer is full, whatever the schedule:"]
    else:
        lines = ["These bursts force the size, whatever the schedule:"]
    bursts = [burst for burst in proof.bursts if burst.direction != "port"]
    lines += [f"  {burst_words(sizing, burst)}" for burst in bursts[:_MOST_BURSTS]]
    others = bursts[_MOST_BURSTS:]
    if others:
        more = sum(burst.weight * (burst.demand - burst.room) for burst in others)
        lines.append(f"  {len(others):,} smaller ones, by which the file system falls behind by {shown(sizing, more)}.")
    lines += _port_lines(sizing)
    total = shown(sizing, proof.size)
    if proof.rest > _UNSEEN * size:
        lines.append(
            f"Less {shown(sizing, proof.rest)} that could go earlier or come later than in these bursts: {total}."
        )
    elif len(proof.bursts) > 1:
        lines.append(f"Together: {total}.")
    return lines


def _port_lines(sizing: Sizing) -> list[str]:
    """When the buffer could not be filled or emptied any faster, the longest times first."""
    found = [burst for burst in sizing.proof.bursts if burst.direction == "port"]
    found.sort(key=lambda burst: -burst.weight * burst.room)
    lines = [f"  {_port_words(sizing, burst)}" for burst in found[:_MOST_BURSTS]]
    others = found[_MOST_BURSTS:]
    if others:
        more = shown(sizing, sum(burst.weight * burst.room for burst in others))
        lines.append(f"  {len(others):,} shorter times at which it does not, either: less {more}.")
    return lines


def _port_words(sizing: Sizing, burst: Burst) -> str:
    begin = time_scale(float(sizing.traffic.events[-1])).show(burst.begin)
    return (
        f"From {begin} on, for {duration(burst.end - burst.begin)}, the buffer's own bandwidth does not let more than "
        f"{shown(sizing, burst.room)} in and out{_counted(burst)}: less as much."
    )


def _counted(burst: Burst) -> str:
    return "" if abs(burst.weight - 1.0) < _UNSEEN else f" (counts {burst.weight:.3g} times)"


def burst_words(sizing: Sizing, burst: Burst) -> str:
    """Who moves how much when, what the file system carries of it, and what is left to the buffer."""
    begin = time_scale(float(sizing.traffic.events[-1])).show(burst.begin)
    verb, owners = _VERBS[burst.direction], list(burst.by.items())
    if len(owners) == 1:
        who, many = owners[0][0], f"{verb}s" if burst.direction != "both" else "reads and writes"
    else:
        named = [f"{name} ({shown(sizing, amount)})" for name, amount in owners[:_NAMED]]
        rest = owners[_NAMED:]
        if rest:
            named.append(f"{len(rest):,} more ({shown(sizing, sum(amount for _, amount in rest))})")
        who, many = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else "nobody", verb
    left = burst.demand - burst.room
    carries = {"write": "takes", "read": "gives", "both": "carries"}[burst.direction]
    kept = {"write": "must wait in the buffer", "read": "must be in the buffer before", "both": "are the buffer's"}
    return (
        f"From {begin} on, for {duration(burst.end - burst.begin)}, {who} {many} {shown(sizing, burst.demand)}; the "
        f"file system {carries} {shown(sizing, burst.room)} meanwhile, so that {shown(sizing, left)} "
        f"{kept[burst.direction]}{_counted(burst)}."
    )


def _nothing(sizing: Sizing) -> str:
    traffic = sizing.traffic
    if not traffic.volume.size:
        return "Nobody reads or writes anything, so no buffer is needed."
    if all(map(math.isinf, traffic.limits)):
        return "The platform sets no limit to the file system, so no buffer is needed; is a bandwidth missing?"
    return "The file system keeps up with all applications at every instant, so no buffer is needed."


def violation_words(violation: Violation, traffic: Traffic) -> str:
    """What is wrong with a schedule, and when."""
    when = time_scale(max(map(abs, (*traffic.events[[0, -1]].tolist(), violation.time)))).show(violation.time)
    much = bytes_scale(traffic.limits, violation.excess).show(violation.excess)
    who = "" if violation.application is None else f"{violation.application!r} "
    return f"at {when} {who}{RULES[violation.rule]}: by {much}"


def bandwidth_table(curve: SizeCurve, limits: Limits) -> Table:
    """The smallest size for each speed of the file system; with prices, the cheapest stands out."""
    table = titled_table(f"{curve.partition}: smallest buffer for a file system of another speed (exact)")
    costs = [point.cost for point in curve.bandwidth if point.cost is not None]
    for heading in ("bandwidth", "of today's", "buffer", *(["cost"] if costs else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    rate, scale = rate_scale(curve.now.bandwidth), bytes_scale(limits, curve.most)
    for point in curve.bandwidth:
        size = _NO_SIZE if point.size is None else scale.show(point.size)
        cells = [rate.show(point.bandwidth), fixed(point.factor, 2), size]
        if costs:
            cells.append("" if point.cost is None else money(point.cost))
        best = point.cost is not None and point.cost == min(costs)
        table.add_row(*cells, style="bold green" if best else "")
    return table


def stretch_table(curve: SizeCurve, limits: Limits) -> Table:
    """What a buffer must have at least, and what is enough, if everybody may take longer."""
    table = titled_table(f"{curve.partition}: smallest buffer if everybody may take longer")
    priced = curve.stretch[0].cost is not None
    for heading in ("stretch", "bound", "heuristic", *(["cost (heuristic)"] if priced else [])):
        table.add_column(heading, justify="right", no_wrap=True)
    scale = bytes_scale(limits, curve.stretch[0].size)
    for point in curve.stretch:
        cells = [fixed(point.stretch, 2), scale.show(point.bound), scale.show(point.size)]
        table.add_row(*cells, *([] if point.cost is None else [money(point.cost)]))
    return table


def curve_lines(curve: SizeCurve, limits: Limits) -> list[str]:
    """What the two curves say, and which is which."""
    now = curve.now
    rate, scale = rate_scale(now.bandwidth), bytes_scale(limits, now.size or 0.0)
    today, half, twice = (
        _NO_SIZE if point.size is None else scale.show(point.size)
        for point in (now, curve.bandwidth[0], curve.bandwidth[-1])
    )
    lines = [
        f"Today's {rate.show(now.bandwidth)} need {today}; half of that bandwidth would need {half}, twice as much "
        f"{twice}."
    ]
    if any(point.size is None for point in curve.bandwidth):
        lines.append(f"{_NO_SIZE.capitalize()}: the buffer's own bandwidth is too small for a buffer of any size.")
    if now.cost is not None:
        best = min((point for point in curve.bandwidth if point.cost is not None), key=lambda point: point.cost or 0.0)
        lines.append(
            f"Cheapest of these: {rate.show(best.bandwidth)} with {scale.show(best.size or 0.0)}, "
            f"at {money(best.cost or 0.0)}; today's bandwidth costs {money(now.cost)}."
        )
    lines.append(
        "A stretch of 1 is exact. Above it, nothing below the bound will do under any schedule, and the heuristic's "
        "size is enough: it slows everybody's I/O down evenly. The smallest size is somewhere between."
    )
    return lines
