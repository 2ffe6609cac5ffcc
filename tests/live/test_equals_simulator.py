"""The controller decides as the simulator does: same rates, same events, same metrics, to the last digit.

Policies that plan with the phases still to come are handed the same foresight as in the simulator; a live controller
could not have it. Ticks whose length the simulator works out from the whole run are given as a number.

Every policy meets random scenarios and one or two of the examples, each example five policies or more, and every third
policy also a kind of generated ones; in `make soak` all meet all.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.harness.live_decider import LiveDecider, first_difference, with_foresight
from live.harness.lockstep import Lockstep
from penstock import Scenario, generate, load
from penstock.engine.link.execution import Run, execute, origin_of, tick_of
from penstock.metrics.measure import measure
from penstock.policies.sharing import NAMES, Sharing, find
from penstock.studies.study import Part, Study
from slices import sliced
from strategies import crowds, scenarios

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# A controller shares what jobs cross now; where a plan leads them through a buffer is the simulator's alone.
SCENARIOS = [file for file in sorted(EXAMPLES.glob("*.yaml")) if load(file).plan is None]
GENERATED = [
    ("synthetic", {"applications": 15, "small": 5, "horizon": 2e5}),
    ("example-1", {"m": 4}),
    ("example-3", {"m": 4}),
    ("example-6", {"m": 12}),
    ("chains", {}),
    ("uniform", {}),
    ("tucan", {}),
]


def generated_pairs() -> list[object]:
    """Every kind with every policy; of every third policy one kind always, another one for each."""
    pairs = [(kind, how, name) for name in NAMES for kind, how in GENERATED]
    return sliced(pairs, lambda place, _: place % (3 * len(GENERATED) + 1) == 0)


def example_pairs() -> list[object]:
    """Every example with every policy; five sixths are for a soak."""
    places = [(file, name, place + turn) for place, file in enumerate(SCENARIOS) for turn, name in enumerate(NAMES)]
    return sliced([case[:2] for case in places], lambda place, _: places[place][2] % 6 == 0)


def differences(study: Study, policy: Sharing) -> list[str]:
    """What differs between the simulator and the controller, on each part of a scenario that shares a bandwidth."""
    found = []
    for part in study.parts:
        found += _of_part(study, part, policy)
    return found


def _of_part(study: Study, part: Part, policy: Sharing) -> list[str]:
    program = part.program
    foresight = study.foresight_of(part) if policy.prepare else None
    tick = tick_of(policy, part.outlook, program)
    origin = origin_of(program, tick)
    if "delta" in policy.settings and tick > 0.0:
        policy = policy.with_settings({"delta": tick})
    theirs = execute(program, policy, part.outlook, foresight, timeline=True)
    if foresight is not None:
        foresight = foresight._replace(start=foresight.start - origin)
    live = LiveDecider(program, with_foresight(policy, foresight), origin)
    mine = Lockstep(program, origin, tick, live).run()
    assert live.core.state.failures == 0, live.core.state.last_failure
    return _compared(mine, theirs) or _measured(study, policy, mine, theirs)


def _compared(mine: Run, theirs: Run) -> list[str]:
    assert mine.timeline is not None
    assert theirs.timeline is not None
    columns = [
        (name, getattr(mine, name), getattr(theirs, name)) for name in vars(mine) if name not in ("seconds", "timeline")
    ]
    columns += [
        (f"timeline.{name}", getattr(mine.timeline, name), getattr(theirs.timeline, name))
        for name in ("rate", "application", "operation", "start", "stop")
    ]
    texts = [(name, first_difference(np.atleast_1d(one), np.atleast_1d(other))) for name, one, other in columns]
    return [f"{name}: {text}" for name, text in texts if text]


def _measured(study: Study, policy: Sharing, mine: Run, theirs: Run) -> list[str]:
    if len(study.parts) > 1:
        return []
    one, other = (measure(study.program, study.yardsticks, policy.label, each) for each in (mine, theirs))
    return [] if replace(one, seconds=0.0) == replace(other, seconds=0.0) else [f"{one} instead of {other}"]


@settings(max_examples=9 * settings().max_examples)
@given(scenario=scenarios() | crowds().map(Scenario.from_document), name=st.sampled_from(NAMES))
def test_random_scenarios(scenario: Scenario, name: str) -> None:
    assert differences(Study(scenario, bounds=False), find(name)) == []


@pytest.mark.parametrize(("file", "name"), example_pairs(), ids=lambda value: getattr(value, "stem", value))
def test_examples(file: Path, name: str) -> None:
    assert differences(Study(load(file), bounds=False), find(name)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "how", "name"), generated_pairs(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_generated(kind: str, how: dict[str, Any], name: str) -> None:
    assert differences(Study(generate(kind, **how), bounds=False), find(name)) == []


@given(scenario=scenarios(), fraction=st.floats(0.1, 1.0))
def test_a_policy_of_ones_own(scenario: Scenario, fraction: float) -> None:
    def cautious(view, rates):
        rates[:] = view.limit * min(1.0, view.capacity / view.limit.sum()) * fraction

    assert differences(Study(scenario, bounds=False), find(cautious)) == []
