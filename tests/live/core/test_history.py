"""What jobs moved that announced nothing, from run to run: who is the same job, how sure that is, and for how long."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pytest

from penstock.live.core import ControllerState
from penstock.live.core.history import FEW_RUNS, MOST_EACH, History, Run
from penstock.live.core.members import App
from penstock.wire import messages as wire
from penstock.wire.guesses import LEARNT, UNKNOWN

from .talk import Talk


def run_of(talk: Talk, volume: float, *, job: str = "a", uid: int = 1000, program: str = "p1") -> list[Any]:
    """A run of two phases; what each was thought to move, and how sure that was."""
    peer = talk.join(job, uid=uid)
    thought = []
    for number in (1, 2):
        talk.sleep(10.0)
        peer.say(wire.Post(1, number, number, 10.0, confidence=UNKNOWN, program=program))
        op = peer.member.op
        assert op is not None
        thought.append((op.volume, op.confidence))
        if op.said < volume:
            peer.say(wire.Extend(number, volume - op.said))
        talk.sleep(1.0)
        peer.say(wire.Complete(number, volume))
    peer.say(wire.Goodbye("done"))
    return thought


def test_a_job_that_ran_before_is_expected_to_move_as_much() -> None:
    talk = Talk()
    assert run_of(talk, 50.0) == [(10.0, UNKNOWN)] * 2
    assert run_of(talk, 60.0) == [(50.0, FEW_RUNS)] * 2
    assert run_of(talk, 55.0) == [(55.0, FEW_RUNS)] * 2
    assert run_of(talk, 40.0) == [(55.0, LEARNT)] * 2
    # 60, 55, 40: one of them is more than a fifth from the median, so nothing is known but the median.
    assert run_of(talk, 40.0) == [(10.0, UNKNOWN)] * 2


def test_another_program_user_or_number_of_nodes_is_another_job() -> None:
    talk = Talk()
    run_of(talk, 50.0)
    assert run_of(talk, 50.0, program="p2")[0] == (10.0, UNKNOWN)
    assert run_of(talk, 50.0, uid=1001)[0] == (10.0, UNKNOWN)
    assert run_of(talk, 50.0, job="b")[0] == (50.0, FEW_RUNS)  # another name is the same job
    wide = talk.join("c", nodes=2, nodes_proved=2)
    wide.say(wire.Post(1, 1, 1, 10.0, confidence=UNKNOWN, program="p1"))
    assert wide.member.op is not None and wide.member.op.volume == 10.0


def test_what_was_announced_counts_for_more() -> None:
    talk = Talk()
    run_of(talk, 50.0)
    peer = talk.join("a")
    peer.say(wire.Post(1, 1, 1, 7.0, program="p1"))
    assert peer.member.op is not None and (peer.member.op.volume, peer.member.op.confidence) == (7.0, 1.0)


def test_policies_see_how_sure_a_volume_is_and_the_period() -> None:
    talk = Talk()
    run_of(talk, 50.0)
    peer = talk.join("a")
    peer.say(wire.Post(1, 1, 1, 10.0, confidence=UNKNOWN, program="p1"))
    rows = talk.state.rows
    assert rows.confidence[0] == FEW_RUNS and rows.remaining[0] == 50.0
    assert rows.omega[0] == pytest.approx(10.5, rel=0.1)  # ten seconds of work, and half of one at full rate
    other = talk.join("b", uid=1001)
    other.say(wire.Post(1, 1, 1, 10.0))
    assert rows.confidence[1] == 1.0 and isnan(rows.omega[1])


def test_it_outlives_a_restart() -> None:
    talk = Talk()
    run_of(talk, 50.0)
    found = ControllerState.restore(talk.state.snapshot(), talk.settings)
    assert found.history.runs == talk.state.history.runs == talk.twin.history.runs != {}


def app_of(uid: int, program: str, volume: float = 1.0) -> App:
    app = App(1, "j", uid, 0, 0.0, 0.0, 0.0)
    app.program, app.volumes, app.most_nodes = program, [volume], 1
    return app


def test_nobody_fills_it() -> None:
    history = History()
    history.over(app_of(2, "theirs"))
    for number in range(MOST_EACH + 5):
        history.over(app_of(1, f"p{number}"))
    assert len(history.runs) == MOST_EACH + 1
    assert (1, "p4", 1) not in history.runs and (2, "theirs", 1) in history.runs
    history.over(App(1, "j", 1, 0, 0.0, 0.0, 0.0))  # no phase of its own: nothing to remember
    assert len(history.runs) == MOST_EACH + 1
    assert History().expect(1, "p", 1) is None


def test_a_period_that_is_not_known_does_not_count() -> None:
    history = History()
    history.runs[1, "p", 1] = [Run(1.0, nan), Run(1.0, 20.0)]
    expected = history.expect(1, "p", 1)
    assert expected is not None and expected.period == 20.0
