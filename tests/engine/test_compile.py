"""Compiling a scenario: what the random scenarios do not reach."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import PenstockError, Scenario, simulate
from penstock.engine.compile import compile_scenario
from penstock.model import Application, Compute, Platform, Repeat, Window, Write


def scenario(*phases: Compute | Write | Repeat, **changes: object) -> Scenario:
    settings: dict[str, Any] = {"window": Window(end=10.0)} | changes
    application = Application(name="a", phases=phases)
    return Scenario(version=1, platform=Platform(bandwidth=1.0), applications=(application,), **settings)


@pytest.mark.parametrize("seed", range(6))
def test_a_phase_may_be_listed_twice_as_the_same_object(seed: int) -> None:
    long = Compute(compute=10.5)
    same = scenario(long, Write(write=1.0), long, noise=0.9, seed=seed)
    equal = scenario(long, Write(write=1.0), Compute(compute=10.5), noise=0.9, seed=seed)
    assert simulate(same).applications == simulate(equal).applications


def test_loops_are_unrolled_no_further_than_the_window_reaches() -> None:
    endless = scenario(Repeat(repeat=10**9, phases=(Compute(compute=1.0), Write(write=1.0))))
    program = compile_scenario(endless)
    assert 5 <= program.volume.size <= 7
    assert program.endless.tolist() == [True]


def test_what_takes_longer_than_numbers_reach_is_refused() -> None:
    with pytest.raises(PenstockError, match="takes longer than numbers reach"):
        simulate(scenario(Write(write=1e308), Write(write=1e308), window=None))


def test_a_body_that_takes_no_time_cannot_repeat_for_ever() -> None:
    nothing = Repeat(repeat=10**9, phases=(Compute(compute=0.0),))
    with pytest.raises(PenstockError, match="at most 50,000,000"):
        simulate(scenario(nothing, Write(write=1.0)))
