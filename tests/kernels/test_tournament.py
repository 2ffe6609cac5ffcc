"""The tree of next completions against a plain list of times."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernels.tournament import are_many, empty_tree, first, put, put_one, settle

# Few different times make ties likely.
times = st.sampled_from([0.0, 1.0, 2.5, inf]) | st.floats(0, 1e12)


@given(leaves=st.integers(1, 70), data=st.data())
def test_the_earliest_of_all_after_any_updates(leaves, data):
    tree, plain = empty_tree(leaves), [inf] * leaves
    for leaf, time in data.draw(st.lists(st.tuples(st.integers(0, leaves - 1), times), max_size=60)):
        put(tree, leaf, time)
        plain[leaf] = time
        assert tree[1] == min(plain)
        assert first(tree) == int(np.argmin(plain))  # of equal times the first
    inner = tree.size // 2
    assert tree[inner : inner + leaves].tolist() == plain
    assert all(tree[node] == min(tree[2 * node], tree[2 * node + 1]) for node in range(1, inner))


@given(leaves=st.integers(1, 70), data=st.data())
def test_many_at_once_give_the_same_tree_as_one_by_one(leaves, data):
    tree, other = empty_tree(leaves), empty_tree(leaves)
    chosen = data.draw(st.lists(st.tuples(st.integers(0, leaves - 1), times), max_size=60))
    for leaf, time in chosen:
        put_one(tree, leaf, time, False)
        put_one(other, leaf, time, True)
    settle(other)
    assert tree.tolist() == other.tolist()
    assert are_many(tree, leaves)
    assert not are_many(tree, 0)


@pytest.mark.parametrize("leaves", [*range(1, 18), 1000, 1024, 1025])
def test_every_leaf_can_be_the_first_and_the_empty_places_never_are(leaves):
    tree = empty_tree(leaves)
    assert tree.size >= 2 * leaves
    for leaf in range(leaves):
        put(tree, leaf, 5.0)
        assert (first(tree), tree[1]) == (leaf, 5.0)
        put(tree, leaf, inf)
    assert (tree == inf).all()


@given(st.lists(times, min_size=1, max_size=70))
def test_taking_the_first_again_and_again_sorts(values):
    tree = empty_tree(len(values))
    for leaf, time in enumerate(values):
        put(tree, leaf, time)
    taken = []
    while tree[1] < inf:
        leaf = first(tree)
        taken.append((values[leaf], leaf))
        put(tree, leaf, inf)
    assert taken == sorted((time, leaf) for leaf, time in enumerate(values) if time < inf)


@pytest.mark.parametrize("leaf", range(4))
def test_all_nodes_are_found_anew(leaf):
    tree = empty_tree(4)
    put_one(tree, leaf, 1.0, True)
    settle(tree)
    assert (first(tree), tree[1]) == (leaf, 1.0)
