"""What users get wrong in a policy: one sentence that names the policy, the moment, and what is accepted."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from penstock import Scenario, simulate
from penstock.errors import PenstockError, PolicyError, UnknownPolicy
from penstock.policies.sharing import Sharing, View, find, sharing


def pair(**more: Any) -> Scenario:
    """Two applications that first want bandwidth at t = 2.5, one of them with a cap."""
    jobs = [
        {"name": "heat", "bandwidth": 3, "phases": [{"compute": 2.5}, {"write": 6}]},
        {"name": "ocean", "phases": [{"compute": 2.5}, {"write": 8}]},
    ]
    return Scenario.from_document({"version": 1, "platform": {"bandwidth": 4}, "applications": jobs, **more})


def compiled(function: Callable[..., Any]) -> Any:
    return numba.njit(function)


def marked(function: Callable[..., Any]) -> Any:
    return sharing(function.__name__.replace("_", "-"))(function)


def as_it_is(function: Callable[..., Any]) -> Any:
    return function


def sentence(asked: Any, expected: type[PenstockError] = PolicyError, form: Callable[[Any], Any] = as_it_is) -> str:
    """What a user reads who makes a policy of `asked` and runs it."""
    with pytest.raises(PenstockError) as caught:
        simulate(pair(), form(asked))
    assert type(caught.value) is expected
    text = str(caught.value)
    assert "\n" not in text
    assert "\x1b" not in text
    assert not text.endswith(".")
    assert len(text) < 600
    return text


forms = pytest.mark.parametrize("form", [as_it_is, compiled, marked])


def too_much(view: View, rates: np.ndarray) -> None:
    for row in range(rates.size):
        rates[row] = 2.5


def above_its_cap(view: View, rates: np.ndarray) -> None:
    for row in range(rates.size):
        if view.limit[row] < 4.0:
            rates[row] = 3.5


def below_zero(view: View, rates: np.ndarray) -> None:
    rates[0] = -0.5


def no_number(view: View, rates: np.ndarray) -> None:
    rates[rates.size - 1] = np.nan


def endless(view: View, rates: np.ndarray) -> None:
    rates[0] = np.inf


def nobody(view: View, rates: np.ndarray) -> None:
    pass


def failing(view: View, rates: np.ndarray) -> None:
    raise ValueError("no idea")


BROKEN = {
    too_much: ["gave out 5 bytes/s in all; there are 4"],
    above_its_cap: ["gave 'heat' 3.5 bytes/s; it can use 3 at most"],
    below_zero: ["gave '", "a rate of -0.5 bytes/s; a rate is 0 or more"],
    no_number: ["gave '", "a rate that is not a number; a rate is 0 or more"],
    endless: ["gave '", "inf bytes/s; it can use", "at most"],
    nobody: ["gave nobody any bandwidth, and nothing else would ever happen"],
}


@forms
@pytest.mark.parametrize("policy", BROKEN)
def test_a_decision_that_cannot_be_carried_out(policy: Callable[..., Any], form: Callable[..., Any]) -> None:
    text = sentence(policy, form=form)
    assert text.startswith(f"sharing policy {policy.__name__.replace('_', '-')!r}, at t = 2.5 s, ")
    assert all(part in text for part in BROKEN[policy]), text


@forms
def test_a_policy_that_raises(form: Callable[..., Any]) -> None:
    text = sentence(failing, form=form)
    assert text.startswith("sharing policy 'failing'")
    assert "raised ValueError: no idea" in text
    # Compiled code does not say when.
    assert form is not as_it_is or "at t = 2.5 s" in text


def test_an_error_of_several_lines_becomes_one() -> None:
    def verbose(view: View, rates: np.ndarray) -> None:
        raise RuntimeError("first\n\n  second\nthird")

    assert "RuntimeError: first" in sentence(verbose)


def test_rounding_is_no_reason_to_refuse() -> None:
    def generous(view: View, rates: np.ndarray) -> None:
        rates[:] = view.limit / view.limit.sum() * view.capacity * (1 + 5e-10)

    assert simulate(pair(), generous).makespan is not None


def test_giving_nobody_anything_is_fine_while_something_else_is_to_come() -> None:
    def patient(view: View, rates: np.ndarray) -> None:
        rates[0] = view.limit[0] if view.now >= 20 else 0.0

    jobs = [
        {"name": "heat", "phases": [{"write": 4}]},
        {"name": "ocean", "phases": [{"compute": 20}, {"write": 4}]},
    ]
    document = {"version": 1, "platform": {"bandwidth": 4}, "applications": jobs}
    assert simulate(Scenario.from_document(document), patient).makespan == 22.0
    window = document | {"window": {"end": 10}}
    assert simulate(Scenario.from_document(window), patient).min_yield == 0.0


ASLEEP = """
from penstock import Scenario, simulate
from penstock.sharing import sharing

@sharing("asleep", ticks=lambda outlook, settings: 1.0)
def asleep(view, rates):
    pass

jobs = [{"name": "heat", "phases": [{"write": 4}]}]
document = {"version": 1, "platform": {"bandwidth": 4}, "applications": jobs}
try:
    simulate(Scenario.from_document(document), asleep)
except Exception as error:
    print(type(error).__name__, error)
"""


def test_ticks_alone_keep_no_run_alive(tmp_path: Path) -> None:
    """In a process of its own: what fails here does so by never ending."""
    path = tmp_path / "asleep.py"
    path.write_text(ASLEEP)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.startswith("PolicyError sharing policy 'asleep', at t = ")
    assert "gave nobody any bandwidth" in done.stdout


def test_a_value_returned_instead_of_written() -> None:
    def returning(view: View, rates: np.ndarray) -> Any:
        return view.limit

    text = sentence(returning)
    assert "'returning'" in text
    assert "returned a ndarray; it must write into `rates`" in text


@pytest.mark.parametrize("form", [compiled, marked])
def test_a_compiled_value_returned_instead_of_written(form: Callable[..., Any]) -> None:
    def returning(view: View, rates: np.ndarray) -> Any:
        return view.capacity

    text = sentence(returning, form=form)
    assert "'returning'" in text


def one_argument(view: View) -> None:
    pass


@forms
def test_a_function_with_the_wrong_arguments(form: Callable[..., Any]) -> None:
    text = sentence(one_argument, form=form)
    assert "'one-argument'" in text
    assert re.search(r"takes 1 (positional )?argument", text), text


def from_the_future(view: Any, rates: np.ndarray) -> None:
    rates[0] = view.phases_to_come[0]


@pytest.mark.parametrize("form", [compiled, marked])
def test_a_function_that_does_not_compile(form: Callable[..., Any]) -> None:
    text = sentence(from_the_future, form=form)
    assert text.startswith("sharing policy 'from-the-future' does not compile")
    assert "phases_to_come" in text  # the reason, not Numba's name for the step that failed


@pytest.mark.parametrize("name", ["", "Fast", "two words", "-first", "a(b)"])
def test_a_name_that_no_command_line_could_take(name: str) -> None:
    with pytest.raises(PolicyError, match="is no policy name; one is made of lower-case letters, digits and dashes"):
        sharing(name)


@pytest.mark.parametrize(
    ("delta", "accepted"),
    [
        ("0", "above 0"),
        ("-1", "above 0"),
        ("nan", "a finite number"),
        ("inf", "a finite number"),
        ("-inf", "a finite number"),
    ],
)
def test_a_tick_that_is_no_time(delta: str, accepted: str) -> None:
    text = sentence(f"periodic-greedy-yield(delta={delta})")
    assert "'periodic-greedy-yield'" in text
    assert delta in text
    assert accepted in text


def test_a_tick_that_is_no_time_from_a_function() -> None:
    policy: Sharing = replace(find("fcfs"), ticks=lambda outlook, settings: 0.0)
    assert sentence(policy) == "sharing policy 'fcfs' asks for decisions every 0 s; give a time above 0"


@pytest.mark.parametrize("given", ["delta=soon", "delta=", "5", "delta 5", "delta=5=6"])
def test_a_parameter_that_is_no_number(given: str) -> None:
    text = sentence(f"periodic-greedy-yield({given})")
    assert f"{given!r} is no parameter; one is written name=number" in text


def test_a_parameter_that_the_policy_does_not_have() -> None:
    text = sentence("periodic-greedy-yield(epsilon=2)")
    assert text == "sharing policy 'periodic-greedy-yield' has no parameter 'epsilon'; it has: delta"
    assert sentence("fcfs(delta=2)").endswith("has no parameter 'delta'; it has: none")


@pytest.mark.parametrize(
    ("name", "near"),
    [("fcsf", "fcfs"), ("fairshare", "fair-share"), ("set10", "set-10"), ("greedy_yield", "greedy-yield")],
)
def test_an_unknown_name_gets_a_suggestion(name: str, near: str) -> None:
    text = sentence(name, UnknownPolicy)
    assert text.startswith(f"no sharing policy named {name!r}. Did you mean {near!r}? Known: fair-share, fcfs, ")


def test_a_name_like_no_other_gets_the_list_only() -> None:
    text = sentence("zzz", UnknownPolicy)
    assert "Did you mean" not in text
    assert "best-next-event" in text


def written(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(text)
    return str(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for name in ("gone.py", "gone.py:mine"):
        assert sentence(str(tmp_path / name), UnknownPolicy).endswith(
            "there is no such file to take a sharing policy from"
        )
    (tmp_path / "folder.py").mkdir()
    assert "there is no such file" in sentence(str(tmp_path / "folder.py"), UnknownPolicy)


def test_a_file_that_is_not_python(tmp_path: Path) -> None:
    path = written(tmp_path, "def mine(view, rates:\n    pass\n")
    text = sentence(path)
    assert text.startswith(f"{path} does not run as Python: SyntaxError: ")
    assert "line 1" in text


def test_a_file_that_raises(tmp_path: Path) -> None:
    path = written(tmp_path, "import nothing_of_this_name\n")
    assert (
        sentence(path) == f"{path} does not run as Python: ModuleNotFoundError: No module named 'nothing_of_this_name'"
    )


MARKED = "from penstock.policies.sharing import sharing\n\n@sharing('{0}')\ndef {0}(view, rates):\n    {1}\n\n"


def test_a_file_with_two_policies(tmp_path: Path) -> None:
    fill = "rates[0] = min(view.limit[0], view.capacity)"
    path = written(tmp_path, MARKED.format("one", fill) + MARKED.format("two", fill))
    assert sentence(path) == f"{path} has 2 functions marked @sharing; name the one to use: {path}:function"
    assert simulate(pair(), f"{path}:two").sharing == "two"


def test_a_file_without_a_policy(tmp_path: Path) -> None:
    path = written(tmp_path, "from penstock.policies.sharing.fcfs import fcfs\nnumber = 3\n")
    assert sentence(path).startswith(f"{path} has 0 functions marked @sharing")
    assert sentence(f"{path}:nothing", UnknownPolicy) == f"{path} has no function 'nothing'"
    assert sentence(f"{path}:number") == f"{path}:number is a int; a policy is a function (view, rates)"


def test_a_file_whose_policy_does_not_compile(tmp_path: Path) -> None:
    path = written(tmp_path, MARKED.format("mine", "rates[0] = view.phases_to_come[0]"))
    text = sentence(path)
    assert "'mine'" in text
    assert "phases_to_come" in text


@pytest.mark.parametrize(
    ("module", "value", "said"),
    [
        ("absent_plugin", "absent_plugin:mine", "No module named 'absent_plugin'"),
        ("broken_plugin", "broken_plugin:mine", "division by zero"),
        ("hollow_plugin", "hollow_plugin:mine", "has no attribute 'mine'"),
        ("number_plugin", "number_plugin:mine", "is a int; a policy is a function (view, rates)"),
    ],
)
def test_an_installed_policy_that_does_not_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, value: str, said: str
) -> None:
    texts = {"broken_plugin": "1 / 0\n", "hollow_plugin": "", "number_plugin": "mine = 3\n"}
    if module in texts:
        (tmp_path / f"{module}.py").write_text(texts[module])
    info = tmp_path / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[penstock.sharing]\ntheirs = {value}\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = sentence("theirs")
    assert text.startswith("the installed policy 'theirs'")
    assert said in text


@pytest.mark.parametrize("column", ["remaining", "progress", "limit", "settings"])
def test_nobody_can_change_what_a_policy_is_shown(column: str) -> None:
    def plain(view: View, rates: np.ndarray) -> None:
        getattr(view, column)[:] = 1e9

    with pytest.raises(PolicyError, match="read-only"):
        simulate(pair(), plain)
    source = f"def scribbler(view, rates):\n    view.{column}[0] = 1e9\n"
    made: dict[str, Any] = {}
    exec(source, made)
    with pytest.raises(PolicyError, match=r"does not compile: .*(readonly|read-only|immutable)"):
        sharing("scribbler", floor=1.0)(made["scribbler"])
