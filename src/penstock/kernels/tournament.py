"""Which of many comes next, for kernels: a tree whose leaves are times, and nodes the earlier of their two children.

A new time costs the way from its leaf to the root, less where a time on the way stays what it was.
"""

from __future__ import annotations

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import kernel

_F = types.float64[::1]
_MANY = 16


def empty_tree(leaves: int) -> Floats:
    """For so many times, all of them never."""
    size = 1 << (leaves - 1).bit_length()
    return np.full(2 * size, np.inf)


@kernel(types.void(_F, types.int64, types.float64), forceinline=True)
def put(tree: Floats, leaf: int, time: float) -> None:
    """Set the time of a leaf."""
    node = (tree.size >> 1) + leaf
    tree[node] = time
    while node > 1:
        earlier = min(tree[node], tree[node ^ 1])
        node >>= 1
        if tree[node] == earlier:
            break
        tree[node] = earlier


@kernel(types.void(_F, types.int64, types.float64, types.boolean), forceinline=True)
def put_one(tree: Floats, leaf: int, time: float, among_many: bool) -> None:
    """Set the time of a leaf; one among many only there, since `settle` is to follow."""
    if among_many:
        tree[(tree.size >> 1) + leaf] = time
    else:
        put(tree, leaf, time)


@kernel(types.boolean(_F, types.int64), forceinline=True)
def are_many(tree: Floats, leaves: int) -> bool:
    """Whether so many new times take longer one by one than all nodes of the tree anew."""
    return leaves * _MANY > tree.size >> 1


@kernel(types.void(_F), forceinline=True)
def settle(tree: Floats) -> None:
    """Find all nodes anew."""
    for node in range((tree.size >> 1) - 1, 0, -1):
        tree[node] = min(tree[2 * node], tree[2 * node + 1])


@kernel(types.int64(_F), forceinline=True)
def first(tree: Floats) -> int:
    """The leaf with the earliest time, which is `tree[1]`."""
    node = 1
    while node < tree.size >> 1:
        node *= 2
        node += tree[node] > tree[node + 1]
    return node - (tree.size >> 1)
