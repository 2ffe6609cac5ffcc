"""First come, first served, and who may pass, by hand."""

from __future__ import annotations

from penstock.policies.mapping.easy import easy
from policies.mapping.machine import Machine


def starts(machine: Machine, nodes: list[int], now: float) -> list[tuple[int, int]]:
    return easy.plain(machine.view(nodes, now, factor=1.0))


def test_who_has_no_room_where_the_first_waits_starts_elsewhere() -> None:
    """The first that waits needs a whole node, and has the first one from 10 s on; the next fits on the other now."""
    machine = Machine([10, 20, 5, 50], [0] * 4, [6, 4, 8, 3], 8, 2)
    machine.begin([(0, 0), (1, 1)], 0.0)
    assert starts(machine, [0, 1], 0.0) == [(3, 1)]


def test_nobody_passes_who_would_not_be_over_in_time() -> None:
    """The first starts and ends at 10; until then the second waits. The third takes longer, the fourth does not."""
    machine = Machine([10, 5, 50, 5], [0] * 4, [2, 8, 2, 2], 8, 1)
    assert starts(machine, [0], 0.0) == [(0, 0), (3, 0)]


def test_who_leaves_enough_free_passes() -> None:
    """The second needs 5 and starts at 10: the third leaves these, and then the fourth does not."""
    machine = Machine([10, 5, 50, 50], [0] * 4, [4, 5, 2, 2], 8, 1)
    assert starts(machine, [0], 0.0) == [(0, 0), (2, 0)]
