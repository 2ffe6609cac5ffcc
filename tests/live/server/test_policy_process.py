"""Policies of a site's own: whatever they do, they can be stopped, and what they say is what they would say here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from live.core.talk import Talk
from live.server.conftest import Server
from penstock.live.core import records
from penstock.live.server.policy_process import PolicyProcesses
from penstock.policies.sharing import find
from penstock.wire.messages import Post, Rate, Register, Registered

COMPILED = """
from penstock.policies.sharing import sharing


@sharing("theirs-endless")
def endless(view, rates):
    \"\"\"Never decides, and is compiled.\"\"\"
    spent = 0.0
    while spent >= 0.0 and view.limit.size > 1:
        spent += view.capacity
    for i in range(rates.size):
        rates[i] = view.limit[i] / rates.size


@sharing("theirs-remembering", memory=1)
def remembering(view, rates):
    \"\"\"Counts its decisions.\"\"\"
    for i in range(rates.size):
        view.memory[view.application[i]] += 1.0
        rates[i] = min(view.limit[i], view.memory[view.application[i]])
"""
# In a file of their own: to load these, nothing is compiled.
PLAIN = """
import time


def sleeper(view, rates):
    time.sleep(5.0 if view.limit.size > 1 else 0.0)


def counter(view, rates):
    print("not an answer")
    rates[0] = view.limit[0]


def broken(view, rates):
    raise ValueError("no idea")


def returning(view, rates):
    return rates


def killed(view, rates):
    if view.now > 0.0:
        import os
        os._exit(7)
"""
Make = Callable[..., Server]


Own = Callable[[str], str]


@pytest.fixture
def own(tmp_path: Path) -> Own:
    """How a policy of a site is named: with its file."""
    files = {"compiled.py": COMPILED, "plain.py": PLAIN}
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def called(policy: str) -> str:
        (file,) = (name for name, text in files.items() if f"def {policy}(" in text)
        return f"{tmp_path / file}:{policy}"

    return called


@pytest.fixture
def found(forking: None) -> Iterator[PolicyProcesses]:
    processes = PolicyProcesses()
    yield processes
    processes.close()


def two_jobs(policy: object) -> Talk:
    talk = Talk()
    talk.core.use(policy)  # type: ignore[arg-type]
    talk.now = 1.0
    talk.step(*(talk.join(job).a_post() for job in "ab"))
    talk.quiet()
    return talk


@pytest.mark.parametrize(
    ("name", "seconds"),
    # On a machine that is busy, half a second may be over before one that computes has had its processor time.
    [("endless", (0.05, 0.5)), pytest.param("sleeper", (0.5,), marks=pytest.mark.slow)],
)
def test_one_that_does_not_come_back_is_stopped(
    own: Own, found: PolicyProcesses, name: str, seconds: tuple[float, ...]
) -> None:
    policy = found.find(own(name))
    talk = two_jobs(policy)
    (overran,) = talk.made(records.Overran)
    assert overran.seconds in seconds
    assert [peer.rate for peer in talk.peers.values()] == [50.0, 50.0]
    again = found.find(own(name))
    assert again is not policy and found.find(own(name)) is again  # an operator may choose it again


def test_it_decides_and_remembers_as_it_would_here(own: Own, found: PolicyProcesses) -> None:
    name = own("remembering")
    here, there = two_jobs(find(name)), two_jobs(found.find(name))
    for talk in (here, there):
        talk.join("c").post()
        talk.quiet()
    assert here.records == there.records and len(here.made(records.RatesDecided)) >= 2
    assert np.array_equal(here.state.memory.numbers["all"], there.state.memory.numbers["all"])


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("broken", r"raised ValueError: no idea \(line \d+\)"),
        pytest.param("returning", "returned a ndarray; it must write into `rates`", marks=pytest.mark.slow),
        pytest.param("killed", r"its process has ended \(exit code 7\)", marks=pytest.mark.slow),
    ],
)
def test_what_it_does_wrong_is_said(own: Own, found: PolicyProcesses, name: str, sentence: str) -> None:
    talk = two_jobs(found.find(own(name)))
    texts = [record.text for record in talk.made(records.PolicyFailed)]
    assert texts and all(re.search(sentence, text) for text in texts)
    assert [peer.rate for peer in talk.peers.values()] == [50.0, 50.0]


@pytest.mark.slow
def test_what_it_prints_is_no_answer(own: Own, found: PolicyProcesses) -> None:
    talk = two_jobs(found.find(own("counter")))
    assert not talk.made(records.PolicyFailed) and sum(peer.rate for peer in talk.peers.values()) == 100.0


def test_penstocks_own_decide_in_the_controller(found: PolicyProcesses) -> None:
    assert found.find("fcfs") == find("fcfs")


@pytest.mark.slow
def test_a_compiled_loop_without_end_does_not_hold_up_everybody(server: Make, own: Own) -> None:
    controller = server(sharing=own("endless"))
    controller.start()
    clients = [controller.client() for _ in "ab"]  # who is forgotten here leaves the controller
    for job, client in zip("ab", clients, strict=True):
        client.send(Register(1, job, 1), Post(2, 1, 1, 1e9))
        client.hear_a(Registered)
        client.hear_a(Rate)
    assert re.search(r"took more than 0\.0?5 s", controller.ask("status")["last_policy_failure"])
