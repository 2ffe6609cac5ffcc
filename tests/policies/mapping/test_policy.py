"""What a mapping policy is: names, parameters, a user's own function or file, and what it may not do."""

import math

import numpy as np
import pytest

from penstock import Scenario, pack
from penstock.errors import PolicyError, UnknownPolicy
from penstock.policies import mapping
from penstock.policies.mapping import catalogue
from policies.mapping.machine import Machine

JOBS = [{"name": f"j{i}", "nodes": 2, "phases": [{"compute": 2 + i}, {"write": 1}]} for i in range(5)]
NODES = {"count": 2, "bandwidth": 1, "nodes": 4}
SCENARIO = Scenario.from_document({"version": 1, "platform": {"io_nodes": NODES}, "applications": JOBS})
FILE = '''
import numpy as np
from penstock.policies.mapping import mapping


@mapping("in-turn", source="a test", width=1)
def in_turn(view):
    """One at a time."""
    return [(view.waiting[0], view.open[0])] if view.waiting.size and not view.running.size else []
'''


def first_come(view):
    """Strictly in order of arrival."""
    free, starts = view.free.copy(), []
    for row in view.waiting:
        able = [node for node in view.open if free[node] >= view.processors[row]]
        if not able:
            break
        starts.append((row, able[0]))
        free[able[0]] -= view.processors[row]
    return starts


@pytest.mark.parametrize("name", mapping.NAMES)
def test_every_policy_is_found_and_says_what_it_does(name):
    policy = mapping.find(name)
    assert policy.name == name == policy.label
    assert policy.rule.endswith(".") and policy.source
    assert policy in mapping.policies()


def test_parameters():
    assert mapping.find("backfill(sensitivity=2)").label == "backfill(sensitivity=2)"
    assert mapping.find("make-pack(sensitivity=inf)").settings == {"sensitivity": math.inf}
    with pytest.raises(PolicyError, match="'make-pack' has no parameter 'speed'; it has: sensitivity"):
        mapping.find("make-pack(speed=1)")
    with pytest.raises(PolicyError, match="'first-fit' has no parameter 'sensitivity'; it has: none"):
        mapping.find("first-fit(sensitivity=1)")
    with pytest.raises(PolicyError, match="sensitivity is -1; it must be a number, 0 or more"):
        mapping.find("backfill(sensitivity=-1)")
    with pytest.raises(UnknownPolicy, match=r"no mapping policy named 'make-packs'. Did you mean 'make-pack'\?"):
        mapping.find("make-packs")


def test_a_function_is_a_policy():
    packing = pack(SCENARIO, mapping=first_come)
    assert packing.mapping == "first-come" and packing.packs == ()
    assert packing.sensitivity is None
    assert [job.io_node for job in packing.jobs] == [0, 0, 1, 1, 0]
    assert packing.jobs[4].start == packing.jobs[0].end


def test_a_file_is_a_policy(tmp_path):
    (tmp_path / "my_mapping.py").write_text(FILE)
    packing = pack(SCENARIO, mapping=str(tmp_path / "my_mapping.py"))
    assert packing.mapping == "in-turn"
    starts, ends = zip(*sorted((job.start, job.end) for job in packing.jobs), strict=True)
    assert starts[1:] == ends[:-1]


def test_an_installed_policy_is_found(monkeypatch):
    class Point:
        name, value = "installed", "somewhere:first_come"

        def load(self):
            return first_come

    groups = {"penstock.mapping": [Point()]}
    monkeypatch.setattr("penstock.policies.catalogue.entry_points", lambda group: groups.get(group, []))
    assert mapping.find("installed").plain is first_come
    assert [policy.name for policy in mapping.policies()] == [*mapping.NAMES, "first-come"]
    assert catalogue.OURS.keys() == set(mapping.NAMES)


def test_packs_of_a_user_are_packs():
    @mapping.mapping("pairs", packs=True)
    def pairs(view):
        """Two by two."""
        waiting = iter(view.waiting.tolist())
        return [(row, node) for node in view.open for _, row in zip(range(2), waiting, strict=False)]

    packing = pack(SCENARIO, mapping=pairs)
    assert {each.jobs for each in packing.packs} == {("j0", "j1"), ("j2", "j3"), ("j4",)}
    by_name = {job.name: job for job in packing.jobs}
    assert by_name["j4"].start == max(by_name[name].end for name in ("j0", "j1"))
    # Packs are listed as make-pack lists its own: by the longest of their jobs.
    assert packing.packs[0].jobs == ("j4",)


def test_a_policy_keeps_what_it_puts_into_its_memory():
    asked = []

    def counting(view):
        view.memory["asked"] = view.memory.get("asked", 0) + 1
        asked.append(view.memory["asked"])
        return first_come(view)

    pack(SCENARIO, mapping=counting)
    assert asked == [1, 2]  # at the beginning, and when there is room for the last one
    asked.clear()
    pack(SCENARIO, mapping=counting)
    assert asked[0] == 1


def test_what_is_shown():
    seen = []

    def watching(view):
        seen.append(view._replace(free=view.free.copy(), node=view.node.copy(), end=view.end.copy()))
        return first_come(view)

    packing = pack(SCENARIO, mapping=watching)
    first, second = seen[:2]
    assert (first.now, first.room, first.more) == (0, 4, False)
    assert first.open.tolist() == [0, 1] and first.free.tolist() == [4, 4]
    assert first.seconds.tolist() == [3, 4, 5, 6, 7] and first.io.tolist() == [1] * 5
    assert first.waiting.tolist() == [0, 1, 2, 3, 4]
    assert (second.now, second.open.tolist(), second.free.tolist()) == (packing.jobs[0].end, [0], [2, 0])
    assert second.node.tolist() == [0, 0, 1, 1, -1] and second.end[0] == second.now
    assert np.isnan(second.end[1:]).all() and second.running.tolist() == [1, 2, 3]


WRONG = [
    (lambda view: 1 / 0, r"raised ZeroDivisionError: division by zero \(line \d+\)"),
    (lambda view: None, "returned a NoneType without pairs; it must return a list of"),
    (lambda view: [0, 1], "returned a list without pairs"),
    (lambda view: [(0, 0.5)], "returned a list without pairs"),
    (lambda view: [(0, 0), (0, 1)], "started row 0, which does not wait; view.waiting has the rows that do"),
    (lambda view: [(9, 0)], "started row 9, which does not wait"),
    (lambda view: [(0, 2)], "started 'j0' on I/O node 2; they are 0 to 1"),
    (lambda view: [(row, 0) for row in range(3)], "started 'j2', which needs 2 processors, on I/O node 0, which has 0"),
    (lambda view: [], "starts none of the 5 jobs that wait, and nothing else would ever happen"),
    (lambda view: view.node.fill(0), "raised ValueError: assignment destination is read-only"),
]


@pytest.mark.parametrize(("function", "words"), WRONG)
def test_what_a_policy_does_wrong_is_said(function, words):
    with pytest.raises(PolicyError, match=f"^mapping policy '<lambda>', at t = 0 s, {words}"):
        pack(SCENARIO, mapping=function)


def test_packs_do_not_run_beside_each_other():
    @mapping.mapping("beside", packs=True)
    def beside(view):
        return [(view.waiting[0], 0)]

    jobs = [*JOBS, {**JOBS[0], "name": "late", "release": 1}]
    later = Scenario.from_document({"version": 1, "platform": {"io_nodes": NODES}, "applications": jobs})
    with pytest.raises(PolicyError, match="at t = 1 s, started a pack on I/O node 0, where jobs run; a pack has"):
        pack(later, mapping=beside)


def test_jobs_may_start_where_nothing_has_changed():
    """A job ends on node 0; the policy starts another beside the one on node 1, which has been run ahead."""

    def elsewhere(view):
        if view.now == 0:
            return [(0, 0), (4, 1)]
        return [(1, 1)] if 1 in view.waiting else [(row, 0) for row in view.waiting]

    packing = pack(SCENARIO, mapping=elsewhere, sharing="fair-share")
    # Alone `j4` computes until 6 and writes until 7; `j1` starts at 3 and writes from 6 on, too.
    assert [(job.start, job.end, job.io_node) for job in packing.jobs[1::3]] == [(3, 8, 1), (0, 8, 1)]


def test_a_view_of_nobody():
    view = Machine([1.0], [0.0], [1], 4, 1, release=[5.0]).view([0], 0.0)
    assert view.waiting.size == view.running.size == 0 and view.more
