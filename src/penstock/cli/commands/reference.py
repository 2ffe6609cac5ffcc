"""`penstock reference`: what is left, between the best schedule known and the lowest bound."""

from __future__ import annotations

from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import Budget, Json, Noise, ScenarioFile, SearchSeed, Seed
from penstock.cli.parts.output import tell
from penstock.cli.parts.simulations import disturbed, find_reference
from penstock.cli.rooms import model, report


def reference(
    scenario: ScenarioFile,
    budget: Budget = None,
    search_seed: SearchSeed = None,
    noise: Noise = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Find how much is left in SCENARIO: the best schedule known, and what no schedule can beat."""
    given = disturbed(model.load(scenario), noise, seed)
    best = find_reference(given, budget, search_seed)
    unread = say_ignored(given, "reference")
    words = report.reference
    tell(best.to_dict() | unread, [words.reference_table(best), *words.reference_lines(best)], json)
