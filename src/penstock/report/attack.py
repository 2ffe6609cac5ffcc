"""The report of an attack, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.report.parts.quantities import fixed

if TYPE_CHECKING:
    from penstock.studies.attack import Attack

_KINDS = {"closed": "that are there from beginning to end", "arrivals": "that come and go"}


def attack_lines(found: Attack) -> list[str]:
    """The figure, and how little a search proves."""
    count = len(found.scenario.applications)
    if found.min_yield >= found.min_yield_against:
        said = f"On none of {found.tried:,} small scenarios was {found.policy} below {found.against}"
    else:
        said = (
            f"{found.policy} has a min yield of {fixed(found.min_yield)} where {found.against} has "
            f"{fixed(found.min_yield_against)} ({fixed(found.ratio)} times as much), "
            f"with {count} jobs {_KINDS[found.jobs]}"
        )
    return [f"{said}.", f"The worst of {found.tried:,} scenarios from seed {found.seed}: there may be worse ones."]
