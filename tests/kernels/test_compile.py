"""Compiled code does what its Python says; and where compiled code is kept, whatever can be written to."""

from __future__ import annotations

import importlib
import json
import math
import os
import pkgutil
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock
from engine.machine.scenarios import machine
from penstock import Scenario, simulate
from penstock.engine.compile import compile_scenario
from penstock.engine.link.execution import Execution
from penstock.engine.machine import rules as machine_rules
from penstock.kernels import compile as kernels
from penstock.kernels import heap
from penstock.kernels.compile import total
from penstock.policies import buffering
from penstock.policies.buffering import Strategy
from penstock.policies.sharing import NAMES, Sharing, find, order
from penstock.policies.sharing.policy import Outlook
from penstock.policies.sharing.view import View, empty_view
from penstock.studies.buffers import buffer
from penstock.studies.buffers.split import Split, split
from penstock.studies.share import AnyStudy, run_study, study_of
from penstock.studies.targets import allocate
from reference.policies import quantise

finite = st.floats(-1e12, 1e12)
positive = st.floats(1e-6, 1e12)


def modules() -> list[ModuleType]:
    """Every module that may hold kernels."""
    found = [kernels]
    for part in ("engine", "policies", "metrics", "studies.sizing", "studies.buffers"):
        package = importlib.import_module(f"penstock.{part}")
        inside = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        found += [importlib.import_module(info.name) for info in inside]
    return found


def dispatchers() -> dict[str, Any]:
    """Every compiled function of the package, by the module that defines it and its name."""
    return {
        f"{value.py_func.__module__}.{value.py_func.__name__}": value
        for module in modules()
        for value in vars(module).values()
        if hasattr(value, "py_func")
    }


@contextmanager
def in_plain_python(called: set[str]) -> Iterator[None]:
    """Replace every kernel, wherever it is used, by its own Python; note which ones are called."""

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            called.add(name)
            return function(*arguments)

        return call

    plain = {id(kernel): noted(name, kernel.py_func) for name, kernel in dispatchers().items()}
    for piece in (kernels.part, kernels.glance):  # machine code without a Python twin
        plain[id(piece)] = lambda array, start, count: array[start : start + count]
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        for module in modules():
            for name, value in list(vars(module).items()):
                if id(value) in plain:
                    patch.setattr(module, name, plain[id(value)])
        yield


def python_of(kernel: Any) -> Any:
    return kernel.py_func


def random_document(seed: int, applications: int | None = None) -> dict[str, Any]:
    """A few applications with and without caps, in and out of a window."""
    draw = random.Random(seed)

    def job(index: int) -> dict[str, Any]:
        loop = [{"compute": draw.uniform(0.5, 4)}, {"write": draw.uniform(0.5, 4)}, {"read": draw.uniform(0.1, 1)}]
        listed = [{"write": draw.uniform(0.5, 3)}, {"repeat": draw.randint(1, 4), "phases": loop}]
        cap = {"bandwidth": draw.uniform(0.3, 1.0)} if draw.random() < 0.7 else {}
        return {"name": f"a{index}", "nodes": draw.randint(1, 5), "phases": listed, **cap}

    window = {"window": {"begin": 0, "end": draw.uniform(8, 20)}} if seed % 2 else {}
    jobs = [job(index) for index in range(applications or draw.randint(2, 6))]
    return {"version": 1, "platform": {"bandwidth": 1.0}, "applications": jobs, **window}


def coming_and_going(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same as jobs that are released one after the other; one of them has too little walltime."""
    draw = random.Random(seed)
    for job in document["applications"]:
        job["release"] = draw.uniform(0.0, 4.0)
    document["applications"][0]["walltime"] = 3.0
    return document


def site_document(seed: int) -> dict[str, Any]:
    """Jobs that come and go, and disturb each other."""
    document = coming_and_going(random_document(seed), seed)
    return {**document, "platform": {"bandwidth": 1.0, "interference": [1.0, 0.9, 0.7]}}


def striped_site_document(seed: int) -> dict[str, Any]:
    """The same on targets, of which some are disturbed."""
    document = coming_and_going(striped_document(seed), seed)
    targets = [{"name": f"t{i}", "interference": [1.0, 0.8]} if i % 2 else f"t{i}" for i in range(3)]
    return {**document, "platform": {"targets": targets}}


def buffer_site_document(seed: int) -> dict[str, Any]:
    """Behind a buffer with a bandwidth of its own."""
    document = coming_and_going(buffer_document(seed), seed)
    more = {"burst_buffer": {"capacity": 3.0, "bandwidth": 2.5}, "interference": [1.0, 0.9]}
    return {**document, "platform": {**document["platform"], **more}}


def striped_document(seed: int) -> dict[str, Any]:
    """The same applications with profiles, on more and on fewer targets than there are applications."""
    draw = random.Random(seed)
    document = random_document(2 * seed)
    for job in document["applications"]:
        job["profile"] = {count: draw.uniform(0.5, 2) * count**0.7 for count in (1, 2, 3)}
    return {**document, "platform": {"targets": draw.choice([3, 12])}}


def buffer_document(seed: int) -> dict[str, Any]:
    """Applications that are faster than the file system; some seeds only write, and some never wait."""
    draw = random.Random(seed)
    document = random_document(2 * seed)
    for job in document["applications"]:
        job["bandwidth"] = draw.uniform(1.0, 3.0)
        if seed % 2:
            job["phases"] = [job["phases"][0], {"compute": 2.0}, {"write": draw.uniform(1.0, 4.0)}]
    joint = {"bandwidth": 2.0} if seed == 2 else {}
    return {**document, "platform": {"read_bandwidth": draw.choice([1.5, 9.0]), "write_bandwidth": 1.5, **joint}}


def outcome_behind_a_buffer(divided: Split, strategy: Strategy | Sharing, admit: str = "now") -> list[float]:
    """The numbers of a run behind a buffer, the bounds included, and what it held on the way."""
    result = buffer(divided.scenario, 3.0, split=divided, strategy=strategy, admit=admit, timeline=True)
    assert result.filling is not None
    numbers = [result.bound_max_stretch, result.bound_mean_stretch, result.end, *result.shares, *result.completion]
    numbers = [math.inf if number is None or math.isnan(number) else number for number in numbers]
    return [*numbers, *result.filling.output.sum(axis=0), *result.filling.input.sum(axis=0)]


def in_python(policy: Strategy | Sharing) -> Strategy | Sharing:
    if isinstance(policy, Strategy):
        return replace(policy, divide=policy.plain)
    return replace(policy, decide=policy.plain)


def outcome_on_targets(scenario: Scenario, allocation: str, policy: Sharing) -> list[float]:
    """The numbers of a run on targets."""
    result = allocate(scenario, allocation, sharing=policy)
    numbers = [result.load, result.interval, result.machine_idletime, float(result.events)]
    return numbers + [job.moved for job in result.applications] + [job.io_seconds for job in result.applications]


def outcome(study: AnyStudy, policy: Sharing) -> list[float]:
    """The numbers of a run; of its timeline only what a last bit in a rate cannot change."""
    result = run_study(study, policy, timeline=True, evenness=True)
    timeline = result.timeline
    assert timeline is not None
    moved: list[float] = np.bincount(timeline.application, timeline.rate * (timeline.stop - timeline.start)).tolist()
    numbers = [result.min_yield, result.efficiency, result.bound_interval, result.bound_min_yield, float(result.events)]
    numbers += [result.even_yield, result.sliding_min]
    numbers += [job.yield_ for job in result.applications] + [job.completion for job in result.applications]
    return [math.inf if number is None else number for number in numbers] + moved


def whole_machines() -> Iterator[Scenario]:
    """I/O nodes and targets under policies of their own; and buffers of all kinds in front of them."""
    for seed in range(6):
        mixed = machine(seed, io=True, targets=True, capacity=seed % 2 == 0, links=("write_bandwidth",))
        sharing = {"io_node": "greedy-com", "target": "greedy-yield", "link": "periodic-greedy-yield(delta=0.5)"}
        one_by_one = {"io_node": "list-fifo", "target": "list-bandwidth", "default": "fcfs"}
        plans: list[dict[str, Any]] = [
            {},
            {"sharing": {**sharing, "default": "max-min"}},
            {"sharing": one_by_one},
            {"sharing": {"target": "max-min", "default": "fcfs"}},
        ]
        yield from (Scenario.from_document(mixed.to_document() | {"plan": plan | planned(mixed)}) for plan in plans)
    for seed in range(6):
        behind = machine(seed, targets=seed % 3 == 0, links=("read_bandwidth", "write_bandwidth")).to_document()
        behind["platform"]["burst_buffer"] = {"capacity": 1.5} | ({"bandwidth": 3.0} if seed % 2 else {})
        names = [job["name"] for job in behind["applications"]]
        shares = {name: 0.8 / (1 + (seed > 2 and place)) for place, name in enumerate(names[: 1 + seed])}
        behind["plan"]["sharing"] = {"default": ["fair-share", "greedy-com", "loss-capped-srpt"][seed % 3]}
        behind["plan"]["buffering"] = {"shares": shares, "lead": "forever" if seed % 2 else 0}
        yield Scenario.from_document(behind)
    yield growing_parts()


def growing_parts() -> Scenario:
    """Parts that grow as those that have ended drain; one is no longer full while its application writes."""
    jobs = [(0.0, 3.0, 1, 1.46, 0.62, 1.65), (0.0, 2.32, 3, 2.26, 1.0, 3.42)]
    jobs += [(5.75, 3.54, 3, 2.97, 0.2, 2.55), (4.56, 1.47, 2, 1.26, 0.96, 1.26)]
    applications = [
        {
            "name": f"j{k}",
            "release": release,
            "bandwidth": cap,
            "phases": [{"repeat": times, "phases": [{"read": read}, {"compute": work}, {"write": write}]}],
        }
        for k, (release, cap, times, read, work, write) in enumerate(jobs)
    ]
    targets = [{"name": f"t{k}", "capacity": 1.0} for k in range(2)]
    plan = {
        "placement": {f"j{k}": [0, 1] for k in range(4)},
        "buffering": {"shares": dict(j0=0.56, j1=0.93, j2=0.95, j3=0.52), "lead": "forever"},
    }
    platform = {"targets": targets, "burst_buffer": {"capacity": 1.22, "bandwidth": 3.0}}
    return Scenario.from_document({"version": 1, "platform": platform, "applications": applications, "plan": plan})


def planned(scenario: Scenario) -> dict[str, Any]:
    """Who goes where."""
    plan: dict[str, Any] = scenario.to_document()["plan"]
    return {key: plan[key] for key in ("mapping", "placement")}


def outcome_of_a_machine(scenario: Scenario) -> list[float]:
    """The numbers of a run on a whole machine."""
    result = simulate(scenario, timeline=True)
    numbers = [result.min_yield, result.efficiency, float(result.events)]
    numbers += [job.yield_ for job in result.applications] + [each.moved for each in result.resources or ()]
    return [math.inf if number is None else number for number in numbers]


def one_after_the_other(scenario: Scenario, policy: Sharing) -> list[float]:
    """When each application ends if it is admitted a second after the one before it has ended, or has begun."""
    program = compile_scenario(scenario)
    run = Execution(program, policy, Outlook(0.0, math.inf, 0), held=True)
    now = 0.0
    for application in range(len(program.names)):
        run.admit([application], now)
        now = 1.0 + min(now, run.next_end(stop=now + 1.0))
    while run.next_end() < math.inf:
        pass
    return run.completion.tolist()


def test_linear_algebra_is_there_for_whoever_needs_it() -> None:
    """Numba is loaded without it; in a new process, where nobody has loaded it before."""
    code = (
        "import numpy as np, numba, sys; from penstock.kernels import compile; before = 'scipy.linalg' in sys.modules;"
        "f = numba.njit('f8(f8[::1])')(lambda a: np.dot(a, a)); import scipy.linalg;"
        "print(before, f(np.full(3, 2.0)), scipy.linalg.inv([[2.0]])[0, 0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "12.0", "0.5"], done.stderr


@pytest.mark.long
def test_every_kernel_does_what_its_python_says() -> None:
    called: set[str] = set()
    alone = Scenario.from_document(random_document(2))
    fair_share = find("fair-share")
    ends = one_after_the_other(alone, fair_share)
    with in_plain_python(called):
        again = one_after_the_other(alone, replace(fair_share, decide=fair_share.plain))
        assert again == pytest.approx(ends, rel=1e-12)
    # A crowd, too: some kernels are for many rows only.
    listed = [random_document(1, applications=30), *map(random_document, range(4)), *map(site_document, range(2))]
    for document in listed:
        scenario = Scenario.from_document(document)
        study = study_of(scenario)  # its bounds are the same for every policy
        compiled = {name: outcome(study, find(name)) for name in NAMES}
        with in_plain_python(called):
            study = study_of(scenario)
            for name in NAMES:
                plain = replace(find(name), decide=find(name).plain)
                assert outcome(study, plain) == pytest.approx(compiled[name], rel=1e-9, abs=1e-12), name
    striped = [*map(striped_document, range(2)), striped_site_document(0)]
    for scenario in map(Scenario.from_document, striped):
        runs = [("tcpu", find(name)) for name in (*NAMES, "periodic-greedy-yield(delta=0.5)")] + [("mckp", fair_share)]
        results = [outcome_on_targets(scenario, *run) for run in runs]
        with in_plain_python(called):
            for (allocation, policy), result in zip(runs, results, strict=True):
                plain = replace(policy, decide=policy.plain)
                again = outcome_on_targets(scenario, allocation, plain)
                assert again == pytest.approx(result, rel=1e-9, abs=1e-12), (allocation, policy.name)
    behind: list[Strategy | Sharing] = [
        *map(buffering.find, buffering.NAMES),
        find("greedy-yield"),
        find("best-next-event"),
        find("loss-capped-srpt"),
    ]
    for scenario in map(Scenario.from_document, [*map(buffer_document, range(4)), buffer_site_document(0)]):
        partitions = ("static", "dynamic")
        ways: list[Any] = [(partition, chosen) for partition in partitions for chosen in behind]
        ways.append(("static", behind[0], "wait"))
        divided = {partition: split(scenario, partition) for partition in partitions}
        fills = [outcome_behind_a_buffer(divided[partition], *way) for partition, *way in ways]
        with in_plain_python(called):
            divided = {partition: split(scenario, partition) for partition in partitions}
            for (partition, chosen, *admit), result in zip(ways, fills, strict=True):
                again = outcome_behind_a_buffer(divided[partition], in_python(chosen), *admit)
                assert again == pytest.approx(result, rel=1e-9, abs=1e-9), (partition, chosen.name, *admit)
    for scenario in whole_machines():
        run = outcome_of_a_machine(scenario)
        with in_plain_python(called), pytest.MonkeyPatch.context() as patch:
            patch.setattr(machine_rules, "first_class", lambda policy: policy.plain)
            assert outcome_of_a_machine(scenario) == pytest.approx(run, rel=1e-9, abs=1e-9)
    policies = {policy_kernel(find(name)) for name in NAMES} | {policy_kernel(one) for one in behind}
    ours = {name for name in dispatchers() if not name.endswith((".idle", ".nothing"))} - policies
    # Frozen flows that take all of a resource that is not settled: seen on no machine that was tried, yet kept.
    ours.discard("penstock.engine.machine.solve._offer_nothing")
    assert called >= ours, f"not called: {sorted(ours - called)}"


def policy_kernel(policy: Strategy | Sharing) -> str:
    return f"{policy.plain.__module__}.{policy.plain.__name__}"


SHARE_ALL = """
import json, sys
from penstock import Scenario, compare

documents, striped, names = json.load(sys.stdin)
for document in documents:
    compare(Scenario.from_document(document), names, timeline=True)
for document in striped:
    from penstock.studies.targets import allocate

    for name in names:
        allocate(Scenario.from_document(document), sharing=name)
    allocate(Scenario.from_document(document), "mckp")
"""
BUFFER_ALL = """
import json, sys
from penstock import Scenario
from penstock.policies import buffering
from penstock.policies.sharing import find
from penstock.studies.buffers import buffer

for document in json.load(sys.stdin):
    for strategy in (*buffering.NAMES, find("greedy-yield"), find("best-next-event")):
        for partition in ("static", "isolated", "dynamic"):
            buffer(Scenario.from_document(document), 3.0, partition=partition, strategy=strategy, timeline=True)
"""


def run_checked(code: str, documents: list[Any], folder: Path) -> None:
    """Compiled anew with every index checked: unchecked, a wrong one corrupts memory and shows up anywhere."""
    env = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)}
    subprocess.run([sys.executable, "-c", code], input=json.dumps(documents), env=env, text=True, check=True)


@pytest.mark.soak
def test_no_kernel_reaches_beyond_its_arrays(tmp_path: Path) -> None:
    """A minute to compile. As plain Python, which refuses an index beyond the end, the same kernels run above."""
    shared = [random_document(seed, 40 if seed % 10 == 0 else None) for seed in range(200)]
    run_checked(SHARE_ALL, [shared, [striped_document(seed) for seed in range(50)], NAMES], tmp_path)


@pytest.mark.soak
def test_no_kernel_of_a_buffer_reaches_beyond_its_arrays(tmp_path: Path) -> None:
    run_checked(BUFFER_ALL, [buffer_document(seed) for seed in range(50)], tmp_path)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 1.0, 2.5]) | positive), max_size=60))
def test_the_heap_gives_the_earliest_first(steps: list[tuple[bool, float]]) -> None:
    times, applications, size = np.zeros(60), np.zeros(60, np.int64), 0
    waiting: dict[int, float] = {}

    def take() -> None:
        first = int(applications[0])
        assert times[0] == waiting.pop(first)
        assert times[0] <= min(waiting.values(), default=math.inf)
        heap.pop(times, applications, size)

    for application, (adding, time) in enumerate(steps):
        if adding or not waiting:
            heap.push(times, applications, size, time, application)
            waiting[application] = time
            size += 1
        else:
            take()
            size -= 1
    while waiting:
        take()
        size -= 1


@given(st.lists(finite, max_size=40), st.data())
def test_total_is_the_sum_of_the_first(values: list[float], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(values)))
    exact = math.fsum(values[:count])
    slack = 1e-13 * math.fsum(map(abs, values[:count]))
    array = np.array(values, dtype=np.float64)
    assert total(array, count) == pytest.approx(exact, rel=1e-13, abs=slack)
    assert python_of(total)(array, count) == pytest.approx(exact, rel=1e-13, abs=slack)


@given(st.floats(allow_nan=False, allow_subnormal=False))
def test_coarse_keeps_thirty_bits(key: float) -> None:
    kept = order.coarse(key)
    assert kept == python_of(order.coarse)(key)
    if abs(key) < 1e300:
        assert kept == quantise(key)
        assert abs(kept - key) <= 2.0**-30 * abs(key)
    else:
        assert kept == key


@given(finite, st.floats(-1e-13, 1e-13))
def test_coarse_is_a_total_order_that_ignores_noise(key: float, noise: float) -> None:
    near = order.coarse(key * (1 + noise))
    assert near == pytest.approx(order.coarse(key), rel=2.0**-29)
    assert order.coarse(near) == near


@st.composite
def queues(draw: st.DrawFn) -> View:
    """Rows with keys and postings that often tie, in any order."""
    size = draw(st.integers(1, 12) | st.integers(25, 40))
    view = empty_view(size, np.zeros(0), np.zeros(0))
    few = st.sampled_from([0.0, 1.0, 1.0 + 1e-13, 2.0, math.inf])
    view.key[:] = draw(st.lists(few | positive, min_size=size, max_size=size))
    view.posted[:] = draw(st.lists(st.sampled_from([0.0, 3.0, 3.0 + 1e-13]) | positive, min_size=size, max_size=size))
    view.limit[:] = draw(st.lists(st.floats(0.01, 10.0), min_size=size, max_size=size))
    view.application[:] = draw(st.permutations(range(size)))
    return view._replace(capacity=draw(st.floats(0.01, 20.0)))


def in_order(view: View) -> list[int]:
    """Rows by key, then posting, then place in the scenario."""

    def priority(row: int) -> tuple[float, float, int]:
        return quantise(view.key[row]), quantise(view.posted[row]), view.application[row]

    return sorted(range(view.key.size), key=priority)


@given(queues())
def test_rows_are_sorted_by_key_posting_and_place(view: View) -> None:
    for sort in (order.sort_rows, python_of(order.sort_rows)):
        own = view._replace(key=view.key.copy(), rows=view.rows.copy())
        sort(own)
        assert own.rows.tolist() == in_order(view)


@given(queues())
def test_filling_goes_in_that_order_too(view: View) -> None:
    expected, left = np.zeros(view.key.size), view.capacity
    for row in in_order(view):
        expected[row] = min(view.limit[row], left)
        left -= expected[row]
    for fill in (order.fill, python_of(order.fill)):
        own = view._replace(key=view.key.copy(), rows=view.rows.copy())
        rates = np.zeros(view.key.size)
        fill(own, rates)
        assert rates.tolist() == expected.tolist()


@given(queues())
def test_who_comes_first_is_a_total_order(view: View) -> None:
    key = np.array([order.coarse(value) for value in view.key])
    rows = range(view.key.size)

    def first(a: int, b: int) -> bool:
        return bool(order.comes_first(key, view.posted, view.application, a, b))

    assert all(first(a, b) != first(b, a) for a in rows for b in rows if a != b)
    assert all(first(a, b) for a, b in pairwise(in_order(view)))


ASK = "import penstock.kernels.compile as k, numpy as np; assert k.total(np.arange(4.0), 4) == 6.0; print(k.CACHE)"
COMPILING = "penstock: compiling kernels"


def asked(**environment: str) -> tuple[str, str]:
    """What a new process prints, on stdout and on stderr, that sees only this environment."""
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(penstock.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=kept | environment, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip(), done.stderr


# Nobody can make a folder below a file, not even root.
NOWHERE = "/dev/null/nowhere"


def test_kernels_are_compiled_once_and_said_so_once(tmp_path: Path) -> None:
    folder, said = asked(HOME=str(tmp_path))
    assert Path(folder).parent == tmp_path / ".cache" / "penstock"
    assert said.count(COMPILING) == 1
    assert said.count("\n") == 1
    assert list(Path(folder).rglob("*.nbc"))
    again, silent = asked(HOME=str(tmp_path))
    assert (again, silent) == (folder, "")


def test_a_checkout_elsewhere_loads_what_this_one_compiled(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "penstock"
    shutil.copytree(Path(penstock.__file__).parent, elsewhere, ignore=shutil.ignore_patterns("__pycache__"))
    folder, said = asked(HOME=str(tmp_path))
    assert COMPILING in said
    assert asked(HOME=str(tmp_path), PYTHONPATH=str(elsewhere.parent)) == (folder, "")


def test_quiet_means_quiet(tmp_path: Path) -> None:
    _, said = asked(HOME=str(tmp_path), PENSTOCK_QUIET="1")
    assert said == ""


def test_the_users_choices_come_first(tmp_path: Path) -> None:
    folder, _ = asked(HOME=NOWHERE, XDG_CACHE_HOME=str(tmp_path / "xdg"))
    assert Path(folder).parent == tmp_path / "xdg" / "penstock"
    folder, _ = asked(HOME=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "numba"))
    assert Path(folder).parent == tmp_path / "numba"


def test_without_a_home_kernels_are_kept_in_a_private_temporary_folder(tmp_path: Path) -> None:
    folder, _ = asked(HOME=NOWHERE, XDG_CACHE_HOME=NOWHERE, TMPDIR=str(tmp_path))
    assert Path(folder).parent == tmp_path / f"penstock-{os.getuid()}"
    assert Path(folder).stat().st_mode & 0o077 == 0
    assert Path(folder).parent.stat().st_mode & 0o077 == 0
    again, silent = asked(HOME=NOWHERE, XDG_CACHE_HOME=NOWHERE, TMPDIR=str(tmp_path))
    assert (again, silent) == (folder, "")


def no_temporary_folder() -> str:
    raise FileNotFoundError("No usable temporary directory found")


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


@pytest.fixture
def nothing_writable(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", NOWHERE)
    monkeypatch.setattr("tempfile.tempdir", NOWHERE)
    return monkeypatch


def test_nothing_writable_means_no_cache(nothing_writable: pytest.MonkeyPatch) -> None:
    assert kernels._cache_folder() is None


def test_no_temporary_folder_at_all_means_no_cache(nothing_writable: pytest.MonkeyPatch) -> None:
    nothing_writable.setattr("tempfile.gettempdir", no_temporary_folder)
    assert kernels._cache_folder() is None


def test_a_user_without_a_home_gets_the_temporary_folder(nothing_writable: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in containers that run under a number that no account has."""
    nothing_writable.delenv("XDG_CACHE_HOME")
    nothing_writable.setattr(Path, "home", no_home)
    nothing_writable.setattr("tempfile.tempdir", str(tmp_path))
    folder = kernels._cache_folder()
    assert folder is not None
    assert folder.parent == tmp_path / f"penstock-{os.getuid()}"


def test_without_any_cache_kernels_still_work(tmp_path: Path) -> None:
    ask = f"import tempfile; tempfile.tempdir = {NOWHERE!r}; {ASK}"
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(penstock.__file__).parent.parent)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", ask], env=kept | {"HOME": NOWHERE}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "None"
        assert done.stderr.count(COMPILING) == 1


def test_a_policy_can_be_defined_where_there_is_no_file(tmp_path: Path) -> None:
    """At the prompt, or piped into Python: Numba cannot keep such a function, which is no reason to refuse it."""
    text = (
        "from penstock.policies.sharing import sharing\n"
        "@sharing('typed-in')\n"
        "def typed_in(view, rates):\n"
        "    '''Nobody gets anything.'''\n"
        "print(typed_in.rule)\n"
    )
    done = subprocess.run([sys.executable, "-"], input=text, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "Nobody gets anything.\n"), done.stderr[-300:]


def test_a_link_in_the_temporary_folder_is_not_followed(tmp_path: Path, nothing_writable: pytest.MonkeyPatch) -> None:
    """Whoever put it there could have us load code of their own."""
    nothing_writable.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "theirs").mkdir(mode=0o700)
    (tmp_path / f"penstock-{os.getuid()}").symlink_to(tmp_path / "theirs")
    assert kernels._cache_folder() is None


def test_a_folder_that_others_may_write_to_is_no_cache(tmp_path: Path, nothing_writable: pytest.MonkeyPatch) -> None:
    nothing_writable.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"penstock-{os.getuid()}").mkdir()
    (tmp_path / f"penstock-{os.getuid()}").chmod(0o777)
    assert kernels._cache_folder() is None
