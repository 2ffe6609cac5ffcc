"""Policies of users: a function, a compiled one, a file, an installed entry point; all see the same, and no future."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from numba.core import event

from penstock import Result, Scenario, compare, simulate
from penstock.errors import PolicyError
from penstock.kernels import compile as kernels
from penstock.policies.sharing import NAMES, View, find, policies, sharing
from penstock.policies.sharing.policy import Outlook
from penstock.studies.buffers import buffer
from strategies import scenarios

KNOWN_NOW = ("now", "begin", "end", "capacity")
KNOWN_OF_ACTIVE = (
    "application",
    "nodes",
    "limit",
    "remaining",
    "posted",
    "release",
    "progress",
    "omega",
    "rate",
    "confidence",
    "bandwidth",
)
THE_POLICYS_OWN = ("settings", "memory", "key", "rows")
OF_ALL = ("mean_loss",)  # what those that compute have lost so far, too

FILE = '''
"""Policies as a user would keep them."""

import numpy as np
from penstock.sharing import sharing


def last_come(view, rates):
    """Fill greedily, latest posting first."""
    left = view.capacity
    for row in sorted(range(rates.size), key=lambda row: (-view.posted[row], view.application[row])):
        rates[row] = min(view.limit[row], left)
        left -= rates[row]


@sharing("biggest-first", source="ours", power=1.0)
def biggest_first(view, rates):
    """Fill greedily, most nodes first."""
    rates[:] = 0.0
    left = view.capacity
    for _ in range(rates.size):
        best = -1
        for row in range(rates.size):
            ahead = best < 0 or view.nodes[row] * view.settings[0] > view.nodes[best] * view.settings[0]
            if rates[row] == 0.0 and ahead:
                best = row
        rates[best] = min(view.limit[best], left)
        left -= rates[best]
        if left <= 0.0:
            break
'''


def crowd(count: int = 4, window: float | None = None) -> Scenario:
    """Applications of rising size that all want to write at once, three times."""
    applications = [
        {
            "name": f"a{index}",
            "nodes": index + 1,
            "release": 0.125 * index,
            "phases": [{"repeat": 3, "phases": [{"write": 1 + index}, {"compute": 2}]}],
        }
        for index in range(count)
    ]
    document: dict[str, Any] = {"version": 1, "platform": {"bandwidth": 1}, "applications": applications}
    return Scenario.from_document(document | ({"window": {"end": window}} if window else {}))


def completions(result: Result) -> list[float | None]:
    return [job.completion for job in result.applications]


def own_fcfs(view: View, rates: np.ndarray) -> None:
    """First come, first served."""
    left = view.capacity
    for _ in range(rates.size):
        best = -1
        for row in range(rates.size):
            if rates[row] == 0.0 and (best < 0 or view.posted[row] < view.posted[best]):
                best = row
        rates[best] = min(view.limit[best], left)
        left -= rates[best]
        if left <= 0.0:
            break


FORMS: dict[str, Callable[[], Any]] = {
    "a plain function": lambda: own_fcfs,
    "a function compiled by Numba": lambda: numba.njit(own_fcfs),
    "a function marked @sharing": lambda: sharing("own-fcfs")(own_fcfs),
    "a policy found before": lambda: find(own_fcfs),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_policy_gives_what_the_built_in_gives(form: str) -> None:
    result = simulate(crowd(), FORMS[form]())
    assert result.sharing == "own-fcfs"
    assert completions(result) == completions(simulate(crowd(), "fcfs"))


def test_the_name_and_the_rule_come_from_the_function() -> None:
    policy = find(own_fcfs)
    assert (policy.name, policy.rule, policy.compiled) == ("own-fcfs", "First come, first served.", False)


def test_a_callable_object_will_do() -> None:
    class Cautious:
        def __call__(self, view: View, rates: np.ndarray) -> None:
            rates[:] = view.limit / view.limit.sum() * view.capacity

    assert completions(simulate(crowd(), Cautious())) == pytest.approx(completions(simulate(crowd(), "fair-share")))


def test_compare_takes_names_and_functions_together() -> None:
    results = compare(crowd(), ["fcfs", own_fcfs, "periodic-greedy-yield(delta=0.5)"])
    assert [result.sharing for result in results] == ["fcfs", "own-fcfs", "periodic-greedy-yield(delta=0.5)"]


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    path = tmp_path / "my.py"
    path.write_text(FILE)
    return path


def test_a_file_and_the_name_of_a_function_in_it(policy_file: Path) -> None:
    result = simulate(crowd(), f"{policy_file}:last_come")
    assert result.sharing == "last-come"
    assert completions(result) != completions(simulate(crowd(), "fcfs"))


def test_a_file_with_one_marked_policy_needs_no_name(policy_file: Path) -> None:
    assert find(str(policy_file)).rule == "Fill greedily, most nodes first."
    result = simulate(crowd(), str(policy_file))
    assert result.sharing == "biggest-first"
    first = completions(result)
    assert first[3] == min(time for time in first if time is not None)
    assert completions(simulate(crowd(), f"{policy_file}:biggest_first")) == first


def test_a_file_takes_parameters(policy_file: Path) -> None:
    smallest_first = simulate(crowd(), f"{policy_file}(power=-1)")
    assert smallest_first.sharing == "biggest-first(power=-1)"
    assert completions(smallest_first) != completions(simulate(crowd(), str(policy_file)))


def test_a_file_beside_the_caller(policy_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(policy_file.parent)
    assert find("my.py:last_come").name == "last-come"


def test_a_changed_file_is_read_anew(policy_file: Path) -> None:
    before = completions(simulate(crowd(), str(policy_file)))
    policy_file.write_text(FILE.replace("left = view.capacity", "left = 0.5 * view.capacity"))
    assert completions(simulate(crowd(), str(policy_file))) == pytest.approx(
        [2 * time if time is not None else None for time in before], rel=0.5
    )
    assert completions(simulate(crowd(), str(policy_file))) != before


COMPILED = """
from penstock.sharing import sharing

PART = 1.0

def alone(foresight, settings):
    ASKED.append(len(ASKED))
    return [len(ASKED)]

ASKED = []

@sharing("even", prepare=alone, slowness=1.0)
def even(view, rates):
    for row in range(rates.size):
        rates[row] = PART * view.limit[row] / (view.limit.size * view.settings[0] * view.memory[0])
"""


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of policies compiled by now; none was before."""
    monkeypatch.setattr(kernels, "_built", {})
    built, build = [], kernels.kernel

    def noted(signature: Any, **options: Any) -> Any:
        def compiled(function: Any) -> Any:
            built.append(function.__name__)
            return build(signature, **options)(function)

        return compiled

    monkeypatch.setattr(kernels, "kernel", noted)
    return built


def test_a_file_is_read_for_every_run_and_its_policy_compiled_once(tmp_path: Path, compilations: list[str]) -> None:
    file = tmp_path / "even.py"
    file.write_text(COMPILED)
    one, other = simulate(crowd(), str(file)), simulate(crowd(), f"{file}:even")
    slow = simulate(crowd(), f"{file}(slowness=2)")
    assert one.makespan == other.makespan  # what `prepare` keeps in the file is as new
    assert slow.makespan is not None and slow.makespan > 1.4 * (one.makespan or 0.0)
    assert compilations == ["even"]


def test_a_change_is_seen_whatever_its_time(
    tmp_path: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Python keeps copies of files, it takes one of the same size and second for the same."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "even.py"
    file.write_text(COMPILED)
    fast = simulate(crowd(), str(file)).makespan
    stamp = file.stat()
    file.write_text(COMPILED.replace("PART = 1.0", "PART = 0.5"))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    slow = simulate(crowd(), str(file)).makespan
    file.write_text(COMPILED)
    assert slow is not None and slow > 1.4 * (fast or 0.0)
    assert simulate(crowd(), str(file)).makespan == fast
    assert compilations == ["even", "even"]


def test_files_of_one_name_do_not_mix(tmp_path: Path) -> None:
    files = [tmp_path / folder / "even.py" for folder in "ab"]
    for file, part in zip(files, ("1.0", "0.5"), strict=True):
        file.parent.mkdir()
        file.write_text(COMPILED.replace("PART = 1.0", f"PART = {part}"))
    fast, slow, again = (result.makespan for result in compare(crowd(), [str(files[place]) for place in (0, 1, 0)]))
    assert fast == again != slow


def test_a_function_compiled_by_numba_in_a_file_is_compiled_once(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "import numba\n\n@numba.njit\ndef own(view, rates):\n    rates[0] = min(view.limit[0], view.capacity)\n"
    )
    with event.install_recorder("numba:compile") as recorder:
        one, other = (simulate(crowd(), f"{file}:own") for _ in range(2))
    assert one.makespan == other.makespan
    # Numba compiles what it needs of its own beside it, once in a process.
    names = [what.data["dispatcher"].py_func.__name__ for _, what in recorder.buffer if what.is_start]
    assert names.count("own") == 1


def test_a_plain_function_is_compiled_once_for_all_runs_behind_a_buffer(compilations: list[str]) -> None:
    runs = [buffer(crowd(), 3.0, strategy=find(own_fcfs)) for _ in range(2)]
    assert runs[0].completion == runs[1].completion
    assert compilations == ["own_fcfs"]


def test_what_does_not_compile_is_refused_every_time() -> None:
    def wrong(view: View, rates: np.ndarray) -> None:
        rates[0] = "fast"

    for _ in range(2):
        with pytest.raises(PolicyError, match="does not compile"):
            sharing("wrong")(wrong)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, text: str, points: str) -> None:
    """What an installed distribution looks like: a module, and a dist-info folder that names its entry points."""
    (folder / f"{module}.py").write_text(text)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[penstock.sharing]\n{points}\n")
    monkeypatch.syspath_prepend(folder)


def test_an_installed_policy_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = "biggest-first = their_policies:biggest_first\nlast-come = their_policies:last_come"
    install(tmp_path, monkeypatch, "their_policies", FILE, points)
    assert [policy.name for policy in policies()] == [*NAMES, "biggest-first", "last-come"]
    assert simulate(crowd(), "biggest-first").sharing == "biggest-first"
    assert simulate(crowd(), "last-come").sharing == "last-come"
    assert find("biggest-first(power=3)").settings == {"power": 3.0}


def test_nobody_can_take_the_name_of_a_built_in_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "usurper", FILE, "fcfs = usurper:last_come")
    assert find("fcfs").rule == "Fill greedily, earliest posting first."
    assert [policy.name for policy in policies()] == list(NAMES)


def test_parameters_reach_the_function_in_the_order_declared() -> None:
    seen = []

    @sharing("two-knobs", gain=2.0, bias=3.0)
    def two_knobs(view: View, rates: np.ndarray) -> None:
        rates[0] = min(view.limit[0], view.capacity) / (view.settings[0] * view.settings[1])

    def plain(view: View, rates: np.ndarray) -> None:
        seen.append(tuple(view.settings))
        two_knobs.plain(view, rates)

    asked = replace(two_knobs, decide=plain, compiled=False)
    simulate(crowd(1), asked.with_settings({"bias": 5.0}))
    assert set(seen) == {(2.0, 5.0)}
    slow, fast = simulate(crowd(1), two_knobs), simulate(crowd(1), two_knobs.with_settings({"gain": 0.5, "bias": 2.0}))
    assert (slow.sharing, fast.sharing) == ("two-knobs", "two-knobs(gain=0.5,bias=2)")
    assert slow.makespan == pytest.approx(3 * 6 + 6)
    assert fast.makespan == 9.0


def every_half(outlook: Outlook, settings: Mapping[str, float]) -> float | None:
    return 0.5


def round_robin(view: View, rates: np.ndarray) -> None:
    """Whoever has had the fewest turns."""
    turns = view.memory
    best = 0
    for row in range(rates.size):
        if (turns[view.application[row]], view.application[row]) < (
            turns[view.application[best]],
            view.application[best],
        ):
            best = row
    turns[view.application[best]] += 1.0
    rates[best] = min(view.limit[best], view.capacity)


@pytest.mark.parametrize("compiled", [True, False])
def test_memory_is_kept_between_decisions_and_ticks_come_when_asked(compiled: bool) -> None:
    policy = sharing("round-robin", ticks=every_half, memory=1)(round_robin)
    policy = policy if compiled else replace(policy, decide=round_robin, compiled=False)
    scenario = Scenario.from_document(
        {
            "version": 1,
            "platform": {"bandwidth": 1},
            "applications": [{"name": name, "phases": [{"write": 1.5}]} for name in "abc"],
        }
    )
    for _ in range(2):  # memory starts at zero in every run
        result = simulate(scenario, policy, timeline=True)
        assert completions(result) == [3.5, 4.0, 4.5]
        assert result.timeline is not None
        served = sorted(
            (start, result.timeline.names[application])
            for application, start, rate in zip(
                result.timeline.application, result.timeline.start, result.timeline.rate, strict=True
            )
            if rate > 0
        )
        assert served == [(0.5 * turn, "abc"[turn % 3]) for turn in range(9)]


def test_ticks_are_counted_as_events() -> None:
    quiet = sharing("quiet")(own_fcfs)
    restless = replace(quiet, ticks=lambda outlook, settings: 0.25)
    scenario = Scenario.from_document(
        {
            "version": 1,
            "platform": {"bandwidth": 1},
            "window": {"begin": 2, "end": 12},
            "applications": [{"name": "a", "release": 2, "phases": [{"write": 100}]}],
        }
    )
    assert simulate(scenario, quiet).events == 2
    assert simulate(scenario, restless).events == 1 + 40


def test_ticks_know_the_window_and_how_much_io_there_will_be() -> None:
    seen = []

    def note(outlook: Outlook, settings: Mapping[str, float]) -> float | None:
        seen.append(outlook)
        return None

    simulate(crowd(2, window=7.0), replace(find("fcfs"), ticks=note))
    simulate(crowd(2), replace(find("fcfs"), ticks=note))
    assert seen == [Outlook(0.0, 7.0, 5), Outlook(0.0, math.inf, 6)]


@settings(max_examples=settings().max_examples // 5)
@given(scenarios())
def test_built_in_policies_decide_the_same_as_plain_python(scenario: Scenario) -> None:
    for name in NAMES:
        policy = find(name)
        plain = replace(policy, decide=policy.plain, compiled=False)
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = simulate(scenario, policy), simulate(scenario, plain)
        assert other.events == one.events, name
        for ours, theirs in zip(other.applications, one.applications, strict=True):
            assert ours.yield_ == pytest.approx(theirs.yield_, rel=1e-12, abs=1e-15), (name, ours.name)
            expected = theirs.completion and pytest.approx(theirs.completion, rel=1e-12)
            assert ours.completion == expected, (name, ours.name)


def test_a_view_has_the_present_and_the_past_only() -> None:
    """Every field is listed here on purpose: one that told of phases to come would let a policy cheat."""
    assert View._fields == KNOWN_NOW + KNOWN_OF_ACTIVE + THE_POLICYS_OWN + OF_ALL


def test_a_view_shows_only_who_is_active_and_only_what_it_has_announced() -> None:
    """Two futures with the same past give the same views."""

    def seen_with(later: float) -> list[str]:
        seen: list[str] = []

        def decide(view: View, rates: np.ndarray) -> None:
            own_fcfs(view, rates)
            if view.now < 4.0:
                seen.append(repr([np.array(part).tolist() for part in view]))

        jobs = [
            {"name": "a", "phases": [{"write": 2}, {"compute": 1}, {"write": 1}, {"compute": later}, {"write": later}]},
            {"name": "b", "phases": [{"compute": 1}, {"write": 3}, {"compute": later}]},
            {"name": "c", "release": 4, "phases": [{"write": later}]},
        ]
        document = {"version": 1, "platform": {"bandwidth": 1}, "applications": jobs}
        simulate(Scenario.from_document(document), decide)
        return seen

    assert seen_with(1.0) == seen_with(7.0)
    assert len(seen_with(1.0)) == 4
