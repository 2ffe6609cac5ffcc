"""What the controller tells a user whose job waits: when its phase moves, behind how many, whom to ask, the way out.

The words are the same in the job's own log and where its user looks. Its user's jobs are named; those of others are
counted. Times are not known to the second, so they are told with two digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.model.scales import byte_scale

MOST_NAMED = 3  # jobs of the user
_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
SURE = {"good": "fairly sure", "rough": "roughly"}


def phase_words(forecast: Mapping[str, Any]) -> str:
    """Of one phase, by its forecast."""
    ahead = forecast["ahead"]
    to_go = byte_scale(float(f"{ahead:.3g}"), pure=False).show(float(f"{ahead:.3g}"))
    where = "beside" if forecast["start"] == 0.0 else "behind"
    others = f"{where} {_who(forecast['behind'], forecast.get('own'))} with {to_go} to go" if forecast["behind"] else ""
    if forecast["sure"] == "none" or forecast["end"] is None:
        return ", ".join(part for part in ("its end cannot be foreseen", others) if part)
    begins = "moves now" if not forecast["start"] else f"begins in {roughly(forecast['start'])}"
    ends = f"ends in {roughly(forecast['end'])}"
    between = f"({SURE[forecast['sure']]}: {roughly(forecast['earliest'])} to {roughly(forecast['latest'])})"
    return ", ".join(part for part in (begins, f"{ends} {between}", others) if part)


def _who(count: int, own: Sequence[str] | None) -> str:
    """As in: a, b and a job of another user. None: who they are is not foreseen."""
    if own is None:
        return f"{count} job{'s' if count != 1 else ''}"
    names = [*own[:MOST_NAMED], *([f"{len(own) - MOST_NAMED} more of yours"] if len(own) > MOST_NAMED else [])]
    others = count - len(own)
    if others > 0:
        names.append("a job of another user" if others == 1 else f"{others} jobs of other users")
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def roughly(seconds: float) -> str:
    """A time in two digits, in the unit that fits.

    >>> roughly(8.43), roughly(35.48), roughly(143.0), roughly(9000.0), roughly(0.0)
    ('8.4 s', '35 s', '2.4 min', '2.5 h', '0 s')
    """
    size, unit = next((each for each in _UNITS if seconds >= 2.0 * each[0]), (1.0, "s"))
    return f"{float(f'{seconds / size:.2g}'):g} {unit}"


def ask_words(contact: str, opt_out: str) -> str:
    """Whom to ask, and how to go unpaced."""
    return f"Questions: {contact}. Unpaced: {opt_out}."


def waiting_words(waited: float, forecast: Mapping[str, Any], contact: str, opt_out: str) -> str:
    """All of it, in one line of a log."""
    foreseen = f"the phase {phase_words(forecast)}, if {forecast['assumes']}"
    if forecast["sure"] == "none":
        foreseen = phase_words(forecast)
    return f"this job has waited for {roughly(waited)} to move bytes: {foreseen}. {ask_words(contact, opt_out)}"
