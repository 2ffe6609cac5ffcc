"""Which pack starts where, by hand: dealt at once if all are there, else the longest that waits."""

from __future__ import annotations

from penstock.policies.mapping.first_fit import first_fit
from policies.mapping.machine import Machine


def test_packs_are_dealt_at_once_if_all_jobs_are_there() -> None:
    """Of 10, 9, 8 and 7 s the nodes have 10 + 7 and 9 + 8, however early a node is free."""
    machine = Machine([10, 9, 8, 7], [0] * 4, [8] * 4, 8, 2)
    assert first_fit.plain(machine.view([0, 1], 0.0)) == [(0, 0), (1, 1)]
    machine.begin([(0, 0), (1, 1)], 0.0)
    machine.finish(0, 1.0)
    assert first_fit.plain(machine.view([0], 1.0)) == [(3, 0)]
    machine.begin([(3, 0)], 1.0)
    machine.finish(3, 2.0)
    assert first_fit.plain(machine.view([0], 2.0)) == []  # the last one is not for this node


def test_if_others_come_later_a_free_node_starts_the_longest_that_waits() -> None:
    machine = Machine([10, 9, 8, 7, 6], [0] * 5, [8, 8, 8, 8, 2], 8, 2, release=[0, 0, 0, 0, 1])
    machine.begin(first_fit.plain(machine.view([0, 1], 0.0)), 0.0)
    machine.finish(0, 2.0)
    assert first_fit.plain(machine.view([0], 2.0)) == [(2, 0)]


def test_who_comes_joins_a_pack_that_has_not_started() -> None:
    machine = Machine([10, 9, 5, 4], [0] * 4, [6, 6, 2, 2], 8, 1, release=[0, 0, 1, 1])
    machine.begin(first_fit.plain(machine.view([0], 0.0)), 0.0)  # nobody joins that one any more
    machine.finish(0, 2.0)
    assert first_fit.plain(machine.view([0], 2.0)) == [(1, 0), (2, 0)]
