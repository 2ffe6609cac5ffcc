"""The report of advice in sentences. Every figure in them is in the JSON, too."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from penstock.report.parts.quantities import NOTHING, byte_scale, duration, rate_scale, significant

if TYPE_CHECKING:
    from penstock.advise import Advice
    from penstock.advise.estimate import Estimate
    from penstock.advise.policies import TieGroup
    from penstock.advise.sensitivity import Sensitivity

_GRADES = {
    "A": "bytes are placed within 0.5 % of the run times",
    "B": "bytes are placed within 5 % of the run times",
    "C": "bursts cannot be told apart",
    "D": "times are missing or cut off",
}
_MOST_TIED = 4


class AdviceAnswer(NamedTuple):
    """One of the questions, what is answered, and on what ground."""

    question: str
    answer: str
    ground: str


def answers(advice: Advice) -> list[AdviceAnswer]:
    """All questions, in the order in which they build on each other."""
    return [
        AdviceAnswer("Can these data answer?", data_words(advice), data_ground(advice)),
        AdviceAnswer("Is there contention?", contention_words(advice), _run_ground(advice)),
        AdviceAnswer("Which sharing policy?", policy_words(advice), _by(advice)),
        AdviceAnswer("How many targets?", targets_words(advice), _by(advice) if advice.targets else ""),
        AdviceAnswer("A burst buffer?", buffer_words(advice), _by(advice) if advice.buffer else ""),
        AdviceAnswer("What would change this?", sensitivity_words(advice), "each unknown at its ends, and all of them"),
    ]


def data_words(advice: Advice) -> str:
    """How much was seen, and how well."""
    data = advice.data
    seen = f"{_count(data.jobs, 'job')}, {_count(data.days, 'day')}"
    if data.grade:
        seen += f", grade {data.grade}: {_GRADES[data.grade]}"
    if data.node_hour_coverage is not None:
        seen += f"; logs cover {_percent(data.node_hour_coverage)} of the node-hours"
    return f"{seen}."


def data_ground(advice: Advice) -> str:
    """How well simulated run times agree with those seen."""
    error = advice.data.run_time_error
    plan = next((each for each in advice.assumptions if each.name == "plan"), None)
    if plan is not None:
        under = "under the scenario's plan" if plan.origin == "given" else f"as it is unasked: {plan.value}"
        return f"the whole machine, {under}"
    if error is None:
        return "numbers as the scenario gives them"
    return f"simulated run times are off by {_percent(error)} (median)"


def contention_words(advice: Advice) -> str:
    """What is asked for and what is lost."""
    found = advice.contention
    asked = f"Jobs ask for {_percent(found.pressure.value)} of the bandwidth{_range(found.pressure, _percent)}"
    if found.node_hours is None:
        lost = f"waiting for each other costs {_percent(found.share.value)} of their time"
    else:
        lost = f"waiting for each other costs {_percent(found.share.value)} of their node-hours"
        lost += f"{_range(found.share, _percent)}"
        lost += f", {significant(found.node_hours)} in all" if found.node_hours >= 0.5 else ""
    return f"{asked}; {lost}."


def policy_words(advice: Advice) -> str:
    """The group, or why there is none."""
    if advice.policy is None:
        return f"No policy is named: {advice.why_not['policy']}."
    return group_words(advice.policy)


def group_words(found: TieGroup) -> str:
    """A group and what its first member gains."""
    others = [name for name in found.tied if name != found.against]
    shown = gain_words(found)
    if found.verdict != "better":
        return f"No evidence that anything is better than {found.against}; to take one of the group, {shown}"
    if len(others) == 1:
        return f"{others[0]}. {shown}"
    named = ", ".join(others[1:_MOST_TIED]) + (" …" if len(others) > _MOST_TIED else "")
    return f"{others[0]}, or as good for all we know: {named}. {shown}"


def gain_words(found: TieGroup) -> str:
    """What the first member has over what is in use, in both goals."""
    hours = found.shown.node_hours_gain
    parts = [_raising(found.shown.min_yield_gain), *([_saving(hours)] if hours else [])]
    if found.goal == "node-hours":
        parts.reverse()
    return f"{found.of} {' and '.join(parts)}, against {found.against}."


def targets_words(advice: Advice) -> str:
    """The group of allocations, or why there is none."""
    if advice.targets is None:
        return f"No answer: {advice.why_not['targets']}."
    return group_words(advice.targets.policies)


def buffer_words(advice: Advice) -> str:
    """The smallest size that pays, or why there is none."""
    if advice.buffer is None:
        return f"No answer: {advice.why_not['buffer']}."
    chosen, largest = advice.buffer.chosen, advice.buffer.sizes[-1]
    if chosen is None:
        what = f"{_bytes(largest.capacity)} ({duration(largest.drain_seconds)} of the bandwidth)"
        return f"No evidence that a buffer helps: even {what} gives {_size_gain(largest.min_yield_gain, None)}."
    size = f"{_bytes(chosen.capacity)}, which the file system drains in {duration(chosen.drain_seconds)},"
    gain = _size_gain(chosen.min_yield_gain, chosen.node_hours_gain)
    if chosen is largest:
        return f"Not bursts alone: even the largest tried, {size} gains more than the next smaller; it gives {gain}."
    return f"A buffer of {size} that all may use gives {gain}."


def sensitivity_words(advice: Advice) -> str:
    """Which unknowns would change the answer."""
    if not advice.sensitivity:
        return "Nothing was swept: no number is unknown."
    changing = [each for each in advice.sensitivity if each.changes_answer]
    ranges = "; ".join(f"{each.unknown.name} {ends_words(each)}" for each in changing or advice.sensitivity)
    return f"It depends on {ranges}." if changing else f"Nothing between these ends: {ranges}."


def ends_words(each: Sensitivity) -> str:
    """From where to where an unknown was swept."""
    return f"{value_words(each, each.start)} to {value_words(each, each.end)}"


def value_words(each: Sensitivity, value: float | int | str) -> str:
    """One end of an unknown."""
    if each.unknown.name == "bandwidth":
        return rate_scale(float(value)).show(float(value))
    if each.unknown.name == "caps":
        return f"× {float(value):g}"
    if each.unknown.name == "bursts":
        return "one per open" if value == "opens" else f"{value}"
    return str(value)


def estimate_cells(found: Estimate | None, show: str) -> tuple[str, str]:
    """A figure and its interval, each for a column."""
    if found is None:
        return NOTHING, NOTHING
    shows = _signed_yield if show == "yield" else _signed_hours
    if math.isnan(found.low):
        return shows(found.value), NOTHING
    return shows(found.value), f"{shows(found.low)} … {shows(found.high)}"


def _by(advice: Advice) -> str:
    if advice.data.by_days:
        return f"{advice.data.days} days, paired, Student's t"
    return "jobs drawn anew, within this day" if advice.data.days == 1 else "jobs drawn anew, within these days"


def _run_ground(advice: Advice) -> str:
    return f"simulated under {advice.tried.against}; {_by(advice)}"


def _both(found: Estimate, show: str) -> str:
    value, ends = estimate_cells(found, show)
    return value if ends == NOTHING else f"{value}; {ends}"


def _raising(gain: Estimate) -> str:
    if not gain.sign:
        return f"does not clearly change the worst yield of a day ({_both(gain, 'yield')})"
    what = "raises" if gain.value > 0 else "lowers"
    return f"{what} the worst yield of a day by {_yield(abs(gain.value))}{_range(_turned(gain), _yield)}"


def _saving(hours: Estimate) -> str:
    if math.isnan(hours.low):
        what = "saves" if hours.value >= 0 else "loses"
        return f"{what} about {_hours(abs(hours.value))} node-hours a day (no interval)"
    if not hours.sign:
        return f"does not clearly change the node-hours lost in a day ({_both(hours, 'hours')} saved)"
    what = "saves" if hours.value >= 0 else "loses"
    return f"{what} {_hours(abs(hours.value))} node-hours a day{_range(_turned(hours), _hours)}"


def _size_gain(yields: Estimate, hours: Estimate | None) -> str:
    saved = f", and saves {_hours(hours.value)} node-hours a day{_range(hours, _hours)}" if hours else ""
    return f"{_signed_yield(yields.value)} in the worst yield of a day{_range(yields, _yield)}{saved}"


def _turned(found: Estimate) -> Estimate:
    """As an amount of what the words say: a loss of 3 is not one of −3."""
    value, low, high = found
    return found if value >= 0 else found._replace(value=-value, low=-high, high=-low)


def _range(found: Estimate, show: object) -> str:
    assert callable(show)
    if math.isnan(found.low) or show(found.low) == show(found.high):
        return ""
    return f" ({show(found.low)} to {show(found.high)})"


def _percent(share: float) -> str:
    if 0.0 < abs(share) < 0.0005:
        return "less than 0.1 %"
    return f"{100 * share:.1f} %" if abs(share) < 0.1 else f"{100 * share:.0f} %"


def _yield(value: float) -> str:
    return f"{value + 0.0:.3f}".replace("-", "−")


def _signed_yield(value: float) -> str:
    return re.sub(r"^[+-]0\.000$", "0", f"{value:+.3f}").replace("-", "−")


def _hours(value: float) -> str:
    """Three digits: more would be read as knowledge."""
    return f"{float(f'{value:.3g}'):,.10g}".replace("-", "−")


def _signed_hours(value: float) -> str:
    shown = _hours(value)
    return f"+{shown}" if value > 0 else shown


def _bytes(volume: float) -> str:
    return byte_scale(volume, pure=volume < 1e3).show(volume)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
