"""Random small scenarios for property tests, as plain documents and as validated models.

Numbers come from small integers and halves, so that operations end together and keys tie, from free floats, or from
both. Loops and windows are short enough for a slow engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from penstock.model import FOREVER, Scenario

Document = dict[str, Any]
MADE = 1000  # strategies that are kept: to make one takes longer than to draw from it
_Arguments = ParamSpec("_Arguments")
_Drawn = TypeVar("_Drawn")


def composite(
    function: Callable[Concatenate[DrawFn, _Arguments], _Drawn],
) -> Callable[_Arguments, SearchStrategy[_Drawn]]:
    """As that of hypothesis; for the same arguments, the strategy is made once."""
    kept = lru_cache(MADE)(st.composite(function))

    @wraps(function)
    def made(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> SearchStrategy[_Drawn]:
        return kept(*arguments, **named)  # type: ignore[arg-type]  # all that strategies take is hashable

    return made


@lru_cache(MADE)
def amounts(least: float, most: float, exact: bool) -> SearchStrategy[float]:
    """Numbers in [least, most]: halves and free floats if `exact`, else free floats, where ties are freaks."""
    # Microseconds: two instants are either the same or well apart, never a rounding error from each other.
    free = st.floats(least, most, allow_nan=False, allow_subnormal=False).map(lambda value: round(value, 6))
    halves = st.integers(round(2 * least), round(2 * most)).map(lambda count: count / 2)
    return halves | free if exact else free


_LITTLE = st.just(0) | amounts(0.5, 8, True)


@lru_cache(MADE)
def _kinds(most: int) -> SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(["compute", "compute", "read", "write", "write"]), min_size=1, max_size=most)


@composite
def phases(draw: DrawFn, exact: bool, most: int = 4) -> list[Document]:
    """A few phases, some of them empty, some I/O right after I/O; at least one takes time."""
    amount = _LITTLE if exact else amounts(0.5, 8, exact)
    listed: list[Document] = [{kind: draw(amount)} for kind in draw(_kinds(most))]
    if all(value == 0 for phase in listed for value in phase.values()):
        listed.append({"write": draw(amounts(0.5, 8, exact))})
    return listed


@composite
def loops(draw: DrawFn, exact: bool) -> list[Document]:
    """Phases with, sometimes, a loop among them, and sometimes a loop in that loop."""
    before, after = draw(phases(exact)), draw(st.just([]) | phases(exact, 2))
    body = draw(phases(exact, 3))
    if draw(st.booleans()):
        inner = {"repeat": draw(st.integers(1, 3)), "phases": draw(phases(exact, 2))}
        body.insert(draw(st.integers(0, len(body))), inner)
    loop = [{"repeat": draw(st.integers(1, 4)), "phases": body}]
    return draw(st.sampled_from([before, before + loop + after, loop + after]))


@lru_cache(MADE)
def _some(names: tuple[str, ...], least: int, most: int | None) -> SearchStrategy[list[str]]:
    return st.sets(st.sampled_from(names), min_size=least, max_size=most).map(sorted)


def some(names: Iterable[str], least: int = 0, most: int | None = None) -> SearchStrategy[list[str]]:
    """Some of these, sorted: a set of strings has another order in every process, and what is drawn next would, too."""
    return _some(tuple(sorted(names)), least, most)


@st.composite
def applications(draw: DrawFn, name: str, window: Document | None, forever: bool, exact: bool) -> Document:
    """One application that fits into the window, if there is one."""
    application: Document = {"name": name, "phases": draw(loops(exact))}
    if window and forever and draw(st.booleans()):
        application["phases"].append({"repeat": FOREVER, "phases": draw(phases(exact, 3))})
    optional: dict[str, SearchStrategy[Any]] = {
        "nodes": st.integers(1, 4),
        "bandwidth": amounts(0.5, 8, exact),
        "read_bandwidth": amounts(0.5, 4, exact),
        "write_bandwidth": amounts(0.5, 4, exact),
        "release": amounts(0, window["end"] * 0.75 if window else 12, exact),
    }
    for key in draw(some(optional)):
        application[key] = draw(optional[key])
    lead = window["begin"] - application.get("release", 0) if window else 0
    if lead > 0 and draw(st.booleans()):
        application["progress"] = lead * draw(st.sampled_from([0, 0.25, 0.5, 1]) if exact else st.floats(0, 1))
    return application


@composite
def windows(draw: DrawFn, exact: bool) -> Document:
    """A window that begins at 0 or later and is at most 32 seconds long."""
    begin = draw(st.just(0.0) | amounts(0, 16, exact))
    return {"begin": begin, "end": begin + draw(amounts(4, 32, exact))}


@composite
def documents(
    draw: DrawFn,
    windowed: bool | None = None,
    max_applications: int = 6,
    forever: bool = True,
    exact: bool = True,
) -> Document:
    """A scenario document with bare numbers.

    `windowed` None: with or without a window. `forever` allows endless loops (inside windows only). `exact` mixes
    integers and halves in and makes ties likely; without it all numbers are free floats and no phase is empty.
    """
    window = draw(windows(exact)) if windowed or (windowed is None and draw(st.booleans())) else None
    platform: Document = {"bandwidth": draw(amounts(0.5, 8, exact))}
    if draw(st.booleans()):
        platform["node_bandwidth"] = draw(amounts(0.5, 4, exact))
    count = draw(st.integers(1, max_applications))
    document: Document = {"version": 1, "platform": platform}
    if window:
        document["window"] = window
    if draw(st.integers(0, 4)) == 0:
        document |= {"seed": draw(st.integers(0, 1000)), "noise": draw(st.sampled_from([0.1, 0.5, 1.0]))}
    document["applications"] = [draw(applications(f"a{i}", window, forever, exact)) for i in range(count)]
    return document


@composite
def sites(draw: DrawFn, plain: SearchStrategy[Document], exact: bool = True) -> Document:
    """The same documents with what a site has besides: walltimes, uneven nodes, applications that disturb others."""
    document = draw(plain)
    begin = document["window"]["begin"] if "window" in document else 0.0
    efficiencies = st.lists(st.sampled_from([0.25, 0.5, 0.75, 0.9, 1.0]), max_size=4)
    if draw(st.booleans()):
        document["platform"]["interference"] = [1.0, *sorted(draw(efficiencies), reverse=True)]
    for application in document["applications"]:
        if draw(st.integers(0, 2)) == 0:
            lead = max(0.0, begin - application.get("release", 0.0))
            application["walltime"] = lead + draw(amounts(0.5, 24, exact))
        if draw(st.integers(0, 3)) == 0:
            application["node_skew"] = draw(st.sampled_from([1.0, 1.25, 2.0]))
    return document


def scenarios(
    windowed: bool | None = None,
    max_applications: int = 6,
    forever: bool = True,
    exact: bool = True,
) -> SearchStrategy[Scenario]:
    """The same as validated models."""
    return documents(windowed, max_applications, forever, exact).map(Scenario.from_document)


@composite
def periodic_jobs(draw: DrawFn, name: str, times: int | str, exact: bool) -> Document:
    """A job of P2: a few phases again and again, with at least one operation; perhaps a compute before and after."""
    amount = amounts(0, 4, exact)
    body: list[Document] = [{"compute": draw(amount)}, {"write": draw(amounts(0.5, 4, exact))}]
    if draw(st.booleans()):
        body += [{"compute": draw(amount)}, {"read": draw(amount)}]
    job: Document = {"name": name, "phases": [{"repeat": times, "phases": body}]}
    if times != FOREVER and draw(st.booleans()):
        job["phases"].append({"compute": draw(amounts(0.5, 8, exact))})
    if draw(st.booleans()):
        job["phases"].insert(0, {"compute": draw(amount)})
    for key, values in {"release": amounts(0, 3, exact), "bandwidth": amounts(0.5, 2, exact)}.items():
        if draw(st.integers(0, 3)) == 0:
            job[key] = draw(values)
    return job


@composite
def crowds(draw: DrawFn, windowed: bool = False, endless: bool = False, exact: bool = True) -> Document:
    """A document in which jobs wait for each other most of the time. `endless`: every job is, inside a window."""
    document: Document = {"version": 1, "platform": {"bandwidth": draw(st.sampled_from([1.0, 1.5]))}}
    if windowed or endless:
        document["window"] = draw(windows(exact))
    document |= {"seed": draw(st.integers(0, 99)), "noise": draw(st.sampled_from([0.0, 0.0, 0.2, 0.9]))}
    counts = draw(st.lists(st.integers(1, 6), min_size=2, max_size=6))
    jobs = [periodic_jobs(f"j{i}", FOREVER if endless else count, exact) for i, count in enumerate(counts)]
    return document | {"applications": [draw(job) for job in jobs]}


@composite
def profiles(draw: DrawFn, targets: int, exact: bool) -> dict[int, float]:
    """Bandwidth by number of targets; some numbers are more than there are, but one can be had."""
    within = draw(st.just(1) | st.integers(1, targets))
    counts = {within} | draw(st.sets(st.integers(1, targets + 1), max_size=3))
    return {count: draw(amounts(0.5, 4, exact)) for count in sorted(counts)}


@composite
def striped_applications(draw: DrawFn, name: str, targets: int, exact: bool) -> Document:
    """An application that may use several targets; its caps mean nothing there."""
    application: Document = {"name": name, "profile": draw(profiles(targets, exact)), "phases": draw(phases(exact))}
    if draw(st.integers(0, 3)) == 0:
        application["phases"] = [{"repeat": draw(st.integers(1, 3)), "phases": application["phases"]}]
    optional: dict[str, SearchStrategy[Any]] = {
        "nodes": st.integers(1, 4),
        "bandwidth": amounts(0.5, 2, exact),
        "release": amounts(0, 6, exact),
    }
    for key in draw(some(optional)):
        application[key] = draw(optional[key])
    return application


@composite
def target_documents(draw: DrawFn, most: int = 5, exact: bool = True, limits: bool = True) -> Document:
    """A document with up to `most` applications and targets. `limits`: a target may be slower than the others."""
    targets = draw(st.integers(1, most))
    names = [f"a{i}" for i in range(draw(st.integers(1, most)))]
    document: Document = {"version": 1, "platform": {"targets": targets}}
    document["applications"] = [draw(striped_applications(name, targets, exact)) for name in names]
    if draw(st.integers(0, 2)) == 0:
        limit = st.none() | amounts(0.5, 2, exact) if limits else st.none()
        listed = [(f"t{i}", draw(limit)) for i in range(targets)]
        document["platform"]["targets"] = [{"name": name, "bandwidth": most} if most else name for name, most in listed]
    if draw(st.booleans()):
        used = sum(application.get("nodes", 1) for application in document["applications"])
        document["platform"]["nodes"] = used + draw(st.integers(0, 4))
    if draw(st.integers(0, 4)) == 0:
        document["platform"]["bandwidth"] = draw(amounts(0.5, 4, exact))
    if draw(st.integers(0, 4)) == 0:
        document["noise"] = draw(st.sampled_from([0.1, 0.5]))
    return document | {"seed": draw(st.integers(0, 1000))}


@composite
def site_documents(draw: DrawFn, most: int = 5, exact: bool = True, limits: bool = True) -> Document:
    """The same with all that a site has: jobs that come and go, a window, walltimes, interference, unequal nodes."""
    document = draw(target_documents(most, exact, limits))
    for each in document["applications"]:
        each["release"] = draw(st.sampled_from([0.0, 1.0, 2.5, 8.0]) | amounts(0, 40, exact))
        if draw(st.integers(0, 4)) == 0:
            each["node_skew"] = draw(amounts(1, 2, exact))
        if draw(st.integers(0, 4)) == 0:
            each["walltime"] = draw(amounts(0.5, 12, exact))
    if draw(st.integers(0, 3)) == 0:
        listed = document["platform"]["targets"]
        names = [f"t{i}" for i in range(listed)] if isinstance(listed, int) else listed
        known = [name if isinstance(name, dict) else {"name": name} for name in names]
        values = st.sampled_from([[1.0], [1.0, 0.9], [1.0, 0.75, 0.5], [1.0, 1.0, 0.8]])
        document["platform"]["targets"] = [each | {"interference": draw(values)} for each in known]
    if draw(st.integers(0, 2)) == 0:
        last = max(each["release"] for each in document["applications"])
        document["window"] = {
            "begin": draw(st.sampled_from([0.0, 2.0, 5.0])),
            "end": last + draw(amounts(5.5, 20, exact)),
        }
        for each in document["applications"]:  # whose walltime is over before the window is refused
            if each["release"] + each.get("walltime", 100.0) <= document["window"]["begin"]:
                del each["walltime"]
    platform = document["platform"]
    if draw(st.booleans()):
        platform.pop("nodes", None)
    return document


@composite
def buffer_documents(
    draw: DrawFn,
    kinds: tuple[str, ...] = ("compute", "read", "write"),
    joint: bool | None = None,
    most: int = 3,
    exact: bool = True,
) -> Document:
    """Applications that may move more than the file system takes. `joint`: with a limit for both directions, or not."""
    both = ("read_bandwidth", "write_bandwidth")
    choices: dict[bool, list[tuple[str, ...]]] = {True: [("bandwidth",), ("bandwidth", *both)], False: [both]}
    limits = draw(st.sampled_from([*choices[True], *choices[False]] if joint is None else choices[joint]))
    document: Document = {"version": 1, "platform": {limit: draw(amounts(0.5, 4, exact)) for limit in limits}}
    document["applications"] = []
    for name in "abcd"[: draw(st.integers(1, most))]:
        listed = draw(st.lists(st.tuples(st.sampled_from(kinds), amounts(0.5, 4, exact)), min_size=1, max_size=5))
        application: Document = {"name": name, "release": draw(amounts(0, 4, exact))}
        application |= {f"{kind}_bandwidth": draw(amounts(0.5, 4, exact)) for kind in ("read", "write")}
        document["applications"].append(application | {"phases": [{kind: amount} for kind, amount in listed]})
    return document
