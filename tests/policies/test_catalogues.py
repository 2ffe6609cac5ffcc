"""What the catalogues say of our policies without loading them is what they are when loaded."""

from __future__ import annotations

import subprocess
import sys

import pytest

from penstock.errors import PolicyError, UnknownPolicy
from penstock.policies.mapping import catalogue as mapping
from penstock.policies.sharing import catalogue as sharing

ROOMS = {"sharing": sharing, "mapping": mapping}
OURS = [(room, name) for room, catalogue in ROOMS.items() for name in catalogue.OURS]


@pytest.mark.parametrize(("room", "name"), OURS, ids=[f"{room} {name}" for room, name in OURS])
def test_parameters_read_from_a_file_are_those_of_the_policy(room, name):
    declared = ROOMS[room]._catalogue.declared(name)
    assert declared is None or declared == list(ROOMS[room].find(name).settings)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("fcfs(g=3)", "sharing policy 'fcfs' has no parameter 'g'; it has: none"),
        ("credited-yield(h=3)", "sharing policy 'credited-yield' has no parameter 'h'; it has:"),
        ("fcfs(g)", "'g' is no parameter; one is written name=number"),
    ],
)
def test_a_wrong_parameter_is_refused_as_when_the_policy_is_loaded(asked, words):
    for ask in (sharing.check, sharing.find):
        with pytest.raises(PolicyError) as error:
            ask(asked)
        assert words in str(error.value)


def test_names_of_all_decisions_are_checked_without_numba():
    rooms = ("sharing", "allocation", "placement", "buffering", "mapping")
    lines = [f"import penstock.policies.{room}.catalogue as {room}" for room in rooms]
    lines += [f"{room}.check({room}.known_names()[0])" for room in rooms]
    lines += ["sharing.check('periodic-greedy-yield(delta=5)')", "import sys", "print('numba' in sys.modules)"]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_file_that_is_not_there_is_refused_before_it_is_run():
    with pytest.raises(UnknownPolicy, match="there is no such file"):
        sharing.check("nowhere.py:function")
