import _thread
import signal
import threading
import time
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.studies.optimum import states
from penstock.studies.optimum.chains import Chain, by_posting, complete, in_turn, lower_bound, starts, twins
from penstock.studies.optimum.solver import solve
from penstock.studies.optimum.states import explore, strike_needless
from studies.optimum.brute import chain_sets, shortest

SOME = Chain(1, (2, 3), (4, 5), 6)


def soon():
    return time.monotonic() + 30.0


def quiet():
    pass


def any_order(chains):
    return tuple(i for i, chain in enumerate(chains) for _ in chain.io)


def test_a_chain_alone():
    assert SOME.posted == (3, 10)
    assert SOME.rest == (18, 11)
    assert SOME.alone == 21
    assert starts((SOME,), (0, 0)) == ([[3, 10]], 21)


def test_an_order_is_kept_even_where_waiting_does_not_pay():
    chains = (Chain(0, (0,), (1,), 0), Chain(0, (5,), (1,), 0))
    assert starts(chains, (1, 0)) == ([[6], [5]], 7)
    assert starts(chains, (0, 1)) == ([[0], [5]], 6)


def test_orders_that_lack_an_operation_or_have_one_too_many_are_not_complete():
    chains = (SOME, SOME._replace(start=0), Chain(0, (), (), 3))
    assert by_posting(chains) == (1, 0, 1, 0)
    assert complete(chains, (1, 0, 1, 0))
    assert not complete(chains, (1, 0, 1))
    assert not complete(chains, (1, 0, 1, 0, 2))
    assert not complete(chains, (1, 0, 1, 1))


@given(chain_sets())
def test_the_order_of_posting_is_complete(chains):
    assert complete(chains, by_posting(chains))


@given(chain_sets())
def test_the_bound_is_below_the_optimum_and_above_what_is_obvious(chains):
    bound = lower_bound(chains)
    assert bound <= shortest(chains)
    assert bound >= max(chain.alone for chain in chains)
    busy = [chain for chain in chains if chain.io]
    if busy:
        total = sum(sum(chain.io) for chain in busy)
        assert bound >= min(chain.posted[0] for chain in busy) + total + min(chain.tail for chain in busy)


@given(chain_sets(), st.randoms(use_true_random=False))
def test_serving_alike_applications_in_turn_takes_no_longer(chains, chance):
    order = list(any_order(chains))
    chance.shuffle(order)
    turned = in_turn(chains, order)
    assert starts(chains, turned)[1] <= starts(chains, order)[1]
    found, _ = starts(chains, turned)
    for i, twin in enumerate(twins(chains)):
        assert twin < 0 or all(mine >= theirs for mine, theirs in zip(found[i], found[twin], strict=True))


@given(chain_sets().filter(any_order))
def test_states_find_the_optimum(chains):
    best = shortest(chains)
    found = explore(chains, best + 1, 10**6, soon(), quiet)
    assert starts(chains, found.order)[1] == found.bound == best
    assert explore(chains, best, 10**6, soon(), quiet) == (None, best)


@given(chain_sets(operations=4), st.integers(1, 3))
def test_a_narrow_walk_never_promises_too_much(chains, width):
    best, above = shortest(chains), starts(chains, any_order(chains))[1] + 1
    found = explore(chains, above, width, soon(), quiet)
    assert found.bound <= best <= starts(chains, found.order)[1]


def test_a_walk_that_runs_out_of_time_knows_nothing():
    assert explore((SOME, SOME), 100, 10, time.monotonic() - 1.0, quiet) == (None, 0)


@given(chain_sets())
def test_the_solver_finds_the_optimum(chains):
    seen = []
    found = solve(chains, any_order(chains), 0, soon(), lambda makespan, bound: seen.append((makespan, bound)))
    assert starts(chains, found.order)[1] == found.bound == shortest(chains)
    assert all(bound <= found.bound <= makespan for makespan, bound in seen)


def test_the_solver_has_no_time():
    found = solve((SOME, SOME), (0, 0, 1, 1), 7, time.monotonic() - 1.0, lambda makespan, bound: None)
    assert found.bound >= 7
    assert found.order is None or starts((SOME, SOME), found.order)[1] >= found.bound


def long_for_the_solver():
    """Short loops that meet long ones, and I/O that just fills the storage."""
    loops = ((61, 9, 40), (173, 21, 14), (29, 5, 80), (137, 20, 18), (89, 11, 27), (47, 7, 50), (113, 13, 21))
    return tuple(Chain(0, (work,) * count, (io,) * count, 0) for work, io, count in loops)


def test_an_interrupt_stops_the_solver():
    chains, begun = long_for_the_solver(), time.monotonic()
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            solve(chains, by_posting(chains), 0, begun + 60.0, lambda makespan, bound: None)
    finally:
        timer.cancel()
    assert time.monotonic() - begun < 20.0


def test_the_solver_leaves_the_handling_of_interrupts_alone():
    solve((SOME, SOME), (0, 0, 1, 1), 0, soon(), lambda makespan, bound: None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_walk_says_that_it_goes_on(monkeypatch):
    monkeypatch.setattr(states, "_REPORT_EVERY", 0.0)
    told = []
    explore((SOME, SOME), 100, 10, soon(), lambda: told.append(1))
    assert told


@given(
    st.integers(1, 3).flatmap(
        lambda m: st.lists(st.lists(st.integers(0, 2), min_size=2 * m, max_size=2 * m), min_size=1)
    )
)
def test_needless_states_are_struck(rows):
    """Of any two states one of which makes the other needless, exactly one stays, compiled or not."""
    states = np.array(sorted(rows), np.int64).reshape(len(rows), -1)
    m = states.shape[1] // 2
    counts, ready = (np.ascontiguousarray(part) for part in (states[:, :m], states[:, m:]))
    code, compiled, plain = counts.sum(axis=1), np.ones(len(rows), np.bool_), np.ones(len(rows), np.bool_)
    by_code = np.lexsort([ready.sum(axis=1), code])
    code, counts, ready = code[by_code], counts[by_code], ready[by_code]
    strike_needless(code, counts, ready, compiled)
    cast(Any, strike_needless).py_func(code, counts, ready, plain)
    assert compiled.tolist() == plain.tolist()
    kept = [(tuple(counts[i]), tuple(ready[i])) for i in np.flatnonzero(compiled)]
    for i in range(len(rows)):
        mine = (tuple(counts[i]), tuple(ready[i]))
        others = kept.copy()
        if compiled[i]:
            others.remove(mine)
        better = [c == mine[0] and all(a <= b for a, b in zip(r, mine[1], strict=True)) for c, r in others]
        assert any(better) != compiled[i]


def test_scipy_solves_in_the_same_process():
    optimize = pytest.importorskip("scipy.optimize")
    solve((SOME, SOME), (0, 0, 1, 1), 0, soon(), lambda makespan, bound: None)
    assert optimize.linprog([-1, -1], A_ub=[[1, 2]], b_ub=[1], method="highs").fun == pytest.approx(-1)
    solve((SOME, SOME), (0, 0, 1, 1), 0, soon(), lambda makespan, bound: None)
