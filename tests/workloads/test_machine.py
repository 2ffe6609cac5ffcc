"""Whole machines that are drawn: the load that was asked for, and the same jobs whatever is planned for them."""

from typing import Any

import pytest

from penstock import generate


def test_the_load_is_what_was_asked_for_on_average():
    asked = 0.6
    found = []
    for seed in range(20):
        made: Any = generate("machine", seed, load=asked, jobs=40)
        whole = sum(target.capacity for target in made.platform.targets)
        rates: list[float] = []
        for job in made.applications:
            write, compute = job.phases[1].phases
            rates.append(write.write / (compute.compute + write.write / job.bandwidth))
        found.append(sum(rates) / whole)
    assert sum(found) / len(found) == pytest.approx(asked, rel=1e-9)


@pytest.mark.parametrize("changed", [{"buffer": 0}, {"buffer": 3.0}, {"stripes": 16}])
def test_the_same_seed_draws_the_same_jobs(changed):
    one, other = generate("machine", 3), generate("machine", 3, **changed)
    assert [job.phases for job in one.applications] == [job.phases for job in other.applications]
    assert [job.bandwidth for job in one.applications] == [job.bandwidth for job in other.applications]


def test_a_buffer_holds_all_checkpoints_so_many_times():
    made: Any = generate("machine", 5, buffer=2.0)
    written = sum(job.phases[1].phases[0].write for job in made.applications)
    assert made.platform.burst_buffer.capacity == pytest.approx(2.0 * written)
    assert sum(made.plan.buffer.shares.values()) == pytest.approx(1.0)


def test_without_a_buffer_there_is_none():
    made = generate("machine", 5, buffer=0)
    assert made.platform.burst_buffer is None
    assert made.plan.buffering is None


def test_stripes_are_dealt_out_in_turn():
    made = generate("machine", 1, jobs=6, targets=8, stripes=4)
    crowd = [sum(place in places for places in made.plan.placement.values()) for place in range(8)]
    assert set(crowd) == {3}
    assert {len(places) for places in generate("machine", 1, targets=8, stripes=99).plan.placement.values()} == {8}
