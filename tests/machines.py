"""Random whole machines under random plans, as plain documents: several kinds of resources, policies of their own."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies import amounts, phases, some

Document = dict[str, Any]
# Whose order does not depend on what is left of a resource, nor on the mean loss of those who are there.
SHARING = ("fair-share", "max-min", "fcfs", "greedy-yield", "greedy-com", "set-10")
EFFICIENCIES = ([1.0, 0.75], [1.0, 0.9, 0.5])


@st.composite
def platforms(draw: DrawFn, exact: bool, buffered: bool) -> Document:
    """At least two kinds of resources."""
    size = amounts(0.5, 6, exact)
    kinds = draw(some(["io_nodes", "targets", "links"], least=1 if buffered else 2))
    platform: Document = {}
    if "io_nodes" in kinds:
        platform["io_nodes"] = {"count": draw(st.integers(1, 3)), "bandwidth": draw(size), "nodes": 64}
    if "targets" in kinds:
        platform["targets"] = draw(target_lists(exact))
    if "links" in kinds:
        ways = ["read_bandwidth", "write_bandwidth"] + ([] if "targets" in kinds else ["bandwidth"])
        for way in draw(some(ways, least=1)):
            platform[way] = draw(size)
    if not platform.keys() & {"io_nodes", "targets"}:
        platform.setdefault("bandwidth", draw(size))
    if buffered:
        platform["burst_buffer"] = {"capacity": draw(amounts(0.5, 12, exact))}
        if draw(st.booleans()):
            platform["burst_buffer"]["bandwidth"] = draw(amounts(2, 12, exact))
    return platform


@st.composite
def target_lists(draw: DrawFn, exact: bool) -> list[Document]:
    """Some with a capacity, some that divide their time, some that are slow for everybody."""
    found = []
    for i in range(draw(st.integers(1, 4))):
        target: Document = {"name": f"t{i}"}
        if draw(st.booleans()):
            target["capacity"] = draw(amounts(0.5, 4, exact))
        if draw(st.integers(0, 3)) == 0:
            target["bandwidth"] = draw(amounts(0.5, 2, exact))
        found.append(target)
    return found


@st.composite
def jobs(draw: DrawFn, name: str, targets: int, exact: bool) -> Document:
    """An application with a cap of its own, and a profile if there are targets, sometimes."""
    job: Document = {"name": name, "bandwidth": draw(amounts(0.5, 6, exact)), "phases": draw(phases(exact))}
    if draw(st.integers(0, 2)) == 0:
        job["phases"] = [{"repeat": draw(st.integers(1, 3)), "phases": job["phases"]}]
    optional: dict[str, SearchStrategy[Any]] = {
        "nodes": st.integers(1, 4),
        "release": amounts(0, 6, exact),
        "read_bandwidth": amounts(0.5, 4, exact),
        "walltime": amounts(6, 24, exact),
    }
    for key in draw(some(optional, most=2)):
        job[key] = draw(optional[key])
    if targets and draw(st.booleans()):
        job["profile"] = {count: draw(amounts(0.5, 4, exact)) for count in range(1, targets + 1)}
    return job


@st.composite
def plans(draw: DrawFn, document: Document, policies: tuple[str, ...] = SHARING) -> Document:
    """Tables for every decision that the machine has."""
    names = [job["name"] for job in document["applications"]]
    platform: Document = document["platform"]
    plan: Document = {}
    if "io_nodes" in platform:
        plan["mapping"] = {name: draw(st.integers(0, platform["io_nodes"]["count"] - 1)) for name in names}
    if "targets" in platform:
        places = st.sets(st.integers(0, len(platform["targets"]) - 1), min_size=1)
        plan["placement"] = {name: sorted(draw(places)) for name in names}
    if "burst_buffer" in platform:
        share = st.sampled_from([0.0, 0.05, 0.25])
        plan["buffering"] = {"shares": {name: draw(share) for name in names}}
    one, other = draw(st.sampled_from(policies)), draw(st.sampled_from(policies))
    plan["sharing"] = draw(st.sampled_from([one, {"default": one, "target": other}, {"link": other, "default": one}]))
    return plan


@st.composite
def machines(
    draw: DrawFn, exact: bool = False, policies: tuple[str, ...] = SHARING, buffered: bool | None = None
) -> tuple[Document, Document]:
    """A scenario and its plan; with a buffer, without one, or (None) either."""
    buffered = draw(st.booleans()) if buffered is None else buffered
    document: Document = {"version": 1, "platform": draw(platforms(exact, buffered))}
    targets = len(document["platform"].get("targets", ()))
    document["applications"] = [draw(jobs(f"a{i}", targets, exact)) for i in range(draw(st.integers(1, 4)))]
    if draw(st.integers(0, 3)) == 0:
        document["window"] = {"begin": draw(st.sampled_from([0.0, 2.0])), "end": draw(amounts(8, 20, exact))}
    if draw(st.integers(0, 3)) == 0:
        document |= {"noise": 0.3, "seed": draw(st.integers(0, 99))}
    if draw(st.integers(0, 3)) == 0 and "io_nodes" in document["platform"]:
        document["platform"]["io_nodes"]["interference"] = draw(st.sampled_from(EFFICIENCIES))
    return document, draw(plans(document, policies))
