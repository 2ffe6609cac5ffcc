"""The report to a user whose job waits, in lines below the table of its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.live.core.waiting_words import ask_words, phase_words


def forecast_lines(own: Mapping[str, Any]) -> list[str]:
    """A line for each job with an open phase, what all of them assume, and whom to ask; nothing if no job moves."""
    open_ = [(job, job["forecast"]) for job in own["jobs"] if job["forecast"] is not None]
    if not open_:
        return []
    lines = [f"{job['job']}: {phase_words(forecast)}." for job, forecast in open_]
    assumed = next(forecast["assumes"] for _, forecast in open_)
    return [*lines, f"If {assumed}.", ask_words(own["contact"], own["opt_out"])]
