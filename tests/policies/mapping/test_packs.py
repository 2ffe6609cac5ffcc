"""make-pack against algorithm 1 of P3 taken literally, in exact numbers, and against first-fit written on its own."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.policies.mapping.packs import packed

ROOM = 8
Batch = tuple[Any, Any, Any]


@st.composite
def jobs(draw: st.DrawFn, exact: bool = True) -> Batch:
    """Times, I/O seconds and processors of a few jobs; `exact` makes ties and full packs likely."""
    count = draw(st.integers(1, 12))
    time = st.integers(1, 12).map(lambda value: value / 2) if exact else st.floats(0.1, 100)
    share = st.sampled_from([0, 0.25, 0.5, 0.75, 1.0]) if exact else st.floats(0, 1)
    seconds = draw(st.lists(time, min_size=count, max_size=count))
    shares = draw(st.lists(share, min_size=count, max_size=count))
    processors = draw(st.lists(st.integers(1, ROOM), min_size=count, max_size=count))
    return np.array(seconds), np.array(seconds) * shares, np.array(processors)


def literal(seconds, io, processors, room, sensitivity):
    """Algorithm 1 with the ties of the model: lists of jobs by falling processors, searched from the front."""
    packs: list[list[int]] = []
    times = [Fraction(value) for value in seconds.tolist()]
    moves = [Fraction(value) for value in io.tolist()]
    for i in sorted(range(len(times)), key=lambda i: (-times[i], i)):
        # `packs` is by age and sorting is stable: of equally full ones the older goes first.
        for pack in sorted(packs, key=lambda pack: -sum(processors[j] for j in pack)):
            longest = max(times[j] for j in pack)
            occupation = sum(moves[j] for j in pack) / longest
            enough = sensitivity == np.inf or moves[i] <= (Fraction(sensitivity) - occupation) * longest
            if enough and processors[i] <= room - sum(processors[j] for j in pack):
                pack.append(i)
                break
        else:
            packs.append([i])
    return packs


def as_sets(pack):
    return {frozenset(np.flatnonzero(pack == number).tolist()) for number in range(pack.max() + 1)}


@given(jobs(), st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.25, np.inf]))
def test_algorithm_1(batch: Batch, sensitivity: float) -> None:
    pack = packed(*batch, ROOM, sensitivity)
    assert as_sets(pack) == {frozenset(each) for each in literal(*batch, ROOM, sensitivity)}


@given(jobs(exact=False))
def test_infinite_sensitivity_is_first_fit(batch: Batch) -> None:
    """First-fit as everybody knows it, the fullest pack being the first: no word of I/O in it."""
    seconds, _, processors = batch
    members: list[set[int]] = []
    left: list[int] = []
    for i in sorted(range(seconds.size), key=lambda i: (-seconds[i], i)):
        fitting = [k for k in range(len(left)) if left[k] >= processors[i]]
        if fitting:
            chosen = min(fitting, key=lambda k: (left[k], k))
        else:
            chosen = len(left)
            members.append(set())
            left.append(ROOM)
        members[chosen].add(i)
        left[chosen] -= processors[i]
    assert as_sets(packed(*batch, ROOM, np.inf)) == {frozenset(each) for each in members}


@given(jobs(exact=False), st.floats(0.1, 4) | st.just(np.inf))
def test_every_pack_keeps_both_limits(batch: Batch, sensitivity: float) -> None:
    seconds, io, processors = batch
    pack = packed(*batch, ROOM, sensitivity)
    assert sorted(set(pack.tolist())) == list(range(pack.max() + 1))
    for number in range(pack.max() + 1):
        own = pack == number
        assert processors[own].sum() <= ROOM
        load = io[own].sum() / seconds[own].max()
        assert load <= sensitivity * (1 + 1e-8) or own.sum() == 1


@given(jobs(exact=False), st.floats(0.1, 4))
def test_packs_are_numbered_by_falling_time(batch: Batch, sensitivity: float) -> None:
    pack = packed(*batch, ROOM, sensitivity)
    longest = [batch[0][pack == number].max() for number in range(pack.max() + 1)]
    assert all(later <= earlier * (1 + 1e-8) for earlier, later in pairwise(longest))


def test_ties():
    ones = np.ones(3)
    # Equal times go by the scenario, equal packs by their age.
    assert packed(ones, ones * 0.5, np.array([1, 1, 1]), ROOM, 1.0).tolist() == [0, 0, 1]
    assert packed(np.array([3.0, 2.0, 1.0]), np.zeros(3), np.array([5, 5, 3]), ROOM, 1.0).tolist() == [0, 1, 0]


def test_rounding_does_not_open_a_pack():
    io = np.array([0.1, 0.2])  # 0.30000000000000004 in all
    assert packed(np.array([0.3, 0.3]), io, np.array([1, 1]), ROOM, 1.0).tolist() == [0, 0]
    times = np.array([0.3, 0.1 + 0.2])  # the second is longer by rounding alone
    assert packed(times, np.array([0.3, 0.3]), np.array([1, 1]), ROOM, 1.0).tolist() == [0, 1]


def test_a_job_with_too_much_io_has_a_pack_of_its_own():
    assert packed(np.array([2.0, 1.0]), np.array([2.0, 0.0]), np.array([1, 1]), ROOM, 0.5).tolist() == [0, 1]


def test_a_thousand_jobs_in_a_fifth_of_a_second():
    from time import thread_time  # noqa: PLC0415

    from penstock.policies.mapping.longest_first import longest_first  # noqa: PLC0415

    draw = np.random.default_rng(0)
    seconds = draw.uniform(1e3, 1e5, 1000)
    io, processors = seconds * draw.uniform(0, 0.5, 1000), 2 ** draw.integers(0, 11, 1000)

    def once():
        started = thread_time()
        pack = packed(seconds, io, processors, 2048, 1.0)
        longest_first(np.array([seconds[pack == number].max() for number in range(pack.max() + 1)]), 5)
        return thread_time() - started

    assert min(once() for _ in range(3)) <= 0.2
