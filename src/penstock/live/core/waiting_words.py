"""What a user is told whose job waits: when its phase begins and ends, behind how many, whom to ask, and the way out.

The words are the same in the job's own log and where its user looks. Jobs of others are counted, never named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.model.scales import byte_scale, duration

SURE = {"good": "fairly sure", "rough": "roughly"}


def phase_words(forecast: Mapping[str, Any]) -> str:
    """Of one phase, by its forecast."""
    behind, ahead = forecast["behind"], forecast["ahead"]
    to_go = byte_scale(ahead, pure=False).show(ahead)
    others = f"behind {behind} job{'s' if behind != 1 else ''} with {to_go} to go" if behind else ""
    if forecast["sure"] == "none" or forecast["end"] is None:
        return ", ".join(part for part in ("its end cannot be foreseen", others) if part)
    begins = "moves now" if not forecast["start"] else f"begins in {duration(forecast['start'])}"
    ends = f"ends in {duration(forecast['end'])}"
    between = f"({SURE[forecast['sure']]}: {duration(forecast['earliest'])} to {duration(forecast['latest'])})"
    return ", ".join(part for part in (begins, f"{ends} {between}", others) if part)


def ask_words(contact: str, opt_out: str) -> str:
    """Whom to ask, and how to go unpaced."""
    return f"Questions: {contact}. Unpaced: {opt_out}."


def waiting_words(waited: float, forecast: Mapping[str, Any], contact: str, opt_out: str) -> str:
    """All of it, in one line of a log."""
    foreseen = f"the phase {phase_words(forecast)}, if {forecast['assumes']}"
    if forecast["sure"] == "none":
        foreseen = phase_words(forecast)
    return f"this job has waited for {duration(waited)} to move bytes: {foreseen}. {ask_words(contact, opt_out)}"
