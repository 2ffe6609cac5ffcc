"""The rule of backfilling against itself written plainly, on made-up ends."""

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.policies.mapping.backfill import Backfill, backfill
from policies.mapping.machine import Machine

ROOM = 8


class Plain:
    """The same rule: lists, sums anew at every look, no short cuts."""

    def __init__(self, seconds, io, processors, nodes, sensitivity):
        self.seconds, self.processors = seconds, processors
        self.demand = [io[i] / seconds[i] for i in range(len(seconds))]
        self.most = sensitivity + 1e-9
        weight = [seconds[i] + processors[i] * seconds[i] / ROOM + io[i] for i in range(len(seconds))]
        self.queue = sorted(range(len(seconds)), key=lambda i: (-weight[i], i))
        self.running: list[dict[Any, Any]] = [{} for _ in range(nodes)]

    def fits(self, job, others):
        if not others:
            return True
        together = [*others, job]
        return sum(self.processors[i] for i in together) <= ROOM and sum(self.demand[i] for i in together) <= self.most

    def opening(self, job, node, now):
        """When, and who else is there then."""
        others = sorted(self.running[node], key=self.running[node].get)
        time = now
        while not self.fits(job, others):
            time = max(now, self.running[node][others.pop(0)])
        return time, node, others

    def start(self, nodes, now):
        started, promise = [], None
        for job in list(self.queue):
            able = [node for node in nodes if self.fits(job, self.running[node])]
            if promise:
                time, reserved, others, head = promise
                short = now + self.seconds[job] <= time
                if not short and not self.fits(job, [*others, head]):
                    able = [node for node in able if node != reserved]
            if able:
                node = min(able, key=self.fullness)
                if promise and node == promise[1] and not short:
                    promise[2].append(job)
                self.running[node][job] = now + self.seconds[job]
                self.queue.remove(job)
                started.append((job, node))
            elif not promise:
                openings = [self.opening(job, node, now) for node in range(len(self.running))]
                promise = (*min(openings, key=lambda each: each[0]), job)
        return started

    def fullness(self, node):
        own = self.running[node]
        return sum(self.demand[i] for i in own), sum(self.processors[i] for i in own), node


@st.composite
def batches(draw):
    """Numbers that add up exactly, so that both ways to sum them agree."""
    count = draw(st.integers(1, 14))
    every = {"min_size": count, "max_size": count}
    seconds = draw(st.lists(st.sampled_from([1.0, 2.0, 4.0, 8.0, 16.0]), **every))
    shares = draw(st.lists(st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75]), **every))
    processors = draw(st.lists(st.integers(1, ROOM), **every))
    late = draw(st.lists(st.sampled_from([1.0, 1.0, 1.25, 2.0, 3.5]), **every))
    return np.array(seconds), np.array(seconds) * shares, np.array(processors), late


@given(batches(), st.integers(1, 3), st.sampled_from([0.5, 1.0, 1.5, math.inf]))
def test_the_rule(batch, nodes, sensitivity):
    seconds, io, processors, late = batch
    machine = Machine(seconds, io, processors, ROOM, nodes)
    plain = Plain(seconds.tolist(), io.tolist(), processors.tolist(), nodes, sensitivity)
    ends, seen = [], []

    def decide(asked, now):
        started = backfill.plain(machine.view(asked, now, sensitivity=sensitivity))
        assert started == plain.start(asked, now)
        machine.begin(started, now)
        for job, node in started:
            ends.append((now + seconds[job] * late[job], node, job))
            seen.append(job)
        check_limits(machine, sensitivity)

    decide(range(nodes), 0.0)
    while ends:
        now, node, job = min(ends)
        ends.remove((now, node, job))
        machine.finish(job, now)
        del plain.running[node][job]
        decide([node], now)
    assert sorted(seen) == list(range(len(late)))


def check_limits(machine, sensitivity):
    view = machine.view([0], 0.0)
    for node in range(machine.nodes):
        own = view.running[view.node[view.running] == node]
        demand = (machine.io[own] / machine.seconds[own]).sum()
        assert demand <= sensitivity * (1 + 1e-12) or own.size == 1
        assert own.size or not view.waiting.size  # no node stands empty while a job waits


def test_narrow_jobs_do_not_keep_a_wide_one_waiting():
    """Without its promise the wide job would see the narrow ones pass, two by two, to the last."""
    machine = Machine([20, 16, *[11] * 6], [0] * 8, [5, 8, *[3] * 6], ROOM, 1)

    def starts(now):
        found = backfill.plain(machine.view([0], now, sensitivity=1.5))
        machine.begin(found, now)
        return found

    assert Backfill(machine.view([0], 0.0), 1.5).queue[:2].tolist() == [0, 1]
    assert starts(0.0) == [(0, 0), (2, 0)]  # over before the wide one can start
    machine.finish(2, 11.0)
    assert starts(11.0) == []  # another would be over after it
    machine.finish(0, 20.0)
    assert starts(20.0) == [(1, 0)]


def test_the_start_is_spread_over_the_nodes():
    machine = Machine([8] * 4, [4, 2, 2, 4], [1] * 4, ROOM, 2)
    assert backfill.plain(machine.view([0, 1], 0.0, sensitivity=1.5)) == [(0, 0), (3, 1), (1, 0), (2, 1)]


def two_that_run():
    """For 10 and 20 s on 2 and 3 of 8 processors, half an I/O node each; four that wait; a second node is empty."""
    machine = Machine([10, 20, 30, 5, 50, 50], [5, 10, 30, 0, 0, 5], [2, 3, 4, 8, 1, 1], 8, 2)
    machine.begin([(0, 0), (1, 0)], 0.0)
    return Backfill(machine.view([0, 1], 1.0), 1.5)


def test_when_a_job_could_start_if_others_end_as_announced():
    fill = two_that_run()
    assert fill._opening(2, 0, 1.0) == (2, 0, 10.0, 3, 0.5)  # then 7 processors and a demand of 1.5
    assert fill._opening(3, 0, 1.0) == (3, 0, 20.0, 0, 0.0)  # all processors
    assert fill._opening(2, 0, 15.0) == (2, 0, 15.0, 3, 0.5)  # the first is late
    assert fill._opening(4, 0, 1.0) == (4, 0, 1.0, 5, 1.0)  # now
    assert fill._promise(2, 1.0) == (2, 1, 1.0, 0, 0.0)  # where it can start first


def test_who_may_pass_a_promise():
    fill = two_that_run()
    promise = fill._opening(2, 0, 1.0)
    assert fill._harmless(np.array([3, 4, 5]), promise, 1.0).tolist() == [True, True, False]  # over, beside, too much
    assert fill._kept(promise, 3, 0, 1.0) == fill._kept(promise, 5, 1, 1.0) == promise
    assert fill._kept(promise, 5, 0, 1.0) == (2, 0, 10.0, 4, 0.6)
    assert fill._kept(None, 5, 0, 1.0) is None
    assert fill._hopeful(np.array([2, 3, 4, 5]), np.array([0]), promise, 1.0).tolist() == [False, False, True, False]
    assert fill._hopeful(np.array([2, 3, 4, 5]), np.array([0, 1]), promise, 1.0).tolist() == [True] * 4


def test_of_several_nodes_the_one_with_most_room_gives_hope():
    fill = two_that_run()
    promise = fill._opening(2, 0, 1.0)
    fill._take(4, 1, 1.0)  # on 1 processor, without I/O
    assert fill._hopeful(np.array([2, 5]), np.array([0, 1]), promise, 1.0).tolist() == [True, True]
    assert fill._over_by(11.0, np.array([0, 1]), 1.0).tolist() == [True, False]  # in 10 s, just then


def test_the_queue_goes_by_time_processor_time_and_io():
    # 4 + 4·8/8 + 4 = 12 against 10 + 10/8 = 11.25.
    assert Backfill(Machine([10, 4], [0, 4], [1, 8], 8, 1).view([0], 0.0), 1.5).queue.tolist() == [1, 0]
