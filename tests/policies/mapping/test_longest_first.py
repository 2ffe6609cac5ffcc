"""LPT against the rule taken literally and against the best of all distributions."""

from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.policies.mapping.longest_first import longest_first

times = st.lists(st.integers(1, 20).map(float), min_size=1, max_size=7)


def literal(seconds, nodes):
    free, node = [0.0] * nodes, {}
    for pack in sorted(range(len(seconds)), key=lambda pack: (-seconds[pack], pack)):
        node[pack] = free.index(min(free))
        free[node[pack]] += seconds[pack]
    return [node[pack] for pack in range(len(seconds))]


def finish(seconds, node, nodes):
    return max(sum(s for s, k in zip(seconds, node, strict=True) if k == each) for each in range(nodes))


@given(times, st.integers(1, 3))
def test_the_rule_and_its_guarantee(seconds, nodes):
    node = longest_first(np.array(seconds), nodes).tolist()
    assert node == literal(seconds, nodes)
    best = min(finish(seconds, choice, nodes) for choice in product(range(nodes), repeat=len(seconds)))
    assert best <= finish(seconds, node, nodes) <= (4 / 3 - 1 / (3 * nodes)) * best * (1 + 1e-9)


def test_the_worst_case_is_reached():
    assert finish([3, 3, 2, 2, 2], longest_first(np.array([3.0, 3, 2, 2, 2]), 2), 2) == 7


def test_nodes_that_are_free_at_the_same_time():
    assert longest_first(np.array([1.0, 1.0, 1.0, 1.0]), 3).tolist() == [0, 1, 2, 0]
    # 0.1 + 0.2 is free as early as 0.3, rounding apart.
    assert longest_first(np.array([0.3, 0.2, 0.1, 0.05]), 2).tolist() == [0, 1, 1, 0]
